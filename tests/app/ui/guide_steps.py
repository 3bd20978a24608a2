"""The guide's pictures of the window: steps for guide_pictures.py. What a picture returns is the panel that it shows,
None for the whole window."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QColorDialog, QComboBox, QDialog, QLineEdit, QPushButton, QWidget

from raygrove.app.ui.dialogs.export_dialog import ExportDialog
from raygrove.app.ui.dialogs.palette import Palette
from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog
from raygrove.app.ui.widgets.color_edit import ColorEdit
from tests.app.ui.guide_stage import Stage

Taken = Generator[None, None, QWidget | None]


def window(stage: Stage) -> Taken:
    """What README begins with: what a structure costs while it plays, its boxes, and what it cost before."""
    for key, value in (("render.hierarchy", "hploc"), ("update.mode", "refit"), ("display.minimum_fps", 3)):
        yield from stage.set(key, value)
    yield from stage.set("demo.triangles", 12000)  # boxes of what moves are read back less often the more there are
    yield from stage.demo("orbit", 0.0)
    yield from stage.click(stage.window.timeline_bar.cost)
    for mode in ("refit", "auto"):
        yield from stage.set("update.mode", mode)
        yield from stage.play(stage.document.span.duration + 1.0)
    yield from stage.press("X")
    yield from stage.set("boxes.first_depth", 9)
    yield from stage.set("boxes.last_depth", 10)
    yield from stage.tab("Statistics")
    yield from stage.at(2.0)
    yield from stage.press("[", 2)
    yield from stage.leave_pointer()
    yield from stage.press("Space")
    yield from stage.rest(7.0)
    return None


def objects(stage: Stage) -> Taken:
    """The atrium cut open, one of its objects selected."""
    yield from stage.open(stage.data / "crytek-sponza/sponza.obj.xz")
    yield from stage.scene("sponza.obj.xz")
    yield from stage.press("C")
    yield from stage.set("clip.axis", "y")
    yield from stage.set("clip.position", 0.5)
    yield from stage.press("9")
    yield from stage.click(stage.window.rail.buttons["objects"])
    yield from stage.still()
    view = stage.window.view
    yield from stage.wheel(view, 4)
    yield from stage.still()
    yield from stage.click(view, QPoint(view.width() // 2, round(0.62 * view.height())))
    yield from stage.until(lambda: stage.document.state.selection.object >= 0, "an object")
    yield from stage.still()
    yield from stage.rest(5.0)  # what was noticed of the file is over
    return None


def model(stage: Stage) -> Taken:
    yield from stage.open(stage.data / "animated/Fox.glb")
    yield from stage.scene("Fox.glb")
    yield from stage.choose(stage.window.timeline_bar.clip_box, 2)
    yield from stage.play(3.0)
    yield from stage.at(0.3)
    yield from stage.still()
    return None


def welcome(stage: Stage) -> Taken:
    kept = stage.window.previews
    yield from stage.until(lambda: all(kept.path_of(name).exists() for name in stage.window.welcome.cards), "previews")
    yield from stage.rest(1.0)
    return None


def timeline(stage: Stage) -> Taken:
    yield from stage.demo("walker", 0.5)
    yield from stage.play(3.0)
    yield from stage.at(1.0)
    yield from stage.still()
    return None


def cameras(stage: Stage) -> Taken:
    yield from stage.demo("walker", 2.0)
    yield from stage.still()
    for keys in ("Ctrl+B", "9", "Ctrl+B", "1", "Ctrl+B", "Alt+1"):
        yield from stage.press(keys)
        yield from stage.rest(0.3)
    yield from stage.click(stage.window.rail.buttons["camera"])
    yield from stage.still()
    return None


def compare(stage: Stage) -> Taken:
    yield from stage.demo("explode", 0.0)
    yield from stage.click(stage.window.timeline_bar.cost)
    yield from stage.set("display.minimum_fps", 12)
    for structure in ("lbvh", "hploc"):
        yield from stage.palette(structure)
        yield from stage.at(0.0)
        yield from stage.play(2.0 * stage.document.span.duration + 1.0)  # what was skipped is filled the second time
    yield from stage.at(2.4)
    yield from stage.still()
    return None


def pipeline(stage: Stage) -> Taken:
    yield from stage.demo("walker", 1.0)
    yield from stage.play(2.0)
    yield from stage.click(stage.window.pipeline.bar.chips["structure"])
    yield from stage.until(lambda: stage.find(QWidget, "sheet.structure"), "the sheet")
    yield from stage.rest(1.0)
    return None


def statistics(stage: Stage) -> Taken:
    yield from stage.demo("orbit", 1.0)
    yield from stage.set("display.minimum_fps", 10)
    yield from stage.leave_pointer()
    yield from stage.press("Space")
    yield from stage.rest(7.0)
    return stage.window.stats_panel


def boxes(stage: Stage) -> Taken:
    yield from stage.demo("walker", 1.2)
    yield from stage.press("X")
    yield from stage.set("boxes.first_depth", 3)
    yield from stage.set("boxes.last_depth", 9)
    yield from stage.still()
    yield from stage.rest(4.0)  # what the palette said is over
    return None


def pixel(stage: Stage) -> Taken:
    yield from stage.demo("orbit", 2.0)
    yield from stage.click(stage.window.pipeline.bar.chips["rays"])
    yield from stage.until(lambda: stage.find(QWidget, "sheet.rays"), "the sheet of rays")
    yield from stage.press("/")
    yield from stage.write("traversal steps")
    yield from stage.press("Return", 2)
    yield from stage.until(lambda: stage.document.state.settings.render.ray_type == "steps", "traversal steps")
    yield from stage.still()
    yield from stage.click(stage.window.inspectors.heat.fit)
    yield from stage.still()
    yield from stage.shift_click(0.55, 0.6)
    yield from stage.until(lambda: stage.window.inspectors.pick.tree.topLevelItemCount() > 0, "the path of nodes")
    yield from stage.still()
    return None


def race(stage: Stage) -> Taken:
    yield from stage.set("display.minimum_fps", 3)
    yield from stage.set("race.contestants", "lbvh@refit, hploc@auto, binned_sah@refit, lbvh/bvh2")
    yield from stage.demo("walker", 0.5)
    yield from stage.press("Ctrl+F7")
    yield from stage.press("Space")
    live = stage.window.place.race
    yield from stage.until(lambda: live.live.count >= 4, "the frames of a race")  # all kernels are compiled
    yield from stage.press("Home")
    yield from stage.until(lambda: 5.0 < stage.document.state.timeline.time < 6.0, "five seconds")
    yield from stage.press("Space")
    yield from stage.until(lambda: live.live.proofs[1].rays > 0, "compared hits")
    yield from stage.leave_pointer()
    yield from stage.rest(3.0)
    return None


def light(stage: Stage) -> Taken:
    yield from stage.demo("glass", 1.0)
    yield from stage.palette("whitted")
    yield from stage.click(stage.window.rail.buttons["lights"])
    yield from stage.tab("Materials")
    chooser = stage.window.inspectors.materials.chooser
    yield from stage.choose(chooser, chooser.findData("glass"))
    tint = next(one for one in stage.window.findChildren(ColorEdit) if one.isVisible())
    yield from stage.click(tint.button)
    yield from stage.until(lambda: stage.find(QColorDialog), "the dialog of colours")
    dialog = stage.find(QColorDialog)
    assert dialog is not None
    yield from stage.fill(dialog.findChild(QLineEdit), "#f39574")
    yield from stage.press("Return")
    yield from stage.tab("Lights")
    yield from stage.click(stage.window.inspectors.lights.add)
    kind = stage.window.inspectors.lights.findChild(QComboBox, "kind")
    assert kind is not None
    yield from stage.choose(kind, kind.findText("sphere"))
    yield from stage.still()
    return None


def export(stage: Stage) -> Taken:
    yield from stage.demo("walker", 1.2)
    yield from stage.still()
    yield from stage.press("Ctrl+E")
    yield from stage.until(lambda: stage.find(ExportDialog), "the dialog")
    dialog = stage.find(ExportDialog)
    assert dialog is not None
    yield from stage.choose(dialog.format, 1)
    yield from stage.fill(dialog.out, "pictures/walker.mp4")
    yield from stage.rest(0.5)
    return None


def settings(stage: Stage) -> Taken:
    yield from stage.demo("walker", 1.2)
    yield from stage.still()
    yield from stage.press("Ctrl+,")
    yield from stage.until(lambda: stage.find(SettingsDialog), "the dialog")
    dialog = stage.find(SettingsDialog)
    assert dialog is not None
    yield from stage.fill(dialog.search, "lbvh")
    rows = dialog._list
    titled = next(row for row in range(rows.count()) if rows.item(row).text() == "Structure: Linear BVH")
    yield from stage.row(rows.viewport(), rows.visualItemRect(rows.item(titled)))
    return None


def palette(stage: Stage) -> Taken:
    yield from stage.demo("walker", 1.2)
    yield from stage.still()
    yield from stage.press("Ctrl+Shift+P")
    yield from stage.until(lambda: stage.find(Palette), "the palette")
    yield from stage.write("refit")
    yield from stage.rest(0.5)
    return None


def trouble(stage: Stage) -> Taken:
    yield from stage.demo("cloth", 1.2)
    yield from stage.still()
    yield from stage.menu("View", "Log")
    broken = Path(tempfile.gettempdir()) / "models/broken.glb"
    broken.parent.mkdir(exist_ok=True)
    broken.write_bytes(b"glTF" + bytes(40))
    yield from stage.open(broken)
    yield from stage.until(lambda: not stage.document.jobs, "the error")
    yield from stage.rest(1.0)
    return None


def lesson(stage: Stage) -> Taken:
    """The first question of a lesson, predicted and measured."""
    yield from stage.menu("Help", "Lessons", "Refit or rebuild? (10 minutes)")
    yield from stage.until(lambda: stage.window.opened_dialogs.lesson, "the lesson")
    shown = stage.window.opened_dialogs.lesson
    assert shown is not None
    yield from stage.until(lambda: not stage.document.jobs and stage.document.scene is not None, "its scene")
    yield from stage.still()
    first = shown.choices.buttons()[0]
    yield from stage.click(first, QPoint(10, first.height() // 2))
    yield from stage.click(shown.measure)
    yield from stage.until(lambda: len(shown.steps) == 1 and not shown.is_measuring, "what was measured", 120.0)
    yield from stage.rest(0.5)
    return None


def advice(stage: Stage) -> Taken:
    """When to rebuild the linear BVH of a knot that flies apart, measured while nothing else is done."""
    yield from stage.set("demo.triangles", 20000)
    yield from stage.palette("lbvh")
    yield from stage.demo("explode", 1.2)
    yield from stage.still()
    yield from stage.menu("Tools", "When to rebuild")
    yield from stage.until(lambda: stage.window.opened_dialogs.advice, "the dialog")
    shown = stage.window.opened_dialogs.advice
    assert isinstance(shown, QDialog) and isinstance(shown.measure, QPushButton)
    yield from stage.click(shown.measure)
    yield from stage.until(lambda: shown.found is not None, "the advice", 200.0)
    yield from stage.rest(0.5)
    return None

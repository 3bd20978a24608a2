"""The row above the picture, by mouse and keyboard: what it says, what it lights, where keys go, and what it costs."""

from __future__ import annotations

import collections
import dataclasses
import time
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from raygrove.app.frames.frame_history import sample_of
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.pipeline.chip import LEFT, TITLE, Chip, Face, font_of
from raygrove.app.ui.pipeline.faces import NAMES, memory, milliseconds
from raygrove.app.ui.pipeline.pipeline_bar import PipelineBar
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import made_statistics


def frame_of(window: MainWindow, **changes: Any) -> FinishedFrame:
    """A frame of the window's, with figures."""
    newest = window.loop.last_frame
    assert newest is not None
    request = dataclasses.replace(newest.request, is_moving=True)
    return dataclasses.replace(newest, request=request, statistics=made_statistics(), frame_ms=18.0, **changes)


def shown(window: MainWindow, *frames: FinishedFrame) -> PipelineBar:
    figures = window.session.figures
    figures.clear()  # of the frames that the window has drawn itself
    for frame in frames:
        figures.take(sample_of(frame, 0.8, 55.4, (1024, 768), "painted by Qt"))
    figures.tell()
    return window.pipeline.bar


@pytest.fixture
def bar(scene_window: MainWindow) -> PipelineBar:
    scene_window.resize(1280, 720)
    return shown(scene_window, frame_of(scene_window))


def test_chips_say_what_is_chosen_and_what_it_costs(bar: PipelineBar) -> None:
    faces = {name: (chip.face.choice, chip.face.cost) for name, chip in bar.chips.items()}
    assert tuple(faces) == NAMES
    assert faces["scene"] == ("two", "2 triangles")
    assert faces["motion"] == ("Its own", milliseconds(0.75))
    assert faces["structure"] == ("Linear BVH / BVH4", f"{milliseconds(2.0)}   {memory(12_000_000)}")
    assert faces["update"] == ("Rebuild", "rebuilt")
    assert faces["rays"] == ("Smooth", milliseconds(15.0))
    assert faces["display"][1] == milliseconds(0.8)
    assert bar.readout.lines == ("55 frames/s", f"{milliseconds(18.8)}   CPU", "trace 64 %")


def test_updates_of_frames_that_were_not_timed_are_told_without_a_time(scene_window: MainWindow) -> None:
    """A GPU times some frames only: those that were rebuilt or refitted may be none of them."""
    untold = dataclasses.replace(frame_of(scene_window), last_update=None)
    timed = dataclasses.replace(made_statistics().views[0], update="nothing", build_ms=0.0, refit_ms=0.0)

    def costs(*updates: str) -> tuple[str, str]:
        views = [dataclasses.replace(timed, update=update) for update in ("nothing", *updates)]
        frames = [
            dataclasses.replace(
                untold, frame_id=number, statistics=made_statistics(views=(view,), phases_age=int(number > 0))
            )
            for number, view in enumerate(views)
        ]
        chips = shown(scene_window, *frames).chips
        return chips["structure"].face.cost, chips["update"].face.cost

    assert costs("rebuild") == (memory(12_000_000), "rebuilt")
    assert costs("refit") == (memory(12_000_000), "refitted")
    assert costs("refit", "rebuild", "refit") == (memory(12_000_000), "refitted, 1 of 3 rebuilt")
    timed = dataclasses.replace(timed, build_ms=2.0, refit_ms=0.5)  # as the last ones of their kind took
    assert costs("rebuild") == (f"{milliseconds(2.5)}   {memory(12_000_000)}", "rebuilt")


def test_no_choice_is_named_by_its_identifier(scene_window: MainWindow) -> None:
    """In whatever state: no underscore, and a name begins with a capital letter or a digit."""
    from raygrove.app.settings import option_tables

    document, bar = scene_window.document, scene_window.pipeline.bar
    for name in option_tables.builders():
        scene_window.session.choices.choose_hierarchy(name)
        for layout in option_tables.layouts(name):
            scene_window.session.choices.choose_layout(layout)
            bar.show_latest()
            said = bar.chips["structure"].face.choice
            assert "_" not in said and said[0].isupper() and layout != said, (name, layout, said)
    for name in option_tables.ray_types():
        document.change("settings.render.ray_type", name)
        bar.show_latest()
        assert "_" not in bar.chips["rays"].face.choice and bar.chips["rays"].face.choice[0].isupper()


def test_a_choice_from_a_menu_is_seen_at_once_and_undone(scene_window: MainWindow, qtbot: Any) -> None:
    chip = scene_window.pipeline.bar.chips["structure"]
    assert chip.face.choice.startswith("Linear BVH")
    scene_window.commands.actions["structure.hierarchy.hploc"].trigger()
    qtbot.waitUntil(lambda: chip.face.choice.startswith("H-PLOC"))
    scene_window.document.undo()
    qtbot.waitUntil(lambda: chip.face.choice.startswith("Linear BVH"))


def test_chips_are_of_equal_width_and_keep_their_places(scene_window: MainWindow, bar: PipelineBar) -> None:
    scene_window.resize(1280, 640)
    QApplication.processEvents()
    places = [chip.geometry() for chip in bar.chips.values()]
    assert max(place.width() for place in places) - min(place.width() for place in places) <= 1
    scene_window.document.change("settings.render.ray_type", "texture_coordinates")
    shown(scene_window, frame_of(scene_window, drawn=(12_345, 6_789)))
    QApplication.processEvents()
    assert [chip.geometry() for chip in bar.chips.values()] == places


def test_the_structures_name_is_whole_in_a_window_between(scene_window: MainWindow) -> None:
    bar, wide = scene_window.pipeline.bar, {}
    for width in (1110, 1180, 1280):
        scene_window.resize(width, 640)
        QApplication.processEvents()
        chip = bar.chips["structure"]
        room = chip.width() - LEFT - 4
        assert QFontMetrics(font_of(TITLE)).horizontalAdvance("Linear BVH / BVH4") <= room, width
        wide[width] = {chip.width() for chip in bar.chips.values()}
    assert max(wide[1280]) - min(wide[1280]) <= 1 < max(wide[1180]) - min(wide[1180])


def test_a_narrow_window_has_an_icon_and_a_name(scene_window: MainWindow) -> None:
    bar = scene_window.pipeline.bar
    heights = {}
    for width in (900, 1280):
        scene_window.resize(width, 640)
        QApplication.processEvents()
        heights[width] = (bar.height(), bar.chips["rays"].height())
    assert heights == {900: (40, 32), 1280: (60, 52)}


def test_the_bar_is_the_frame_and_its_mark_the_displays_budget(bar: PipelineBar) -> None:
    strip = bar.bar
    segments = dict(strip.segments())
    assert list(segments) == ["animate", "build", "trace", "shade", "display", "other"]
    scale = strip.width() / strip.end()
    assert segments["trace"].width() == pytest.approx(12.0 * scale - 1.0, abs=0.1)
    assert strip.budget() <= strip.end() and strip.end() >= 18.8
    assert "trace 12.0" in strip.accessibleDescription()


def test_a_chip_under_the_pointer_lights_its_phases(bar: PipelineBar, qtbot: Any) -> None:
    for name, lit in (("rays", {"trace", "shade"}), ("structure", {"build", "optimise"}), ("scene", set())):
        QTest.mouseMove(bar.chips[name], bar.chips[name].rect().center())
        QApplication.sendEvent(bar.chips[name], QEvent(QEvent.Type.HoverEnter))
        assert bar.bar.lit == lit
    QApplication.sendEvent(bar.chips["rays"], QEvent(QEvent.Type.HoverLeave))
    assert bar.bar.lit == set()


def test_keys_go_from_chip_to_chip_and_not_to_the_timeline(scene_window: MainWindow, bar: PipelineBar) -> None:
    head = scene_window.document.state.timeline
    scene_window.commands.actions["pipeline.go"].trigger()
    QApplication.processEvents()
    assert bar.chips["structure"].hasFocus() and bar.bar.lit == {"build", "optimise"}
    for key, name in (
        (Qt.Key.Key_Right, "update"),
        (Qt.Key.Key_End, "display"),
        (Qt.Key.Key_Right, "scene"),
        (Qt.Key.Key_Left, "display"),
        (Qt.Key.Key_Home, "scene"),
    ):
        QTest.keyClick(QApplication.focusWidget(), key)
        assert bar.chips[name].hasFocus(), name
    assert scene_window.document.state.timeline == head


def test_each_chip_is_read_aloud_with_its_choice(bar: PipelineBar) -> None:
    for chip in bar.chips.values():
        assert chip.accessibleName() == f"{chip.face.label}: {chip.face.choice}"
        assert chip.accessibleDescription() == chip.face.cost and chip.focusPolicy() == Qt.FocusPolicy.StrongFocus


class Paints(QObject):
    """Counts what is painted."""

    def __init__(self, widgets: list[QWidget]) -> None:
        super().__init__()
        self.count: collections.Counter[str] = collections.Counter()
        for widget in widgets:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.count[watched.objectName()] += 1
        return False


def test_the_row_is_painted_ten_times_a_second_at_most(scene_window: MainWindow, bar: PipelineBar) -> None:
    paints = Paints([*bar.chips.values(), bar.bar, bar.readout])
    made, view = made_statistics(), made_statistics().views[0]
    begin = time.perf_counter()
    for index in range(60):
        statistics = dataclasses.replace(made, views=(dataclasses.replace(view, trace_ms=10.0 + index),))
        scene_window.loop.frame_arrived.emit(dataclasses.replace(frame_of(scene_window), statistics=statistics))
        until = begin + (index + 1) / 60.0
        while time.perf_counter() < until:
            QApplication.processEvents()
    seconds = time.perf_counter() - begin
    assert 0 < paints.count["pipeline.rays"] <= 10 * seconds + 2
    assert paints.count["pipeline.scene"] <= 1, "what says the same is not painted again"


def test_what_is_compiled_has_no_cost_yet(scene_window: MainWindow) -> None:
    """The old structure goes on being drawn and told; the chips name the new one."""
    window = scene_window
    window.loop._thread.stop(60.0)
    bar = shown(window, frame_of(window))
    costs = ("structure", "update", "rays")
    assert all(bar.chips[name].face.cost != "–" for name in costs)
    for key, value, blank in (
        ("render.hierarchy", "hploc", costs),
        ("render.optimiser", "rotations", costs),
        ("update.mode", "refit", ("update",)),
        ("render.ray_type", "path", ("rays",)),
        ("ray_type.smooth.exposure", 1.0, ()),
    ):
        window.document.change(f"settings.{key}", value)
        bar.show_latest()
        assert [name for name in costs if bar.chips[name].face.cost == "–"] == list(blank), key
        assert bar.readout.lines[1].startswith("18.8") and "ms" in bar.chips["display"].face.cost
        window.document.undo()
    bar.show_latest()
    assert bar.chips["structure"].face.cost.startswith("2.0")


def test_another_scene_begins_without_figures(scene_window: MainWindow, bar: PipelineBar) -> None:
    scene_window.document.close_scene()
    assert bar.chips["scene"].face.choice == "Open a scene" and bar.chips["rays"].face.cost == "–"
    assert bar.readout.lines == ("", "", "") and bar.bar.segments() == []


def test_a_race_has_its_figures_in_headers_and_the_row_none(scene_window: MainWindow) -> None:
    bar = shown(scene_window, frame_of(scene_window))
    assert "ms" in bar.chips["rays"].face.cost
    scene_window.document.change("settings.window.workspace", "race")
    bar.show_latest()
    assert "ms" not in bar.chips["rays"].face.cost, "what Explore drew last is none of the contestants"
    scene_window.document.change("settings.window.workspace", "explore")
    assert "ms" in shown(scene_window, frame_of(scene_window)).chips["rays"].face.cost


def test_a_narrow_chip_says_whose_choice_it_is_and_a_long_name_has_more_room(scene_window: MainWindow) -> None:
    bar = scene_window.pipeline.bar
    scene_window.resize(900, 640)
    QApplication.processEvents()
    assert bar.chips["structure"].width() > 1.4 * bar.chips["update"].width()
    scene_window.document.change("settings.window.workspace", "race")
    QApplication.processEvents()
    nobodys = bar.chips["structure"].grab().toImage()
    scene_window.document.change("settings.race.edited", "B")
    bar.show_latest()
    face = bar.chips["structure"].face
    assert (face.label, face.letter) == ("Structure of B", "B") and not bar.chips["rays"].face.letter
    with_letter = bar.chips["structure"].grab().toImage()
    bar.chips["structure"].show_face(dataclasses.replace(face, letter=""))
    assert bar.chips["structure"].grab().toImage() != with_letter != nobodys, "the letter is seen"


def test_a_new_cost_leaves_the_ring_of_the_focus_whole(qtbot: Any) -> None:
    chip, painted = Chip("rays", "rays"), list[QRect]()
    qtbot.addWidget(chip)
    chip.show_face(Face("Rays", "Smooth", "9.9 ms"))
    chip.resize(186, chip.height())
    chip.show()
    chip.activateWindow()
    chip.setFocus()
    qtbot.waitUntil(chip.hasFocus)
    QApplication.processEvents()

    class Watcher(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                painted.append(event.rect())  # type: ignore[attr-defined]
            return False

    watcher = Watcher()
    chip.installEventFilter(watcher)
    chip.show_face(Face("Rays", "Smooth", "1,707 ms"))
    qtbot.waitUntil(lambda: bool(painted))
    inner = chip.rect().adjusted(2, 2, -2, -2)
    assert all(inner.contains(rect) and rect != chip.rect() for rect in painted), painted

"""The pictures of docs/guide and of README (`window`), taken of the real program: `python -m
tests.app.ui.guide_pictures [NAME ...] [--data DIR]`, without a display.

Each is a few steps that a person would do, then the window as it then is. `DIR/animated/Fox.glb` is the one model that
is not a built-in scene.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="raygrove-guide-")  # the user's settings stay as they are

import numpy as np
from PIL import Image
from PySide6.QtCore import QSettings
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from raygrove.app.document.document import Document
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.dialogs.export_dialog import ExportDialog
from raygrove.app.ui.dialogs.palette import Palette
from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog
from raygrove.app.ui.session.session import make_session
from raygrove.app.ui.window.application import make_application, make_view, open_window
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.ui.guide_laboratory import (
    advice,
    build,
    divergence,
    hot_spots,
    lesson,
    own_tree,
    ray,
    sensor,
    tree,
)

OUT = Path(__file__).resolve().parents[3] / "docs/images/guide"
WINDOW, FIRST_WINDOW = (1180, 800), (1280, 720)
WIDTH, COLORS, LARGEST = 980, 224, 150_000
PATIENCE_S, SLOW_S, SETTLE_S = 240.0, 20.0, 10.0
ABOVE = ("window",)
"""Pictures beside the guide's folder."""


class Stage:
    """A window that someone uses."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.application = make_application()
        QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, os.environ["XDG_CONFIG_HOME"])
        settings = set_option(set_option(Settings(), "window.theme", "light"), "timeline.autoplay", False)
        self.window = MainWindow(make_session(Document(settings)), make_view)
        self.document = self.window.document
        open_window(self.window, None)
        self.window.resize(*WINDOW)
        self.window.reset_layout()
        self.document.change("settings.window.theme", "light")  # another picture may have chosen the dark one

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Let the program work until something is so."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"{what} never came")
            QApplication.processEvents()
            time.sleep(0.005)

    def rest(self, seconds: float) -> None:
        """Let the program work."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end, "time")

    def still(self) -> None:
        """Wait for the whole picture of what was chosen, or for what a slow machine makes of it."""
        end = time.monotonic() + SLOW_S

        def is_there() -> bool:
            frame = self.window.loop.last_frame
            is_whole = frame is not None and frame.samples >= frame.samples_wanted > 1
            return is_whole and frame.request.state == self.document.state or time.monotonic() > end

        self.until(is_there, "the picture")
        self.window.stats_panel.show_latest()
        self.rest(0.5)

    def demo(self, name: str, seconds: float = 1.3) -> None:
        """Open a built-in scene at an instant."""
        self.window.open_demo(name)
        self.until(lambda: not self.document.jobs and self.document.scene is not None, name)
        self.at(seconds)

    def at(self, seconds: float) -> None:
        """Go to an instant, paused."""
        head = timelines.pause(self.document.state.timeline)
        self.document.change("timeline", timelines.scrub(head, seconds, self.document.span))

    def do(self, *actions: str) -> None:
        """Choose from the menus."""
        for name in actions:
            self.window.commands.actions[name].trigger()
            self.rest(0.1)

    def docks(self, *names: str) -> None:
        """Show these docks alone."""
        for dock in self.window.docks:
            dock.setVisible(dock.objectName().removeprefix("dock.") in names)
        self.rest(0.3)

    def play(self, seconds: float) -> None:
        """Let the animation run for so long."""
        self.still()
        self.window.document.toggle_play()
        self.rest(seconds)
        self.window.document.toggle_play()


def window(stage: Stage) -> Iterable[QWidget]:
    """What README begins with: figures of a run, then a still picture at its best."""
    stage.document.change("settings.window.theme", "dark")
    stage.window.resize(*FIRST_WINDOW)
    stage.demo("metal", 2.2)
    stage.docks("stats", "timeline")
    stage.document.change("settings.render.hierarchy", "hploc")
    stage.document.change("settings.display.minimum_fps", 5.0)
    stage.play(6.0)
    stage.at(2.2)
    stage.document.change("settings.render.ray_type", "whitted")
    stage.still()
    stage.rest(SETTLE_S)
    return ()


def model(stage: Stage) -> Iterable[QWidget]:
    stage.window.open_files([str(stage.data / "animated/Fox.glb")])
    stage.until(lambda: not stage.document.jobs and stage.document.scene is not None, "the fox")
    stage.window.timeline_bar.choose_clip(2)
    stage.at(0.3)
    stage.still()
    return ()


def welcome(stage: Stage) -> Iterable[QWidget]:
    drawn = set[str]()
    stage.window.previews.ready.connect(lambda name, picture: drawn.add(name))
    stage.window.previews.ask(stage.window.welcome.cards)
    stage.until(lambda: drawn >= set(stage.window.welcome.cards), "the previews")
    stage.rest(0.5)
    return ()


def timeline(stage: Stage) -> Iterable[QWidget]:
    stage.demo("walker", 1.0)
    stage.still()
    return ()


def cameras(stage: Stage) -> Iterable[QWidget]:
    stage.demo("walker", 2.0)
    stage.still()
    for name in ("camera.bookmark", "camera.corner", "camera.bookmark", "camera.front", "camera.bookmark"):
        stage.do(name)
    stage.window.camera_commands.go_to(0)
    stage.docks("camera", "timeline")
    stage.still()
    return ()


def compare(stage: Stage) -> Iterable[QWidget]:
    stage.demo("explode", 0.0)
    stage.docks("cost", "timeline")
    for choice in ("structure.hierarchy.lbvh", "structure.hierarchy.hploc"):
        stage.do(choice)
        stage.play(6.5)
    stage.at(2.4)
    stage.still()
    return ()


def pipeline(stage: Stage) -> Iterable[QWidget]:
    stage.demo("walker", 1.0)
    stage.still()
    stage.play(2.0)
    stage.window.pipeline.open("structure")
    stage.rest(0.5)
    assert stage.window.pipeline.sheet is not None
    return (stage.window.pipeline.sheet,)


def statistics(stage: Stage) -> Iterable[QWidget]:
    stage.demo("orbit", 1.0)
    stage.docks("stats", "timeline")
    stage.document.change("settings.display.minimum_fps", 10.0)
    stage.play(5.0)
    stage.window.stats_panel.show_latest()
    return (stage.window.stats_panel,)


def boxes(stage: Stage) -> Iterable[QWidget]:
    stage.demo("walker", 1.2)
    stage.docks("timeline")
    stage.do("structure.boxes")
    stage.document.change("settings.boxes.first_depth", 3)
    stage.document.change("settings.boxes.last_depth", 9)
    stage.still()
    stage.window.inspectors.boxes.show_latest()
    return ()


def pixel(stage: Stage) -> Iterable[QWidget]:
    stage.demo("orbit", 2.0)
    stage.docks("timeline")
    stage.do("render.ray_type.steps")
    stage.still()
    stage.window.inspectors.heat.fit_range()
    stage.still()
    stage.window.inspectors.pick_at(0.55, 0.6)
    stage.rest(1.5)
    stage.window.inspectors.heat.show_latest()
    return ()


def race(stage: Stage) -> Iterable[QWidget]:
    stage.document.change("settings.race.contestants", "lbvh@refit, hploc@auto, binned_sah@refit, lbvh/bvh2")
    stage.document.change("settings.window.workspace", "race")
    stage.demo("walker", 0.5)
    stage.document.toggle_play()
    live = stage.window.place.race
    stage.until(lambda: live.live.count >= 48, "the frames of a race")
    stage.document.toggle_play()
    stage.until(lambda: live.live.proofs[1].rays > 0, "compared hits")
    stage.rest(2.0)
    return ()


def light(stage: Stage) -> Iterable[QWidget]:
    stage.demo("glass", 1.0)
    stage.document.change("settings.render.ray_type", "whitted")
    stage.docks("materials", "lights")
    stage.window.inspectors.materials.choose("glass")
    stage.document.change("settings.material.glass.attenuation_color", (0.9, 0.3, 0.2))
    stage.window.inspectors.lights.add.click()
    stage.document.change("settings.light.added_1.kind", "sphere")
    stage.still()
    return ()


def export(stage: Stage) -> Iterable[QWidget]:
    stage.demo("walker", 1.2)
    stage.still()
    stage.do("file.export")
    dialog = stage.window.findChild(ExportDialog, "export")
    assert dialog is not None
    dialog.format.setCurrentIndex(1)
    dialog.out.setText("pictures/walker.mp4")
    stage.rest(0.3)
    return (dialog,)


def settings(stage: Stage) -> Iterable[QWidget]:
    stage.demo("walker", 1.2)
    stage.still()
    stage.window.opened_dialogs.show_settings("hierarchy.lbvh")
    stage.rest(0.3)
    dialog = stage.window.findChild(SettingsDialog)
    assert dialog is not None
    return (dialog,)


def palette(stage: Stage) -> Iterable[QWidget]:
    stage.demo("walker", 1.2)
    stage.still()
    stage.do("help.palette")
    shown = stage.window.findChild(Palette)
    assert shown is not None
    shown.line.setText("refit")
    stage.rest(0.3)
    return (shown,)


def trouble(stage: Stage) -> Iterable[QWidget]:
    stage.demo("cloth", 1.2)
    stage.still()
    os.chdir(tempfile.mkdtemp())
    Path("broken.glb").write_bytes(b"glTF" + bytes(40))
    stage.docks("log", "stats", "timeline")
    stage.window.open_files(["broken.glb"])
    stage.until(lambda: not stage.document.jobs, "the error")
    stage.rest(0.5)
    return ()


PICTURES = {
    made.__name__: made
    for made in (
        *(window, welcome, model, timeline, cameras, pipeline),
        *(compare, statistics, boxes, pixel, ray, tree, build, hot_spots, sensor, divergence),
        *(race, advice, own_tree, lesson, light, export, settings, palette, trouble),
    )
}
ALONE = ("statistics",)
"""Pictures of one panel instead of the whole window."""


def picture_of(stage: Stage, name: str, above: Iterable[QWidget]) -> QPixmap:
    """The window with what lies above it, or that panel alone."""
    parts = list(above)
    if name in ALONE:
        return parts[0].grab()
    made = stage.window.grab()
    painter = QPainter(made)
    for part in parts:
        shown = part.grab()
        x, y = (made.width() - shown.width()) // 2, (made.height() - shown.height()) // 3
        painter.fillRect(x - 1, y - 1, shown.width() + 2, shown.height() + 2, QColor("#555555"))
        painter.drawPixmap(x, y, shown)
    painter.end()
    return made


def save(picture: QPixmap, path: Path, *, is_first: bool = False) -> None:
    """Small: narrowed, with a palette. The first of README is as wide as it is, its colours mixed from dots."""
    image = picture.toImage().convertToFormat(picture.toImage().Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())[
        :, : 3 * image.width()
    ]
    made = Image.fromarray(rows.reshape(image.height(), image.width(), 3).copy())
    if made.width > WIDTH and not is_first:
        made = made.resize((WIDTH, round(made.height * WIDTH / made.width)), Image.Resampling.LANCZOS)
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_first:
        colors = made.quantize(256, kmeans=2)
        made.quantize(palette=colors, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)
        return
    for count in (COLORS, COLORS // 2, COLORS // 4):
        made.quantize(count, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size < LARGEST:
            break


def main(arguments: list[str]) -> int:
    """Take the pictures that are named, or all of them."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.app.ui.guide_pictures", description="Take the pictures of docs/guide."
    )
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--data", type=Path, default=Path("."), help="the folder with animated/Fox.glb")
    names = parser.parse_args(arguments)
    for name in names.names or PICTURES:
        stage = Stage(names.data)
        above = PICTURES[name](stage)
        path = (OUT.parent if name in ABOVE else OUT) / f"{name}.png"
        save(picture_of(stage, name, above), path, is_first=name in ABOVE)
        print(name, path.stat().st_size)
        stage.window.close()
        stage.rest(0.2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

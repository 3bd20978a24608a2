"""A window that begins with a scene shows its first picture before the rest is there, in the place that it keeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMargins, QSettings, QSize
from PySide6.QtWidgets import QLabel

from raygrove.app.document import opening
from raygrove.app.document.document import Document
from raygrove.app.frames.frame_requests import FrameRequest
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.frames.switching import COMPILING
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.picture.painter_view import PainterView
from raygrove.app.ui.pipeline import pipeline_bar
from raygrove.app.ui.session import frame_loop
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.session.session import make_session
from raygrove.app.ui.window import application, first_picture, side_room, window_parts
from raygrove.app.ui.window.application import open_window
from raygrove.app.ui.window.first_picture import place_of
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.previews import Previews
from raygrove.gpu.scene import Scene
from tests.app.told import told_by

ROOT = Path(__file__).resolve().parents[4]

WAITED = """
import json, sys
from raygrove.app.document.document import Document
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.frames.switching import COMPILING
from raygrove.app.settings.settings import Settings
from raygrove.app.system import starting

HEAVY = ("panels.stats_panel", "panels.inspectors", "pipeline.pipeline", "dialogs.questions", "menus.window_menus")
HEAVY += ("commands.commands", "race.race", "timeline.timeline_bar", "window.docks", "window.welcome")

document = Document(Settings())
starting.load_binding()
document.open_demo("orbit")
from raygrove.app.ui.window.application import make_application, make_window
from raygrove.app.ui.window import first_picture

RenderThread.start = lambda self: None  # so that nothing is compiled here
first_picture.SCENE_MS, first_picture.PICTURE_MS = 3000, 100
found, wait = [], first_picture.FirstPicture.wait

def look(self):
    wait(self)
    found.append([name for name in HEAVY if f"raygrove.app.ui.{name}" in sys.modules])
    found.append(document.scene is not None and self.view.isVisible())

first_picture.FirstPicture.wait = look
application = make_application()
window = make_window(document, picture_first=True)
print(json.dumps(found))
"""


def test_a_picture_is_waited_for_before_panels_are_imported(tmp_path: Path) -> None:
    assert told_by(WAITED, tmp_path, ROOT) == [[], True]


@pytest.fixture
def submitted(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> list[FrameRequest | None]:
    """What the render thread was asked for, which draws nothing here."""
    asked: list[FrameRequest | None] = []
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(own_folders))
    monkeypatch.setattr(Previews, "ask", lambda self, names: None)
    # Or the window would look for garbage, in Python's place, in later tests: only a loop that turns deletes it.
    monkeypatch.setattr(application, "STARTED_MS", 3_600_000)
    monkeypatch.setattr(RenderThread, "start", lambda self: None)
    for way in ("submit", "retry"):
        monkeypatch.setattr(RenderThread, way, lambda self, request: asked.append(request))
    monkeypatch.setattr(first_picture, "PICTURE_MS", 200)
    monkeypatch.setattr(first_picture, "SCENE_MS", 1000)
    return asked


@pytest.fixture
def begin(qtbot: Any, submitted: Any) -> Callable[[Document], MainWindow]:
    def made(document: Document) -> MainWindow:
        session = make_session(document)
        window = MainWindow(session, lambda choice: PainterView(), picture_first=True)
        window.asks_before_quitting = False
        qtbot.addWidget(window)
        assert window.first_picture is not None
        window.first_picture.tell()
        open_window(window, None)
        return window

    return made


def settled(qtbot: Any, window: MainWindow, picture: Any) -> tuple[QSize, QMargins]:
    """The place of the picture once it has stayed the same for a while: on a busy machine bars are laid out late."""
    seen = [place_of(window, picture)]
    while len(seen) < 60 and len(set(map(repr, seen[-6:]))) + (len(seen) < 6) > 1:
        qtbot.wait(50)
        seen.append(place_of(window, picture))
    return seen[-1]


def test_the_whole_window_knows_the_scene_and_the_picture_keeps_its_place(
    begin: Any, qtbot: Any, submitted: Any, moving_scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    places, make = [], window_parts.make

    def note(window: MainWindow, make_view: Any) -> None:
        places.append(place_of(window, window.first_picture.view))
        make(window, make_view)

    monkeypatch.setattr(window_parts, "make", note)
    monkeypatch.setattr(opening, "open_scene", lambda *given: moving_scene)
    for _ in range(3):  # the second one is as small as the screen, the third remembers where the picture was
        document = Document()
        document.open_demo("two")
        window = begin(document)
        assert [one.scene for one in submitted if one is not None][-1] is moving_scene
        qtbot.waitUntil(lambda shown=window: shown.pipeline.isVisible())  # type: ignore[misc]
        settled(qtbot, window, window.view)
        assert window.stack.currentWidget() is window.view
        assert window.windowTitle() == "two - Raygrove" and window.first_picture.at is None
        assert {dock.objectName() for dock in window.docks if dock.isVisible()} == {"dock.stats", "dock.timeline"}
        places.append(place_of(window, window.view))
        window.resize(780, 640)  # the screen here is small
        settled(qtbot, window, window.view)
        window.close()
        submitted.clear()
    (old, _), (begun, at_first), (then, at_last) = places[0], places[-2], places[-1]
    assert old != begun == then and at_first == at_last, "a remembered place is where the picture was, and is again"


def test_what_cannot_be_opened_is_said_by_the_whole_window(begin: Any, qtbot: Any, tmp_path: Path) -> None:
    document = Document()
    document.open_files([str(tmp_path / "none.obj")])
    window = begin(document)
    qtbot.waitUntil(lambda: not document.jobs)
    assert window.stack.currentWidget() is window.welcome
    assert "none.obj" in window.session.notices.log.text("error")
    window.close()


def test_what_is_around_the_picture_is_known_for_a_window_of_that_size(own_folders: Path) -> None:
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(own_folders))
    memory, around = Memory(), QMargins(40, 68, 336, 39)
    assert memory.around_picture(QSize(800, 600)) is None and memory.lines() is None
    memory.keep_around_picture(QSize(800, 600), around)
    memory.keep_lines(20, 28)
    memory.flush()
    again = Memory()
    assert again.around_picture(QSize(800, 600)) == around and again.around_picture(QSize(801, 600)) is None
    assert again.lines() == (20, 28)


def test_nobody_waits_long_for_kernels_that_are_compiled(
    begin: Any, qtbot: Any, submitted: Any, moving_scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "open_scene", lambda *given: moving_scene)
    monkeypatch.setattr(first_picture, "PICTURE_MS", 60_000)
    monkeypatch.setattr(first_picture, "COMPILING_MS", 300)
    told, hear = [], first_picture.FirstPicture._hear

    def look(self: Any, busy: str) -> None:
        hear(self, busy)
        told.append(self.parent().statusBar().currentMessage())

    monkeypatch.setattr(first_picture.FirstPicture, "_hear", look)
    document = Document()

    def compiling(self: RenderThread, request: FrameRequest | None) -> None:
        if request is not None:
            self._on_busy(f"{COMPILING} H-PLOC, first use only: 0 of 3")

    for way in ("submit", "retry"):
        monkeypatch.setattr(RenderThread, way, compiling)
    document.open_demo("two")
    began = time.monotonic()
    window = begin(document)
    assert document.scene is moving_scene and time.monotonic() - began < 30.0
    assert told[0] == f"{COMPILING} H-PLOC, first use only: 0 of 3", "before the rest is there, too"
    strip = window.running.strip
    says = lambda: any(label.text().startswith(COMPILING) for label in strip.findChildren(QLabel))  # noqa: E731
    qtbot.waitUntil(lambda: strip.isVisible() and says())  # what was said while nobody of the window was there
    window.close()


def test_a_slow_first_picture_is_spoken_of_by_the_whole_window(
    begin: Any, qtbot: Any, submitted: Any, moving_scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "open_scene", lambda *given: moving_scene)
    monkeypatch.setattr(frame_loop, "SLOW_MS", 50)
    monkeypatch.setattr(first_picture, "PICTURE_MS", 60_000)
    told, hear = [], first_picture.FirstPicture._hear_drawing

    def look(self: Any, sentence: str) -> None:
        hear(self, sentence)
        told.append(self.parent().statusBar().currentMessage())
        self._ends = True

    monkeypatch.setattr(first_picture.FirstPicture, "_hear_drawing", look)
    document = Document()
    document.open_demo("two")
    window, said = begin(document), f"Drawing {moving_scene.name} …"
    assert told[0] == said, "before the rest is there, too"
    qtbot.waitUntil(lambda: window.busy_label.text() == said)
    window.loop._end_slow()
    assert window.busy_label.text() == ""
    window.close()


def test_nobody_waits_for_a_picture_that_a_race_will_show(
    begin: Any, submitted: Any, moving_scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "open_scene", lambda *given: moving_scene)
    monkeypatch.setattr(first_picture, "PICTURE_MS", 60_000)
    document = Document(set_option(Settings(), "window.workspace", "race"))
    document.open_demo("two")
    began = time.monotonic()
    window = begin(document)
    assert document.scene is moving_scene and time.monotonic() - began < 30.0
    window.close()


@pytest.mark.parametrize("width", [900, 1000, 1280])
def test_the_first_place_is_where_the_picture_will_be(scene_window: MainWindow, qtbot: Any, width: int) -> None:
    assert (first_picture.NARROW, first_picture.LOW_BELOW) == (side_room.NARROW, pipeline_bar.LOW_BELOW)
    scene_window.resize(width, 600)
    side_room.SideRoom(
        *(scene_window, scene_window.docks, scene_window.workspaces, scene_window.page_alone, scene_window.memory)
    )
    scene_window.resize(width, 610)
    _, found = settled(qtbot, scene_window, scene_window.view)
    expected = first_picture.first_place(width)
    assert (found.left(), found.right()) == pytest.approx((expected.left(), expected.right()), abs=12)
    assert (found.top(), found.bottom()) == pytest.approx((expected.top(), expected.bottom()), abs=12)

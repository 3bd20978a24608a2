"""A window that begins with its first page paints that before the rest is there, and is then like any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QSettings, QSize, Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.app.ui.picture.painter_view import PainterView
from raygrove.app.ui.session.session import make_session
from raygrove.app.ui.widgets.first_paint import FirstPaint
from raygrove.app.ui.window import application, window_parts
from raygrove.app.ui.window.application import open_window
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.previews import Previews
from raygrove.gpu.scene import Scene
from tests.app.told import told_by

ROOT = Path(__file__).resolve().parents[4]

PAINTED = """
import json, sys
from raygrove.app.document.document import Document
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.widgets.first_paint import FirstPaint
from raygrove.app.ui.window.application import make_application, make_window, open_window

HEAVY = ("panels.stats_panel", "panels.inspectors", "pipeline.pipeline", "dialogs.questions", "menus.window_menus")
HEAVY += ("commands.commands", "race.race", "timeline.timeline_bar", "window.docks", "window.window_parts")

found, keep = [], FirstPaint._keep

def look(self):
    keep(self)
    found.append([name for name in HEAVY if f"raygrove.app.ui.{name}" in sys.modules])

FirstPaint._keep = look
application = make_application()
window = make_window(Document(Settings()), page_first=True)
found.append(hasattr(window, "commands"))
window.commands.completed.connect(window.close)
open_window(window, None)
application.exec()
print(json.dumps(found))
"""


def test_the_first_page_is_painted_before_panels_are_imported(tmp_path: Path) -> None:
    assert told_by(PAINTED, tmp_path, ROOT) == [[], True]


@pytest.fixture
def quiet(own_folders: Path, painted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(own_folders))
    monkeypatch.setattr(Previews, "ask", lambda self, names: None)
    # Or the window would look for garbage, in Python's place, in later tests: only a loop that turns deletes it.
    monkeypatch.setattr(application, "STARTED_MS", 3_600_000)


def _made(qtbot: Any, page_first: bool) -> MainWindow:
    made = MainWindow(make_session(Document()), lambda choice: PainterView(), page_first=page_first)
    made.asks_before_quitting = False
    qtbot.addWidget(made)
    return made


@pytest.fixture(params=[False, True])
def begun(request: pytest.FixtureRequest, qtbot: Any, quiet: None) -> Iterator[MainWindow]:
    made = _made(qtbot, request.param)
    assert made.isVisible() == request.param == (made.first_paint.at is not None)
    open_window(made, None)
    with qtbot.waitExposed(made):
        pass
    yield made
    made.close()


def test_what_stands_in_the_window_is_the_same_either_way(begun: MainWindow, qtbot: Any, moving_scene: Scene) -> None:
    assert begun.stack.currentWidget() is begun.welcome and not begun.pipeline.isVisible()
    assert not [dock.objectName() for dock in begun.docks if dock.isVisible()]
    begun.document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    qtbot.waitUntil(lambda: begun.stack.currentWidget() is begun.view)
    qtbot.wait(50)
    assert begun.pipeline.isVisible() and begun.rail.isVisible() and begun.workspaces.switch.isVisible()
    shown = {dock.objectName() for dock in begun.docks if dock.isVisible()}
    assert shown == {"dock.stats", "dock.timeline"}
    qtbot.waitUntil(lambda: "structure.layout.bvh4" in begun.commands.commands)


def test_the_first_page_is_painted_no_larger_than_its_screen(
    qtbot: Any, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or its scenes would move once the window is whole."""
    sizes, make = list[QSize](), window_parts.make

    def noted(window: MainWindow, make_view: Any) -> None:
        sizes.append(window.size())
        make(window, make_view)

    monkeypatch.setattr(window_parts, "make", noted)
    made = _made(qtbot, True)
    room = made.screen().availableGeometry().size()
    assert sizes == [QSize(1280, 860).boundedTo(room)] and room.height() < 860, "or nothing had to be smaller"
    made.close()


def test_a_window_that_is_closed_while_its_page_is_painted_closes_once_it_is_whole(
    qtbot: Any, quiet: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, make = list[Any](), window_parts.make

    class Closer(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and isinstance(watched, MainWindow) and not answers:
                asked = QCloseEvent()
                QApplication.sendEvent(watched, asked)
                answers.append(asked.isAccepted())
            return False

    closer, begin = Closer(), FirstPaint.__init__

    def watch(self: FirstPaint, watched: Any) -> None:
        begin(self, watched)
        watched.installEventFilter(closer)

    def note(window: MainWindow, make_view: Any) -> None:
        answers.append(window.isVisible())
        make(window, make_view)

    monkeypatch.setattr(FirstPaint, "__init__", watch)
    monkeypatch.setattr(window_parts, "make", note)
    made = _made(qtbot, True)
    assert answers == [False, True] and made.testAttribute(Qt.WidgetAttribute.WA_WState_Created)
    qtbot.waitUntil(lambda: not made.isVisible())
    assert made.memory.recent() == []

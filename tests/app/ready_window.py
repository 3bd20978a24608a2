"""Each test of the window in a fork of a process that has it ready, as a user has it some seconds after the start: the
one of the fixture `window`, on a document without a scene, all commands made.

To make, show and destroy a window takes longer than most tests of it. A fork has one that nobody has touched. Tests
that make their window from other parts (an own `document` or `painted`), that share something made for their module,
or that are marked `new_window` run as all others do; those that are marked `forked` take what is ready in their own
way.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import pkgutil
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.app.stand_ins import PaintedMaker, paint
from tests.forks import AfterEach, Nursery

if TYPE_CHECKING:
    from raygrove.app.document.document import Document
    from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog
    from raygrove.app.ui.window.main_window import MainWindow
    from tests.app.warm_imports import Server

OF_THE_WINDOW = ("window", "document", "painted", "own_folders", "qtbot", "warm_imports")
"""Fixtures of tests/app/conftest.py that the ready window takes the place of."""

_FIXTURES = "tests.app.conftest"
_nursery: list[Nursery] = []
_ready: list[ReadyWindow] = []


@dataclasses.dataclass(frozen=True)
class ReadyWindow:
    """The window with its document, a dialog of settings on another one, not shown, the folder of what the user has
    set, and importing children to come."""

    window: MainWindow
    document: Document
    dialog: SettingsDialog
    dialog_document: Document
    folder: Path
    imports: Server
    application: Any


def ready() -> ReadyWindow | None:
    """What is ready in this process: there is something in forks only."""
    return _ready[0] if _ready else None


def draw_with(maker: type[PaintedMaker], monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that are made from now on draw with it, and so does the one that is ready, which has drawn nothing."""
    paint(monkeypatch, maker)
    make_maker: Any = maker
    for made in _ready:
        made.window.loop._thread._make_maker = make_maker


def is_forked(item: pytest.Item) -> bool:
    """Whether a test has what is ready."""
    if item.get_closest_marker("forked"):
        return True
    info: Any = getattr(item, "_fixtureinfo", None)
    fixtures: dict[str, Any] = info.name2fixturedefs if info is not None else {}
    if "window" not in fixtures or item.get_closest_marker("new_window"):
        return False
    is_shared = any(made.scope in ("class", "module", "package") for found in fixtures.values() for made in found)
    is_own = any(_is_own(fixtures[name][-1]) for name in OF_THE_WINDOW[1:] if name in fixtures)
    return not is_shared and not is_own and not _is_own(fixtures["window"][0])


def _is_own(fixture: Any) -> bool:
    return fixture.func.__module__ != _FIXTURES


# -- what pytest calls ------------------------------------------------------------------------------------------------
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "forked: takes what is ready in its own way, as by draw_with")
    config.addinivalue_line("markers", "new_window: has a window of its own, made anew, not the one that is ready")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Begin to make the window, before any test has left something in this process."""
    options = session.config.option
    if options.collectonly or options.usepdb or session.testsfailed or not any(map(is_forked, session.items)):
        return
    folder = session.config._tmp_path_factory.mktemp("ready")  # type: ignore[attr-defined]
    name = session.config.getini("qt_qapp_name")
    _nursery.append(Nursery(session.items, lambda: _prepare(folder, name)))


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Have the test run by a fork."""
    if not _nursery or not is_forked(item):
        return None
    _nursery[0].run(item, nextitem)
    return True


def pytest_sessionfinish() -> None:
    while _nursery:
        _nursery.pop().end()


# -- the process that forks -------------------------------------------------------------------------------------------
def _prepare(folder: Path, application_name: str) -> AfterEach:
    from PySide6.QtCore import qInstallMessageHandler
    from PySide6.QtWidgets import QApplication

    from raygrove.app.document.document import Document
    from raygrove.app.scene_io import importer
    from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog
    from raygrove.app.ui.pipeline.structure_sheet import foresee
    from tests.app.warm_imports import Server

    qInstallMessageHandler(_say)
    os.environ["XDG_CONFIG_HOME"] = str(folder)
    application = QApplication([application_name])
    application.setApplicationName(application_name)
    _import_all()
    document, window = _open(folder)
    foresee("host", (2, 0, 0), document.state.settings)  # for the scene of `scene_window`; it is found once a process
    dialog_document = Document()
    dialog = SettingsDialog(dialog_document)
    assert dialog.pages  # each is made when it is looked at
    imports = Server(importer._start)
    imports.begin()
    _end_painters()
    qInstallMessageHandler(None)
    _ready.append(ReadyWindow(window, document, dialog, dialog_document, folder, imports, application))
    return _as_now(folder)


def _say(kind: Any, context: Any, message: str) -> None:
    if "propagateSizeHints" not in message:  # which windows without a screen say each
        print(message, file=sys.stderr)


def _import_all() -> None:
    """What windows import when it is wanted."""
    package = importlib.import_module("raygrove.app.ui")
    for module in pkgutil.walk_packages(package.__path__, "raygrove.app.ui."):
        if "measuring" not in module.name:
            importlib.import_module(module.name)


def _open(folder: Path) -> tuple[Document, MainWindow]:
    from raygrove.app.document.document import Document
    from raygrove.app.ui.session.frame_loop import FrameLoop

    document = Document()
    with pytest.MonkeyPatch.context() as patch:
        paint(patch)
        patch.setattr(FrameLoop, "start", lambda self: None)  # no thread lives on in a fork
        window = make(document, folder, patch)
        wait_for_the_rest(window)
    return document, window


def wait_for_the_rest(window: MainWindow) -> None:
    """Until all that a window makes later is there."""
    import time

    from PySide6.QtWidgets import QApplication

    until = time.monotonic() + 600
    while not window.commands._is_complete or window.windowIcon().isNull() or not window.isActiveWindow():
        assert time.monotonic() < until, "the window does not get ready"
        QApplication.processEvents()
        time.sleep(0.01)


def _end_painters() -> None:
    """End the threads that help Qt to paint. It would wait for them in a fork, where they are no more; without them it
    starts others. Qt has no public name for where they are."""
    import ctypes

    import shiboken6
    from PySide6.QtCore import QLibraryInfo, QThreadPool

    libraries = QLibraryInfo.path(QLibraryInfo.LibraryPath.LibrariesPath)
    pool = ctypes.CDLL(f"{libraries}/libQt6Gui.so.6")._ZN22QGuiApplicationPrivate15qtGuiThreadPoolEv
    pool.restype = ctypes.c_void_p
    found: Any = shiboken6.wrapInstance(pool(), QThreadPool)
    found.waitForDone()


def make(document: Document, folder: Path, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """A window on the document with the painter view, shown; its settings lie in the folder."""
    from PySide6.QtCore import QSettings

    from raygrove.app.ui.picture.painter_view import PainterView
    from raygrove.app.ui.session.session import make_session
    from raygrove.app.ui.window import theme
    from raygrove.app.ui.window.application import open_window
    from raygrove.app.ui.window.main_window import MainWindow

    monkeypatch.setattr(theme, "FONT", "")  # else a program's first window is laid out in another font than later ones
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(folder))
    leave_previews(monkeypatch)
    made = MainWindow(make_session(document), lambda choice: PainterView())
    made.memory.silence("device")  # tests run without a GPU, and say so where they mean it
    open_window(made, (320, 240))
    return made


def leave_previews(monkeypatch: pytest.MonkeyPatch) -> None:
    """Previews are not drawn."""
    from raygrove.app.ui.window.previews import Previews

    monkeypatch.setattr(Previews, "ask", lambda self, names: None)


def _as_now(folder: Path) -> AfterEach:
    """Puts a folder back to what is in it now."""
    kept = {path.relative_to(folder): path.read_bytes() for path in _files(folder)}

    def put_back() -> None:
        found = {path.relative_to(folder): path.read_bytes() for path in _files(folder)}
        if found == kept:
            return
        shutil.rmtree(folder)
        for path, data in kept.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)

    return put_back


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())

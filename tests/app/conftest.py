"""What the tests of the program may use: Qt without a screen, settings of their own, a document with a scene, and
pictures without an engine."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from raygrove.app.system import starting
from raygrove.gpu.scene import Clip, KeyFrames, Mesh, Node, Object, Scene
from tests.app.ready_window import leave_previews, make, ready
from tests.app.stand_ins import PaintedMaker, paint, settle
from tests.app.warm_imports import Server
from tests.waiting import EVENT_S

if TYPE_CHECKING:
    from raygrove.app.document.document import Document
    from raygrove.app.ui.window.main_window import MainWindow

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # tests marked gl start processes of their own under Xvfb
os.environ["RAYGROVE_CHECK_GL"] = "1"


PATIENCE_MS = int(1000 * EVENT_S)
"""How long tests wait for what must come. What comes ends the wait; a busy machine may take long."""


@pytest.fixture
def qtbot(qapp: Any, request: pytest.FixtureRequest) -> Any:
    """pytest-qt's, more patient."""
    from pytestqt.qtbot import QtBot

    class PatientBot(QtBot):
        def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
            super().waitUntil(callback, timeout=timeout)

        def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **options: Any) -> Any:
            return super().waitSignal(signal, timeout=timeout, **options)

        def waitExposed(self, widget: Any, *, timeout: int = PATIENCE_MS) -> Any:
            return super().waitExposed(widget, timeout=timeout)

    return PatientBot(request)


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings and caches of the test's own, so that the user's are neither read nor written. Compiled kernels stay
    where they are."""
    is_ready = ready()
    folder = is_ready.folder if is_ready else tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def collector(request: pytest.FixtureRequest) -> Iterator[None]:
    """Python's, which a command run in this process leaves at rest until the program would have started. While windows
    are tested it rests: as in the program nothing of Qt's may be destroyed by another thread (ui/session/collector.py),
    and what is garbage goes between two tests, by this one."""
    if "ui" in request.path.parts:
        gc.disable()
    yield
    starting.forget()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def warm_imports() -> Iterator[Server]:
    """Imports by children that are forked where their modules are loaded."""
    from raygrove.app.scene_io import importer

    is_ready = ready()
    server = is_ready.imports if is_ready else Server(importer._start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importer, "_start", server.start)
        yield server
    server.end()


@pytest.fixture
def real_imports(warm_imports: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports by children that begin from nothing, as the program's do."""
    monkeypatch.setattr("raygrove.app.scene_io.importer._start", warm_imports.as_the_program_does)


@pytest.fixture
def moving_scene() -> Scene:
    """Two triangles that move between three keys in two seconds."""
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32)
    keys = KeyFrames(
        np.array([0.0, 0.5, 2.0], np.float32), np.stack([positions, positions + 1, positions]).astype(np.float32)
    )
    mesh = Mesh("two", positions, np.array([[0, 1, 2], [2, 1, 3]], np.int32), np.zeros(2, np.int32), key_frames=keys)
    return Scene(
        "two triangles",
        (Node(),),
        (mesh,),
        (Object(0, 0),),
        clips=(Clip("all", 2.0),),
        lower=(0, 0, 0),
        upper=(2, 2, 1),
    )


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> type[PaintedMaker]:
    """Windows draw with the stand-in."""
    paint(monkeypatch)
    return PaintedMaker


@pytest.fixture
def document() -> Document:
    """A document without a scene."""
    from raygrove.app.document.document import Document

    is_ready = ready()
    return is_ready.document if is_ready else Document()


@pytest.fixture
def window(
    qtbot: Any, document: Document, painted: type[PaintedMaker], own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    """A window on the document with the painter view, shown, its render thread running. Previews are not drawn."""
    is_ready = ready()
    if is_ready:
        made = is_ready.window
        leave_previews(monkeypatch)
        made.loop.start()
    else:
        made = make(document, own_folders, monkeypatch)
        qtbot.addWidget(made)
        with qtbot.waitExposed(made):
            pass
    yield made
    made.close()


@pytest.fixture
def scene_window(qtbot: Any, window: MainWindow, moving_scene: Scene) -> MainWindow:
    """The window with a moving scene, paused, its picture shown, and nothing under way."""
    from raygrove.app.document.state import SceneReference

    window.document.change("settings.timeline.autoplay", False)
    window.document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    settle(window, qtbot)
    return window

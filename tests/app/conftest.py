"""What the tests of the program may use: Qt without a screen, settings of their own, a document with a scene, and pictures without an engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gpu.scene import Clip, KeyFrames, Mesh, Node, Object, Scene

if TYPE_CHECKING:
    from app.document import Document
    from app.ui.main_window import MainWindow

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # tests marked gl start processes of their own under Xvfb
os.environ["RAYGROVE_CHECK_GL"] = "1"


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings and caches of the test's own, so that the user's are neither read nor written. Compiled kernels stay where they are."""
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder


@pytest.fixture
def moving_scene() -> Scene:
    """Two triangles that move between three keys in two seconds."""
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32)
    keys = KeyFrames(np.array([0.0, 0.5, 2.0], np.float32), np.stack([positions, positions + 1, positions]).astype(np.float32))
    mesh = Mesh("two", positions, np.array([[0, 1, 2], [2, 1, 3]], np.int32), np.zeros(2, np.int32), key_frames=keys)
    return Scene("two triangles", (Node(),), (mesh,), (Object(0, 0),), clips=(Clip("all", 2.0),), lower=(0, 0, 0), upper=(2, 2, 1))


class PaintedMaker:
    """Stands in for target and engine: a frame whose red grows to the right and whose green grows downwards, at full size."""

    drawn: list[Any] = []

    def __init__(self, on_busy: Callable[[str], None] = lambda sentence: None) -> None:
        self._frame_id = 0
        self.kind = "host"

    def draw(self, scene: Scene, state: Any, moment: Any, slots: Any, is_moving: bool) -> Any:
        """Paint every slot."""
        from app.frame_maker import Outcome

        self._frame_id += 1
        PaintedMaker.drawn.append((state, moment, is_moving))
        for slot in slots:
            with slot.image(self, slot.width, slot.height) as image:
                image[:] = test_picture(slot.width, slot.height)
        return Outcome(self._frame_id, 1, 1, None, "host", "a painter")

    def flush(self) -> Any:
        """There is nothing to wait for."""
        return made_statistics()

    def close(self) -> None:
        """There is nothing to give back."""


def test_picture(width: int, height: int) -> np.ndarray:
    """(height, width, 4) uint8: red from left to right, green from top to bottom, blue 40."""
    image = np.full((height, width, 4), 255, np.uint8)
    image[..., 0] = np.linspace(0, 255, width).astype(np.uint8)[None, :]
    image[..., 1] = np.linspace(0, 255, height).astype(np.uint8)[:, None]
    image[..., 2] = 40
    return image


test_picture.__test__ = False  # type: ignore[attr-defined]


def made_statistics(**changes: Any) -> Any:
    """Statistics of a frame, as an engine gives them."""
    from gpu.stats import FrameStatistics, HierarchyStatistics, ViewStatistics

    structure = HierarchyStatistics(99_999, 25_000, 100_000, 100_000, 3, 21, 57.25, 12_000_000, 4_000_000)
    view = ViewStatistics(
        hierarchy="lbvh", layout="bvh4", ray_type="smooth", update="rebuild", reason="rebuild was chosen",
        phases_ms={"build.sort": 1.5, "build.emit": 0.5, "trace.primary": 12.0}, build_ms=2.0, refit_ms=0.0, trace_ms=12.0, shade_ms=3.0,
        rays=786_432, mrays_per_s=65.5, width=1024, height=768, samples=1, structure=structure,
    )  # fmt: skip
    values = {
        "frame_id": 7, "time": 0.25, "target": "host", "triangles": 100_000, "animate_ms": 0.75, "frame_ms": 18.0, "host_ms": 0.3,
        "launches": 19, "bytes": {"hierarchy": 12 << 20, "scratch": 4 << 20}, "views": (view,), **changes,
    }  # fmt: skip
    return FrameStatistics(**values)


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> type[PaintedMaker]:
    """Windows draw with the stand-in."""
    import functools

    from app.render_thread import RenderThread

    PaintedMaker.drawn = []
    monkeypatch.setattr("app.ui.frame_loop.RenderThread", functools.partial(RenderThread, make_maker=PaintedMaker))
    return PaintedMaker


@pytest.fixture
def document() -> Document:
    """A document without a scene."""
    from app.document import Document

    return Document()


@pytest.fixture
def window(qtbot: Any, document: Document, painted: type[PaintedMaker], own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """A window on the document with the painter view, shown, its render thread running. Previews are not drawn."""
    from PySide6.QtCore import QSettings

    from app.ui.application import open_window
    from app.ui.main_window import MainWindow
    from app.ui.painter_view import PainterView
    from app.ui.previews import Previews

    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(own_folders))
    monkeypatch.setattr(Previews, "ask", lambda self, names: None)
    made = MainWindow(document, lambda choice: PainterView())
    qtbot.addWidget(made)
    open_window(made, (320, 240))
    qtbot.waitExposed(made)
    yield made
    made.close()


@pytest.fixture
def scene_window(qtbot: Any, window: MainWindow, moving_scene: Scene) -> MainWindow:
    """The window with a moving scene, paused, its first picture shown."""
    from app.state import SceneReference

    window.document.change("settings.timeline.autoplay", False)
    window.document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    qtbot.waitUntil(lambda: window.view.picture() is not None, timeout=5000)
    return window

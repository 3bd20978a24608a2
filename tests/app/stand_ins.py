"""Stand-ins for the engine in tests of the window, known pixel by pixel and figure by figure; and waiting for exports."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from app.frame_maker import Outcome, Picked
from app.node_path import PathNode
from gpu.engine import Hit
from gpu.scene import Scene
from gpu.stats import FrameStatistics, HierarchyStatistics, RaySteps, ViewStatistics


class PaintedMaker:
    """Stands in for target and engine: a frame whose red grows to the right and whose green grows downwards, at full size."""

    drawn: list[Any] = []

    def __init__(self, on_busy: Callable[[str], None] = lambda sentence: None) -> None:
        self._frame_id = 0
        self.kind = "host"

    def draw(self, scene: Scene, state: Any, moment: Any, slots: Any, is_moving: bool) -> Any:
        """Paint every slot."""
        self._frame_id += 1
        PaintedMaker.drawn.append((state, moment, is_moving))
        for slot in slots:
            with slot.image(self, slot.width, slot.height) as image:
                image[:] = gradient(slot.width, slot.height)
        return Outcome(self._frame_id, 1, 1, None, "host", "a painter")

    def pick(self, across: float, down: float, view: int = 0, *, with_path: bool = False) -> Picked:
        """The left half of the picture is triangle 1 of the scene's first object, the right half background."""
        if across > 0.5:
            return Picked(None)
        nodes = (PathNode(0, 0, (0, 0, 0), (2, 2, 1), 1.0, False, 0), PathNode(2, 1, (0, 0, 0), (1, 1, 1), 0.5, True, 2)) if with_path else ()
        return Picked(Hit(1, 4.5, 0.25, 0.5, (across, down, 0.0), 0, 0, 0, 0), nodes)

    def steps(self, across: float, down: float, view: int = 0) -> RaySteps:
        """A hundred nodes from left to right, ten primitives from top to bottom, two boxes a node."""
        return RaySteps(int(100 * across), int(10 * down), 2 * int(100 * across))

    def flush(self) -> Any:
        """There is nothing to wait for."""
        return made_statistics()

    def close(self) -> None:
        """There is nothing to give back."""


def gradient(width: int, height: int) -> np.ndarray:
    """(height, width, 4) uint8: red from left to right, green from top to bottom, blue 40."""
    image = np.full((height, width, 4), 255, np.uint8)
    image[..., 0] = np.linspace(0, 255, width).astype(np.uint8)[None, :]
    image[..., 1] = np.linspace(0, 255, height).astype(np.uint8)[:, None]
    image[..., 2] = 40
    return image


def made_statistics(**changes: Any) -> FrameStatistics:
    """Statistics of a frame, as an engine gives them."""
    structure = HierarchyStatistics(
        99_999, 25_000, 100_000, 100_000, 3, 21, 57.25, 12_000_000, 4_000_000, measured_time=0.25, measured_mode="rebuild"
    )
    view = ViewStatistics(
        hierarchy="lbvh", layout="bvh4", ray_type="smooth", update="rebuild", reason="rebuild was chosen",
        phases_ms={"build.sort": 1.5, "build.emit": 0.5, "trace.primary": 12.0, "shade": 2.5, "resolve": 0.5},
        build_ms=2.0, refit_ms=0.0, trace_ms=12.0, shade_ms=3.0,
        rays=786_432, mrays_per_s=65.5, width=1024, height=768, samples=1, structure=structure,
        update_mode="rebuild",
    )  # fmt: skip
    values = {
        "frame_id": 7, "time": 0.25, "target": "host", "triangles": 100_000, "animate_ms": 0.75, "frame_ms": 18.0, "host_ms": 0.3,
        "launches": 19, "bytes": {"hierarchy": 12 << 20, "scratch": 4 << 20}, "views": (view,), **changes,
    }  # fmt: skip
    return FrameStatistics(**values)


def wait_for_exports() -> None:
    """Until no export runs: what was cancelled has run out. A thread is listed a moment before it can be joined, so the list itself is watched."""
    until = time.monotonic() + 30
    while any(thread.name == "export" for thread in threading.enumerate()):
        assert time.monotonic() < until, "an export does not end"
        time.sleep(0.02)


@contextlib.contextmanager
def failing_pictures(error: Exception, window: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside, no picture can be drawn, and the window has said so of another ray type's."""

    def fail(*_: Any) -> Any:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(PaintedMaker, "draw", fail)
        window.document.change("settings.render.ray_type", "flat")
        qtbot.waitUntil(lambda: bool(window.banners.messages()))
        yield

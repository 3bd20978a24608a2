"""Stand-ins for the engine in tests of the window, known pixel by pixel and figure by figure; and waiting for
exports."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.document import Document
from raygrove.app.document.jobs import Job
from raygrove.app.frames.cell_neighbours import Neighbours
from raygrove.app.frames.node_path import PathNode
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.questions import Picked
from raygrove.app.frames.render_thread import RenderThread
from raygrove.gpu.engine import Hit
from raygrove.gpu.region import RegionContents
from raygrove.gpu.scene import Scene
from raygrove.gpu.stats import FrameStatistics, HierarchyStatistics, Near, RaySteps, Surroundings, ViewStatistics


class PaintedMaker:
    """Stands in for target and engine: a frame whose red grows to the right and whose green grows downwards, at full
    size."""

    drawn: list[Any] = []
    compiles_ahead = False
    neighbours: Neighbours | None = None
    sight: str | None = "seen"

    def __init__(self, on_busy: Callable[[str], None] = lambda sentence: None) -> None:
        self._frame_id = 0
        self.kind = "host"

    def draw(self, scene: Scene, state: Any, moment: Any, slots: Any, is_moving: bool) -> Any:
        """Paint every slot; a region has as many primitives in it as it is tenths wide, and in each
        second of the animation a thousand more."""
        self._frame_id += 1
        PaintedMaker.drawn.append((state, moment, is_moving))
        for slot in slots:
            with slot.image(self, slot.width, slot.height) as image:
                image[:] = gradient(slot.width, slot.height)
        region = state.selection.region
        count = round(10 * region.size) + 1000 * state.timeline.time
        contents = RegionContents(region, "surfaces", int(count)) if region.is_there else None
        return Outcome(self._frame_id, 1, 1, None, "host", "a painter", contents=contents, drawn=slots[0].drawn)

    def pick(self, across: float, down: float, view: int = 0, *, with_path: bool = False) -> Picked:
        """The left half of the picture is triangle 1 of the scene's first object, the right half background."""
        if across > 0.5:
            return Picked(None)
        nodes = (
            (PathNode(0, 0, (0, 0, 0), (2, 2, 1), 1.0, False, 0), PathNode(2, 1, (0, 0, 0), (1, 1, 1), 0.5, True, 2))
            if with_path
            else ()
        )
        hit = Hit(1, 4.5, 0.25, 0.5, (across, down, 0.0), 0, 0, 0, 0)
        return Picked(hit, nodes, PaintedMaker.neighbours if with_path else None)

    def in_sight(self, view: int = 0) -> str | None:
        """What a test says is in view."""
        return PaintedMaker.sight

    def near(self, hit: Hit, count: int, view: int = 0) -> Surroundings:
        """A row of neighbours to the right of what was picked."""
        x, y, z = hit.position
        nearest = tuple(Near(2 + i, 0.1 * (i + 1), (x + 0.1 * (i + 1), y, z)) for i in range(count))
        return Surroundings("surfaces", hit.position, nearest)

    def steps(self, across: float, down: float, view: int = 0) -> RaySteps:
        """A hundred nodes from left to right, ten primitives from top to bottom, two boxes per node."""
        return RaySteps(int(100 * across), int(10 * down), 2 * int(100 * across))

    def flush(self) -> Any:
        """There is nothing to wait for."""
        return made_statistics()

    def close(self) -> None:
        """There is nothing to give back."""


def paint(monkeypatch: pytest.MonkeyPatch, maker: type[PaintedMaker] = PaintedMaker) -> None:
    """Windows that are made from now on draw with the stand-in."""
    PaintedMaker.drawn = []
    drawn_by = functools.partial(RenderThread, make_maker=maker)
    monkeypatch.setattr("raygrove.app.ui.session.frame_loop.RenderThread", drawn_by)


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
        99_999,
        25_000,
        100_000,
        100_000,
        3,
        21,
        57.25,
        12_000_000,
        4_000_000,
        measured_time=0.25,
        measured_mode="rebuild",
    )
    view = ViewStatistics(
        hierarchy="lbvh", layout="bvh4", ray_type="smooth", update="rebuild", reason="rebuild was chosen",
        phases_ms={"build.sort": 1.5, "build.emit": 0.5, "trace.primary": 12.0, "shade": 2.5, "resolve": 0.5},
        build_ms=2.0, refit_ms=0.0, trace_ms=12.0, shade_ms=3.0,
        rays=786_432, mrays_per_s=65.5, width=1024, height=768, samples=1, structure=structure,
        update_mode="rebuild",
    )  # fmt: skip
    values = {
        "frame_id": 7, "time": 0.25, "target": "host", "triangles": 100_000, "animate_ms": 0.75, "frame_ms": 18.0,
        "host_ms": 0.3,
        "launches": 19, "bytes": {"hierarchy": 12 << 20, "scratch": 4 << 20}, "views": (view,), **changes,
    }  # fmt: skip
    return FrameStatistics(**values)


def finish(document: Document, job: Job) -> None:
    """Until a job has ended, and the document has heard of it and of those before it."""
    assert job.wait(60.0)
    until = time.monotonic() + 60
    while document.jobs:
        assert time.monotonic() < until, "the job's outcome never arrived"
        document.mailroom.poll()
        time.sleep(0.005)


def wait_for_exports() -> None:
    """Until no export runs: what was cancelled has run out. A thread is listed a moment before it can be joined, so the
    list itself is watched."""
    until = time.monotonic() + 60
    while any(thread.name == "export" for thread in threading.enumerate()):
        assert time.monotonic() < until, "an export does not end"
        time.sleep(0.02)


def settle(window: Any, qtbot: Any) -> None:
    """Until the still picture of what the document says has the size of the view. Docks find their sizes after the
    first picture, and the camera that came with a scene counts as moving for a while: both ask for pictures of their
    own, which would come in the midst of a test."""
    loop, view = window.loop, window.view
    loop._rest.stop()
    loop.request()

    def is_settled() -> bool:
        frame, picture = loop.last_frame, view.picture()
        return (
            frame is not None
            and loop._arrived_serial == loop._serial
            and (frame.request.state, frame.request.is_moving) == (window.document.state, False)
            and picture is not None
            and (picture.width(), picture.height()) == view.device_size()
        )

    qtbot.waitUntil(is_settled)


def take_places() -> None:
    """Until widgets stand where they belong: what one is told of its place may have another ask for its own."""
    from PySide6.QtWidgets import QApplication

    for _ in range(20):
        QApplication.processEvents()


def wait_for_rest(window: Any, qtbot: Any) -> None:
    """Until the last picture of the view's size was drawn, or could not be, and nothing is left to do. A banner makes
    the view smaller, some time after it has come."""
    loop, view = window.loop, window.view

    def has_come() -> bool:
        take_places()
        with loop._thread._mail:
            is_idle = not loop._thread._has_mail and loop._thread._is_complete
        return is_idle and loop._submitted is not None and loop._submitted.size == view.device_size()

    qtbot.waitUntil(has_come)


@contextlib.contextmanager
def failing_pictures(error: Exception, window: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside, no picture can be drawn, and the window has said so of another ray type's."""

    def fail(*_: Any) -> Any:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(PaintedMaker, "draw", fail)
        window.document.change("settings.render.ray_type", "flat")
        qtbot.waitUntil(lambda: bool(window.toasts.messages()))
        yield

"""A document that follows a running loop: the newest frame while the head is at the end, all that are held as a clip
once it is taken elsewhere."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Sequence

import numpy as np

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.app.live.ring import LiveFrame, LiveRing
from raygrove.app.scene_io.normals import smooth_normals
from raygrove.gpu.scene import KeyFrames, Material, Mesh, Node, Object, Scene

FRAME_SECONDS = 1.0 / 30.0
"""How far apart frames are of which the loop says no times."""

LEAST_SECONDS = 0.05
SHARE = 4.0
"""A frame is shown at most every LEAST_SECONDS, and not before so many times what showing the last one took."""

MOST_NORMALS = 3_000_000
"""Vertices of all held frames together that get normals; with more of them faces are flat."""

REFERENCE = SceneReference("none", ("running program",))
"""It has no file: what the window is called by, and no more."""


class LiveScene:
    """See the module. `poll` is called again and again by the window's thread."""

    def __init__(self, document: Document, ring: LiveRing, clock: Callable[[], float] = time.perf_counter) -> None:
        self.document, self.ring, self._clock = document, ring, clock
        self._shown = 0
        self._next = -np.inf
        self._is_following = True
        self._live: Scene | None = None
        shape = ring.shape
        self._triangles = np.array(shape.triangles)
        self._materials = tuple(Material(base_color=(*map(float, row), 1.0)) for row in shape.colours)  # type: ignore[arg-type]
        self._has_normals = len(shape.vertices) * ring.capacity <= MOST_NORMALS
        self._base = self._scene([LiveFrame(-1, 0.0, np.array(shape.vertices))], np.zeros(1, np.float32))
        document.set_scene(REFERENCE, self._base)

    def poll(self) -> None:
        """Show what is new. Does nothing once another scene was opened."""
        document = self.document
        if document.scene is not self._live and document.scene is not self._base:
            return
        head, span = document.state.timeline, document.span
        is_at_end = not head.is_playing and head.time >= span.duration - 1e-6
        if self._is_following and not is_at_end:
            self._is_following = False
            self._hold(head.time)
        elif is_at_end and not self._is_following:
            self._is_following = True
        if self._is_following and self.ring.published > self._shown and self._clock() >= self._next:
            self._follow()

    def _follow(self) -> None:
        """The newest frame, at the end of as many seconds as there are frames."""
        began, frame = self._clock(), self.ring.newest()
        if frame is None:
            return
        held = min(self.ring.published, self.ring.capacity)
        end = (held - 1) * FRAME_SECONDS
        times = np.array([0.0, end] if held > 1 else [0.0], np.float32)
        self._show(self._scene([frame] * len(times), times), end)
        self._shown = frame.number + 1
        self._next = self._clock() + max(LEAST_SECONDS, SHARE * (self._clock() - began))

    def _hold(self, at: float) -> None:
        """All frames that there are, from now on a clip of their own; the head goes on where it is."""
        frames = self.ring.held()
        if len(frames) > 1:
            self._show(self._scene(frames, _times(frames)), at)

    def _show(self, scene: Scene, at: float) -> None:
        self._live = scene
        self.document.follow(REFERENCE, scene, at)

    def _scene(self, frames: Sequence[LiveFrame], times: np.ndarray) -> Scene:
        known: dict[int, np.ndarray] = {}
        for frame in frames if self._has_normals else ():
            if frame.number not in known:
                finite = np.nan_to_num(frame.vertices, posinf=0.0, neginf=0.0)
                known[frame.number] = smooth_normals(finite, self._triangles, weld=False)
        positions = np.stack([frame.vertices for frame in frames])
        normals = np.stack([known[frame.number] for frame in frames]) if self._has_normals else None
        keys = KeyFrames(times, positions, normals) if len(frames) > 1 else None
        mesh = Mesh(
            "live",
            positions[0],
            self._triangles,
            np.array(self.ring.shape.mesh_of),
            normals=None if normals is None else normals[0],
            key_frames=keys,
        )
        finite = positions[np.isfinite(positions).all(axis=-1)].reshape(-1, 3)
        lower, upper = (finite.min(axis=0), finite.max(axis=0)) if len(finite) else (np.zeros(3), np.ones(3))
        return Scene(
            "live",
            nodes=(Node("live"),),
            meshes=(mesh,),
            materials=self._materials,
            objects=(Object(0, 0),),
            fps=1.0 / FRAME_SECONDS,
            lower=tuple(map(float, lower)),  # type: ignore[arg-type]
            upper=tuple(map(float, upper)),  # type: ignore[arg-type]
        )


def _times(frames: Sequence[LiveFrame]) -> np.ndarray:
    """Seconds of the frames from the first on: the loop's, where it said some that ascend."""
    said = np.array([frame.time for frame in frames])
    if np.isfinite(said).all() and (np.diff(said) > 0.0).all():
        return (said - said[0]).astype(np.float32)
    return (np.arange(len(frames)) * FRAME_SECONDS).astype(np.float32)


def ended_when(word: int) -> Callable[[], bool]:
    """Whether the loop is gone, by the reading end of a pipe whose other end it holds, and by this process's parent."""
    parent = os.getppid()
    poll = select.poll()
    poll.register(word, select.POLLIN)

    def has_ended() -> bool:
        return bool(poll.poll(0)) or os.getppid() != parent

    return has_ended

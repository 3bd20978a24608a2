"""The periodic boxes of a scene's particles, and of their copies, as lines over the picture."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from raygrove.app.document.state import State
from raygrove.gpu.engine import Engine, Lines, View
from raygrove.gpu.node_transforms import world_matrix
from raygrove.gpu.scene import Moment, PeriodicBox, Scene, Spheres

COLOR = (255, 205, 90)


def box_at(spheres: Spheres, time: float) -> PeriodicBox | None:
    """The box of an instant: between two key frames between theirs."""
    box, keys = spheres.box, spheres.key_frames
    if box is None or keys is None or (box.origin.ndim == 1 and box.vectors.ndim == 2):
        return box
    after = int(np.clip(np.searchsorted(keys.times, time, side="right"), 1, len(keys.times) - 1))
    before, span = after - 1, float(keys.times[after] - keys.times[after - 1])
    share = float(np.clip((time - keys.times[before]) / span, 0.0, 1.0)) if span > 0.0 else 0.0

    def between(values: np.ndarray, rank: int) -> np.ndarray:
        return values if values.ndim == rank else (1.0 - share) * values[before] + share * values[after]

    return PeriodicBox(between(box.origin, 1), between(box.vectors, 2), box.periodic, box.copies)


def edges_of(box: PeriodicBox) -> np.ndarray:
    """(L, 2, 3) float64: lines from end to end of all copies along each of the three edges."""
    vectors, ends = np.asarray(box.vectors, np.float64), []
    for axis in range(3):
        second, third = (other for other in range(3) if other != axis)
        corners = np.stack(
            np.meshgrid(*(np.arange(box.copies[other] + 1) for other in (second, third)), indexing="ij"), axis=-1
        ).reshape(-1, 2)
        starts = corners @ vectors[[second, third]]
        ends.append(np.stack([starts, starts + box.copies[axis] * vectors[axis]], axis=1))
    return np.concatenate(ends) + np.asarray(box.origin, np.float64)


def lines_of(scene: Scene, moment: Moment, hidden: Collection[int], opacity: float) -> Lines | None:
    """The boxes of all particles that are not hidden, where their nodes are; None where there are none."""
    found = []
    for index, thing in enumerate(scene.objects):
        box = box_at(scene.spheres[thing.spheres], moment.time) if thing.spheres >= 0 and index not in hidden else None
        if box is not None:
            placed = world_matrix(scene, thing.node, moment.time, moment.clip)
            found.append(edges_of(box) @ placed[:3, :3].T + placed[:3, 3])
    return Lines(np.concatenate(found).astype(np.float32), COLOR, opacity) if found else None


class PeriodicBoxes:
    """Draws them where `settings.periodic_box` asks for it; lines stay as long as nothing of them changes."""

    def __init__(self) -> None:
        self._key: object = None
        self._scene: Scene | None = None
        self._lines: Lines | None = None

    def paint(self, engine: Engine, view: View, scene: Scene, state: State, moment: Moment) -> None:
        """Draw over the picture that the view's last frame made."""
        options = state.settings.periodic_box
        if not options.show:
            return
        key = (moment.time, moment.clip, state.hidden, options)
        if key != self._key or scene is not self._scene:
            self._key, self._scene = key, scene
            self._lines = lines_of(scene, moment, state.hidden, options.opacity)
        if self._lines is not None:
            engine.paint_boxes(view, self._lines)

"""Objects that are left out: their triangles are given the corner that is nowhere, so that every structure finds them inactive.

Nothing of it is in a kernel, and a frame costs what it did: indices are written when the choice changes, in place, so that captured frames stay
valid. Vertices go on moving behind, unseen; what is shown again is there at once.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..scene import Scene
from ..target.base import Target
from .animate import Surface

MOST_WRITES = 8
"""Runs of changed objects that are written one by one; where there are more, all from the first to the last are written at once."""


class HiddenObjects:
    """What is left out of a surface. `triangle_count` says how many triangles that are."""

    def __init__(self, target: Target, scene: Scene, surface: Surface) -> None:
        self._target, self._scene, self._surface = target, scene, surface
        self._ends = np.cumsum([0, *(thing.count for thing in surface.primitives.objects)])
        self._is_hidden = np.zeros(len(scene.objects), bool)
        self._indices: np.ndarray | None = None
        self._asked: Iterable[int] = ()
        self.triangle_count = 0

    def is_hidden(self, index: int) -> bool:
        """Whether an object is left out."""
        return bool(self._is_hidden[index])

    def hide(self, objects: Iterable[int]) -> None:
        """Leave out these objects and no others, from the next frame on. Indices that the scene does not have count for nothing."""
        if objects is self._asked and isinstance(objects, tuple):  # frame after frame the same
            return
        wanted = np.zeros_like(self._is_hidden)
        indices = np.fromiter(objects, np.int64)
        wanted[indices[(indices >= 0) & (indices < len(wanted))]] = True
        changed = np.flatnonzero(wanted != self._is_hidden)
        self._is_hidden, self._asked = wanted, objects
        if not len(changed):
            return
        runs = np.split(changed, np.flatnonzero(np.diff(changed) > 1) + 1)
        for run in runs if len(runs) <= MOST_WRITES else [changed]:
            self._write(int(run[0]), int(run[-1]) + 1)
        self.triangle_count = int(np.diff(self._ends)[wanted].sum())
        primitives = self._surface.primitives
        primitives.topology_version += 1
        primitives.shape_version += 1
        self._surface.version += 1

    def _write(self, first: int, end: int) -> None:
        """The indices of the objects from `first` to before `end`, in one write."""
        if self._indices is None:
            self._indices, self._nowhere = _own_indices(self._scene)
        part = slice(int(self._ends[first]), int(self._ends[end]))
        if part.start < part.stop:
            is_out = np.repeat(self._is_hidden[first:end], np.diff(self._ends[first : end + 1]))
            self._target.write(self._surface.triangles[part], np.where(is_out[:, None], self._nowhere, self._indices[part]))


def _own_indices(scene: Scene) -> tuple[np.ndarray, np.int32]:
    """The corners of all objects' triangles (T, 3) int32 where nothing is hidden, and the corner that is nowhere, behind the last."""
    meshes = [scene.meshes[thing.mesh] for thing in scene.objects]
    first_vertex = np.cumsum([0, *(len(mesh.positions) for mesh in meshes)])
    indices = np.concatenate([np.zeros((0, 3), np.int32), *(mesh.triangles for mesh in meshes)], dtype=np.int32, casting="unsafe")
    indices += np.repeat(first_vertex[:-1], [len(mesh.triangles) for mesh in meshes]).astype(np.int32)[:, None]
    return indices, np.int32(first_vertex[-1])

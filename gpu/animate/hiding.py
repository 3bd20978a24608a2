"""Objects that are left out: their triangles are given the corner that is nowhere, so that every structure finds them inactive.

Nothing of it is in a kernel, and a frame costs what it did: indices are written when the choice changes, in place, so that captured frames stay
valid. Vertices go on moving behind, unseen; what is shown again is there at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..scene import Scene
from ..target.base import Target
from .animate import Surface


class HiddenObjects:
    """What is left out of a surface. `triangle_count` says how many triangles that are."""

    def __init__(self, target: Target, scene: Scene, surface: Surface) -> None:
        self._target, self._scene, self._surface = target, scene, surface
        counts = [len(scene.meshes[thing.mesh].positions) for thing in scene.objects]
        self._first_vertex = np.cumsum([0, *counts])[:-1]
        self._nowhere = sum(counts)
        self.objects: frozenset[int] = frozenset()

    @property
    def triangle_count(self) -> int:
        """Triangles of the objects that are left out."""
        ranges = self._surface.primitives.objects
        return sum(ranges[index].count for index in self.objects)

    def hide(self, objects: Iterable[int]) -> None:
        """Leave out these objects and no others, from the next frame on. Indices that the scene does not have count for nothing."""
        wanted = frozenset(index for index in objects if 0 <= index < len(self._scene.objects))
        if wanted == self.objects:
            return
        for run in _runs(sorted(wanted ^ self.objects)):
            self._write(run, wanted)
        self.objects = wanted
        primitives = self._surface.primitives
        primitives.topology_version += 1
        primitives.shape_version += 1
        self._surface.version += 1

    def _write(self, run: list[int], hidden: frozenset[int]) -> None:
        """The indices of objects that follow one another, in one write."""
        ranges, parts = self._surface.primitives.objects, []
        for index in run:
            own = self._scene.meshes[self._scene.objects[index].mesh].triangles
            parts.append(np.full_like(own, self._nowhere) if index in hidden else own + np.int32(self._first_vertex[index]))
        first, count = ranges[run[0]].first, sum(len(part) for part in parts)
        if count:
            self._target.write(self._surface.triangles[first : first + count], np.concatenate(parts).astype(np.int32))


def _runs(indices: list[int]) -> Iterator[list[int]]:
    """Ascending indices in runs without a gap."""
    starts = [place for place, index in enumerate(indices) if place == 0 or index != indices[place - 1] + 1]
    for start, end in zip(starts, [*starts[1:], len(indices)], strict=True):
        yield indices[start:end]

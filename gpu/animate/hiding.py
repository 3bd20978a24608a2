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
        for index in wanted ^ self.objects:
            self._write(index, index in wanted)
        self.objects = wanted
        primitives = self._surface.primitives
        primitives.topology_version += 1
        primitives.shape_version += 1
        self._surface.version += 1

    def _write(self, index: int, is_hidden: bool) -> None:
        place = self._surface.primitives.objects[index]
        if not place.count:
            return
        own = self._scene.meshes[self._scene.objects[index].mesh].triangles + np.int32(self._first_vertex[index])
        values = np.full_like(own, self._nowhere) if is_hidden else own
        self._target.write(self._surface.triangles[place.first : place.first + place.count], values.astype(np.int32))

"""Objects that are left out: structures are given the triangles of all others, and know nothing of them. Spheres
and glyphs keep their places (spheres.py, glyphs.py).

The list of what is seen is made on the target when the choice changes, between two frames; as long as nothing is hidden
there is none, and nothing of it costs memory or time. Vertices go on moving behind, unseen; what is shown again is
there at once. docs/decisions/clipping-and-hiding.md tells why.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from ..hierarchy.base import ObjectRange
from ..hierarchy.primitives import reserved
from ..target.base import Array, Target, UnitSource
from .animate import Surface
from .glyphs import with_glyphs
from .spheres import surface_primitives


class HiddenObjects:
    """What is left out of a surface. `objects` are the indices of it, `primitive_count` says how many triangles and
    spheres that are."""

    def __init__(self, target: Target, surface: Surface) -> None:
        self._target, self._surface = target, surface
        self._all = surface.primitives
        self._counts = np.array([thing.count for thing in surface.objects], np.int64)
        self._firsts = np.array([thing.first for thing in surface.objects], np.int64)
        self._is_hidden = np.zeros(len(surface.objects), bool)
        others = surface.spheres or surface.glyphs
        self._are_others = self._firsts >= (np.inf if others is None else others.first_id)
        self._indices: Array | None = None
        self._scene_ids: Array | None = None
        self._tables: Array | None = None
        self._asked: Iterable[int] = ()
        self.objects: frozenset[int] = frozenset()
        self.primitive_count = 0

    def is_hidden(self, index: int) -> bool:
        """Whether an object is left out."""
        return index in self.objects

    def hide(self, objects: Iterable[int]) -> bool:
        """Leave out these objects and no others, from the next frame on; whether that changes anything. Indices that
        the scene does not have count for nothing."""
        if objects is self._asked and isinstance(objects, tuple):  # frame after frame the same
            return False
        wanted = np.zeros_like(self._is_hidden)
        indices = np.fromiter(objects, np.int64)
        wanted[indices[(indices >= 0) & (indices < len(wanted))]] = True
        self._asked = objects
        if np.array_equal(wanted, self._is_hidden):
            return False
        self._is_hidden, self.objects = wanted, frozenset(np.flatnonzero(wanted).tolist())
        self.primitive_count = int(self._counts[wanted].sum())
        self._give_visible(np.where(wanted & ~self._are_others, 0, self._counts))
        return True

    def _give_visible(self, counts: np.ndarray) -> None:
        """The surface's primitives from now on: of each object so many, all or none of a mesh, all of others."""
        surface = self._surface
        firsts = np.cumsum(counts) - counts
        nodes, object_versions = ([thing[k] for thing in surface.objects] for k in (2, 3))
        objects = tuple(map(ObjectRange, firsts.tolist(), counts.tolist(), nodes, object_versions))
        topology, shape = surface.primitives.topology_version + 1, surface.primitives.shape_version + 1
        surface.version += 1
        if np.array_equal(counts, self._counts):
            surface.primitives = dataclasses.replace(
                self._all, objects=surface.objects, topology_version=topology, shape_version=shape
            )
            return
        triangles = np.where(self._are_others, 0, counts)
        count = int(triangles.sum())
        indices, scene_ids = self._list(firsts, triangles, count)
        others = surface_primitives(
            self._all.keep_alive[0],
            indices[:count],
            surface.spheres,
            scene_ids[:count],
            objects=objects,
            topology_version=topology,
            shape_version=shape,
        )
        surface.primitives = with_glyphs(others, surface.glyphs)

    def _list(self, firsts: np.ndarray, counts: np.ndarray, count: int) -> tuple[Array, Array]:
        """Indices and the scene's numbers of the visible triangles, on the target."""
        target, most = self._target, int(self._counts[~self._are_others].sum())
        indices = self._indices = reserved(target, self._indices, (most, 3), np.int32, "surface")
        scene_ids = self._scene_ids = reserved(target, self._scene_ids, (most,), np.int32, "surface")
        tables = self._tables = reserved(target, self._tables, (2, len(counts)), np.int32, "surface")
        seen = np.flatnonzero(counts)
        if count:
            for row, values in zip(tables, (firsts, self._firsts), strict=True):
                target.write(row[: len(seen)], values[seen].astype(np.int32))
            unit = target.unit(UnitSource("gpu/animate/visible.cu"))
            target.launch(
                unit,
                "list_visible",
                count,
                triangles=self._surface.triangles,
                first_of_visible=tables[0],
                first_of_scene=tables[1],
                object_count=len(seen),
                count=count,
                indices=indices,
                scene_ids=scene_ids,
            )
        return indices, scene_ids

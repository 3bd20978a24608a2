"""What is near the primitive that was picked, by the structure that is shown: queries of regions, in the words of the
scene."""

from __future__ import annotations

import numpy as np

from .animate.animate import Surface
from .hierarchy.base import Hierarchy, HierarchyError
from .picking import Hit
from .query.query import MOST_NEIGHBOURS, Queries
from .query.questions import Places
from .rows import Vector
from .stats import Near, Surroundings
from .target.base import Target


def surroundings_of(target: Target, hierarchy: Hierarchy, surface: Surface, hit: Hit, count: int) -> Surroundings:
    """The `count` primitives nearest to a hit, at most MOST_NEIGHBOURS. Waits. HierarchyError where the structure
    answers no such query."""
    of = measured_to(hierarchy)
    queries = Queries(hierarchy, of)
    centre = _place_of(target, surface, hit.prim_id) if of == "centres" else hit.position
    point = target.upload(np.array([centre], np.float32), "queries")
    nearest: tuple[Near, ...] = ()
    if count > 0:
        own = target.upload(np.array([hit.prim_id], np.int32), "queries")
        found = queries.k_nearest(Places(point, own=own), min(count, MOST_NEIGHBOURS))
        ids, distances = target.download(found.prim_ids)[0].tolist(), target.download(found.distances)[0].tolist()
        rows = [row for row in zip(ids, distances, strict=True) if row[0] >= 0]
        nearest = tuple(Near(prim_id, far, _place_of(target, surface, prim_id)) for prim_id, far in rows)
    return Surroundings(of, centre, nearest)


def measured_to(hierarchy: Hierarchy) -> str:
    """What distances are measured to in the window: among spheres alone to their centres, else to surfaces."""
    return "centres" if hierarchy.last_built().kind == "sphere" else "surfaces"


def _place_of(target: Target, surface: Surface, prim_id: int) -> Vector:
    """A sphere's or a glyph's centre, a triangle's centroid."""
    if prim_id < len(surface.triangles):
        indices = target.download(surface.triangles[prim_id])
        return _vector(np.mean([target.download(surface.positions[int(index)]) for index in indices], axis=0))
    spheres, glyphs = surface.spheres, surface.glyphs
    if spheres is not None and 0 <= prim_id - spheres.first_id < spheres.count:
        return _vector(target.download(spheres.centres[prim_id - spheres.first_id]))
    if glyphs is not None and 0 <= prim_id - glyphs.first_id < glyphs.count:
        return _vector(target.download(glyphs.rows[prim_id - glyphs.first_id])[:3])
    raise HierarchyError("What was picked is not in the scene any more: pick again.")


def _vector(row: np.ndarray) -> Vector:
    x, y, z = (float(number) for number in row)
    return x, y, z

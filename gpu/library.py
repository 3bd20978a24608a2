"""The short way in: triangles or spheres as numpy arrays to a structure, rays to hits that the caller owns, and regions
to what is in them (library_queries.py)."""

from __future__ import annotations

import dataclasses
import threading
from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike

from .hierarchy.base import NodeTable, Primitives, StructureChoice
from .hierarchy.primitives import sphere_primitives, triangle_primitives
from .hierarchy.registry import make_structure, structures
from .library_queries import RegionQueries, checked_points, checked_radius
from .occlusion import RESOLUTION, visible_nodes
from .stats import HierarchyStatistics
from .target import choose
from .target.base import Target
from .trace.trace import Tracer, upload_rays

QUERY_LEAF = 16
"""Points in a leaf: of 1 to 16, 16 was the fastest for the 8 nearest of 100,000 on the host."""

_own = threading.local()


@dataclasses.dataclass(frozen=True, eq=False)
class Hits:
    """The closest hits of N rays, in their order, in arrays that nobody else writes to.

    `t` (N,) float32: distance in lengths of the ray's direction, inf where nothing is hit. `prim_id` (N,) int32: the
    row of the triangle or sphere, -1 where nothing is hit. `u`, `v` (N,) float32: the weights of the triangle's second
    and third corner, 0 where nothing is hit; of a sphere, where on it the hit is (octahedral).
    """

    t: np.ndarray
    prim_id: np.ndarray
    u: np.ndarray
    v: np.ndarray

    def __len__(self) -> int:
        return len(self.t)


class Structure(RegionQueries):
    """A structure over triangles or spheres, built by `build` or `build_spheres`. A context manager; `close` gives its
    memory back. One thread uses it and its target. What it answers of regions is told by RegionQueries."""

    def __init__(
        self, target: Target, primitives: Primitives, name: str, choice: StructureChoice | None = None
    ) -> None:
        self.target = target
        self._hierarchy = make_structure(target, name, choice)
        self._hierarchy.build(primitives)
        self._is_open = True

    def trace(
        self, origins: ArrayLike, directions: ArrayLike, t_min: ArrayLike = 0.0, t_max: ArrayLike = np.inf
    ) -> Hits:
        """The closest hits of rays from `origins` along `directions`, (N, 3) each or (3,) for all, between `t_min` and
        `t_max`, (N,) or one for all. Directions need not have length 1. Waits for the target. ValueError where a ray is
        not finite or has no direction."""
        found = self._traced("closest", origins, directions, t_min, t_max)
        is_miss = found.prim_id < 0
        found.t[is_miss], found.u[is_miss], found.v[is_miss] = np.inf, 0.0, 0.0
        return found

    def occluded(
        self, origins: ArrayLike, directions: ArrayLike, t_min: ArrayLike = 0.0, t_max: ArrayLike = np.inf
    ) -> np.ndarray:
        """Whether anything is hit, (N,) bool: what shadows ask, and cheaper than closest hits. Rays as in `trace`."""
        is_hit: np.ndarray = self._traced("any", origins, directions, t_min, t_max).prim_id >= 0
        return is_hit

    def nodes(self) -> NodeTable:
        """The tree as numpy columns. Waits for the target."""
        self._check_open()
        return self._hierarchy.nodes()

    def visible_nodes(self, places: ArrayLike, resolution: int = RESOLUTION) -> np.ndarray:
        """(N,) bool: which rows of `nodes()` can be seen from any of `places`, (P, 3) or (3,), in any direction; all
        others are wholly behind what is nearer. A cell is asked about by places in it (`gpu.occlusion.places_in`).
        `resolution`, a power of two from 2 to 1024, are the depths along each side of a cube that nodes are compared
        with: what is seen through openings narrower than two of them, and from a cell only between its places, may be
        missed.
        ValueError where these are no places or no such number."""
        self._check_open()
        rows = checked_points("places", places)
        if not np.isfinite(rows).all():
            raise ValueError(f"places are finite; {np.flatnonzero(~np.isfinite(rows).all(axis=1))[:3]} are not finite.")
        if resolution not in (2**power for power in range(1, 11)):
            raise ValueError(f"resolution is a power of two from 2 to 1024; it is {resolution}.")
        return visible_nodes(Tracer(self.target, self._hierarchy.traversal()), self.nodes(), rows, resolution)

    def statistics(self) -> HierarchyStatistics:
        """Counts, depth and SAH cost. Waits for the target."""
        self._check_open()
        self._hierarchy.measure()
        self.target.synchronize()
        return self._hierarchy.stats()

    def close(self) -> None:
        """Give the structure's memory back; harmless the second time."""
        if self._is_open:
            self._is_open = False
            self._hierarchy.close()

    def __enter__(self) -> Structure:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _traced(self, kind: str, origins: ArrayLike, directions: ArrayLike, t_min: ArrayLike, t_max: ArrayLike) -> Hits:
        self._check_open()
        rays = upload_rays(self.target, *checked_rays(origins, directions, t_min, t_max))
        hits = Tracer(self.target, self._hierarchy.traversal()).trace(rays, kind)
        columns = (hits.t, hits.prim_id, hits.u, hits.v)
        return Hits(*(np.array(self.target.download(column)[: rays.count]) for column in columns))

    def _check_open(self) -> None:
        if not self._is_open:
            raise ValueError("The structure is closed: build it again.")


def build(
    vertices: ArrayLike,
    triangles: ArrayLike,
    name: str = "hploc",
    *,
    target: Target | None = None,
    choice: StructureChoice | None = None,
) -> Structure:
    """Build a structure over `triangles` (T, 3), rows of `vertices` (V, 3), by its name (`raygrove.structures()`).

    `target` None takes a GPU that can be used, else the CPU, the same in every call of a thread. `choice` says
    the rest: layout, traversal, optimiser and options. Triangles with a corner that is not finite are never hit. Raises
    ValueError where the arrays are no mesh, OptionError for an unknown name, NoDeviceError where nothing can run
    kernels.
    """
    corners, indices = checked_mesh(vertices, triangles)
    target = target or _default_target()
    primitives = triangle_primitives(target.upload(corners, "mesh"), target.upload(indices, "mesh"))
    return Structure(target, primitives, name, choice)


def build_spheres(
    centres: ArrayLike,
    radii: ArrayLike = 0.0,
    name: str = "lbvh",
    *,
    target: Target | None = None,
    choice: StructureChoice | None = None,
) -> Structure:
    """Build a structure over spheres of `centres` (N, 3) and `radii`, (N,) or one for all; with 0 they are points,
    which queries find and rays do not hit.

    By default a tree that is built fast and has leaves for queries: `lbvh` with 16 primitives a leaf. For rays choose
    another (`build`), or `choice`; `target` as there. Spheres that are not finite, or with a radius below 0, are never
    found. Raises ValueError where the arrays are no spheres, OptionError for an unknown name, NoDeviceError where
    nothing can run kernels.
    """
    rows = checked_points("centres", centres)
    sizes = np.ascontiguousarray(np.broadcast_to(checked_radius(radii, len(rows)), len(rows)))
    target = target or _default_target()
    if name == "lbvh" and choice is None:
        choice = StructureChoice(options=structures()[name].Options(max_leaf_size=QUERY_LEAF), layout="bvh2")
    return Structure(target, sphere_primitives(target.upload(rows, "mesh"), target.upload(sizes, "mesh")), name, choice)


def _default_target() -> Target:
    """This thread's target."""
    if not hasattr(_own, "target"):
        _own.target = choose("auto")
    made: Target = _own.target
    return made


def checked_mesh(vertices: ArrayLike, triangles: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3) float32 and triangles (T, 3) int32; ValueError by a sentence where these are none."""
    corners, indices = np.asarray(vertices), np.asarray(triangles)
    if corners.ndim != 2 or corners.shape[1] != 3 or corners.dtype.kind not in "fiu":
        raise ValueError(f"vertices are rows of three numbers, (V, 3); these are {_shown(corners)}.")
    if indices.ndim != 2 or indices.shape[1] != 3 or indices.dtype.kind not in "iu":
        raise ValueError(f"triangles are rows of three whole numbers, (T, 3); these are {_shown(indices)}.")
    wrong = np.flatnonzero(((indices < 0) | (indices >= len(corners))).any(axis=1))
    if len(wrong):
        row = indices[wrong[0]].tolist()
        raise ValueError(f"Triangle {wrong[0]} is {row}, but there are {len(corners)} vertices, counted from 0.")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(corners, np.float32), np.ascontiguousarray(indices, np.int32)


def checked_rays(
    origins: ArrayLike, directions: ArrayLike, t_min: ArrayLike, t_max: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Origins and directions (N, 3), t_min and t_max (N,), float32; ValueError by a sentence where these are none."""
    start, along = np.asarray(origins, np.float32), np.asarray(directions, np.float32)
    for name, rows in (("origins", start), ("directions", along)):
        if rows.ndim not in (1, 2) or rows.shape[-1] != 3:
            raise ValueError(f"{name} are rows of three numbers, (N, 3), or one for all; these are {_shown(rows)}.")
    counts = {len(rows) for rows in (start, along) if rows.ndim == 2} or {1}
    if len(counts) > 1:
        raise ValueError(f"There are {len(start)} origins and {len(along)} directions: a ray has one of each.")
    count = counts.pop()
    start, along = (np.broadcast_to(rows, (count, 3)) for rows in (start, along))
    wrong = np.flatnonzero(~(np.isfinite(start) & np.isfinite(along)).all(axis=1) | ~along.any(axis=1))
    if len(wrong):
        raise ValueError(f"Ray {wrong[0]} is not finite or has no direction: {start[wrong[0]]}, {along[wrong[0]]}.")
    try:
        nearest, farthest = (np.broadcast_to(np.asarray(t, np.float32), count) for t in (t_min, t_max))
    except ValueError as error:
        raise ValueError(f"t_min and t_max are one number, or one for each of the {count} rays.") from error
    return start, along, nearest, farthest


def _shown(array: np.ndarray) -> str:
    return f"{array.shape} of {array.dtype}"

"""Sums over all pairs of points for the octree suite, and what an octree makes of them: light between points, and
gravity of points of equal mass; times, and errors against the sum over all pairs."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.primitives import triangle_primitives
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.nbody.barnes_hut import BarnesHut
from raygrove.gpu.nbody.bodies import PROGRESS, Forces, upload_bodies
from raygrove.gpu.nbody.direct import DirectSum
from raygrove.gpu.nbody.multipole import FastMultipole
from raygrove.gpu.radiosity.direct import Bounces, Sum, gather_from_all
from raygrove.gpu.radiosity.hierarchical import HierarchicalOptions, HierarchicalSum
from raygrove.gpu.radiosity.pairs import SightOptions
from raygrove.gpu.radiosity.point_set import PointValues, points_of_cloud, upload_points
from raygrove.gpu.shade.radiosity import RadiosityOptions
from raygrove.gpu.target.base import Array, Target
from raygrove.gpu.trace.trace import Tracer

from ..measure import median, timed
from .octree_clouds import LAMP_SIDE, Cloud

SIZES = (2_048, 8_192, 32_768)
"""Points taken of a cloud, and all of them."""
MOST_PAIRS = {"cuda": 1e12, "host": 3e8}
"""Sums over all pairs are left out beyond these."""
SOFTENING = 0.001
"""Of the cloud's cube."""
REFLECTANCE = (0.7, 0.6, 0.5)
LAMP_OF_A_SCAN = 0.02
"""The share of a scan's points that shines."""
MOST_ESTIMATED = 20_000
"""Points of a scan that light is found of: how they lie is estimated on the host."""
SEARCHED, MOST_ASKED = "lbvh", 5_000
"""Where points see each other: the structure of the rays, and at how many the error is asked for."""
WARMUP = 1
AS_IT_IS = HierarchicalOptions()
ALL_PAIRS, MULTIPOLE = "sum of all pairs", "fast multipole method"
FORCES: dict[str, Callable[[Target, int, float], Forces]] = {
    ALL_PAIRS: lambda target, count, softening: DirectSum(target, softening),
    "Barnes and Hut": lambda target, count, softening: BarnesHut(target, count, softening),
    MULTIPOLE: lambda target, count, softening: FastMultipole(target, count, softening),
}
Row = dict[str, Any]


def by_sum(target: Target, cloud: Cloud, repeat: int) -> Iterator[Row]:
    """Gravity of every cloud, and light of those that are surfaces."""
    total = len(cloud.positions)
    for count in (*(size for size in SIZES if size < total), total):
        yield from ({"part": "gravity", "count": count, **row} for row in _gravity(target, cloud, count, repeat))
        is_estimated = cloud.normals is None
        if cloud.is_surface and not (is_estimated and count > MOST_ESTIMATED):
            yield from ({"part": "light", "count": count, **row} for row in light_rows(target, cloud, count, repeat))


def _gravity(target: Target, cloud: Cloud, count: int, repeat: int) -> Iterator[Row]:
    """Milliseconds of all forces, by each way, and their error: rms difference of accelerations over their rms."""
    points = cloud.positions[:count].astype(np.float64)
    softening = SOFTENING * float(np.ptp(points, axis=0).max())
    exact: np.ndarray | None = None
    for name, make in FORCES.items():
        if name == ALL_PAIRS and count * count > MOST_PAIRS[target.kind]:
            continue
        bodies = upload_bodies(target, points, np.zeros_like(points), np.full(count, 1.0 / count))
        forces = make(target, count, softening)
        ready(target, forces, bodies)
        timing = timed(target, functools.partial(forces.find, bodies), repeat, WARMUP)
        found = target.download(bodies.field)[:, :3].astype(np.float64)
        error = None if exact is None else rms_error(found, exact)
        exact = found if name == ALL_PAIRS else exact
        yield {"by": name, "ms": median(timing.spans_ms), "phases_ms": timing.medians(), "error": error}


def ready(target: Target, forces: Forces, bodies: Any) -> None:
    """Forces found once, with room for what they need. Waits."""
    forces.find(bodies)
    while target.download(bodies.progress)[PROGRESS.index("lacking")]:
        forces.make_room()
        forces.find(bodies)


def light_rows(
    target: Target, cloud: Cloud, count: int, repeat: int, options: HierarchicalOptions = AS_IT_IS
) -> Iterator[Row]:
    """One bounce, nothing in the way: by the fast multipole method on the octree, and by all pairs where those are not
    too many. Milliseconds of a bounce, of what has to be placed once before (tree and lists), and the error: rms
    difference of irradiance over its rms."""
    values = light_of(cloud, count)
    points = upload_points(target, values)
    direct = target.zeros((count, 4), np.float32, "radiosity")
    made = HierarchicalSum(target, count, options)
    made.place(points, direct, None, learns=True)
    placing = timed(target, functools.partial(made.place, points, direct, None), repeat, WARMUP)
    light, ways = Bounces(target, made.sorted_points, made.sorted_direct), {MULTIPOLE: made.gather}
    light.begin()
    if count * count <= MOST_PAIRS[target.kind]:
        ways[ALL_PAIRS] = functools.partial(gather_from_all, target, made.sorted_points)
    times, found = {}, {}
    for name, gather in ways.items():
        gathered = target.zeros((count, 4), np.float32, "radiosity")

        def bounce(gather: Sum = gather, gathered: Array = gathered) -> None:
            with target.phase("light"):
                gather(light.sent, gathered)

        times[name] = _wall_ms(target, bounce, repeat)
        found[name] = target.download(gathered)[:, :3].astype(np.float64)
    for name, ms in times.items():
        error = rms_error(found[name], found[ALL_PAIRS]) if name != ALL_PAIRS and ALL_PAIRS in found else None
        placed = median(placing.spans_ms) if name == MULTIPOLE else None
        yield {"by": name, "ms": ms, "placing_ms": placed, "error": error}


def sight_row(target: Target, cloud: Cloud, count: int, repeat: int) -> Row:
    """One bounce by the fast multipole method where the cloud's triangles hide points from each other: milliseconds of
    it where tree, lists and what points see are known, of all that (`cold_ms`), and the error over what a ray to each
    other point lets through."""
    assert cloud.corners is not None
    structure = make_structure(target, SEARCHED, StructureChoice())
    corners = target.upload(cloud.corners.reshape(-1, 3).astype(np.float32), "radiosity")
    indices = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
    structure.build(triangle_primitives(corners, target.upload(indices, "radiosity")))
    sight = SightOptions(Tracer(target, structure.traversal()), RadiosityOptions().rays)
    points = upload_points(target, light_of(cloud, count))
    direct = target.zeros((count, 4), np.float32, "radiosity")
    made = HierarchicalSum(target, count, AS_IT_IS)
    made.place(points, direct, sight, learns=True)
    light, gathered = Bounces(target, made.sorted_points, made.sorted_direct), target.zeros((count, 4), np.float32, "")
    light.begin()

    def cold() -> None:
        made.place(points, direct, sight)
        made.gather(light.sent, gathered)

    ms = _wall_ms(target, functools.partial(made.gather, light.sent, gathered), repeat)
    asked = min(count, MOST_ASKED)
    error = made.error(light.sent, asked, sight.tracer)
    return {"ms": ms, "cold_ms": _wall_ms(target, cold, repeat), "error": error, "asked": asked}


def _wall_ms(target: Target, body: Callable[[], None], repeat: int) -> float:
    """As the caller waits, until the target is done: the median."""
    times = []
    for _ in range(WARMUP + repeat):
        target.synchronize()
        began = time.perf_counter()
        body()
        target.synchronize()
        times.append((time.perf_counter() - began) * 1e3)
    return median(times[WARMUP:])


def rms_error(found: np.ndarray, expected: np.ndarray) -> float | None:
    """The rms difference over the rms of what is expected; None where that is 0."""
    square = float((expected**2).sum())
    return float(np.sqrt(((found - expected) ** 2).sum() / square)) if square > 0.0 else None


def light_of(cloud: Cloud, count: int) -> PointValues:
    """The first points of a cloud, all of one reflectance. Those of the room's lamp shine; of a scan, whose normals and
    areas are estimated and turned to its middle, those that lie highest."""
    places = cloud.positions[:count].astype(np.float64)
    reflectance = np.tile(REFLECTANCE, (count, 1))
    if cloud.normals is None:
        values, _ = points_of_cloud(places, reflectance)
        is_lamp = places[:, 2] >= np.quantile(places[:, 2], 1.0 - LAMP_OF_A_SCAN)
        normals, areas = -values.normals, values.areas
    else:
        is_lamp = np.abs(places[:, 1] - 0.999) < 1e-4
        is_lamp &= np.abs(places[:, [0, 2]] - 0.5).max(axis=1) <= LAMP_SIDE / 2.0
        normals = cloud.normals[:count].astype(np.float64)
        areas = np.full(count, cloud.area * len(cloud.positions) / count)
    emission = np.where(is_lamp[:, None], 10.0, 0.0) * np.ones(3)
    return PointValues(places, normals, areas, reflectance, emission)

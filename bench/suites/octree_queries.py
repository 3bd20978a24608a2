"""Queries a second for the octree suite: of cells by number alone, of an octree's nodes, and of regions, by an octree
and by one structure of each other family."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from raygrove.gpu.hierarchy.base import Hierarchy
from raygrove.gpu.hierarchy.octree import cell_queries
from raygrove.gpu.hierarchy.octree.node_queries import NodeQueries
from raygrove.gpu.hierarchy.octree.point_tree import NODES, build_point_tree
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.hierarchy.registry import make_structure, structures
from raygrove.gpu.query.query import Queries
from raygrove.gpu.query.questions import Places, upload_boxes
from raygrove.gpu.target.base import Target

from ..measure import median
from .octree_clouds import Cloud

BATCH = {"cuda": 10_000_000, "host": 100_000}
REGION_BATCH = {"cuda": 1_000_000, "host": 10_000}
"""Queries asked at once, those of regions apart."""
LONG_MS = 500.0
"""What takes longer is measured once."""
LEAF_POINTS = 8
NEIGHBOURS = 8
IN_A_BALL = 8
"""Points that a ball holds; a box round it holds more."""
PREFERRED = {"bvh": "lbvh", "grid": "grid_two_level"}
"""Of the structures of a family."""
LEFT_OUT = ("brute_force",)
ORDERS = ("random", "along the Z-order")

Row = dict[str, Any]
Ask = Callable[[], object]


def by_query(target: Target, cloud: Cloud, repeat: int) -> Iterator[Row]:
    """Every kind of query that there is."""
    for rows, batch in ((_of_nodes, BATCH), (_of_regions, REGION_BATCH)):
        places = cloud.places(batch[target.kind])
        yield from ({"part": "query", **row} for row in rows(target, cloud, places, repeat))


def region_structures() -> tuple[str, ...]:
    """One that answers of each family, but for brute force, which takes all points for each question."""
    found: dict[str, str] = {}
    for name, kind in structures().items():
        answers = kind.capabilities.queries and "sphere" in kind.capabilities.primitive_kinds
        if answers and kind.family not in LEFT_OUT:
            found.setdefault(kind.family, PREFERRED.get(kind.family, name))
    return tuple(found.values())


def _of_nodes(target: Target, cloud: Cloud, places: np.ndarray, repeat: int) -> Iterator[Row]:
    """All of cell_queries.py and of node_queries.py."""
    tree = build_point_tree(target, target.upload(cloud.positions, "points"), leaf_points=LEAF_POINTS)
    asked, nodes = NodeQueries(target, tree), int(target.download(tree.counts)[NODES])
    random = np.random.default_rng(7)
    at, along = (target.upload(rows, "queries") for rows in (places, in_z_order(places)))
    pair = [target.upload(random.integers(0, nodes, len(places)).astype(np.int32), "queries") for _ in range(2)]
    octant = target.upload(random.integers(0, 8, len(places)).astype(np.int32), "queries")
    first, second = (asked.cells(one) for one in pair)
    inner = asked.cells_of_places(at)
    cells: dict[str, Ask] = {
        "parent": lambda: cell_queries.parents(target, first),
        "child": lambda: cell_queries.children(target, first, octant),
        "containment": lambda: cell_queries.contains(target, first, second),
        "child that holds a cell": lambda: cell_queries.children_holding(target, first, inner),
        "common ancestor": lambda: cell_queries.common_ancestors(target, first, second),
        "6 neighbours of the same size": lambda: cell_queries.neighbours(target, first, "face"),
        "26 neighbours of the same size": lambda: cell_queries.neighbours(target, first, "all"),
        "box": lambda: cell_queries.boxes(target, first, tree.root),
    }
    for kind, ask in cells.items():
        yield _rate(target, ask, len(places), repeat, of="cells", structure="-", kind=kind, order=ORDERS[0])
    of_tree: dict[tuple[str, str], Ask] = {
        ("post order, nodes", "-"): lambda: NodeQueries(target, tree).post_order(),
        ("parent", ORDERS[0]): lambda: asked.parents(pair[0]),
        ("child", ORDERS[0]): lambda: asked.children(pair[0], octant),
        ("node of a point", ORDERS[0]): lambda: asked.nodes_of_places(at),
        ("node of a point", ORDERS[1]): lambda: asked.nodes_of_places(along),
        ("common ancestor", ORDERS[0]): lambda: asked.common_ancestors(*pair),
        ("6 neighbours", ORDERS[0]): lambda: asked.neighbours(pair[0]),
        ("leaves of a subtree", ORDERS[0]): lambda: asked.leaves_below(pair[0]),
        ("neighbouring leaves across faces", ORDERS[0]): lambda: asked.neighbouring_leaves(first),
    }
    asked.leaves_below(pair[0])  # puts the leaves in order once
    for (kind, order), ask in of_tree.items():
        count = nodes if kind.startswith("post order") else len(places)
        yield _rate(target, ask, count, repeat, of="nodes", structure="octree", kind=kind, order=order)


def _of_regions(target: Target, cloud: Cloud, places: np.ndarray, repeat: int) -> Iterator[Row]:
    """All of gpu/query, of points as spheres without extent, in both orders."""
    centres = target.upload(cloud.positions, "points")
    primitives = sphere_primitives(centres, target.zeros(len(cloud.positions), np.float32, "points"))
    extent = float(np.ptp(cloud.positions, axis=0).max())
    for name in region_structures():
        with contextlib.closing(make_structure(target, name)) as structure:
            structure.build(primitives)
            for order, rows in zip(ORDERS, (places, in_z_order(places)), strict=True):
                for kind, ask in _region_asks(structure, rows, extent).items():
                    what = {"of": "regions", "structure": name, "kind": kind, "order": order}
                    yield _rate(target, ask, len(rows), repeat, **what)


def _region_asks(structure: Hierarchy, rows: np.ndarray, extent: float) -> dict[str, Ask]:
    """What this structure answers about these places. Balls reach to the place's own IN_A_BALL-th nearest point, since
    scans are hundreds of times denser in one part than in another."""
    target, asks = structure.target, Queries(structure, "centres")
    at = target.upload(rows, "queries")
    reach = np.minimum(target.download(asks.k_nearest(Places(at), IN_A_BALL).distances)[:, -1], extent)
    radii, sides = target.upload(reach, "queries"), reach[:, None]
    boxes = upload_boxes(target, rows - sides, rows + sides)
    kinds: dict[str, tuple[str, Ask]] = {
        "nearest": ("nearest", lambda: asks.nearest(Places(at))),
        "k_nearest": (f"{NEIGHBOURS} nearest", lambda: asks.k_nearest(Places(at), NEIGHBOURS)),
        "ball": (f"in a ball of {IN_A_BALL}", lambda: asks.in_balls(Places(at, radii))),
        "box": ("in a box round it", lambda: asks.in_boxes(boxes)),
        "leaf": ("leaf", lambda: asks.leaves(Places(at))),
    }
    return {kind: ask for query, (kind, ask) in kinds.items() if query in structure.capabilities.queries}


def in_z_order(points: np.ndarray) -> np.ndarray:
    """Along the curve in a cube of 2^10 cells a side."""
    low, high = points.min(axis=0), points.max(axis=0)
    cells = np.clip((points - low) / max(float((high - low).max()), 1e-30) * 1024, 0, 1023).astype(np.uint64)
    codes = np.zeros(len(points), np.uint64)
    for bit in range(10):
        for axis in range(3):
            codes |= (cells[:, axis] >> np.uint64(bit) & np.uint64(1)) << np.uint64(3 * bit + 2 - axis)
    return np.ascontiguousarray(points[np.argsort(codes, kind="stable")])


def _rate(target: Target, ask: Ask, count: int, repeat: int, **what: str) -> Row:
    """As the caller waits, from the call until the target is done: the median."""
    ask()  # which may compile
    times: list[float] = []
    while len(times) < repeat and (not times or times[-1] <= LONG_MS):
        target.synchronize()
        began = time.perf_counter()
        ask()
        target.synchronize()
        times.append((time.perf_counter() - began) * 1e3)
    ms = median(times)
    return {**what, "ms": ms, "asked": count, "per_s": count / ms * 1e3 if ms else None}

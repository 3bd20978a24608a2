"""Boxes of runs: what they hold, against numpy, and rays that pass over runs find what brute force finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.growing import GrowingHierarchy
from raygrove.gpu.hierarchy.runs import RUN_BITS, RUN_LEVELS, RUN_LIST, run_count
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import upload_rays
from raygrove.testing.scenes import TriangleScene, make, rays, smooth, soup, trace
from tests.gpu.trace.test_events import CAPACITY, tell

CROWDED = 3 * RUN_LIST
FORMS: list[tuple[str, dict[str, Any]]] = [
    ("grid", {"density": 0.001}),
    ("grid_two_level", {"density": 0.001, "cell_density": 0.01}),
    ("octree_bottom_up", {"leaf_primitives": 1024}),
    ("octree_top_down", {"leaf_primitives": 1024}),
]
over_forms = pytest.mark.parametrize(("name", "options"), FORMS, ids=[name for name, _ in FORMS])


def built(target: Target, name: str, options: dict[str, Any], scene: TriangleScene) -> GrowingHierarchy:
    hierarchy = make(target, name, **options)
    hierarchy.build(scene.upload(target))
    assert isinstance(hierarchy, GrowingHierarchy)
    return hierarchy


def places(reference_count: int) -> dict[tuple[int, int], int]:
    """Where the box of each run (level, number) is: behind those of its parts."""
    found: dict[tuple[int, int], int] = {}
    for last in range(1, reference_count + 1):
        for level in range(1, RUN_LEVELS + 1):
            if last % (1 << RUN_BITS * level) == 0:
                found[level, last // (1 << RUN_BITS * level) - 1] = len(found)
    return found


@pytest.mark.parametrize("count", [0, 1, (1 << RUN_BITS) - 1, 1 << RUN_BITS, 100, 1000, 5000])
def test_there_is_room_for_every_whole_run(count: int) -> None:
    assert run_count(count) == len(places(count))


@over_forms
def test_a_run_is_bounded_by_what_it_lists(target: Target, name: str, options: dict[str, Any]) -> None:
    """Of every run inside one list that is searched by runs, on each level: exactly the box of its triangles."""
    scene = soup(6 * CROWDED, size=0.05)
    hierarchy = built(target, name, options, scene)
    runs, table = target.download(hierarchy.tree.runs), hierarchy.nodes()
    order, count = table.references, len(table.references)
    lower, upper = (corners.astype(np.float32) for corners in scene.boxes())
    list_of = np.full(count, -1)
    for leaf in np.flatnonzero(table.is_leaf & (table.reference_count >= RUN_LIST)):
        list_of[table.first_reference[leaf] :][: table.reference_count[leaf]] = leaf
    checked = dict.fromkeys(range(1, RUN_LEVELS + 1), 0)
    for (level, number), place in places(count).items():
        begin, length = number << RUN_BITS * level, 1 << RUN_BITS * level
        if list_of[begin] < 0 or (list_of[begin : begin + length] != list_of[begin]).any():
            continue
        held = order[begin : begin + length]
        assert np.array_equal(runs[place, 0, :3], lower[held].min(axis=0))
        assert np.array_equal(runs[place, 1, :3], upper[held].max(axis=0))
        checked[level] += 1
    assert checked[1] > 10 and checked[2] > 0


@over_forms
def test_rays_pass_over_runs_and_miss_nothing(exact_hits_target: Target, name: str, options: dict[str, Any]) -> None:
    """The hits of brute force, with a small part of its tests."""
    target, scene = exact_hits_target, smooth(4 * CROWDED)  # neighbours in space are neighbours in the list
    hierarchy, brute = built(target, name, options, scene), make(target, "brute_force")
    brute.build(scene.upload(target))
    origins, directions = rays(200)
    found, wanted = trace(hierarchy, origins, directions), trace(brute, origins, directions)
    assert (wanted.prim_id >= 0).sum() > 20
    assert np.array_equal(found.prim_id, wanted.prim_id) and np.array_equal(found.t, wanted.t)
    told = tell(target, hierarchy.traversal(), upload_rays(target, origins, directions), "ClosestHit", True)
    tested = told.count("PRIMITIVE_TESTED")[:200]
    assert tested.max() < CAPACITY and np.median(tested) < 0.2 * len(scene.indices)

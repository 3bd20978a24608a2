"""What is special to the pool of tasks: its planes, its rounds and their end, depth, independence of threads."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.bvh.builders import task_pool
from raygrove.gpu.hierarchy.bvh.builders.task_pool import CHUNK, SMALL
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.scenes import SCENES, soup
from raygrove.testing.tree_walker import check_tree, tree_statistics
from tests.oracle.binned_sah import binned_sah_cost
from tests.oracle.tree_quality import members

from .test_hlbvh import build, heaps, nested, same_place

CROWDS = {
    "soup": lambda: soup(3 * CHUNK + 5, size=0.02),
    "nested": lambda: nested(2 * CHUNK),
    "same_place": lambda: same_place(CHUNK + 7),
}


@pytest.mark.parametrize("bins", [32, 5])
def test_sah_planes_cost_what_binned_sah_costs(host_target: Target, bins: int) -> None:
    scene = heaps(4000)
    cost = tree_statistics(build(host_target, "task_pool", scene, bins=bins).nodes()).sah_cost
    assert cost == pytest.approx(
        binned_sah_cost(*scene.boxes(), bins=bins, max_leaf_size=4), rel=0.02 if bins == 32 else 0.1
    )


def test_median_planes_lie_in_the_middle(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node of many references splits its centroids at the middle of their greatest extent, but for what rounding
    may move."""
    monkeypatch.setattr(task_pool, "SPARE_ROUNDS", 20)
    scene = heaps(5000)
    table = build(host_target, "task_pool", scene, split="median").nodes()
    centres, below = np.mean(scene.boxes(), axis=0), members(table)
    checked = 0
    for row in np.flatnonzero(~table.is_leaf):
        if len(below[row]) <= SMALL:
            continue
        here = centres[sorted(below[row])]
        axis = np.ptp(here, axis=0).argmax()
        middle, slack = here[:, axis].min() + np.ptp(here[:, axis]) / 2, 1e-5
        left, right = (centres[sorted(below[child])][:, axis] for child in np.flatnonzero(table.parent == row))
        assert left.max() < middle + slack and right.min() > middle - slack
        checked += 1
    assert checked > 40


@pytest.mark.parametrize("split", ["sah", "median"])
@pytest.mark.parametrize("scene_name", ["soup", "nested", "same_place", "degenerate"])
def test_trees_of_every_crowd_are_sound_and_bounded(host_target: Target, scene_name: str, split: str) -> None:
    scene = {**SCENES, **CROWDS}[scene_name]()
    hierarchy = build(host_target, "task_pool", scene, split=split, max_leaf_size=3)
    table = hierarchy.nodes()
    check_tree(table, *scene.boxes())
    assert table.depth.max() <= hierarchy.max_depth() and table.reference_count.max() <= 3


def test_after_the_last_planes_tasks_are_halved(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no round for planes, only small tasks have any: above them sizes are halves of halves."""
    scene = CROWDS["soup"]()
    monkeypatch.setattr(task_pool, "SPARE_ROUNDS", -task_pool.levels_above(len(scene.indices)))
    table = build(host_target, "task_pool", scene).nodes()
    check_tree(table, *scene.boxes())
    sizes = np.array([len(prim_ids) for prim_ids in members(table)])
    for row in np.flatnonzero(sizes > SMALL):
        assert sizes[table.parent == row].tolist() == [sizes[row] // 2, sizes[row] - sizes[row] // 2]


@pytest.mark.parametrize("split", ["sah", "median"])
def test_threads_change_nothing(host_target: Target, split: str) -> None:
    other = make_target("host", threads=1)
    tables = [
        vars(build(target, "task_pool", CROWDS["soup"](), split=split).nodes()) for target in (host_target, other)
    ]
    assert all(np.array_equal(tables[0][column], tables[1][column]) for column in tables[0])
    other.close()

"""The bars of the trees' quality hold on both scenes: SAH costs need no clock."""

from __future__ import annotations

import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.tree_costs import MOST_CLIPPED_TIMES, MOST_TIMES, clipping_costs, tree_costs
from raygrove.gpu.target.base import Target


@pytest.mark.parametrize("name", ["blob", "room"])
def test_trees_cost_little_more_than_the_reference(host_target: Target, name: str) -> None:
    costs = tree_costs(host_target, make_demo(name, 100_000), (*MOST_TIMES, "lbvh", "sweep_sah"))
    assert 0.9 < costs["hlbvh_sah"] / costs["binned_sah"] <= MOST_TIMES["hlbvh_sah"]
    # hploc beside leaves by size; beside the reference itself it keeps its bar in `room` and misses it on `blob`
    # (docs/performance/clusters.md).
    assert 0.9 < costs["hploc"] / costs["binned_sah by size"] <= MOST_TIMES["hploc"]
    assert 0.9 < costs["hploc_sah"] / costs["binned_sah"] <= MOST_TIMES["hploc_sah"]
    assert costs["lbvh"] > 1.1 * costs["binned_sah"]
    assert costs["binned_sah"] < 0.97 * costs["binned_sah by size"]
    assert costs["sweep_sah"] == pytest.approx(costs["binned_sah"], rel=0.02)


def test_boxes_need_be_cut_along_all_axes_in_small_nodes_alone(host_target: Target) -> None:
    costs = clipping_costs(host_target, make_demo("blob", 20_000))
    assert costs["all"] < costs["small_nodes"] <= MOST_CLIPPED_TIMES * costs["all"]
    assert costs["split_axis"] > 1.1 * costs["all"]

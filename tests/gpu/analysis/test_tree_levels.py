"""A tree level by level, beside sums made node by node in float64."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from raygrove.gpu.analysis.tree_levels import levels_of, spelling
from raygrove.gpu.hierarchy.base import NOT_TOLD, NodeTable
from raygrove.gpu.target.base import Target
from tests.gpu.trace.scenes import built, soup


def surface(lower: np.ndarray, upper: np.ndarray) -> float:
    x, y, z = (upper.astype(np.float64) - lower).tolist()
    return 2.0 * (x * y + y * z + z * x) if min(x, y, z) >= 0.0 else 0.0


@pytest.mark.parametrize("name", ["lbvh", "binned_sah", "median_sah", "octree_complete"])
def test_levels_are_the_sums_of_their_nodes(host_target: Target, name: str) -> None:
    made = built(host_target, soup(4, 150), name, "auto")
    table = made.nodes()
    found = levels_of(table, spelling(made))
    assert found.name.startswith(f"{name}/") and len(found.levels) == table.depth.max() + 1
    root = surface(table.lower[0], table.upper[0])
    children = {row: np.flatnonzero(table.parent == row) for row in range(len(table))}
    is_binary = all(table.is_leaf[row] or len(below) == 2 for row, below in children.items())
    for depth, level in enumerate(found.levels):
        rows = np.flatnonzero(table.depth == depth)
        leaves = [row for row in rows if table.is_leaf[row]]
        inner = [row for row in rows if not table.is_leaf[row]]
        assert (level.nodes, level.leaves) == (len(inner), len(leaves))
        assert level.references == sum(int(table.reference_count[row]) for row in leaves)
        shares = {row: surface(table.lower[row], table.upper[row]) / root for row in rows}
        assert level.area == pytest.approx(sum(shares.values()), rel=1e-6, abs=1e-9)
        sah = sum(shares[row] * (int(table.reference_count[row]) if table.is_leaf[row] else 1) for row in rows)
        assert level.sah == pytest.approx(sah, rel=1e-6, abs=1e-9)
        if not is_binary or not inner:
            assert level.overlap is None
            continue
        shared = 0.0
        for one, other in itertools.chain.from_iterable(itertools.combinations(children[row], 2) for row in inner):
            lower = np.maximum(table.lower[one], table.lower[other])
            upper = np.minimum(table.upper[one], table.upper[other])
            shared += surface(lower, upper) if (upper > lower).all() else 0.0
        assert level.overlap == pytest.approx(shared / sum(root * shares[row] for row in inner), rel=1e-6, abs=1e-9)
    made.close()


@pytest.mark.parametrize("layout", ["bvh2", "bvh4", "bvh8", "cwbvh"])
def test_of_a_wide_layout_it_is_said_that_levels_are_the_binary_trees(host_target: Target, layout: str) -> None:
    made = built(host_target, soup(4, 150), "lbvh", layout)
    table, found = made.nodes(), levels_of(made.nodes(), spelling(made))
    told = {int(one) for one in table.event_ids[~table.is_leaf]} - {NOT_TOLD}
    inner = int((~table.is_leaf).sum())
    assert found.joined == inner - len(told) and (found.joined == 0) == (layout == "bvh2")
    said = f"of the binary tree: {layout} joins its {inner:,} inner nodes into {len(told):,} wide ones"
    assert found.said_of_layout == ("" if layout == "bvh2" else said)
    made.close()


def test_an_empty_tree_has_no_levels() -> None:
    none, boxes = np.zeros(0, np.int32), np.zeros((0, 3), np.float32)
    found = levels_of(NodeTable(none, none, boxes, boxes, none.astype(bool), none, none, none), "nothing")
    assert found.levels == () and found.sah_cost == 0.0

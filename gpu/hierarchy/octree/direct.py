"""The octree over sorted points made at once, without the radix tree that it could be read off (direct.cu,
by_depth.cu)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...target.base import Array, Target, UnitSource
from ..scratch import Shapes, scratch_arrays
from .z_order import ZOrder

if TYPE_CHECKING:
    from .point_tree import PointTree, PointTreeOptions

DEPTHS = 22
"""Of the root and 21 levels."""

WALKS = {"cuda": False, "host": True}
"""Whether nodes are found by a walk along the points, or by a search for each."""

SPANS = {"cuda": 64, "host": 2048}
"""Points whose nodes one warp numbers."""


def most_nodes(count: int) -> int:
    """Of a compressed octree: a leaf per point, one inner node less, and the root cube."""
    return max(2 * count, 1)


class DirectForm:
    """Sorts points, counts the nodes over them, then writes them. Launches only."""

    def __init__(self, target: Target, options: PointTreeOptions, order: ZOrder) -> None:
        self.target, self.leaf_points, self._order = target, options.leaf_points, order
        constants: tuple[tuple[str, int], ...] = (
            ("BITS", int(options.bits)),
            ("IS_FULL", options.chains == "full"),
        )
        self._source = UnitSource("gpu/hierarchy/octree/direct.cu", constants=constants)
        self._span = SPANS[target.kind]
        self._block = int(options.block)
        self._warps = self._block // 32 if target.kind == "cuda" else 1  # of a block
        constants += (("SPAN", self._span), ("WARPS", self._warps))
        self._by_depth = UnitSource("gpu/hierarchy/octree/by_depth.cu", constants=constants)

    def shapes(self, count: int, capacity: int) -> Shapes:
        """Scratch memory."""
        shapes: Shapes = {name: ((max(count, 1),), np.int32) for name in ("parts", "opens", "closes", "more", "above")}
        return shapes | {name: ((DEPTHS * self._spans(count),), np.int32) for name in ("tallies", "before")}

    def _spans(self, count: int) -> int:
        return max(1, -(-count // self._span))

    def first_capacity(self, count: int) -> int:
        """See `most_nodes`; with chains, where nothing is known of the points."""
        return most_nodes(count)

    def build(self, tree: PointTree, positions: Array, values: Array | None) -> None:
        """The whole tree, or none and the status where it does not fit."""
        self._order.sort(tree, positions, values)
        n = int(positions.shape[0])
        held = scratch_arrays(self.target, "octree.direct", self.shapes(n, tree.capacity))
        codes = {"codes": tree.codes, "leaf_points": self.leaf_points}
        with self.target.phase("build.nodes"):
            self._find(tree, held, codes, n)
            self._write(tree, held, codes, self._spans(n))

    def _find(self, tree: PointTree, held: dict[str, Array], codes: dict[str, Any], n: int) -> None:
        """Where nodes begin and end, and how many are open before each point."""
        target, unit = self.target, self.target.unit(self._source)
        known = codes | {"counts": tree.counts, "parts": held["parts"], "closes": held["closes"]}
        known |= {"block": self._block}
        if WALKS[target.kind]:
            target.launch(unit, "walk_forth", n, **known)
            target.launch(unit, "walk_back", n, **known, opens=held["opens"], more=held["more"])
        else:
            for name in ("opens", "closes"):
                target.fill(held[name], 0)
            target.launch(unit, "find_nodes", n, **known, opens=held["opens"])
            target.launch(unit, "merge_leaves", n, **known, n=n, opens=held["opens"], more=held["more"])
        target.exclusive_scan(held["more"], held["above"], "octree.scan")

    def _write(self, tree: PointTree, held: dict[str, Array], codes: dict[str, Any], spans: int) -> None:
        """The nodes, none where they are more than there is room for."""
        target, unit = self.target, self.target.unit(self._by_depth)
        walked = {name: held[name] for name in ("opens", "closes", "above")} | {"spans": spans, "counts": tree.counts}
        shape = {"block": self._block, "blocks": -(-spans // self._warps)}
        tallies, before = held["tallies"], held["before"]
        target.launch(unit, "tally_depths", spans, **walked, tallies=tallies, **shape)
        target.exclusive_scan(tallies, before, "octree.scan")
        sums = {"tallies": tallies, "before": before, "spans": spans, "capacity": tree.capacity}
        target.launch(unit, "begin_depths", 1, **codes, **sums, depth_first=tree.depth_first, counts=tree.counts)
        nodes = {name: getattr(tree, name) for name in ("level", "first_child", "first_point")}
        ends = {"parent": tree.parent, "last_child": tree.child_count, "last_point": tree.point_count}
        target.launch(unit, "write_nodes", spans, **walked, before=before, **nodes, **ends, **shape)
        counted = {"counts": tree.counts, "child_count": tree.child_count, "point_count": tree.point_count}
        target.launch(
            unit, "finish_nodes", tree.capacity, **codes, **counted, **nodes, code=tree.code, block=self._block
        )

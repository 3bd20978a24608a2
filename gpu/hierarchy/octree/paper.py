"""The octree bottom up by the paper's own steps (paper.cu; Goradia et al. 2008, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...target.base import Array, Target, UnitSource
from ..base import HierarchyError
from ..scratch import Shapes, scratch_arrays
from .direct import most_nodes
from .z_order import ZOrder

NO_DEPTH = 31
"""Of places behind the last node, which are sorted to the end (paper.cu)."""

if TYPE_CHECKING:
    from .point_tree import PointTree, PointTreeOptions


class PaperForm:
    """Sorts points, the common ancestors of leaves, all nodes, and those with copies of parents. Launches only."""

    def __init__(self, target: Target, options: PointTreeOptions, order: ZOrder) -> None:
        if options.leaf_points != 1:
            raise HierarchyError(
                f"The method paper has a leaf for each of the smallest cells, and leaves of {options.leaf_points} "
                f"points were asked for: take the method direct."
            )
        self.target, self.bits, self._order = target, int(options.bits), order
        self._block = int(options.block)
        constants = (("BITS", self.bits), ("IS_FULL", options.chains == "full"))
        self._source = UnitSource("gpu/hierarchy/octree/paper.cu", constants=constants)

    def shapes(self, count: int, capacity: int) -> Shapes:
        """Scratch memory, with what cells are sorted by: A and B are four of the arrays."""
        n = max(count, 1)
        shapes: Shapes = dict.fromkeys(("leaf_flags", "leaves_before"), ((n,), np.int32))
        shapes |= {f"{name}_code": ((size,), np.uint64) for name, size in _sizes(n, capacity).items()}
        shapes |= {f"{name}_level": ((size,), np.int32) for name, size in _sizes(n, capacity).items()}
        shapes |= dict.fromkeys(("flags", "before", "parent"), ((2 * n,), np.int32))
        shapes |= dict.fromkeys(("post_parent", "rank", "ids"), ((capacity,), np.int32))
        shapes |= {"depths": ((capacity,), np.uint32), "sizes": ((2,), np.int32)}
        shapes |= {"keys": ((4 * n,), np.uint64), "by_key": ((4 * n,), np.int32)}
        if self.bits > 10:
            shapes |= {"level_keys": ((4 * n,), np.uint32), "by_level": ((4 * n,), np.int32)}
        return shapes

    def first_capacity(self, count: int) -> int:
        """See `most_nodes`; with chains, where nothing is known of the points."""
        return most_nodes(count)

    def build(self, tree: PointTree, positions: Array, values: Array | None) -> None:
        """The whole tree, or none and the status where it does not fit."""
        self._order.sort(tree, positions, values)
        held = scratch_arrays(self.target, "octree.paper", self.shapes(positions.shape[0], tree.capacity))
        with self.target.phase("build.nodes"):
            self._make_nodes(tree, held)
            self._relate(held)
            self._add_chains(tree, held)
        with self.target.phase("build.order"):
            self._write(tree, held)

    def _make_nodes(self, tree: PointTree, held: dict[str, Array]) -> None:
        """Steps 1 and 2: A in post order."""
        n, flags, before = len(tree.order), held["leaf_flags"], held["leaves_before"]
        for name in ("a_level", "inner_level"):
            self.target.fill(held[name], -1)
        codes = {"codes": tree.codes, "counts": tree.counts, "n": n}
        self._launch("flag_leaves", n, **codes, flags=flags)
        self.target.exclusive_scan(flags, before, "octree.scan")
        self._launch("write_leaves", n, **codes, before=before, **_cells(held, "a"), **_cells(held, "inner", "inner_"))
        ids = self._across_levels(held, "inner", n)
        found = {"flags": held["flags"][:n], "before": held["before"][:n]}
        self._launch("flag_different", n, **_cells(held, "inner"), ids=ids, n=n, flags=found["flags"])
        self.target.exclusive_scan(found["flags"], found["before"], "octree.scan")
        inner = {**_cells(held, "inner", "inner_"), "ids": ids, "leaf_flags": flags, "leaves_before": before}
        self._launch("append_inner", n, **inner, **found, n=n, **_cells(held, "a"), sizes=held["sizes"])
        ids = self._across_levels(held, "a", 2 * n)
        self._launch("gather_cells", 2 * n, **_cells(held, "a"), ids=ids, n=2 * n, **_cells(held, "sorted", "to_"))

    def _relate(self, held: dict[str, Array]) -> None:
        """Step 3: the parent of each node in post order."""
        m = len(held["sorted_level"])
        cells, copies = _cells(held, "sorted"), _cells(held, "b", "copy_")
        self._launch("copy_parents", m, **cells, sizes=held["sizes"], n=m, **copies)
        ids = self._across_levels(held, "b", 2 * m)
        self.target.fill(held["parent"], -1)
        self._launch("link_copies", 2 * m, **_cells(held, "b"), ids=ids, n=m, parent=held["parent"])

    def _add_chains(self, tree: PointTree, held: dict[str, Array]) -> None:
        """Step 4."""
        m = len(held["sorted_level"])
        related = {"parent": held["parent"], "sizes": held["sizes"], "chains": held["flags"], "n": m}
        self._launch("count_chains", m, level=held["sorted_level"], **related)
        self.target.exclusive_scan(held["flags"], held["before"], "octree.scan")
        written = {**_cells(held, "post", "to_"), "to_parent": held["post_parent"], "counts": tree.counts}
        sums = {"before": held["before"], "capacity": tree.capacity}
        self._launch("write_chains", m, **_cells(held, "sorted"), **related, **sums, **written)

    def _write(self, tree: PointTree, held: dict[str, Array]) -> None:
        """Nodes in order of depth."""
        m, counts, rank = tree.capacity, tree.counts, held["rank"]
        depths, ids = held["depths"], held["ids"]
        found = {"capacity": m, "depths": depths, "ids": ids, "counts": counts}
        self._launch("find_depths", m, parent=held["post_parent"], **found)
        depths, ids = self.target.sort_pairs(depths, ids, (0, NO_DEPTH.bit_length()), "octree.depths")
        self._launch("rank_nodes", m, depths=depths, ids=ids, counts=counts, rank=rank, depth_first=tree.depth_first)
        names = ("codes", "code", "level", "parent", "first_child", "child_count", "first_point", "point_count")
        arrays = {name: getattr(tree, name) for name in names}
        post = {**_cells(held, "post", "post_"), "post_parent": held["post_parent"]}
        self._launch("write_nodes", m, **post, ids=ids, rank=rank, counts=counts, **arrays)
        links = {"parent": tree.parent, "first_child": tree.first_child, "counts": counts}
        self._launch("find_first_children", m, **links)
        self._launch("count_children", m, **links, child_count=tree.child_count)

    def _across_levels(self, held: dict[str, Array], name: str, n: int) -> Array:
        """The places of `n` cells in post order, scratch memory until the next order."""
        cells, by_level = _cells(held, name), None
        keys, by_key = held["keys"][:n], held["by_key"][:n]
        if self.bits > 10:
            level_keys, ids = held["level_keys"][:n], held["by_level"][:n]
            self._launch("key_levels", n, level=cells["level"], n=n, keys=level_keys, ids=ids)
            _, by_level = self.target.sort_pairs(level_keys, ids, (0, 6), "octree.levels")
        self._launch("key_codes", n, **cells, by_level=by_level, n=n, keys=keys, ids=by_key)
        return self.target.sort_pairs(keys, by_key, (0, 64 if self.bits > 10 else 36), "octree.cells")[1]

    def _launch(self, kernel: str, items: int, /, **arguments: Any) -> None:
        self.target.launch(self.target.unit(self._source), kernel, items, block=self._block, **arguments)


def _sizes(n: int, capacity: int) -> dict[str, int]:
    """Places of the arrays of cells: A before and after it is sorted, the common ancestors, B, A with chains."""
    return {"a": 2 * n, "sorted": 2 * n, "inner": n, "b": 4 * n, "post": capacity}


def _cells(held: dict[str, Array], name: str, prefix: str = "") -> dict[str, Array]:
    return {f"{prefix}code": held[f"{name}_code"], f"{prefix}level": held[f"{name}_level"]}

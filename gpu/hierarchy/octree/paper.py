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
        key_type = "unsigned" if self._key_bits <= 32 else "uint64"
        self._source = UnitSource(
            "gpu/hierarchy/octree/paper.cu", ("gpu/device/types.cuh",), (("Key", key_type),), constants
        )

    @property
    def _key_bits(self) -> int:
        """Of a cell's place in post order (post_order.cuh)."""
        return 3 * self.bits + 1

    def shapes(self, count: int, capacity: int) -> Shapes:
        """Scratch memory: A and B, with what their parts are sorted by."""
        n = max(count, 1)
        key = np.uint32 if self._key_bits <= 32 else np.uint64
        shapes: Shapes = dict.fromkeys(("leaf_flags", "leaves_before"), ((n,), np.int32))
        shapes |= {"leaf_code": ((n,), np.uint64), "ancestors": ((n,), key), "inner": ((n,), key)}
        shapes |= {"key": ((2 * n,), key), "code": ((2 * n,), np.uint64), "level": ((2 * n,), np.int32)}
        shapes |= {"copies": ((2 * n,), key)}
        shapes |= dict.fromkeys(("copies_of", "flags", "before", "parent"), ((2 * n,), np.int32))
        shapes |= dict.fromkeys(("post_level", "post_parent", "rank", "ids"), ((capacity,), np.int32))
        return shapes | {
            "post_code": ((capacity,), np.uint64),
            "depths": ((capacity,), np.uint32),
            "sizes": ((2,), np.int32),
        }

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
        n, leaf_flags, leaves_before = len(tree.order), held["leaf_flags"], held["leaves_before"]
        known = {"codes": tree.codes, "counts": tree.counts, "n": n}
        self._launch("flag_leaves", n, **known, flags=leaf_flags)
        self.target.exclusive_scan(leaf_flags, leaves_before, "octree.scan")
        found = {"leaf_code": held["leaf_code"], "ancestors": held["ancestors"]}
        self._launch("write_leaves", n, **known, before=leaves_before, **found)
        ancestors = self.target.sort_keys(held["ancestors"], (0, self._key_bits), "octree.ancestors")
        flags = {"flags": held["flags"][:n], "before": held["before"][:n]}
        self._launch("flag_different", n, ancestors=ancestors, n=n, flags=flags["flags"])
        self.target.exclusive_scan(flags["flags"], flags["before"], "octree.scan")
        leaves = {"leaf_flags": leaf_flags, "leaves_before": leaves_before}
        inner = {"inner": held["inner"], "sizes": held["sizes"]}
        self._launch("keep_different", n, ancestors=ancestors, **flags, **leaves, n=n, **inner)
        merged = {"leaf_code": held["leaf_code"], "counts": tree.counts, "key": held["key"], **_cells(held)}
        self._launch("merge_cells", 2 * n, **inner, **merged)

    def _relate(self, held: dict[str, Array]) -> None:
        """Step 3: the parent of each node in post order."""
        m, sizes = len(held["key"]), held["sizes"]
        copies, of = held["copies"], held["copies_of"]
        self._launch("copy_parents", m, **_cells(held), sizes=sizes, n=m, copies=copies, of=of)
        copies, of = self.target.sort_pairs(copies, of, (0, self._key_bits), "octree.copies")
        found = {"key": held["key"], "sizes": sizes, "parent": held["parent"]}
        self._launch("link_copies", m, copies=copies, of=of, n=m, **found)

    def _add_chains(self, tree: PointTree, held: dict[str, Array]) -> None:
        """Step 4."""
        m = len(held["key"])
        related = {"parent": held["parent"], "sizes": held["sizes"], "chains": held["flags"], "n": m}
        self._launch("count_chains", m, level=held["level"], **related)
        self.target.exclusive_scan(held["flags"], held["before"], "octree.scan")
        written = {f"to_{name}": held[f"post_{name}"] for name in ("code", "level", "parent")}
        sums = {"before": held["before"], "capacity": tree.capacity, "counts": tree.counts}
        self._launch("write_chains", m, **_cells(held), **related, **sums, **written)

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
        post = {name: held[name] for name in ("post_code", "post_level", "post_parent")}
        self._launch("write_nodes", m, **post, ids=ids, rank=rank, counts=counts, **arrays)
        links = {"parent": tree.parent, "first_child": tree.first_child, "counts": counts}
        self._launch("find_first_children", m, **links)
        self._launch("count_children", m, **links, child_count=tree.child_count)

    def _launch(self, kernel: str, items: int, /, **arguments: Any) -> None:
        self.target.launch(self.target.unit(self._source), kernel, items, block=self._block, **arguments)


def _cells(held: dict[str, Array]) -> dict[str, Array]:
    """Of A in order."""
    return {"code": held["code"], "level": held["level"]}

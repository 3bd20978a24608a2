"""Points sorted along the Z-order in a cube: what every octree over points begins with. Phases build.bounds,
build.codes, build.sort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...target.base import Array, Target, Unit, UnitSource

if TYPE_CHECKING:
    from .point_tree import PointTree

_BOUNDS_BLOCKS = {"cuda": (512, 528), "host": (16384, 64)}
"""Points that are worth a block, and most blocks (morton_order.py)."""


class ZOrder:
    """Codes of `bits` (10 or 21) bits an axis, in the cube that holds all points or in a given `root` (4,) float32.
    `is_sorted`: they are only made to be sorted by, and at 10 bits share their words with the points' numbers."""

    def __init__(self, target: Target, bits: int, root: np.ndarray | None, is_sorted: bool) -> None:
        self.target, self.bits, self._is_sorted = target, bits, is_sorted
        self._is_packed = is_sorted and bits == 10
        constants = (("BITS", bits), ("IS_PACKED", self._is_packed))
        self._source = UnitSource("gpu/hierarchy/octree/z_order.cu", constants=constants)
        self.directions: Array | None = None
        """(n, 4) float32: points that look to one of six sides have a cell below the root of their own."""
        self._root = None if root is None else target.upload(root, "octree")
        self._bounds = target.zeros(6, np.float32, "octree")
        self._partial = target.zeros((_BOUNDS_BLOCKS[target.kind][1], 6), np.float32, "octree")
        self._arrived = target.zeros(1, np.int32, "octree")

    def scratch_bytes(self, count: int) -> int:
        """Keys, and the points' numbers where they have words of their own, twice over for the sort."""
        return count * (2 * (8 if self._is_packed else 12) if self._is_sorted else 8)

    def encode(self, tree: PointTree, positions: Array) -> Array:
        """The codes of the points as handed in, scratch memory; fills the root of a tree. Launches only."""
        return self._encode(tree, positions)[0]

    def sort(self, tree: PointTree, positions: Array, values: Array | None) -> None:
        """Fill the points, order, codes and root of a tree, and how many points it has. Launches only."""
        target, (n, width) = self.target, positions.shape
        keys, ids = self._encode(tree, positions)
        if n == 0:
            return
        with target.phase("build.sort"):
            if ids is None:
                keys = target.sort_keys(keys, (32, 63), "octree.sort")
            else:
                keys, ids = target.sort_pairs(keys, ids, (0, 64), "octree.sort")
            rows = {"positions": positions, "width": width, "count": n}
            sorted_arrays = {"points": tree.points, "order": tree.order, "codes": tree.codes, "counts": tree.counts}
            unit = target.unit(self._source)
            target.launch(unit, "order_points", n, **rows, keys=keys, ids=ids, values=values, **sorted_arrays)

    def _encode(self, tree: PointTree, positions: Array) -> tuple[Array, Array | None]:
        target, (n, width) = self.target, positions.shape
        unit = target.unit(self._source)
        keys = target.scratch("octree.keys", max(n, 1), np.uint64)
        ids = target.scratch("octree.ids", max(n, 1), np.int32) if self._is_sorted and not self._is_packed else None
        rows = {"positions": positions, "width": width, "count": n}
        with target.phase("build.bounds"):
            self._bound(unit, rows, tree)
        with target.phase("build.codes"):
            bounds = self._bounds if self._root is None else None
            given: dict[str, Any] = {"directions": self.directions, "bounds": bounds}
            target.launch(unit, "encode_points", max(n, 1), **rows, **given, root=tree.root, keys=keys, ids=ids)
        return keys, ids

    def _bound(self, unit: Unit, rows: dict[str, Any], tree: PointTree) -> None:
        target, n = self.target, rows["count"]
        if self._root is not None:
            target.launch(unit, "copy_root", 4, given=self._root, root=tree.root)
            return
        a_block, most_blocks = _BOUNDS_BLOCKS[target.kind]
        blocks = max(1, min(-(-n // a_block), most_blocks))
        scratch = {"partial": self._partial, "arrived": self._arrived, "bounds": self._bounds}
        target.launch(unit, "bound_points", n, **rows, **scratch, block=512, blocks=blocks)

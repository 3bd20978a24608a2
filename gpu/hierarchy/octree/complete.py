"""The complete octree of some level, every cell a node (complete.cu; Ajmera et al. 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...target.base import Array, Target, UnitSource
from ..base import HierarchyError
from ..scratch import Shapes
from .z_order import ZOrder

if TYPE_CHECKING:
    from .point_tree import PointTree, PointTreeOptions


class CompleteForm:
    """Sorts points, and finds the range of each cell among them. Launches only."""

    def __init__(self, target: Target, options: PointTreeOptions, order: ZOrder) -> None:
        if options.levels > int(options.bits):
            raise HierarchyError(
                f"Codes of {options.bits} bits an axis have {options.bits} levels, and a complete octree of "
                f"{options.levels} was asked for: take fewer levels, or 21 bits."
            )
        self.target, self.levels, self._order = target, options.levels, order
        self._block = int(options.block)
        constants = (("BITS", int(options.bits)), ("LEVELS", options.levels))
        self._source = UnitSource("gpu/hierarchy/octree/complete.cu", constants=constants)

    def shapes(self, count: int, capacity: int) -> Shapes:
        """No scratch memory beside that of the sort."""
        return {}

    def first_capacity(self, count: int) -> int:
        """Every cell of every level: the sum of 8^i."""
        return int((8 ** (self.levels + 1) - 1) // 7)

    def build(self, tree: PointTree, positions: Array, values: Array | None) -> None:
        """The whole tree."""
        self._order.sort(tree, positions, values)
        names = ("code", "level", "parent", "first_child", "child_count", "first_point", "point_count", "depth_first")
        arrays = {name: getattr(tree, name) for name in ("codes", "counts", *names)}
        nodes = self.first_capacity(0)
        with self.target.phase("build.nodes"):
            unit = self.target.unit(self._source)
            self.target.launch(unit, "write_cells", nodes, nodes=nodes, **arrays, block=self._block)

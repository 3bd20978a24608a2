"""What builders along a Morton curve have in common: the order of their primitives, and, where nodes split as codes do,
the whole of a build but the links."""

from __future__ import annotations

import abc

from ...target.base import Array, Target
from ..base import Primitives, StructureChoice
from ..morton_order import MortonOptions, MortonOrder
from .bvh import BvhHierarchy
from .tree import MAX_WIDE_LEAF_SIZE


class MortonBuilder(BvhHierarchy):
    """A builder that begins with `sort`."""

    options: MortonOptions

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self.code_bits = int(self.options.code_bits)
        self.morton_order = MortonOrder(target, self.code_bits)

    def sort(self, primitives: Primitives) -> tuple[Array, Array | None]:
        """Keys in order, and at 60 bits the prim_ids in the same order."""
        return self.morton_order.sort(primitives)


class CodeBuilder(MortonBuilder):
    """Every node splits at a bit of the codes, and where they are equal at one of the positions. A builder gives
    `link_nodes`."""

    ids_follow_references = True
    most_wide_leaf = MAX_WIDE_LEAF_SIZE

    def max_depth(self) -> int:
        return self.code_bits + self.tree.reference_bits

    @abc.abstractmethod
    def link_nodes(self, primitives: Primitives, keys: Array, prim_ids: Array | None) -> None:
        """Write order, links, parents, EXISTS flags and root."""

    def emit(self, primitives: Primitives) -> bool:
        keys, prim_ids = self.sort(primitives)
        self.link_nodes(primitives, keys, prim_ids)
        return self.compute_bounds(primitives)

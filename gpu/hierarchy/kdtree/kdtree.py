"""The family of kd-trees: everything but `emit`, which builders give.

A builder fills a draft; gpu/hierarchy/growing.py makes it the tree that is traversed and finds room for it. The family
draws the nodes (nodes.cuh), measures them and shows them as a node table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated

from ...rows import Ints, Struct
from ...target.base import Array
from ...target.structs import pack
from ..base import NodeTable, Traversal, TreeView
from ..cell_tree import CellTreeHierarchy
from ..grown_tree import Capacity, Limits
from ..primitives import query_records
from .node_table import read_node_table
from .options import KdTreeOptions
from .tree import MOST_BYTES, MOST_BYTES_LEAF, MOST_DEPTH, MOST_REFERENCES, NODE_SHAPE, PREFERRED_BYTES

LAYOUT = "kd8"
SHORT_STACK = 24
"""Cells that the short stack keeps. Fewer would do for the traversal, but ptxas for sm_75 keeps so small an array in
registers, and spills."""

MAILBOXES = 8
TRAVERSAL_REGISTERS = dict.fromkeys(("full_stack", "short_stack", "restart"), 72)
"""Registers per thread of each traversal on CUDA: with 64 some spill, with mailboxes or on the way to lights, and none
is faster."""

LEAST_STACK = 64
"""Places of a traversal's stack at least: an array of fewer is kept in registers by ptxas for sm_75, which then
spills."""


@dataclasses.dataclass(frozen=True)
class KdArrays(Struct):
    """The tree as traversals have it."""

    nodes: Annotated[Array, "const int2*"]
    references: Ints
    box: Annotated[Array, "const float4*"]


class KdTreeHierarchy(CellTreeHierarchy):
    """See the module. A builder gives `name`, `title`, `Options` (a KdTreeOptions), `emit` and `working_bytes`."""

    family = "kdtree"
    layout_of_all = LAYOUT
    node_shape = NODE_SHAPE
    ample = ((1.0, 1.75, 1.4), (1.0, 1.5, 1.25))
    quality_constants = (("STACK_DEPTH", MOST_DEPTH + 2),)
    options: KdTreeOptions

    @classmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        return ("full_stack", "short_stack", "restart")

    @classmethod
    def titles(cls) -> Mapping[str, str]:
        return {
            LAYOUT: "Kd-tree, 8 bytes per node",
            "full_stack": "Full stack",
            "short_stack": "Short stack",
            "restart": "Restart at the root (no stack)",
        }

    def max_depth(self) -> int:
        """The most inner nodes on a way from the root to a leaf."""
        return self.options.levels(self.last_built().count)

    # -- room -------------------------------------------------------------------------------------------------------
    def limits(self) -> Limits:
        return Limits(
            nodes=2 * MOST_REFERENCES,
            references=MOST_REFERENCES,
            bytes=MOST_BYTES if self.options.max_leaf_size >= MOST_BYTES_LEAF else None,
            advice="too many of them reach across the splits. Raise max_leaf_size, or lower max_depth or "
            "references_per_primitive.",
            preferred=PREFERRED_BYTES,
        )

    def first_capacity(self, primitive_count: int) -> Capacity:
        """What most closed surfaces need."""
        n, share = primitive_count, self.options.references_per_primitive
        nodes = int(min(3.0, 16.0 / self.options.max_leaf_size) * n) + 64
        return Capacity(nodes, int(min(share, 2.0) * n) + 256, int(min(share, 1.5) * n) + 256)

    # -- what others read -------------------------------------------------------------------------------------------
    def traversal(self) -> Traversal:
        tree = self.tree
        records = self.traversed.of_traversal(self.last_built(), tree.records)
        view = pack(KdArrays(tree.nodes, tree.references, tree.box))
        constants: tuple[tuple[str, int], ...] = (("MAILBOXES", MAILBOXES if self.options.mailboxes else 0),)
        if self.traversal_name == "full_stack":
            constants += (("STACK_DEPTH", LEAST_STACK),)
        if self.traversal_name == "short_stack":
            constants += (("SHORT_STACK", SHORT_STACK),)
        header, type_name = self.traversal_source()
        registers = TRAVERSAL_REGISTERS[self.traversal_name]
        seen = TreeView(header, type_name, view, constants, registers)
        return Traversal(seen, records, lanes_go_alone=self.traversal_name == "full_stack")

    def query_traversal(self) -> Traversal:
        built, tree = self.last_built(), self.tree
        view = pack(KdArrays(tree.nodes, tree.references, tree.box))
        header = "gpu/hierarchy/kdtree/queries/kd8.cuh"
        nodes = TreeView(header, "VisitedKdTree", view, (("STACK_DEPTH", LEAST_STACK),))
        return Traversal(nodes, query_records(built, tree.records))

    def nodes(self) -> NodeTable:
        return read_node_table(self.target, self.tree, self.last_built())

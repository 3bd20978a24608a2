"""The family of octrees: everything but `emit`, which builders give.

A builder fills a draft; gpu/hierarchy/growing.py makes it the tree that is traversed and finds room for it. The family
draws the nodes (nodes.cuh), measures them and shows them as a node table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated

import numpy as np

from ...rows import Ints, Struct
from ...target.base import Array
from ...target.structs import pack
from ..base import NodeTable, Primitives, Traversal, TreeView
from ..cell_tree import CellTreeHierarchy
from ..grown_tree import Capacity, Draft, Limits
from ..primitives import query_records
from ..runs import run_constants
from .node_table import read_node_table
from .options import MOST_LEVELS, MOST_NODES, MOST_REFERENCES, NODE_SHAPE, OctreeOptions

LAYOUT = "octree8"
MAILBOXES = 8
TRAVERSAL_REGISTERS, ON_THE_WAY, WITH_GLYPHS = 72, 88, 112
"""Registers per thread of the traversal on CUDA. With 72 what goes on behind a long list spills (go_on_sharing in
parametric.cuh), and most rays are still faster than with 64 or 80; shadow rays on the way to lights and rays through
glyphs would spill before it."""


@dataclasses.dataclass(frozen=True)
class OctreeArrays(Struct):
    """The tree as traversals have it."""

    nodes: Annotated[Array, "const int2*"]
    references: Ints
    box: Annotated[Array, "const float4*"]
    runs: Annotated[Array, "const float4*"]


class OctreeHierarchy(CellTreeHierarchy):
    """See the module. A builder gives `name`, `title`, `Options` (an OctreeOptions), `emit` and `working_bytes`."""

    family = "octree"
    layout_of_all = LAYOUT
    node_shape = NODE_SHAPE
    options: OctreeOptions

    @classmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        return ("parametric",)

    @classmethod
    def titles(cls) -> Mapping[str, str]:
        return {LAYOUT: "Octree, 8 bytes per node", "parametric": "Parametric (planes through the middle)"}

    def max_depth(self) -> int:
        """The most inner nodes on a way from the root to a leaf."""
        return MOST_LEVELS

    # -- room -------------------------------------------------------------------------------------------------------
    def limits(self) -> Limits:
        return Limits(
            nodes=MOST_NODES,
            references=MOST_REFERENCES,
            bytes=None,
            advice=self.advice(),
        )

    def advice(self) -> str:
        """The end of the message where there is no room: why, and what to do."""
        return "too many primitives meet many cells. Raise leaf_primitives, or lower references_per_primitive."

    @property
    def leaf_primitives(self) -> int:
        """Cells that so many primitives meet become leaves."""
        return self.options.leaf_primitives

    def first_capacity(self, primitive_count: int) -> Capacity:
        """What most closed surfaces need."""
        n, share = primitive_count, self.options.references_per_primitive
        nodes = int(min(2.0, 16.0 / self.leaf_primitives) * n) + 64
        return Capacity(nodes, int(min(share, 3.0) * n) + 256, int(min(share, 2.5) * n) + 256)

    def finish(self, primitives: Primitives, draft: Draft) -> None:
        with self.target.phase("build.runs"):
            self.tree.bound_runs(draft, primitives, None)

    # -- what others read -------------------------------------------------------------------------------------------
    def traversal(self) -> Traversal:
        tree = self.tree
        records = self.traversed.of_traversal(self.last_built(), tree.records)
        constants = (("MAILBOXES", MAILBOXES if self.options.mailboxes else 0), *run_constants())
        header, type_name = self.traversal_source()
        registers = WITH_GLYPHS if self.last_built().kind == "glyphs" else TRAVERSAL_REGISTERS
        return Traversal(TreeView(header, type_name, self._view(), constants, registers, ON_THE_WAY), records)

    def query_traversal(self) -> Traversal:
        built, tree = self.last_built(), self.tree
        nodes = TreeView("gpu/hierarchy/octree/queries/octree8.cuh", "VisitedOctree", self._view())
        return Traversal(nodes, query_records(built, tree.records))

    def _view(self) -> np.ndarray:
        return pack(OctreeArrays(self.tree.nodes, self.tree.references, self.tree.box, self.tree.runs))

    def nodes(self) -> NodeTable:
        return read_node_table(self.target, self.tree, self.last_built())

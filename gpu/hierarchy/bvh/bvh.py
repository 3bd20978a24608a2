"""The family of bounding volume hierarchies: everything but `emit`, which builders give.

A builder emits the canonical tree (tree.py), an optimiser may improve it; the family keeps its memory, writes the
chosen layout from it, refits it, measures it and shows it as a node table. Phases: build.* by the builder, optimise.*
by the optimiser, build.layout, refit.nodes, refit.layout.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from ...rows import Ints, Struct
from ...stats import HierarchyStatistics
from ...target.base import Array, Target
from ...target.structs import pack
from ..base import (
    REGION_QUERIES,
    Capabilities,
    NodeTable,
    Primitives,
    StatisticsOptions,
    StructureChoice,
    Traversal,
    TreeView,
)
from ..measured import MeasuredHierarchy
from ..primitives import (
    KINDS,
    TraversedRecords,
    check_primitives,
    query_records,
)
from ..quality import Quality
from .layouts import TRAVERSAL_REGISTERS, TRAVERSAL_TITLES, Layout, best_traversal, layout_classes, traversal_names
from .node_table import read_node_table
from .optimisers import Optimiser, optimiser_classes
from .quality import BvhQuality
from .refit import LEFT_OPEN, Numbering, TreeBounds
from .sizes import KEEPS_DISTANCE, LEAST_INTERLEAVED, LEAST_STACK
from .stopping import LEAF_OF_TRIANGLES, leaf_size_of
from .tree import CanonicalTree
from .wide import check_wide

SUMS = 5
"""What a block measures: cost, inner nodes, leaves, inactive references, depth."""
_MEASURE_BLOCKS = 256


@dataclasses.dataclass(frozen=True)
class VisitedNodes(Struct):
    """What visits of regions hold."""

    nodes: Annotated[Array, "const float4*"]
    root: Ints
    long_leaves: Ints


class BvhHierarchy(MeasuredHierarchy):
    """See the module. A builder gives `name`, `title`, `Options`, `emit` and `max_depth`; one that splits references
    `reference_capacity` too.
    """

    family = "bvh"
    capabilities = Capabilities(primitive_kinds=("triangle", "sphere", "mixed", "glyphs"), queries=REGION_QUERIES)
    figures = ("sah_cost", "node_count", "leaf_count", "inactive_count", "depth", "reference_count")
    ids_follow_references: ClassVar[bool] = False
    """Whether a node's id is that of one of its references or next to it, as Karras' are, so that chunks leave few
    nodes open: refits by groups.
    """
    left_open: int = LEFT_OPEN
    """Open nodes that a list of a refit is taken to have at most: groups are made of so many lists as have room with
    that.
    """
    links_anew: ClassVar[bool] = False
    """Whether a refit makes other links too."""
    is_forest: ClassVar[bool] = False
    """Whether several trees lie in the arrays, of which a refit may touch some alone."""
    most_wide_leaf: ClassVar[int] = 0
    """The largest leaves in trees of 2^26 references and more, whose words have 27 bits for one; 0: the builder makes
    no such trees."""
    leaf_of_triangles: ClassVar[int] = LEAF_OF_TRIANGLES
    """What a `max_leaf_size` of 0 is of triangles (stopping.py)."""
    best_layouts: ClassVar[dict[str, str]] = {"host": "bvh4", "cuda": "bvh2"}
    best_incoherent: ClassVar[str] = "bvh8"
    """The best layout for wide packs of incoherent rays."""

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self.tree = CanonicalTree(target)
        self.leaf_size = 0
        self.layout: Layout = layout_classes()[self.layout_name](target)
        self.optimiser: Optimiser | None = None
        if self.choice.optimiser != "none":
            kind = optimiser_classes()[self.choice.optimiser]
            self.optimiser = kind(target, self.choice.optimiser_options or kind.Options())
        self.traversed = TraversedRecords(target, self.choice.triangle_test)
        self.bounds = TreeBounds(target, self.tree, self._numbering())
        self._quality = BvhQuality(target)

    @classmethod
    def layouts(cls) -> tuple[str, ...]:
        return tuple(layout_classes())

    @classmethod
    def default_layout(cls, target_kind: str, incoherent_lanes: int = 0) -> str:
        return cls.best_incoherent if incoherent_lanes >= LEAST_INTERLEAVED else cls.best_layouts[target_kind]

    @classmethod
    def optimisers(cls) -> dict[str, type]:
        return dict(optimiser_classes())

    @classmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        return traversal_names(layout)

    @classmethod
    def titles(cls) -> Mapping[str, str]:
        return {name: layout.title for name, layout in layout_classes().items()} | TRAVERSAL_TITLES

    # -- what a builder gives ---------------------------------------------------------------------------------------
    @abc.abstractmethod
    def emit(self, primitives: Primitives) -> bool:
        """Fill `self.tree` (reserved, at least one primitive), records and flags included; true where the layout's
        nodes are written too.
        """

    @abc.abstractmethod
    def max_depth(self) -> int:
        """A proven bound of the inner nodes on a way from the root, whatever the primitives: it sizes the traversals'
        stacks.
        """

    def may_have_long_leaves(self) -> bool:
        """Whether the options bound the depth so that leaves may have more references than their words say
        (`CanonicalTree.long_leaves`).
        """
        return False

    def reference_capacity(self, primitives: Primitives) -> int:
        """The most references that the builder may make of these primitives."""
        return primitives.count

    def scratch_bytes(self) -> int:
        """Scratch memory that builds take beside `waiting`."""
        return 0

    # -- build and refit --------------------------------------------------------------------------------------------
    def build(self, primitives: Primitives) -> None:
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives, self.most_wide_leaf > 0)
        capacity = max(primitives.count, self.reference_capacity(primitives))
        self.choose_leaves(primitives)
        self.choose_traversal(self.choice.traversal, primitives)
        check_wide(self.name, capacity, self.leaf_size, self.most_wide_leaf)
        self.tree.choose_words(capacity)
        self.tree.reserve(
            capacity,
            KINDS[primitives.kind].record_floats,
            self.capabilities.splits_references,
            self.may_have_long_leaves(),
        )
        self.layout.reserve(capacity)
        if primitives.count == 0:
            self.tree.empty()
        else:
            is_written = self.emit(primitives)
            if self.optimiser is not None:
                is_written = self._improve(self.optimiser, primitives)
            if not is_written:
                self._write_layout(primitives, "build")
            self._update_traversed(primitives, "build")
        self._built = primitives

    def choose_leaves(self, primitives: Primitives) -> None:
        """Before `emit`: how many of these primitives a leaf may have, `leaf_size`, where an option says."""
        chosen = getattr(self.options, "max_leaf_size", 1)
        self.leaf_size = leaf_size_of(chosen, primitives.kind, self.leaf_of_triangles)

    def choose_traversal(self, chosen: str, primitives: Primitives) -> None:
        """How rays go through these primitives, where that is left to us."""
        if chosen == "auto":
            self.traversal_name = best_traversal(self.layout_name, self.target.kind, primitives.kind)

    def refit(self, primitives: Primitives) -> None:
        self.check_refit(primitives)
        if primitives.count > 0:
            is_changed = self.optimiser is not None and self.optimiser.after_refit
            if self.optimiser is not None and is_changed and self._rotates(self.optimiser):
                is_written = self._rotate(primitives, self.layout.bvh2_nodes)
            elif self.optimiser is not None and is_changed:
                self._refit_bounds(primitives, None)
                is_written = self._improve(self.optimiser, primitives)
            else:
                is_written = self._refit_bounds(primitives, self.layout.bvh2_nodes)
            if not is_written:
                self._write_layout(primitives, "refit", is_changed or self.links_anew)
            self._update_traversed(primitives, "refit")
        self._built = primitives

    def lay_out(self, layout: str) -> None:
        primitives = self._built
        self.layout_name, self.traversal_name = layout, self.traversals(layout)[0]
        if primitives is not None:
            self.choose_traversal("auto", primitives)
        self.layout = layout_classes()[layout](self.target)
        self.generation += 1
        if primitives is not None:
            self.layout.reserve(self.tree.count)
            self.complete_boxes()
            if primitives.count > 0:
                self._write_layout(primitives, "build")

    @property
    def direct_nodes(self) -> Array | None:
        """Where `emit` may write bvh2 nodes on its way; None where the layout is another one, or an optimiser is still
        to come.
        """
        return self.layout.bvh2_nodes if self.optimiser is None else None

    def compute_bounds(self, primitives: Primitives) -> bool:
        """Make the rest of a topology: records, boxes, flags, and the bvh2 nodes where that is the layout; whether
        those are written is what `emit` returns. For builders that emit order, links, parents, EXISTS flags and root
        alone."""
        return self.bounds.compute(primitives, "build.nodes", gathers=True, marks=True, bvh2=self.direct_nodes)

    def _refit_bounds(self, primitives: Primitives, bvh2: Array | None) -> bool:
        """Records and boxes of what may have moved, and the bvh2 nodes where there is room: whether there was."""
        return self.bounds.compute(primitives, "refit.nodes", gathers=True, marks=False, bvh2=bvh2)

    def _rotates(self, optimiser: Optimiser) -> bool:
        """Whether the climb that makes boxes does the optimiser's work, too."""
        return optimiser.rotation_passes > 0 and not self.is_forest

    def _rotate(self, primitives: Primitives, bvh2: Array | None) -> bool:
        """Records, boxes and exchanges by one climb."""
        return self.bounds.compute(primitives, "optimise.rotations", gathers=True, marks=True, bvh2=bvh2, rotates=True)

    def _improve(self, optimiser: Optimiser, primitives: Primitives) -> bool:
        bvh2 = self.layout.bvh2_nodes
        if self._rotates(optimiser):
            for _ in range(optimiser.rotation_passes - 1):
                self._rotate(primitives, None)
            return self._rotate(primitives, bvh2)
        optimiser.improve(self.tree, primitives)
        return self.bounds.compute(primitives, "optimise.nodes", gathers=False, marks=True, bvh2=bvh2)

    def complete_boxes(self) -> None:
        """Make the canonical nodes' boxes, which refits that write bvh2 leave as they were."""
        self.bounds.complete(self.last_built())

    def _numbering(self) -> Numbering:
        """Of trees that were optimised lists are twice as long: subtrees have changed their places, their nodes keep
        their ids."""
        if self.optimiser is None:
            return Numbering(self.ids_follow_references, self.left_open)
        changes_order = self.optimiser.moves_far or self.optimiser.after_refit
        return Numbering(self.ids_follow_references and not changes_order, 2 * self.left_open)

    def _write_layout(self, primitives: Primitives, stage: str, is_changed: bool = True) -> None:
        """`is_changed`: whether more than boxes has changed since the last time."""
        with self.target.phase(f"{stage}.layout"):
            (self.layout.write if is_changed else self.layout.rewrite)(self.tree, primitives)

    def _update_traversed(self, primitives: Primitives, stage: str) -> None:
        self.traversed.update(primitives, self.tree.records, self.tree.count, self.tree.reference_count, stage)

    # -- what others read -------------------------------------------------------------------------------------------
    def traversal(self) -> Traversal:
        records = self.layout.traversal_records(
            self.tree, self.traversed.of_traversal(self.last_built(), self.tree.records)
        )
        records = self.tree.with_long_leaves(records)
        view = self.layout.traversal_view(self.tree)
        constants = (
            ("REFERENCE_BITS", self.tree.reference_bits),
            ("STACK_DEPTH", self._stack_depth(self.layout.waiting_per_level)),
            ("STACK_KEEPS_DISTANCE", KEEPS_DISTANCE[self.target.kind]),
            *self.layout.traversal_constants(),
        )
        most_lanes = 8 if self.traversal_name in self.layout.lanes_as_children else 0
        is_interleaved = (
            self.traversal_name in self.layout.traversals_interleaved and self.target.lane_count >= LEAST_INTERLEAVED
        )
        header, type_name = self.traversal_source()
        registers = TRAVERSAL_REGISTERS.get(self.traversal_name, self.layout.traversal_registers)
        tree = TreeView(header, type_name, view, constants, registers)
        goes_alone = self.traversal_name in self.layout.lanes_go_alone
        return Traversal(tree, records, most_lanes, goes_alone, is_interleaved)

    def query_traversal(self) -> Traversal:
        """Over the layout's nodes where those are bvh2's, else over the canonical tree's."""
        built, tree, bvh2 = self.last_built(), self.tree, self.layout.bvh2_nodes
        if bvh2 is None:
            self.complete_boxes()
        name, nodes = ("canonical", tree.nodes) if bvh2 is None else ("bvh2", bvh2)
        view = pack(VisitedNodes(nodes=nodes, root=tree.root, long_leaves=tree.long_leaves))
        header, type_name = f"gpu/hierarchy/bvh/queries/{name}.cuh", f"Visited{name.capitalize()}"
        constants = (("REFERENCE_BITS", tree.reference_bits), ("STACK_DEPTH", self._stack_depth(1)))
        return Traversal(TreeView(header, type_name, view, constants), query_records(built, tree.records))

    def _stack_depth(self, waiting_per_level: int) -> int:
        """A power of two: builders of like depth share compiled traversals."""
        bound = max(LEAST_STACK, 1 + waiting_per_level * self._deepest())
        return 1 << (bound - 1).bit_length()

    def launch_measuring(self, primitives: Primitives, costs: StatisticsOptions) -> Array:
        tree, target = self.tree, self.target
        self.complete_boxes()
        unit = target.unit(tree.unit_source("gpu/hierarchy/bvh/statistics.cu", primitives))
        sums = target.scratch("bvh.sums", _MEASURE_BLOCKS * SUMS, np.float64)
        row = target.scratch("bvh.measured", len(self.figures), np.float64)
        boxes = {
            **tree.leaf_boxes(),
            "nodes": tree.nodes,
        }
        target.launch(
            unit,
            "measure_blocks",
            tree.count,
            **boxes,
            parent=tree.parent,
            flags=tree.flags,
            capacity=tree.count,
            reference_count_now=tree.reference_count,
            traversal_cost=costs.traversal_cost,
            intersection_cost=costs.intersection_cost,
            sums=sums,
            blocks=_MEASURE_BLOCKS,
        )
        target.launch(
            unit,
            "measure_tree",
            1,
            **boxes,
            root=tree.root,
            sums=sums,
            sum_count=_MEASURE_BLOCKS,
            reference_count_now=tree.reference_count,
            intersection_cost=costs.intersection_cost,
            result=row,
        )
        return row

    def start_quality(self, primitives: Primitives, costs: StatisticsOptions) -> None:
        self.complete_boxes()
        self._quality.start(self.tree, primitives, self._deepest(), costs)

    def latest_quality(self) -> Quality:
        return self._quality.latest()

    def stats(self) -> HierarchyStatistics:
        found = super().stats()
        if self.capabilities.splits_references:
            return found
        return dataclasses.replace(found, reference_count=found.primitive_count)

    def memory(self) -> tuple[int, int]:
        tree, layout = self.tree, self.layout
        waiting = int(tree.waiting.nbytes) + self.bounds.list_bytes if self._built is not None else 0
        optimising = 0 if self.optimiser is None else self.optimiser.scratch_bytes(tree.count)
        writing = layout.kept_bytes + layout.scratch_per_reference * tree.count
        return tree.bytes + layout.bytes + self.traversed.bytes, waiting + writing + self.scratch_bytes() + optimising

    def nodes(self) -> NodeTable:
        primitives = self.last_built()
        self.complete_boxes()
        return read_node_table(self.target, self.tree, primitives, self.layout.indices(self.tree))

    def _deepest(self) -> int:
        return self.max_depth() if self.optimiser is None else self.optimiser.max_depth(self.max_depth())

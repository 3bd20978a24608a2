"""The family of bounding volume hierarchies: everything but `emit`, which builders give.

A builder emits the canonical tree (tree.py), an optimiser may improve it; the family keeps its memory, writes the chosen layout from it, refits it,
measures it and shows it as a node table. Phases: build.* by the builder, optimise.* by the optimiser, build.layout, refit.nodes, refit.layout.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...settings import OptionError
from ...stats import HierarchyStatistics
from ...target.base import Array, Target
from ..base import CannotRefitError, Capabilities, Hierarchy, HierarchyError, NodeTable, Primitives, Traversal
from ..primitives import KINDS, WalkedRecords, check_primitives, reserved, unit_source
from .layouts import Layout, layout_classes, traversal_names
from .node_table import read_node_table
from .optimisers import Optimiser, optimiser_classes
from .quality import BvhQuality
from .tree import REFERENCE_BITS, CanonicalTree

CHUNKS = {"cuda": 128, "host": 1024}
"""References that one block of a build joins in shared memory before it goes on in global memory."""

REFIT_CHUNKS = {"cuda": 512, "host": 512}
"""References and node ids that one block of a refit fits in shared memory before it goes on in global memory."""

REFIT_GROUPS = {"cuda": True, "host": False}
"""Whether what chunks left open is fitted group by group in shared memory (refit_groups.cuh), where ids follow the references."""

REFIT_SLOTS = 7 / 8
"""Open nodes that a group has room for, by a chunk's references: 448 and 224, so that a group takes no more shared memory than a chunk does."""

REFIT_LISTED = 18
"""Open nodes that a list is taken to have at most, where groups of up to 16 are made of lists: on an H200 512,000 triangles left 7 to 13 in each."""

CLIMBS_A_LIST = 8
"""Threads that take a list of open nodes; refit_groups.cuh has the same."""

KEEPS_DISTANCE = {"cuda": False, "host": False}
"""Whether waiting children carry the distance at which they are entered: fewer nodes visited, more memory traffic of the stack."""

LEAST_STACK = 128
"""Places of a walk's stack at least: an array of 65 or fewer is kept in registers by ptxas for sm_75 in some walks, which then spill. Places that
are not reached cost nothing."""

LANES_IN_TURN = 16
"""So many rays must a pack have for those that take turns to be faster than a pack that stays together; eight do not hide each other's waits."""

_SUMS = 5
_MEASURED = _SUMS + 1
_MEASURE_BLOCKS = 256


class BvhHierarchy(Hierarchy):
    """See the module. A builder gives `name`, `title`, `Options`, `emit` and `max_depth`; one that splits references `reference_capacity` too."""

    family = "bvh"
    capabilities = Capabilities(primitive_kinds=("triangle", "sphere"))
    ids_follow_references: ClassVar[bool] = False
    """Whether a node's id is that of one of its references or next to it, as Karras' are, so that chunks leave few nodes open: refits by groups."""
    left_open: int = REFIT_LISTED
    """Open nodes that a list of a refit is taken to have at most: groups are made of so many lists as have room with that."""
    links_anew: ClassVar[bool] = False
    """Whether a refit makes other links too."""
    best_layouts: ClassVar[dict[str, str]] = {"host": "bvh4", "cuda": "bvh2"}
    best_apart: ClassVar[str] = "bvh8"
    """The best layout for wide packs whose rays go each their own way."""

    def __init__(self, target: Target, options: Any, layout: str = "auto", traversal: str = "auto") -> None:
        super().__init__(target, options, layout, traversal)
        if layout == "auto":
            self.layout_name = self.default_layout(target.kind)
        if self.layout_name not in self.layouts():
            raise OptionError("layout", layout, f"{self.name} has the layouts {', '.join(self.layouts())}")
        if traversal == "auto":
            self.traversal_name = self.traversals(self.layout_name)[0]
        if self.traversal_name not in self.traversals(self.layout_name):
            raise OptionError("traversal", traversal, f"{self.layout_name} has the traversals {', '.join(self.traversals(self.layout_name))}")
        self.tree = CanonicalTree(target)
        self.layout: Layout = layout_classes()[self.layout_name](target)
        self.optimiser: Optimiser | None = None
        self.walked = WalkedRecords(target)
        self._built: Primitives | None = None
        self._leaves_boxes = False
        self._open_bytes = 0
        self._open: Array | None = None
        self._arrivals: Array | None = None
        self._measured = np.zeros(_MEASURED)
        self._pending: Callable[[], np.ndarray | None] | None = None
        self._is_measured = False
        self._quality = BvhQuality(target)

    @classmethod
    def layouts(cls) -> tuple[str, ...]:
        return tuple(layout_classes())

    @classmethod
    def default_layout(cls, target_kind: str, lanes_apart: int = 0) -> str:
        return cls.best_apart if lanes_apart >= LANES_IN_TURN else cls.best_layouts[target_kind]

    @classmethod
    def optimisers(cls) -> dict[str, type]:
        return dict(optimiser_classes())

    def optimise_with(self, name: str, options: Any = None) -> None:
        known = optimiser_classes()
        if name != "none" and name not in known:
            raise OptionError("optimiser", name, f"trees of the family {self.family} can be improved by {', '.join(('none', *known))}")
        self.optimiser = None if name == "none" else known[name](self.target, options or known[name].Options())

    def test_triangles_by(self, name: str) -> None:
        self.walked = WalkedRecords(self.target, name)

    @classmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        return traversal_names(layout)

    # -- what a builder gives ---------------------------------------------------------------------------------------
    @abc.abstractmethod
    def emit(self, primitives: Primitives) -> bool:
        """Fill `self.tree` (reserved, at least one primitive), records and flags included; true where the layout's nodes are written too."""

    @abc.abstractmethod
    def max_depth(self) -> int:
        """A proven bound of the inner nodes on a way from the root, whatever the primitives: it sizes the walks' stacks."""

    def may_have_long_leaves(self) -> bool:
        """Whether the options bound the depth so that leaves may have more references than their words say (`CanonicalTree.long_leaves`)."""
        return False

    def reference_capacity(self, primitives: Primitives) -> int:
        """The most references that the builder may make of these primitives."""
        return primitives.count

    def scratch_bytes(self) -> int:
        """Scratch memory that builds take beside `waiting`."""
        return 0

    # -- build and refit --------------------------------------------------------------------------------------------
    def build(self, primitives: Primitives) -> None:
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives)
        capacity = max(primitives.count, self.reference_capacity(primitives))
        self.tree.reserve(capacity, KINDS[primitives.kind].record_floats, self.capabilities.splits_references, self.may_have_long_leaves())
        self.layout.reserve(capacity)
        if primitives.count == 0:
            self.tree.empty()
        else:
            is_written = self.emit(primitives)
            if self.optimiser is not None:
                is_written = self._improve(self.optimiser, primitives)
            if not is_written:
                self._write_layout(primitives, "build")
            self._update_walked(primitives, "build")
        self._built = primitives

    def refit(self, primitives: Primitives) -> None:
        self._check_refit(primitives)
        if primitives.count > 0:
            is_changed = self.optimiser is not None and self.optimiser.after_refit
            bvh2 = None if is_changed else self.layout.bvh2_nodes
            is_written = self._fit_tree(primitives, "refit.nodes", gathers=True, marks=False, bvh2=bvh2)
            if self.optimiser is not None and is_changed:
                is_written = self._improve(self.optimiser, primitives)
            if not is_written:
                self._write_layout(primitives, "refit", is_changed or self.links_anew)
            self._update_walked(primitives, "refit")
        self._built = primitives

    def lay_out(self, layout: str) -> None:
        primitives = self._built
        self.layout_name, self.traversal_name = layout, self.traversals(layout)[0]
        self.layout = layout_classes()[layout](self.target)
        self.generation += 1
        if primitives is not None:
            self.layout.reserve(self.tree.count)
            self.complete_boxes()
            if primitives.count > 0:
                self._write_layout(primitives, "build")

    @property
    def direct_nodes(self) -> Array | None:
        """Where `emit` may write bvh2 nodes on its way; None where the layout is another one, or an optimiser is still to come."""
        return self.layout.bvh2_nodes if self.optimiser is None else None

    def fit(self, primitives: Primitives, stage: str = "build") -> bool:
        """Make the rest of a topology: records, boxes, flags, and the bvh2 nodes where that is the layout; whether those are written is what `emit`
        returns. For builders that emit order, links, parents, EXISTS flags and root alone; the phase is called <stage>.nodes."""
        return self._fit_tree(primitives, f"{stage}.nodes", gathers=True, marks=True, bvh2=self.direct_nodes)

    def _improve(self, optimiser: Optimiser, primitives: Primitives) -> bool:
        optimiser.improve(self.tree, primitives)
        return self._fit_tree(primitives, "optimise.nodes", gathers=False, marks=True, bvh2=self.layout.bvh2_nodes)

    def complete_boxes(self) -> None:
        """Make the canonical nodes' boxes, which refits that write bvh2 leave as they were: before they are measured or shown. Refits may be replays
        that nobody tells of, so once one left them, they are made each time."""
        if self._leaves_boxes and self._last_built().count > 0:
            self._fit_tree(self._last_built(), "measure.nodes", gathers=False, marks=False, bvh2=None)

    def _fit_tree(self, primitives: Primitives, phase: str, *, gathers: bool, marks: bool, bvh2: Array | None) -> bool:
        """Boxes from below; records too (`gathers`), flags where the tree is new (`marks`), bvh2 nodes where there is room: then true. A refit that
        writes bvh2 nodes leaves the canonical ones' boxes."""
        tree, target, chunk = self.tree, self.target, REFIT_CHUNKS[self.target.kind]
        by_groups, blocks = self._fits_by_groups(), -(-tree.count // chunk)
        slots = max(1, int(REFIT_SLOTS * chunk)) if by_groups else 0
        sizes = {"CHUNK": chunk, "GROUP": max(2, min(16, slots // self.nodes_listed())), "SLOTS": slots}
        keeps_boxes = marks or bvh2 is None
        self._leaves_boxes |= not keeps_boxes
        constants = {**sizes, "GATHERS": gathers, "MARKS": marks, "WRITES_BVH2": bvh2 is not None, "KEEPS_BOXES": keeps_boxes}
        unit = target.unit(unit_source("gpu/hierarchy/bvh/refit.cu", primitives, **constants))
        references = (primitives.view, tree.order, tree.reference_count, tree.records, tree.reference_boxes, tree.long_leaves)
        nodes = (tree.nodes, tree.parent, tree.flags, tree.node_capacity, bvh2, tree.waiting)
        lists = self._open_lists(blocks)
        with target.phase(phase):
            target.launch(unit, "fit_tree", tree.count, *references, *nodes, *lists, block=max(32, chunk // 2), blocks=blocks)
            if not by_groups and blocks > 1:
                above = (tree.nodes, tree.parent, tree.flags, bvh2, tree.waiting, *lists[:2])
                target.launch(unit, "climb_above", blocks * CLIMBS_A_LIST, blocks, None, None, *above)
        return bvh2 is not None

    def nodes_listed(self) -> int:
        """`left_open`, twice of trees that were optimised: subtrees have changed their places, their nodes keep their ids."""
        return self.left_open * (1 if self.optimiser is None else 2)

    def _fits_by_groups(self) -> bool:
        changes_order = self.optimiser is not None and (self.optimiser.moves_far or self.optimiser.after_refit)
        return self.ids_follow_references and not changes_order and REFIT_GROUPS[self.target.kind]

    def _open_lists(self, chunks: int) -> tuple[Array, Array, Array]:
        """Room for lists of open nodes, their numbers level after level, and who has arrived: halves at most, and one more where a level is odd."""
        count = 2 * chunks + REFERENCE_BITS
        self._open = self._zeroed(self._open, self.tree.count)
        self._arrivals = self._zeroed(self._arrivals, count)
        self._open_bytes = 4 * count + int(self._open.nbytes) + int(self._arrivals.nbytes)
        return self._open, self.target.scratch("refit.open_counts", count, np.int32), self._arrivals

    def _zeroed(self, held: Array | None, count: int) -> Array:
        array = reserved(self.target, held, (count,), np.int32, "scratch")
        if array is not held:
            self.target.fill(array, 0)
        return array

    def _write_layout(self, primitives: Primitives, stage: str, is_changed: bool = True) -> None:
        """`is_changed`: whether more than boxes has changed since the last time."""
        with self.target.phase(f"{stage}.layout"):
            (self.layout.write if is_changed else self.layout.rewrite)(self.tree, primitives)

    def _update_walked(self, primitives: Primitives, stage: str) -> None:
        self.walked.update(primitives, self.tree.records, self.tree.count, self.tree.reference_count, stage)

    def _check_refit(self, primitives: Primitives) -> None:
        built = self._built
        if not self.capabilities.refit:
            raise CannotRefitError(f"The structure {self.name} cannot be refitted; rebuild it.")
        if built is None:
            raise CannotRefitError(f"The structure {self.name} has not been built yet: there is nothing to refit.")
        if (built.kind, built.count) != (primitives.kind, primitives.count):
            raise CannotRefitError(
                f"The structure {self.name} holds {built.count:,} {built.kind}s and cannot be refitted to {primitives.count:,} {primitives.kind}s."
            )
        if built.topology_version != primitives.topology_version:
            raise CannotRefitError(f"The primitives' topology has changed since {self.name} was built: rebuild it.")

    # -- what others read -------------------------------------------------------------------------------------------
    def traversal(self) -> Traversal:
        records = self.layout.walk_records(self.tree, self.walked.of_walk(self._last_built(), self.tree.records))
        records = self.tree.with_long_leaves(records)
        type_name = "".join(word.capitalize() for word in self.traversal_name.split("_"))
        view = self.layout.walk_view(self.tree)
        bound = max(LEAST_STACK, 1 + self.layout.waiting_per_level * self._deepest())
        depth = 1 << (bound - 1).bit_length()  # a power of two: builders of like depth share compiled walks
        constants = (("STACK_DEPTH", depth), ("STACK_KEEPS_DISTANCE", KEEPS_DISTANCE[self.target.kind]))
        header = f"gpu/hierarchy/bvh/traversals/{self.traversal_name}.cuh"
        most_lanes = 8 if self.traversal_name in self.layout.lanes_as_children else 0
        takes_turns = self.traversal_name in self.layout.walks_in_turn and self.target.lane_count >= LANES_IN_TURN
        return Traversal(header, type_name, view, *records, constants, self.layout.walk_registers, most_lanes, takes_turns)

    def measure(self) -> None:
        primitives, tree, target = self._last_built(), self.tree, self.target
        if primitives.count == 0:
            self._measured, self._is_measured, self.measured_tree = np.zeros(_MEASURED), True, self.tree_to_measure
            return
        self.complete_boxes()
        unit = target.unit(unit_source("gpu/hierarchy/bvh/statistics.cu", primitives))
        sums = target.scratch("bvh.sums", _MEASURE_BLOCKS * _SUMS, np.float64)
        result = target.scratch("bvh.measured", _MEASURED, np.float64)
        boxes = (tree.records, tree.reference_boxes, tree.long_leaves, tree.nodes)
        costs = self.statistics
        arguments = (*boxes, tree.parent, tree.flags, tree.count, tree.reference_count, costs.traversal_cost, costs.intersection_cost, sums)
        target.launch(unit, "measure_blocks", tree.count, *arguments, blocks=_MEASURE_BLOCKS)
        last = (tree.root, sums, _MEASURE_BLOCKS, tree.reference_count, costs.intersection_cost, result)
        target.launch(unit, "measure_tree", 1, *boxes, *last)
        self._pending = target.read_later(result)

    def measure_quality(self) -> None:
        self.complete_boxes()
        self._quality.start(self.tree, self._last_built(), self._deepest(), self.statistics)

    def stats(self) -> HierarchyStatistics:
        arrived = self._pending() if self._pending is not None else None
        if arrived is not None:
            self._measured, self._is_measured, self._pending, self.measured_tree = arrived, True, None, self.tree_to_measure
        cost, inner_count, leaf_count, inactive_count, depth, references = self._measured
        count = 0 if self._built is None else self._built.count
        waiting = int(self.tree.waiting.nbytes) + self._open_bytes if self._built is not None else 0
        return HierarchyStatistics(
            node_count=int(inner_count),
            leaf_count=int(leaf_count),
            reference_count=int(references) if self.capabilities.splits_references else count,
            primitive_count=count,
            inactive_count=int(inactive_count),
            depth=int(depth) if self._is_measured else None,
            sah_cost=float(cost) if self._is_measured else None,
            bytes=self.tree.bytes + self.layout.bytes + self.walked.bytes,
            scratch_bytes=waiting
            + self.layout.kept_bytes
            + self.layout.scratch_per_reference * self.tree.count
            + self.scratch_bytes()
            + (0 if self.optimiser is None else self.optimiser.scratch_bytes(self.tree.count)),
            **vars(self._quality.latest()),
        )

    def nodes(self) -> NodeTable:
        primitives = self._last_built()
        self.complete_boxes()
        return read_node_table(self.target, self.tree, primitives)

    def _deepest(self) -> int:
        return self.max_depth() if self.optimiser is None else self.optimiser.max_depth(self.max_depth())

    def _last_built(self) -> Primitives:
        if self._built is None:
            raise HierarchyError(f"The structure {self.name} has not been built yet.")
        return self._built

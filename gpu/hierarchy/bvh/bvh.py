"""The family of bounding volume hierarchies: everything but `emit`, which builders give.

A builder emits the canonical tree (tree.py); the family keeps its memory, writes the chosen layout from it, refits it, measures it and shows it as a
node table. Phases: build.* by the builder, build.layout, refit.records, refit.nodes, refit.layout.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...settings import OptionError
from ...stats import HierarchyStatistics
from ...target.base import Target
from ...target.structs import make_struct, struct_dtype
from ..base import CannotRefitError, Capabilities, Hierarchy, HierarchyError, NodeTable, Primitives, Traversal
from ..primitives import KINDS, check_primitives, records_view, unit_source
from .layouts import Layout, layout_classes, traversal_names
from .node_table import read_node_table
from .tree import CanonicalTree

CHUNKS = {"cuda": 128, "host": 1024}
"""References that one block of a build joins in shared memory before it goes on in global memory."""

REFIT_CHUNKS = {"cuda": 1024, "host": 1024}
"""Node ids that one block of a refit fits in shared memory before it goes on in global memory."""

KEEPS_DISTANCE = {"cuda": False, "host": False}
"""Whether waiting children carry the distance at which they are entered: fewer nodes visited, more memory traffic of the stack."""

LEAST_STACK = 64
"""Places of a walk's stack at least: an array of fewer is kept in registers by ptxas for sm_75, which then spills."""

_WALK_VIEW = struct_dtype([("nodes", "pointer"), ("root", "pointer")])
_SUMS = 5
_MEASURE_BLOCKS = 256


class BvhHierarchy(Hierarchy):
    """See the module. A builder gives `name`, `title`, `Options`, `emit` and `max_depth`."""

    family = "bvh"
    capabilities = Capabilities(primitive_kinds=("triangle", "sphere"))
    best_layouts: ClassVar[dict[str, str]] = {"host": "bvh4", "cuda": "bvh2"}

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
        self._built: Primitives | None = None
        self._primitive_count = 0
        self._measured = np.zeros(_SUMS)
        self._pending: Callable[[], np.ndarray | None] | None = None
        self._is_measured = False

    @classmethod
    def layouts(cls) -> tuple[str, ...]:
        return tuple(layout_classes())

    @classmethod
    def default_layout(cls, target_kind: str) -> str:
        return cls.best_layouts[target_kind]

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

    def scratch_bytes(self) -> int:
        """Scratch memory that builds take beside `waiting`."""
        return 0

    # -- build and refit --------------------------------------------------------------------------------------------
    def build(self, primitives: Primitives) -> None:
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives)
        self.tree.reserve(primitives.count, KINDS[primitives.kind].record_floats)
        self.layout.reserve(primitives.count)
        if primitives.count == 0:
            self.tree.empty()
        elif not self.emit(primitives):
            with self.target.phase("build.layout"):
                self.layout.write(self.tree, primitives)
        self._built = primitives

    def refit(self, primitives: Primitives) -> None:
        self._check_refit(primitives)
        if primitives.count > 0:
            self.fit(primitives, "refit")
        self._built = primitives

    def fit(self, primitives: Primitives, stage: str) -> None:
        """Records, boxes and layout nodes for the topology that the tree has; phases are named after `stage`. For refits, and for builders that emit
        topology alone."""
        tree, target = self.tree, self.target
        chunk, bvh2 = REFIT_CHUNKS[target.kind], self.layout.bvh2_nodes
        unit = target.unit(unit_source("gpu/hierarchy/bvh/refit.cu", primitives, CHUNK=chunk, WRITES_BVH2=bvh2 is not None))
        capacity = tree.node_capacity
        with target.phase(f"{stage}.records"):
            target.launch(unit, "refit_records", primitives.count, primitives.view, tree.order, tree.records)
        with target.phase(f"{stage}.nodes"):
            arguments = (tree.records, tree.nodes, tree.parent, tree.flags, capacity, bvh2, tree.waiting)
            target.launch(unit, "refit_nodes", capacity, *arguments, blocks=-(-capacity // chunk))
        if bvh2 is None:
            with target.phase(f"{stage}.layout"):
                self.layout.write(tree, primitives)

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
        kind = KINDS[self._last_built().kind]
        type_name = "".join(word.capitalize() for word in self.traversal_name.split("_"))
        view = make_struct(_WALK_VIEW, nodes=self.layout.nodes, root=self.tree.root)
        depth = max(LEAST_STACK, 1 + self.layout.waiting_per_level * self.max_depth())
        constants = (("STACK_DEPTH", depth), ("STACK_KEEPS_DISTANCE", KEEPS_DISTANCE[self.target.kind]))
        header = f"gpu/hierarchy/bvh/traversals/{self.traversal_name}.cuh"
        return Traversal(header, type_name, view, kind.header, kind.records_type, records_view(self.tree.records), constants)

    def measure(self) -> None:
        primitives, tree, target = self._last_built(), self.tree, self.target
        if primitives.count == 0:
            self._measured, self._is_measured = np.zeros(_SUMS), True
            return
        unit = target.unit(unit_source("gpu/hierarchy/bvh/statistics.cu", primitives))
        sums = target.scratch("bvh.sums", _MEASURE_BLOCKS * _SUMS, np.float64)
        result = target.scratch("bvh.measured", _SUMS, np.float64)
        arguments = (tree.records, tree.nodes, tree.parent, tree.flags, primitives.count, sums)
        target.launch(unit, "measure_blocks", primitives.count, *arguments, blocks=_MEASURE_BLOCKS)
        target.launch(unit, "measure_tree", 1, tree.records, tree.nodes, tree.root, sums, _MEASURE_BLOCKS, result)
        self._pending = target.read_later(result)

    def stats(self) -> HierarchyStatistics:
        arrived = self._pending() if self._pending is not None else None
        if arrived is not None:
            self._measured, self._is_measured, self._pending = arrived, True, None
        cost, inner_count, leaf_count, inactive_count, depth = self._measured
        count = self.tree.count
        waiting = int(self.tree.waiting.nbytes) if self._built is not None else 0
        return HierarchyStatistics(
            node_count=int(inner_count),
            leaf_count=int(leaf_count),
            reference_count=count,
            primitive_count=count,
            inactive_count=int(inactive_count),
            depth=int(depth) if self._is_measured else None,
            sah_cost=float(cost) if self._is_measured else None,
            bytes=self.tree.bytes + self.layout.bytes,
            scratch_bytes=waiting + self.scratch_bytes(),
        )

    def nodes(self) -> NodeTable:
        return read_node_table(self.target, self.tree, self._last_built())

    def _last_built(self) -> Primitives:
        if self._built is None:
            raise HierarchyError(f"The structure {self.name} has not been built yet.")
        return self._built

"""Objects' trees by another builder of the family, one object after the other."""

from __future__ import annotations

import numpy as np

from .....settings import OptionError
from .....target.base import Array, Target
from ....base import Primitives
from ....primitives import KINDS, reserved, triangle_primitives, unit_source
from ...bvh import BvhHierarchy
from ...tree import CanonicalTree
from .. import builder_class

LEAST_TRIANGLES = 256
"""Smaller objects keep the tree that all get at once: a build by itself is a dozen launches."""


class OwnTrees:
    """Builds one object at a time over a copy of its triangles, and moves the tree to its place. OptionError for a builder that cannot serve."""

    def __init__(self, target: Target, builder: str) -> None:
        self.target, kind = target, builder_class(builder)
        if kind.capabilities.splits_references or target.kind not in kind.capabilities.targets:
            splits = "splits references, and a tree that is refitted object by object has each of them once"
            why = splits if kind.capabilities.splits_references else f"does not build on the target {target.kind}"
            raise OptionError("builder", builder, f"it {why}; choose linear or another builder")
        self.builder: BvhHierarchy = kind(target, kind.Options(), "bvh4")  # a layout that no builder writes on its way
        self.builder.fit = lambda primitives, stage="build": False  # type: ignore[method-assign]
        self.depth = 0
        self._positions: Array | None = None
        self._indices: Array | None = None

    def build(self, primitives: Primitives, ranges: np.ndarray, tree: CanonicalTree, roots: Array) -> None:
        """The trees of all objects of LEAST_TRIANGLES and more, links and order. `roots` gets their roots' words."""
        if primitives.kind != "triangle":
            return
        self.depth, largest = 0, int(ranges[:, 1].max())
        self._reserve(largest)
        unit = self.target.unit(unit_source("gpu/hierarchy/bvh/builders/two_level/own_trees.cu", primitives))
        for thing, (first, count) in enumerate(ranges.tolist()):
            if count < LEAST_TRIANGLES:
                continue
            positions, indices = self._positions, self._indices
            assert positions is not None and indices is not None
            with self.target.phase("build.copies"):
                self.target.launch(unit, "copy_triangles", count, primitives.view, first, count, positions)
            self.builder.tree.count = count
            self.builder.emit(triangle_primitives(positions[: 3 * count], indices[:count]))
            self.depth = max(self.depth, self.builder.max_depth())
            own, is_last = self.builder.tree, thing == len(ranges) - 1
            outputs = (tree.order, tree.nodes, tree.parent, tree.flags, roots[thing : thing + 1])
            with self.target.phase("build.copies"):
                places = (first, count, first if is_last else first + count - 1)
                self.target.launch(unit, "adopt_tree", count, own.order, own.nodes, own.parent, own.flags, own.root, *places, *outputs)

    def _reserve(self, largest: int) -> None:
        """Room for the largest object, once: no build of a smaller one allocates or writes from the host."""
        if self._indices is not None and len(self._indices) >= largest:
            return
        self._positions = reserved(self.target, self._positions, (3 * largest, 3), np.float32, "scratch")
        self._indices = self.target.upload(np.arange(3 * largest, dtype=np.int32).reshape(-1, 3), "scratch")
        self.builder.tree.reserve(largest, KINDS["triangle"].record_floats)
        self.builder.layout.reserve(largest)

    @property
    def scratch_bytes(self) -> int:
        """Scratch memory for the largest object."""
        if self._positions is None or self._indices is None:
            return 0
        own = self.builder.tree
        copies, trees = self._positions.nbytes + self._indices.nbytes, own.bytes + own.waiting.nbytes + self.builder.layout.bytes
        return int(copies + trees) + self.builder.scratch_bytes()

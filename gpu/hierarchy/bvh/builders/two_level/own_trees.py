"""Objects' trees by another builder of the family, one object after the other."""

from __future__ import annotations

import numpy as np

from .....settings import OptionError
from .....target.base import Array, Target, Unit, UnitSource
from ....base import Primitives, StructureChoice
from ....primitives import (
    KINDS,
    check_primitives,
    counts_of,
    glyph_primitives,
    mixed_primitives,
    reserved,
    sphere_primitives,
    triangle_count_of,
    triangle_primitives,
    unit_source,
)
from ...bvh import BvhHierarchy
from ...limited import LimitedBuilder
from ...tree import CanonicalTree
from .. import builder_class

LEAST_PRIMITIVES = 256
"""Smaller objects keep the tree that all get at once: a build by itself is a dozen launches."""


class OwnTrees:
    """Builds one object at a time over a copy of its triangles, or over its spheres where they lie, and moves the tree
    to its place. OptionError for a builder that cannot serve."""

    def __init__(self, target: Target, builder: str) -> None:
        self.target, kind = target, builder_class(builder)
        if kind.capabilities.splits_references or target.kind not in kind.capabilities.targets:
            splits = "splits references, and a tree that is refitted object by object has each of them once"
            why = splits if kind.capabilities.splits_references else f"does not build on the target {target.kind}"
            raise OptionError("builder", builder, f"it {why}; choose linear or another builder")
        self.builder: BvhHierarchy = kind(
            target, StructureChoice(layout="bvh4")
        )  # a layout that no builder writes on its way
        self.builder.compute_bounds = lambda primitives: False  # type: ignore[method-assign]
        self.depth = 0
        self._positions: Array | None = None
        self._indices: Array | None = None

    def build(self, primitives: Primitives, ranges: np.ndarray, tree: CanonicalTree, roots: Array) -> None:
        """The trees of all objects of LEAST_PRIMITIVES and more, links and order. `roots` gets their roots'
        words."""
        self.depth, largest, kind = 0, int(ranges[:, 1].max()), self.builder
        check_primitives(kind.name, kind.capabilities.primitive_kinds, primitives, kind.most_wide_leaf > 0, largest)
        if isinstance(kind, LimitedBuilder):
            kind.check_count(largest, "the largest object")
        self._reserve(largest)
        own = self.builder.tree
        for thing, (first, count) in enumerate(ranges.tolist()):
            if count < LEAST_PRIMITIVES:
                continue
            own.count = count
            own.choose_words(count)
            alone = self._alone(primitives, first, count)
            self.builder.choose_leaves(alone)
            self.builder.emit(alone)
            self.depth = max(self.depth, self.builder.max_depth())
            is_last = thing == len(ranges) - 1
            with self.target.phase("build.copies"):
                self.target.launch(
                    self._adopting(primitives),
                    "adopt_tree",
                    count,
                    own_order=own.order,
                    own_nodes=own.nodes,
                    own_parent=own.parent,
                    own_flags=own.flags,
                    own_root=own.root,
                    first=first,
                    count=count,
                    root_id=first if is_last else first + count - 1,
                    order=tree.order,
                    **tree.links(),
                    root=roots[thing : thing + 1],
                )

    def _adopting(self, primitives: Primitives) -> Unit:
        """That moves the tree of an object, whose words may be narrower than those of all."""
        path, own_bits = "gpu/hierarchy/bvh/builders/two_level/own_trees.cu", self.builder.tree.reference_bits
        return self.target.unit(unit_source(path, primitives, OWN_REFERENCE_BITS=own_bits))

    def _alone(self, primitives: Primitives, first: int, count: int) -> Primitives:
        """The primitives [first, first + count) and no other."""
        counts = counts_of(primitives)
        starts = (0, counts[0], counts[0] + counts[1])
        triangles, spheres, glyphs = (
            range(max(first, start), min(first + count, start + own)) for start, own in zip(starts, counts, strict=True)
        )
        others = self._others_alone(primitives, triangles, spheres)
        if not glyphs:
            assert others is not None
            return others
        after = glyphs.start - starts[2]
        return glyph_primitives(others, primitives.keep_alive[-1][after : after + len(glyphs)], len(glyphs))

    def _others_alone(self, primitives: Primitives, triangles: range, spheres: range) -> Primitives | None:
        if not spheres:
            return (
                triangle_primitives(*self._copied(primitives, triangles.start, len(triangles))) if triangles else None
            )
        arrays = primitives.keep_alive[:-1] if primitives.kind == "glyphs" else primitives.keep_alive
        after = spheres.start - triangle_count_of(primitives)
        centres, radii = (array[after : after + len(spheres)] for array in arrays[-2:])
        if not triangles:
            return sphere_primitives(centres, radii)
        return mixed_primitives(*self._copied(primitives, triangles.start, len(triangles)), centres, radii)

    def _copied(self, primitives: Primitives, first: int, count: int) -> tuple[Array, Array]:
        """Vertices and indices of a copy of triangles."""
        positions, indices = self._positions, self._indices
        assert positions is not None and indices is not None
        unit = self.target.unit(UnitSource("gpu/hierarchy/bvh/builders/two_level/copy_triangles.cu"))
        whole = primitives if primitives.kind == "triangle" else triangle_primitives(*primitives.keep_alive[:2])
        with self.target.phase("build.copies"):
            self.target.launch(
                unit, "copy_triangles", count, triangles=whole.view, first=first, count=count, positions=positions
            )
        return positions[: 3 * count], indices[:count]

    def _reserve(self, largest: int) -> None:
        """Room for the largest object, once: no build of a smaller one allocates or writes from the host."""
        if self._indices is not None and len(self._indices) >= largest:
            return
        self._positions = reserved(self.target, self._positions, (3 * largest, 3), np.float32, "scratch")
        self._indices = self.target.upload(np.arange(3 * largest, dtype=np.int32).reshape(-1, 3), "scratch")
        self.builder.tree.reserve(largest, max(kind.record_floats for kind in KINDS.values()))
        self.builder.layout.reserve(largest)

    @property
    def scratch_bytes(self) -> int:
        """Scratch memory for the largest object."""
        if self._positions is None or self._indices is None:
            return 0
        own = self.builder.tree
        copies, trees = (
            self._positions.nbytes + self._indices.nbytes,
            own.bytes + own.waiting.nbytes + self.builder.layout.bytes,
        )
        return int(copies + trees) + self.builder.scratch_bytes()

"""SBVH: top-down binned SAH, whose planes may cut primitives in two. The trees for scenes of long, slanted and
large triangles.

Idea: However primitives are shared out between two children, the boxes of long ones overlap. A spatial split divides
space instead: a primitive on both sides of the plane gets a reference on each, with a box of the part that lies there,
cut at the plane. Each node takes the cheaper of its best object split and its best spatial split; a cut primitive that
would be cheaper whole on one side is taken back. What a cut saves above can be lost below, where both halves are
carried on: the tree of object splits alone is made too, and the cheaper one is kept.

Paper: Stich, Friedrich and Dietrich, Spatial Splits in Bounding Volume Hierarchies (2009): chopped binning, the overlap
criterion alpha, reference unsplitting. Object splits are Wald's (2007).

Cost: Ten to twenty times the time of binned_sah on two cores, forty times on an H200, most of it for clipping: one
block splits a set, so the uppermost levels are slow on a GPU; the tree of object splits takes a tenth of it on two
cores, a fifth to a third on an H200. As many references more as were cut, at most extra_references; three launches for
every level that there may be. Where triangles are small and even it gains nothing: 1 per cent and less on the demos
blob and room, nothing on orbit, where object splits are kept (spatial ones cost 3 to 10 per cent more). Of long slanted
triangles among small ones it halves the cost.

Limits: The budget of extra references is shared out among sets in proportion to their references, and a set whose share
is used up is split by objects. Every cut is bounded outwards, so nothing is missed. It cannot be refitted: the boxes
of cut primitives would have to grow to the whole primitive again, which is legal and worse than not having cut them.
Spheres are cut as their boxes. Sets that would be too large for the 40 levels that there are by default are halved;
max_depth ends the tree earlier, in leaves of whatever is there. nodes_per_primitive counts a node for every reference
that there may be, not for every primitive. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from .....target.base import Array, Unit
from ....base import REGION_QUERIES, Capabilities, Primitives
from ....scratch import Shapes, bytes_of, scratch_arrays
from ...bvh import BvhHierarchy
from ...stopping import MOST_LEVELS, LevelOptions
from ...tree import MAX_WIDE_LEAF_SIZE

MOST_BLOCKS = 4096
OBJECT_SPLITS, ALL_SPLITS, OBJECT_SPLITS_AGAIN = 0, 1, 2
FEW_SETS = 8
"""Levels on which there are too few sets to fill a GPU with blocks: more threads per block."""
THREADS = {"few": 512, "many": 128}


@dataclasses.dataclass(frozen=True)
class SbvhOptions(LevelOptions):
    """Options of the builder with spatial splits."""

    bins: int = option(
        32,
        "Bins per axis, of centroids and of space: more bins find better planes and take longer.",
        minimum=4,
        maximum=32,
    )
    extra_references: float = option(
        0.3,
        "Memory: most references beyond one per primitive, as a share of the primitives. 0 cuts nothing.",
        minimum=0.0,
        maximum=4.0,
    )
    alpha: float = option(
        1e-5,
        "Spatial splits are tried where the sides of the object split overlap by more than this share of the "
        "root's area; 1 tries none, 0 all.",
        minimum=0.0,
        maximum=1.0,
    )
    keep: str = option(
        "cheaper",
        "Which tree is used: the cheaper one by the SAH of two, with spatial splits and with object splits alone, "
        "each ended by max_depth; or always the one with spatial splits, as published.",
        choices=("cheaper", "spatial"),
    )


class Sbvh(BvhHierarchy):
    """See the module."""

    name = "sbvh"
    title = "SAH with spatial splits (SBVH)"
    ids_follow_references = True
    most_wide_leaf = MAX_WIDE_LEAF_SIZE
    Options = SbvhOptions
    options: SbvhOptions
    capabilities = Capabilities(
        refit=False,
        splits_references=True,
        primitive_kinds=("triangle", "sphere", "mixed", "glyphs"),
        queries=REGION_QUERIES,
    )

    def max_depth(self) -> int:
        return self.options.max_depth

    def may_have_long_leaves(self) -> bool:
        return self.options.may_have_long_leaves

    def reference_capacity(self, primitives: Primitives) -> int:
        return primitives.count + int(self.options.extra_references * primitives.count)

    def scratch_bytes(self) -> int:
        return bytes_of(self._arrays(max(1, self.tree.count)))

    def emit(self, primitives: Primitives) -> bool:
        target, tree, options = self.target, self.tree, self.options
        capacity, n = tree.count, primitives.count
        held = scratch_arrays(target, "sbvh", self._arrays(capacity))
        unit = target.unit(tree.unit_source("gpu/hierarchy/bvh/builders/sbvh/sbvh.cu", primitives, BINS=options.bins))
        levels = options.levels(n)
        launched = min(levels, options.max_depth)
        for made in self._trees():
            with target.phase("build.references"):
                target.launch(
                    unit,
                    "write_references",
                    capacity,
                    primitives=primitives.view,
                    tree=made,
                    sums=held["sums"],
                    capacity=capacity,
                    level_count=launched,
                    budget=options.budget(capacity),
                    **options.device_sizes(),
                    references=held["references"],
                    finished=held["finished"],
                    used=held["used"],
                    counts=held["counts"],
                    sets=held["sets"],
                    parent=tree.parent,
                    flags=tree.flags,
                    root=tree.root,
                )
            with target.phase("build.levels"):
                for level in range(launched):
                    self._split_level(unit, held, primitives, level, levels, made)
        with target.phase("build.leaves"):
            self._gather(unit, held)
        return self.compute_bounds(primitives)

    def _gather(self, unit: Unit, held: dict[str, Array]) -> None:
        """The references of leaves side by side, and leaves that know where."""
        target, tree, capacity = self.target, self.tree, self.tree.count
        target.exclusive_scan(held["used"], held["places"], "sbvh.scan")
        target.launch(
            unit,
            "gather_references",
            capacity,
            capacity=capacity,
            finished=held["finished"],
            used=held["used"],
            places=held["places"],
            order=tree.order,
            boxes=tree.reference_boxes,
            reference_count_now=tree.reference_count,
        )
        target.launch(
            unit,
            "relink_leaves",
            capacity,
            node_capacity=tree.node_capacity,
            places=held["places"],
            flags=tree.flags,
            long_sets=held.get("long_sets"),
            nodes=tree.nodes,
            long_leaves=tree.long_leaves,
        )

    def _trees(self) -> tuple[int, ...]:
        """What is made, one after the other: all three where there is a choice."""
        if self.options.extra_references == 0 or self.options.alpha == 1:
            return (OBJECT_SPLITS,)
        return (ALL_SPLITS,) if self.options.keep == "spatial" else (OBJECT_SPLITS, ALL_SPLITS, OBJECT_SPLITS_AGAIN)

    def _split_level(
        self, unit: Unit, held: dict[str, Array], primitives: Primitives, level: int, levels: int, made: int
    ) -> None:
        tree, step = self.tree, -1 if level % 2 else 1
        alpha = self.options.alpha if made == ALL_SPLITS else 1.0
        sum_of_tree = held["sums"][made:] if made < OBJECT_SPLITS_AGAIN and len(self._trees()) > 1 else None
        references, partitioned = (held["references"], held["partitioned"])[::step]
        sets, next_sets = (held["sets"], held["next_sets"])[::step]
        self.target.launch(
            unit,
            "split_sets",
            1,
            primitives=primitives.view,
            level=level,
            levels_left=levels - level,
            ends_here=int(level + 1 == self.options.max_depth),
            **self.options.device_values(),
            alpha=alpha,
            references=references,
            partitioned=partitioned,
            finished=held["finished"],
            used=held["used"],
            root_area=held["root_area"],
            sum=sum_of_tree,
            counts=held["counts"],
            sets=sets,
            next_sets=next_sets,
            long_sets=held.get("long_sets"),
            **tree.links(),
            root=tree.root,
            block=THREADS["few" if level < FEW_SETS else "many"],
            blocks=min(1 << min(level, 20), len(held["sets"]), MOST_BLOCKS),
        )

    def _arrays(self, capacity: int) -> Shapes:
        """Shapes and types of the scratch memory; a set that is still to be split has two references at least."""
        places = (capacity // (1 << 31 - self.tree.reference_bits) + 1,)
        long_sets = {"long_sets": (places, np.int32)} if self.may_have_long_leaves() else {}
        return {
            **long_sets,
            "references": ((capacity, 8), np.float32),
            "partitioned": ((capacity, 8), np.float32),
            "finished": ((capacity, 8), np.float32),
            "used": ((capacity,), np.int32),
            "places": ((capacity,), np.int32),
            "counts": ((MOST_LEVELS + 1,), np.int32),
            "sets": ((capacity // 2 + 1, 4), np.int32),
            "next_sets": ((capacity // 2 + 1, 4), np.int32),
            "root_area": ((1,), np.float32),
            "sums": ((2,), np.uint64),
        }


__all__ = ["Sbvh", "SbvhOptions"]

"""SBVH: top-down binned SAH, whose planes may cut primitives in two. The trees for scenes of long, slanted and
large triangles.

Idea: However primitives are shared out between two children, the boxes of long ones overlap. A spatial split divides
space instead: a primitive on both sides of the plane gets a reference on each, with a box of the part that lies there,
cut at the plane. Each node takes the cheaper of its best object split and its best spatial split; a cut primitive that
would be cheaper whole on one side is taken back. What a cut saves above can be lost below, where both halves are
carried on: the tree of object splits alone is made too, and the cheaper one is kept.

Paper: Stich, Friedrich and Dietrich, Spatial Splits in Bounding Volume Hierarchies (2009): chopped binning, the overlap
criterion alpha, reference unsplitting. Object splits are Wald's (2007).

Cost: About ten times the time of binned_sah on two cores, four to six times on an H100, most of it for clipping;
the tree of object splits takes a tenth of it on two cores, a third on an H100. Sets near the root are split by many
blocks, sets of a middle size by one each, small ones by a warp down to the leaves. As many references more as were cut,
at most extra_references; four or five launches for every level that may have large sets, one for the others. Where
triangles are small and even it gains nothing: 1 per cent and less on the demos blob and room, nothing on orbit, where
object splits are kept (spatial ones cost 3 to 10 per cent more). Of long slanted triangles among small ones it halves
the cost.

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
from .launches import ALL_SPLITS, OBJECT_SPLITS, OBJECT_SPLITS_AGAIN, Launches, Plan

MOST_BLOCKS = 2048
"""Of a launch: as many of 128 threads as are at work at once on a large GPU, and some."""
SMALL = 32
"""Most references of a set that one warp finishes alone: a lane each."""
LARGE = 512
"""Most references of a set that one block splits."""
CHUNK, FEW_PLACES = 512, 400_000
"""References of a larger one that a block works on: half as many in trees of few places, or they would not fill a large
GPU. On an H100 Crytek Sponza (0.34M places) takes 7.2 instead of 8.4 ms so, the kitchen (1.9M) 22 instead of 20."""
EXTRA_LEVELS, EXTRA_LARGE_LEVELS = 10, 6
"""Levels beyond those that halving needs: until no set is more than small; on which sets are split as large ones. What
is large after those is split by one block, which takes longer and comes to the same."""
COUNTS, LARGE_WORDS, BIN_WORDS = 3, 76, 8
"""Words of a level's counts, of a LargeSet, of a bin and its end (sets.cuh, large_sets.cuh)."""
THREADS, SMALL_THREADS = 128, 32
BINS_OF_SMALL = 8
"""Most bins of space of a small set, whose object splits need none: with 32 Crytek Sponza cost 64.61 instead of 64.63,
the kitchen 33.153 instead of 33.157."""


@dataclasses.dataclass(frozen=True)
class SbvhOptions(LevelOptions):
    """Options of the builder with spatial splits."""

    bins: int = option(
        32,
        "Bins per axis, of centroids and of space, of sets of more than 32 references: more bins find better planes "
        "and take longer.",
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
    construction = "top_down"
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
        tree, options = self.tree, self.options
        held = scratch_arrays(self.target, "sbvh", self._arrays(tree.count))
        units = {name: self._unit(name, primitives) for name in ("sbvh", "large_sets", "small_sets")}
        levels = options.levels(primitives.count)
        queue = min(levels, self._levels_to(SMALL, primitives.count) + EXTRA_LEVELS) if primitives.count > SMALL else 0
        for made in self._trees():
            sum_of_tree = held["sums"][made:] if made < OBJECT_SPLITS_AGAIN and len(self._trees()) > 1 else None
            alpha, large_levels = options.alpha if made == ALL_SPLITS else 1.0, self._large_levels(primitives.count)
            plan = Plan(primitives, levels, queue, large_levels, made, alpha, sum_of_tree, MOST_BLOCKS)
            with self.target.phase("build.references"):
                self._start(units["sbvh"], held, plan)
            launches = Launches(self.target, tree, options, held, plan)
            with self.target.phase("build.levels"):
                for level in range(min(queue, options.max_depth)):
                    if level < plan.large_levels:
                        launches.split_large_sets(units["large_sets"], level, THREADS)
                    launches.split_sets(units["sbvh"], level, THREADS)
            with self.target.phase("build.small_sets"):
                launches.split_small_sets(units["small_sets"], SMALL_THREADS)
        with self.target.phase("build.leaves"):
            self._gather(units["sbvh"], held)
        return self.compute_bounds(primitives)

    def _unit(self, name: str, primitives: Primitives) -> Unit:
        bins = min(self.options.bins, BINS_OF_SMALL) if name == "small_sets" else self.options.bins
        threads = SMALL_THREADS if name == "small_sets" else THREADS
        sizes = {"SMALL": SMALL, "LARGE": LARGE, "CHUNK": self._chunk}
        source = f"gpu/hierarchy/bvh/builders/sbvh/{name}.cu"
        return self.target.unit(self.tree.unit_source(source, primitives, BINS=bins, THREADS=threads, **sizes))

    @property
    def _chunk(self) -> int:
        return CHUNK if self.tree.count > FEW_PLACES else CHUNK // 2

    def _levels_to(self, size: int, n: int) -> int:
        """Levels after which halving alone leaves no set of more than `size` references."""
        return max(0, -(-n // size) - 1).bit_length()

    def _large_levels(self, n: int) -> int:
        """Levels on which sets may be split as large ones."""
        return min(self._levels_to(LARGE, n) + EXTRA_LARGE_LEVELS, self.options.max_depth) if n > LARGE else 0

    def _start(self, unit: Unit, held: dict[str, Array], plan: Plan) -> None:
        """The references in their order, and the root in its list."""
        target, tree, options, capacity = self.target, self.tree, self.options, self.tree.count
        shared = {
            "tree": plan.made,
            "sums": held["sums"],
            "capacity": capacity,
            "root_is_large": int(plan.large_levels > 0),
            **options.device_sizes(),
            "large": held["large"],
        }
        target.launch(
            unit,
            "start_tree",
            1,
            n=plan.primitives.count,
            level_count=MOST_LEVELS,
            budget=options.budget(capacity),
            counts=held["counts"],
            sets=held["sets"],
            small_count=held["small_count"],
            small_sets=held["small_sets"],
            parent=tree.parent,
            root=tree.root,
            blocks=1,
            **shared,
        )
        target.launch(
            unit,
            "write_references",
            capacity,
            primitives=plan.primitives.view,
            references=held["references"],
            finished=held["finished"],
            used=held["used"],
            flags=tree.flags,
            set_of_chunk=held["set_of_chunk"],
            bin_set_count=len(held["large_bins"]),
            all_bins=held["large_bins"],
            **shared,
        )

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

    def _arrays(self, capacity: int) -> Shapes:
        """Shapes and types of the scratch memory: sets have places of their own, small ones two at least."""
        middles, larges = capacity // (SMALL + 1) + 1, capacity // (LARGE + 1) + 1
        chunks = capacity // self._chunk + larges
        places = (capacity // (1 << 31 - self.tree.reference_bits) + 1,)
        long_sets = {"long_sets": (places, np.int32)} if self.may_have_long_leaves() else {}
        return {
            **long_sets,
            "references": ((capacity, 8), np.float32),
            "partitioned": ((capacity, 8), np.float32),
            "finished": ((capacity, 8), np.float32),
            "used": ((capacity,), np.int32),
            "places": ((capacity,), np.int32),
            "counts": ((MOST_LEVELS + 1, COUNTS), np.int32),
            "sets": ((middles, 4), np.int32),
            "next_sets": ((middles, 4), np.int32),
            "small_count": ((1,), np.int32),
            "small_sets": ((capacity // 2 + 1, 4), np.int32),
            "large": ((larges, LARGE_WORDS), np.int32),
            "next_large": ((larges, LARGE_WORDS), np.int32),
            "large_bins": ((larges, 3 * self.options.bins, BIN_WORDS), np.int32),
            "set_of_chunk": ((chunks,), np.int32),
            "next_set_of_chunk": ((chunks,), np.int32),
            "places_of_chunk": ((chunks, 2), np.int32),
            "root_area": ((1,), np.float32),
            "sums": ((2,), np.uint64),
        }


__all__ = ["Sbvh", "SbvhOptions"]

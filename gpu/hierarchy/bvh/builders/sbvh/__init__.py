"""SBVH: binned SAH from the top, whose planes may cut primitives in two. The trees for scenes of long, slanted and large triangles.

Idea: However primitives are shared out between two children, the boxes of long ones overlap. A spatial split parts space instead: a primitive on
both sides of the plane gets a reference on each, with a box of the part that lies there, cut at the plane. Each node takes the cheaper of its best
object split and its best spatial split; a cut primitive that would be cheaper whole on one side is taken back. What a cut
saves above can be lost below, where both parts are carried on: the tree of object splits alone is made too, and the cheaper one is kept.

Paper: Stich, Friedrich and Dietrich, Spatial Splits in Bounding Volume Hierarchies (2009): chopped binning, the overlap criterion alpha, reference
unsplitting. Object splits are Wald's (2007).

Cost: Ten to twenty times the time of binned_sah on two cores, forty times on an H200, most of it for clipping: one block parts a set, so the
uppermost levels are slow on a GPU; the tree of object splits takes a tenth of it on two cores, a fifth to a third on an H200. As many references
more as were cut, at most extra_references; three launches for every level that there may be. Where triangles are small and even it gains nothing:
1 per cent and less on the demos blob and room, nothing on orbit, where object splits are kept (spatial ones cost 3 to 10 per cent more). Of long
slanted triangles among small ones it halves the cost.

Limits: The budget of extra references is shared out among sets in proportion to their references, and a set whose share is used up is parted by
objects. Every cut is bounded outwards, so nothing is missed. It cannot be refitted: the boxes of cut primitives would have to grow to the whole
primitive again, which is legal and worse than not having cut them. Spheres are cut as their boxes. Sets that would be too large for the 40 levels
that there are by default are halved; max_depth ends the tree earlier, in leaves of whatever is there. nodes_per_primitive counts a node for every
reference that there may be, not for every primitive. Deterministic.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .....settings import option
from .....target.base import Array, Unit
from ....base import Capabilities, Primitives
from ....primitives import unit_source
from ...bvh import BvhHierarchy
from ...stopping import MOST_LEVELS, LevelOptions
from ...tree import MAX_LEAF_SIZE

MOST_BLOCKS = 4096
OBJECT_SPLITS, ALL_SPLITS, OBJECT_SPLITS_AGAIN = 0, 1, 2
FEW_SETS = 8
"""Levels on which there are too few sets to fill a GPU with blocks: more threads a block."""
THREADS = {"few": 512, "many": 128}


@dataclasses.dataclass(frozen=True)
class SbvhOptions(LevelOptions):
    """Options of the builder with spatial splits."""

    bins: int = option(32, "Bins an axis, of centroids and of space: more of them find better planes and cost time.", minimum=4, maximum=32)
    extra_references: float = option(
        0.3, "Memory: most references beyond one a primitive, as a share of the primitives. 0 cuts nothing.", minimum=0.0, maximum=4.0
    )
    alpha: float = option(
        1e-5,
        "Spatial splits are tried where the sides of the object split overlap by more than this share of the root's area; 1 tries none, 0 all.",
        minimum=0.0,
        maximum=1.0,
    )
    keep: str = option(
        "cheaper",
        "Which tree is kept: of that with spatial splits and that of object splits alone the cheaper one by the SAH, each ended by max_depth, or "
        "always that with spatial splits, as published.",
        choices=("cheaper", "spatial"),
    )


class Sbvh(BvhHierarchy):
    """See the module."""

    name = "sbvh"
    title = "SAH with spatial splits (SBVH)"
    ids_follow_references = True
    Options = SbvhOptions
    options: SbvhOptions
    capabilities = Capabilities(refit=False, splits_references=True, primitive_kinds=("triangle", "sphere"))

    def max_depth(self) -> int:
        return self.options.max_depth

    def may_have_long_leaves(self) -> bool:
        return self.options.may_have_long_leaves

    def reference_capacity(self, primitives: Primitives) -> int:
        return primitives.count + int(self.options.extra_references * primitives.count)

    def scratch_bytes(self) -> int:
        return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in self._arrays(max(1, self.tree.count)).values())

    def emit(self, primitives: Primitives) -> bool:
        target, tree, options = self.target, self.tree, self.options
        capacity, n = tree.count, primitives.count
        held = {name: target.scratch(f"sbvh.{name}", shape, dtype) for name, (shape, dtype) in self._arrays(capacity).items()}
        unit = target.unit(unit_source("gpu/hierarchy/bvh/builders/sbvh/sbvh.cu", primitives, BINS=options.bins))
        levels = options.levels(n)
        launched = min(levels, options.max_depth)
        for made in self._trees():
            with target.phase("build.references"):
                settings = (primitives.view, made, held["sums"], capacity, launched, options.budget(capacity), *options.device_values()[:2])
                outputs = (held["references"], held["finished"], held["used"], held["counts"], held["sets"], tree.parent, tree.flags, tree.root)
                target.launch(unit, "write_references", capacity, *settings, *outputs)
            with target.phase("build.levels"):
                for level in range(launched):
                    self._part_level(unit, held, primitives, level, levels, made)
        with target.phase("build.leaves"):
            target.exclusive_scan(held["used"], held["places"], "sbvh.scan")
            gathered = (tree.order, tree.reference_boxes, tree.reference_count)
            target.launch(unit, "gather_references", capacity, capacity, held["finished"], held["used"], held["places"], *gathered)
            leaves = (held["places"], tree.flags, held.get("long_sets"), tree.nodes, tree.long_leaves)
            target.launch(unit, "relink_leaves", capacity, tree.node_capacity, *leaves)
        return self.fit(primitives, "build")

    def _trees(self) -> tuple[int, ...]:
        """What is made, one after the other: all three where there is a choice."""
        if self.options.extra_references == 0 or self.options.alpha == 1:
            return (OBJECT_SPLITS,)
        return (ALL_SPLITS,) if self.options.keep == "spatial" else (OBJECT_SPLITS, ALL_SPLITS, OBJECT_SPLITS_AGAIN)

    def _part_level(self, unit: Unit, held: dict[str, Array], primitives: Primitives, level: int, levels: int, made: int) -> None:
        tree, step = self.tree, -1 if level % 2 else 1
        alpha = self.options.alpha if made == ALL_SPLITS else 1.0
        sum_of_tree = held["sums"][made:] if made < OBJECT_SPLITS_AGAIN and len(self._trees()) > 1 else None
        ends_here = int(level + 1 == self.options.max_depth)
        settings = (primitives.view, level, levels - level, ends_here, *self.options.device_values(), alpha)
        references = (held[name] for name in ("references", "parted")[::step])
        sets = (held[name] for name in ("sets", "next_sets")[::step])
        arrays = (*references, held["finished"], held["used"], held["root_area"], sum_of_tree, held["counts"], *sets, held.get("long_sets"))
        blocks = min(1 << min(level, 20), len(held["sets"]), MOST_BLOCKS)
        outputs = (tree.nodes, tree.parent, tree.flags, tree.root)
        self.target.launch(unit, "part_sets", 1, *settings, *arrays, *outputs, block=THREADS["few" if level < FEW_SETS else "many"], blocks=blocks)

    def _arrays(self, capacity: int) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the scratch memory; a set that is still to be parted has two references at least."""
        long_sets = {"long_sets": ((capacity // MAX_LEAF_SIZE + 1,), np.int32)} if self.may_have_long_leaves() else {}
        return {
            **long_sets,
            "references": ((capacity, 8), np.float32),
            "parted": ((capacity, 8), np.float32),
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

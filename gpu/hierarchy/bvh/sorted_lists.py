"""Builders from the top over three lists, sorted along the axes once and parted stably ever after (sorted_lists.cu): what sweep_sah, object_median
and spatial_median have in common.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np

from ...settings import option
from ...target.base import Array, Unit
from ..base import Primitives
from ..primitives import unit_source
from .bvh import BvhHierarchy
from .stopping import MOST_LEVELS, LevelOptions

MOST_BLOCKS = 4096
AXES = ("greatest_extent", "round_robin")


@dataclasses.dataclass(frozen=True)
class MedianOptions(LevelOptions):
    """Options of the builders that part at a median."""

    axis: str = option("greatest_extent", "Along which axis a set is parted: its centroids' greatest extent, or x, y, z in turn.", choices=AXES)


class SortedListsBuilder(BvhHierarchy):
    """See the module. A builder says its `rule`."""

    ids_follow_references = True
    rule: ClassVar[int]
    SWEEP, OBJECT_MEDIAN, SPATIAL_MEDIAN = 0, 1, 2
    options: LevelOptions

    def max_depth(self) -> int:
        return self.options.max_depth

    def may_have_long_leaves(self) -> bool:
        return self.options.may_have_long_leaves

    def scratch_bytes(self) -> int:
        n = max(1, self.tree.count)
        of_sort = 8 * n
        return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in self._arrays(n).values()) + of_sort

    def level_count(self, n: int) -> int:
        """Levels that may have sets to be parted, were there no bound of the depth."""
        return self.options.levels(n)

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n, options = self.target, self.tree, primitives.count, self.options
        held = {name: target.scratch(f"sorted_lists.{name}", shape, dtype) for name, (shape, dtype) in self._arrays(n).items()}
        unit = target.unit(unit_source("gpu/hierarchy/bvh/sorted_lists.cu", primitives, RULE=self.rule))
        levels, stopping = self.level_count(n), options.device_values()
        launched = min(levels, options.max_depth)
        with target.phase("build.lists"):
            start = (held["counts"], held["sets"], tree.parent, tree.flags, tree.root)
            target.launch(unit, "write_boxes", n, primitives.view, launched, options.budget(n), *stopping[:2], held["boxes"], *start)
            for axis in range(3):
                target.launch(unit, "write_keys", n, n, axis, held["boxes"], held["keys"])
                keys = target.sort_keys(held["keys"], (32, 64), "sorted_lists.sort")
                target.launch(unit, "take_list", n, n, keys, held["lists"][axis * n :], tree.order if axis == 0 else None)
        with target.phase("build.levels"):
            for level in range(launched):
                self._part_level(unit, held, n, level, levels)
        return self.fit(primitives, "build")

    def _part_level(self, unit: Unit, held: dict[str, Array], n: int, level: int, levels: int) -> None:
        tree = self.tree
        lists, sets = (("lists", "parted"), ("sets", "next_sets"))
        step = -1 if level % 2 else 1
        turn = level % 3 if getattr(self.options, "axis", AXES[0]) == "round_robin" else -1
        ends_here = int(level + 1 == self.options.max_depth)
        settings = (n, level, levels - level, ends_here, turn, *self.options.device_values())
        halves = (held["boxes"], *(held[name] for name in lists[::step]), held["counts"], *(held[name] for name in sets[::step]))
        outputs = (held["sides"], held["behind"], tree.order, tree.nodes, tree.parent, tree.flags, tree.root, tree.long_leaves)
        blocks = min(1 << min(level, 20), len(held["sets"]), MOST_BLOCKS)
        self.target.launch(unit, "part_sets", 1, *settings, *halves, *outputs, block=256, blocks=blocks)

    def _arrays(self, n: int) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the scratch memory; a set that is still to be parted has two primitives at least."""
        return {
            "boxes": ((n, 8), np.float32),
            "keys": ((n,), np.uint64),
            "lists": ((3 * n,), np.int32),
            "parted": ((3 * n,), np.int32),
            "counts": ((MOST_LEVELS + 1,), np.int32),
            "sets": ((n // 2 + 1, 4), np.int32),
            "next_sets": ((n // 2 + 1, 4), np.int32),
            "sides": ((n,), np.uint8),
            "behind": ((n,), np.float32),
        }

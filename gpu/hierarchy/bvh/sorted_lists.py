"""Top-down builders over three lists, sorted along the axes once and partitioned stably ever after
(sorted_lists.cu):
what sweep_sah, object_median and spatial_median have in common."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from ...settings import option
from ...target.base import Array, Unit
from ..base import Primitives
from ..primitives import unit_source
from ..scratch import Shapes, bytes_of, scratch_arrays
from .bvh import BvhHierarchy
from .stopping import MOST_LEVELS, LevelOptions
from .tree import MAX_WIDE_LEAF_SIZE

MOST_BLOCKS = 4096
AXES = ("greatest_extent", "round_robin")


@dataclasses.dataclass(frozen=True)
class MedianOptions(LevelOptions):
    """Options of the builders that split at a median."""

    axis: str = option(
        "greatest_extent",
        "Along which axis a set is split: its centroids' greatest extent, or x, y, z in turn.",
        choices=AXES,
    )


class SortedListsBuilder(BvhHierarchy):
    """See the module. A builder says its `rule`."""

    ids_follow_references = True
    most_wide_leaf = MAX_WIDE_LEAF_SIZE
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
        return bytes_of(self._arrays(n)) + of_sort

    def level_count(self, n: int) -> int:
        """Levels that may have sets to be split, were there no bound of the depth."""
        return self.options.levels(n)

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n, options = self.target, self.tree, primitives.count, self.options
        held = scratch_arrays(target, "sorted_lists", self._arrays(n))
        unit = target.unit(unit_source("gpu/hierarchy/bvh/sorted_lists.cu", primitives, RULE=self.rule))
        levels = self.level_count(n)
        launched = min(levels, options.max_depth)
        with target.phase("build.lists"):
            target.launch(
                unit,
                "write_boxes",
                n,
                primitives=primitives.view,
                level_count=launched,
                budget=options.budget(n),
                **options.device_sizes(),
                boxes=held["boxes"],
                counts=held["counts"],
                sets=held["sets"],
                parent=tree.parent,
                flags=tree.flags,
                root=tree.root,
            )
            for axis in range(3):
                target.launch(unit, "write_keys", n, n=n, axis=axis, boxes=held["boxes"], keys=held["keys"])
                keys = target.sort_keys(held["keys"], (32, 64), "sorted_lists.sort")
                target.launch(
                    unit,
                    "take_list",
                    n,
                    n=n,
                    keys=keys,
                    list=held["lists"][axis * n :],
                    order=tree.order if axis == 0 else None,
                )
        with target.phase("build.levels"):
            for level in range(launched):
                self._split_level(unit, held, n, level, levels)
        return self.compute_bounds(primitives)

    def _split_level(self, unit: Unit, held: dict[str, Array], n: int, level: int, levels: int) -> None:
        tree = self.tree
        sets, next_sets = (held["sets"], held["next_sets"])[:: -1 if level % 2 else 1]
        self.target.launch(
            unit,
            "split_sets",
            1,
            n=n,
            level=level,
            level_count=levels,
            last_level=self.options.max_depth - 1,
            in_turn=int(getattr(self.options, "axis", AXES[0]) == "round_robin"),
            **self.options.device_values(),
            boxes=held["boxes"],
            even_lists=held["lists"],
            odd_lists=held["partitioned"],
            counts=held["counts"],
            sets=sets,
            next_sets=next_sets,
            sides=held["sides"],
            behind=held["behind"],
            order=tree.order,
            **tree.links(),
            root=tree.root,
            long_leaves=tree.long_leaves,
            block=256,
            blocks=min(1 << min(level, 20), len(held["sets"]), MOST_BLOCKS),
        )

    def _arrays(self, n: int) -> Shapes:
        """Shapes and types of the scratch memory; a set that is still to be split has two primitives at least."""
        return {
            "boxes": ((n, 8), np.float32),
            "keys": ((n,), np.uint64),
            "lists": ((3 * n,), np.int32),
            "partitioned": ((3 * n,), np.int32),
            "counts": ((MOST_LEVELS + 1,), np.int32),
            "sets": ((n // 2 + 1, 4), np.int32),
            "next_sets": ((n // 2 + 1, 4), np.int32),
            "sides": ((n,), np.uint8),
            "behind": ((n,), np.float32),
        }

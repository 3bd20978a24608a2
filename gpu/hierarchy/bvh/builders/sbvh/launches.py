"""The launches that split all sets of a level, by their size (sets.cuh)."""

from __future__ import annotations

import dataclasses
from typing import Any

from .....target.base import Array, Target, Unit
from ....base import Primitives
from ...stopping import LevelOptions
from ...tree import CanonicalTree

OBJECT_SPLITS, ALL_SPLITS, OBJECT_SPLITS_AGAIN = 0, 1, 2
"""Which tree is made (tree_cost.cuh)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """What is made of which primitives: `levels` that there may be, `queue` of them until all sets are small,
    `large_levels` with sets that many blocks split; `made`: which tree; `sum` takes its cost, where that is wanted."""

    primitives: Primitives
    levels: int
    queue: int
    large_levels: int
    made: int
    alpha: float
    sum: Array | None
    most_blocks: int


@dataclasses.dataclass(frozen=True, eq=False)
class Launches:
    """See the module. `held` is the builder's scratch memory."""

    target: Target
    tree: CanonicalTree
    options: LevelOptions
    held: dict[str, Array]
    plan: Plan

    def _in_turn(self, name: str, other: str, level: int) -> tuple[Array, Array]:
        """What is read on a level, and what is written for the next one."""
        first, second = (self.held[name], self.held[other])[:: -1 if level % 2 else 1]
        return first, second

    def split_large_sets(self, unit: Unit, level: int, threads: int) -> None:
        """All sets of a level that are large, a block for each of their chunks."""
        set_of_chunk = self._in_turn("set_of_chunk", "next_set_of_chunk", level)[0]
        shared = {
            "counts": self.held["counts"][level],
            "references": self._in_turn("references", "partitioned", level)[0],
            "large": self._in_turn("large", "next_large", level)[0],
            "set_of_chunk": set_of_chunk,
            "block": threads,
            "blocks": min(len(set_of_chunk), self.plan.most_blocks),
        }
        self._choose_planes(unit, level, shared)
        self._move_to_sides(unit, level, shared)

    def _choose_planes(self, unit: Unit, level: int, shared: dict[str, Any]) -> None:
        target, held, plan = self.target, self.held, self.plan
        target.launch(
            unit,
            "bin_objects",
            1,
            is_root=int(level == 0),
            levels_left=plan.levels - level,
            queue_left=plan.queue - level,
            alpha=plan.alpha,
            root_area=held["root_area"],
            all_bins=held["large_bins"],
            **shared,
        )
        if plan.alpha < 1.0:
            target.launch(unit, "bin_space", 1, primitives=plan.primitives.view, all_bins=held["large_bins"], **shared)

    def _move_to_sides(self, unit: Unit, level: int, shared: dict[str, Any]) -> None:
        target, tree, options, held, plan = self.target, self.tree, self.options, self.held, self.plan
        next_large = self._in_turn("large", "next_large", level)[1]
        target.launch(
            unit,
            "count_sides",
            1,
            is_root=int(level == 0),
            ends_here=int(level + 1 == options.max_depth),
            next_is_large=int(level + 1 < plan.large_levels),
            level=level,
            **options.device_sizes(),
            places=held["places_of_chunk"],
            next_counts=held["counts"][level + 1],
            next_sets=self._in_turn("sets", "next_sets", level)[1],
            next_large=next_large,
            next_set_of_chunk=self._in_turn("set_of_chunk", "next_set_of_chunk", level)[1],
            small_count=held["small_count"],
            small_sets=held["small_sets"],
            long_sets=held.get("long_sets"),
            **tree.links(),
            **shared,
        )
        target.launch(
            unit,
            "move_references",
            1,
            primitives=plan.primitives.view,
            traversal_cost=options.traversal_cost,
            intersection_cost=options.intersection_cost,
            partitioned=self._in_turn("references", "partitioned", level)[1],
            finished=held["finished"],
            used=held["used"],
            root_area=held["root_area"],
            sum=plan.sum,
            places=held["places_of_chunk"],
            next_large=next_large,
            **shared,
        )

    def split_sets(self, unit: Unit, level: int, threads: int) -> None:
        """All sets of a level that are of a middle size, a block for each."""
        tree, options, held, plan = self.tree, self.options, self.held, self.plan
        references, partitioned = self._in_turn("references", "partitioned", level)
        sets, next_sets = self._in_turn("sets", "next_sets", level)
        self.target.launch(
            unit,
            "split_sets",
            1,
            primitives=plan.primitives.view,
            level=level,
            levels_left=plan.levels - level,
            queue_left=plan.queue - level,
            ends_here=int(level + 1 == options.max_depth),
            **options.device_values(),
            alpha=plan.alpha,
            references=references,
            partitioned=partitioned,
            finished=held["finished"],
            used=held["used"],
            root_area=held["root_area"],
            sum=plan.sum,
            counts=held["counts"][level],
            sets=sets,
            next_counts=held["counts"][level + 1],
            next_sets=next_sets,
            small_count=held["small_count"],
            small_sets=held["small_sets"],
            long_sets=held.get("long_sets"),
            **tree.links(),
            root=tree.root,
            block=threads,
            blocks=min(1 << min(level, 20), len(sets), plan.most_blocks),
        )

    def split_small_sets(self, unit: Unit, threads: int) -> None:
        """All small sets, down to their leaves."""
        tree, options, held, plan = self.tree, self.options, self.held, self.plan
        self.target.launch(
            unit,
            "split_small_sets",
            1,
            primitives=plan.primitives.view,
            levels=plan.levels,
            max_depth=options.max_depth,
            **options.device_values(),
            alpha=plan.alpha,
            references=held["references"],
            other_references=held["partitioned"],
            finished=held["finished"],
            used=held["used"],
            root_area=held["root_area"],
            sum=plan.sum,
            small_count=held["small_count"],
            small_sets=held["small_sets"],
            long_sets=held.get("long_sets"),
            **tree.links(),
            root=tree.root,
            block=threads,
            blocks=min(len(held["small_sets"]), 2 * plan.most_blocks),
        )

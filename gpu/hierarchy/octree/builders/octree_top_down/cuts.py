"""The levels of octree_top_down: which children each reference meets, how many there are, and where nodes and
references go. Its options, and its working memory."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .....settings import option
from .....target.base import Array, Target, Unit
from ....base import Primitives
from ....grown_tree import Capacity, Draft
from ....primitives import clipping_unit_source
from ....scratch import Shapes
from ...options import MOST_LEVELS, MOST_REFERENCES, OctreeOptions

ROOM = "gpu/hierarchy/octree/builders/octree_top_down"
TILE = 128
"""References that are counted together: their places are bytes."""

_ROW_WORDS = 4
_ADDITIONS = 4


LEAF_PRIMITIVES = {"host": 8, "cuda": 6}
"""By kind of target: with six in place of eight a GPU's rays take 2 to 5 % less and a build a seventh longer; on a CPU
rays take as long, a build two fifths longer."""


@dataclasses.dataclass(frozen=True)
class OctreeTopDownOptions(OctreeOptions):
    """When a cell is cut. Cutting ends where it costs more than testing, so leaves may be small, and rays gain."""

    leaf_primitives: int = option(
        0,
        "Cells that so many primitives meet become leaves; 0 takes 8 on a CPU and 6 on a GPU.",
        minimum=0,
        maximum=1024,
    )
    references_per_primitive: float = option(
        16.0, "Memory: most references per primitive.", minimum=1.0, maximum=float(MOST_REFERENCES)
    )
    stop: str = option(
        "sah",
        "When cells that more primitives meet become leaves too: where cutting costs more than testing all of them "
        "(sah), or at the greatest depth (size).",
        choices=("sah", "size"),
    )
    max_depth: int = option(
        0, "Greatest depth; 0 takes 8 + log4 of the number of primitives.", minimum=0, maximum=MOST_LEVELS
    )


def shapes_of(capacity: Capacity, primitive_count: int, leaf_primitives: int) -> Shapes:
    """Working memory. What is read and written by turns is there twice."""
    slots, room = _slots(capacity, leaf_primitives), capacity.working
    once: Shapes = {
        "levels": (((MOST_LEVELS + 2) * _ROW_WORDS,), np.int32),
        "box_words": ((6,), np.int32),
        "active": ((primitive_count,), np.int32),
        "places": ((primitive_count,), np.int32),
        "met": ((room,), np.uint8),
        "ranks": ((room,), np.uint64),
        "tile_sums": ((8 * _tiles(capacity),), np.int32),
        "child_counts": ((8 * slots,), np.int32),
        "bases": ((8 * slots,), np.int32),
        "additions": ((_ADDITIONS * (slots + 1),), np.int32),
    }
    twice: Shapes = {
        "prim_ids": ((room,), np.int32),
        "slot_ids": ((room,), np.int32),
        "cells": ((slots, 4), np.int32),
        "ranges": ((slots, 4), np.int32),
    }
    return once | twice | {f"{name}_too": shape for name, shape in twice.items()}


def _slots(capacity: Capacity, leaf_primitives: int) -> int:
    """Cells of a level that are cut, at most: each has more references than a leaf may have."""
    return capacity.working // (leaf_primitives + 1) + 2


def _tiles(capacity: Capacity) -> int:
    return -(-capacity.working // TILE) + 1


class LevelCuts:
    """One build's. `held` is the working memory by the names of `shapes_of`."""

    def __init__(
        self,
        target: Target,
        options: OctreeTopDownOptions,
        capacity: Capacity,
        held: dict[str, Array],
        draft: Draft,
    ) -> None:
        self.target, self.options, self.capacity, self.held, self.draft = target, options, capacity, held, draft
        self.slots = _slots(capacity, options.leaf_primitives)
        self._sums = {"tiles": _tiles(capacity), "tile_sums": held["tile_sums"]}

    def cut(self, primitives: Primitives, level: int, ends_here: bool) -> None:
        """The cells of a level. Launches only."""
        unit = self.target.unit(clipping_unit_source(f"{ROOM}/levels.cu", primitives, TILE=TILE))
        row = self._row(level)
        cells = min(self.slots, 1 << min(3 * level, 30))
        self._meet(unit, primitives, row, level)
        rules = {"leaf_primitives": self.options.leaf_primitives, "ends_here": int(ends_here), "slots": self.slots}
        self._make_children(unit, row, level, cells, rules)
        self._move(unit, row, level)

    def _row(self, level: int) -> Array:
        return self.held["levels"][_ROW_WORDS * level : _ROW_WORDS * (level + 1)]

    def _here(self, level: int, *names: str) -> dict[str, Array]:
        return {name: self.held[name if level % 2 == 0 else f"{name}_too"] for name in names}

    def _next(self, level: int, *names: str) -> dict[str, Array]:
        return {f"next_{name}": array for name, array in self._here(level + 1, *names).items()}

    def _meet(self, unit: Unit, primitives: Primitives, row: Array, level: int) -> None:
        self.target.launch(
            unit,
            "meet_children",
            self._sums["tiles"] * TILE,
            primitives=primitives.view,
            level=row,
            **self._here(level, "prim_ids", "slot_ids", "cells"),
            box=self.draft.box,
            met=self.held["met"],
            ranks=self.held["ranks"],
            **self._sums,
            block=TILE,
        )
        self.target.exclusive_scan(self.held["tile_sums"], self.held["tile_sums"], "octree_top_down.scan")

    def _make_children(self, unit: Unit, row: Array, level: int, cells: int, rules: dict[str, Any]) -> None:
        held = self.held
        made = {"child_counts": held["child_counts"], "additions": held["additions"]}
        self.target.launch(
            unit,
            "count_children",
            cells,
            level=row,
            **self._here(level, "ranges"),
            ranks=held["ranks"],
            met=held["met"],
            **self._sums,
            by_cost=int(self.options.stop == "sah"),
            **rules,
            **made,
        )
        self.target.exclusive_scan(held["additions"], held["additions"], "octree_top_down.scan")
        self.target.launch(
            unit,
            "make_children",
            cells,
            level=row,
            next_level=self._row(level + 1),
            **self._here(level, "cells", "ranges"),
            **made,
            **rules,
            node_capacity=self.capacity.nodes,
            reference_capacity=self.capacity.references,
            working_capacity=self.capacity.working,
            **self._next(level, "cells", "ranges"),
            bases=held["bases"],
            counts=self.draft.counts,
            draft_nodes=self.draft.nodes,
            draft_parent=self.draft.parent,
        )

    def _move(self, unit: Unit, row: Array, level: int) -> None:
        names = ("met", "ranks", "child_counts", "bases", "additions")
        self.target.launch(
            unit,
            "move_references",
            self.capacity.working,
            level=row,
            counts=self.draft.counts,
            **self._here(level, "prim_ids", "slot_ids", "ranges"),
            **{name: self.held[name] for name in names},
            **self._sums,
            slots=self.slots,
            **self._next(level, "prim_ids", "slot_ids"),
            draft_references=self.draft.references,
        )

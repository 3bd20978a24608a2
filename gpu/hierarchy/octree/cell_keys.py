"""Keys of the cells that primitives meet at one level of the octree, sorted along the Z-order: what builders from the
leaves begin with. Phases build.bounds, build.keys, build.sort. On the device: cell_keys.cuh."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...target.base import Array, Target, Unit
from ..base import Primitives
from ..grown_tree import Capacity, Draft
from ..large_primitives import by_blocks
from ..primitives import clipping_unit_source
from ..scratch import Shapes, bytes_of, scratch_arrays

CODE_LEVELS = 10
"""The deepest level whose cells have a code."""

MOST_TESTED = 1 << 30
"""Cells that the boxes of all primitives meet at a level, at most: they are tested one by one, and counted by 32 bits.
"""

KEY_BITS = (32, 63)
"""Of a key: the code, and one bit more for places that are not used."""


def shapes_of(capacity: Capacity, primitive_count: int) -> Shapes:
    """Working memory."""
    return {
        "box_words": ((6,), np.int32),
        "level_sums": ((CODE_LEVELS + 1,), np.uint64),
        "chosen": ((3,), np.int32),
        "cell_counts": ((primitive_count,), np.int32),
        "places": ((primitive_count,), np.int32),
        "masks": ((primitive_count,), np.uint32),
        "large": ((primitive_count + 1,), np.int32),
        "keys": ((capacity.working,), np.uint64),
    }


def key_bytes(capacity: Capacity, primitive_count: int) -> int:
    """Working memory, that of the sort included."""
    return bytes_of(shapes_of(capacity, primitive_count)) + 8 * capacity.working


def level_for(primitive_count: int, primitives_a_cell: float) -> int:
    """The level at which a surface has so many primitives in each cell that it passes: it has four times as many cells
    a level."""
    return min(CODE_LEVELS, max(0, math.ceil(0.5 * math.log2(max(1.0, primitive_count / primitives_a_cell)))))


def make_keys(
    target: Target,
    primitives: Primitives,
    draft: Draft,
    capacity: Capacity,
    level: int | None,
    most_levels: int,
    most_references: float,
) -> tuple[Array, Array]:
    """Sorted keys, and `chosen`: the level (`level`, or where that is None the best of `most_levels`) and how many keys
    there are. Writes the draft's box, status and working count. Launches only; good until the next build."""
    held = scratch_arrays(target, "cell_keys", shapes_of(capacity, primitives.count))
    unit, n = target.unit(clipping_unit_source("gpu/hierarchy/octree/cell_keys.cu", primitives)), primitives.count
    space = {"primitives": primitives.view, "box": draft.box}
    chosen = held["chosen"]
    _bound(target, unit, primitives, held, draft)
    _choose_level(target, unit, held, space, n, level, most_levels, most_references)
    with target.phase("build.keys"):
        cells = {"cell_counts": held["cell_counts"], "masks": held["masks"]}
        large = by_blocks(held["large"], n)
        target.launch(unit, "count_cells", n, **space, chosen=chosen, **cells, large=held["large"])
        target.launch(unit, "count_cells_of_large", n, **space, chosen=chosen, **cells, **large)
        target.exclusive_scan(held["cell_counts"], held["places"], "cell_keys.scan")
        target.launch(
            unit,
            "write_keys",
            max(n, capacity.working),
            **space,
            places=held["places"],
            **cells,
            capacity=capacity.working,
            chosen=chosen,
            counts=draft.counts,
            keys=held["keys"],
        )
        target.launch(
            unit,
            "write_keys_of_large",
            n,
            **space,
            places=held["places"],
            masks=held["masks"],
            chosen=chosen,
            counts=draft.counts,
            keys=held["keys"],
            **large,
        )
    with target.phase("build.sort"):
        return target.sort_keys(held["keys"], KEY_BITS, "cell_keys.sort"), chosen


def _choose_level(
    target: Target,
    unit: Unit,
    held: dict[str, Array],
    space: dict[str, Any],
    n: int,
    level: int | None,
    most_levels: int,
    most_references: float,
) -> None:
    """The level whose cells are listed."""
    with target.phase("build.keys"):
        target.launch(
            unit,
            "sum_cells",
            n,
            **space,
            most_levels=most_levels if level is None else level,
            level_sums=held["level_sums"],
        )
        target.launch(
            unit,
            "choose_level",
            1,
            level_sums=held["level_sums"],
            given=-1 if level is None else level,
            most_levels=most_levels,
            most_references=most_references,
            most_tested=float(MOST_TESTED),
            chosen=held["chosen"],
        )


def _bound(target: Target, unit: Unit, primitives: Primitives, held: dict[str, Array], draft: Draft) -> None:
    """The scene's box, and all counters empty."""
    words = {"box_words": held["box_words"]}
    with target.phase("build.bounds"):
        cleared = {
            "level_sums": held["level_sums"],
            "chosen": held["chosen"],
            "counts": draft.counts,
            "large": held["large"],
        }
        target.launch(unit, "clear_cells", CODE_LEVELS + 1, **words, **cleared)
        target.launch(unit, "find_box", primitives.count, primitives=primitives.view, **words)
        target.launch(unit, "make_space", 1, **words, box=draft.box)

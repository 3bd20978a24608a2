"""The best splits of a level by the thesis' own steps: kinds of events as bytes or words, their prefix sums, a list of
candidates, and a reduction of it, whole on the first levels and by segments below, or by segments throughout."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....target.base import Target, Unit
from .memory import TILE_THREADS, Memory

SEGMENTED = {"segments": False, "whole_and_segments": True}
"""The reductions of a list, and whether the first levels are reduced as a whole."""


def kind_row(room: int) -> int:
    """Entries of an axis' row of kinds: all events, in whole loads of four."""
    return -(-2 * room // 4) * 4


def listed_bytes(room: int, kind_bytes: int) -> int:
    """What the kinds, their sums and the candidates take."""
    return 3 * kind_row(room) * (kind_bytes + 4) + 16 * room


def find_listed_splits(
    target: Target, unit: Unit, memory: Memory, lists: dict[str, Any], costs: dict[str, Any], most: int, *, whole: bool
) -> None:
    """The best plane of each of at most `most` large nodes of a level, whose `lists` the kernels read. `whole`: all
    blocks share out each node's candidates, else a block takes a node's."""
    sizes, held = memory.sizes, memory.held
    row, room = 3 * kind_row(sizes.room), sizes.room
    kinds = target.scratch("sah_events.kinds", sizes.flag_bytes * row, np.uint8)
    begun = target.scratch("sah_events.begun", row, np.int32)
    candidates = target.scratch("sah_events.candidates", 2 * room, np.uint64)
    jobs = 3 * sizes.event_tiles * TILE_THREADS
    of_level = {"level": lists["level"], "room": room}
    target.launch(unit, "write_kinds", 2 * room, **of_level, events=lists["events"], kind_bytes=kinds)
    target.launch(
        unit,
        "scan_kinds",
        jobs,
        **of_level,
        kind_bytes=kinds,
        starts=held["starts"],
        begun=begun,
        block=TILE_THREADS,
    )
    target.launch(unit, "list_candidates", 2 * room, **lists, begun=begun, **costs, candidates=candidates)
    target.launch(
        unit,
        "reduce_whole" if whole else "reduce_segments",
        sizes.event_tiles * TILE_THREADS if whole else most * TILE_THREADS,
        level=lists["level"],
        ranges=lists["ranges"],
        candidates=candidates,
        best=held["best"],
        block=TILE_THREADS,
    )

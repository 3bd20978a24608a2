"""Other ways of events from level to level: by lists with gaps, as in the thesis, and sorted again where boxes are cut
along all axes."""

from __future__ import annotations

import numpy as np

from .....target.base import Array, Target, Unit
from ....base import Primitives
from .memory import TILE_THREADS, Memory, tiles

_ENDS = 6  # events per reference, two per axis


def move_through_gaps(target: Target, unit: Unit, memory: Memory, counts: Array, level: int, gap_bytes: int) -> None:
    """Spread events of a level, or masks of them, over lists with gaps, and close those."""
    held, sizes, row, room = memory.held, memory.sizes, memory.row(level), memory.sizes.room
    gaps = target.scratch("sah_events.gaps", 2 * _ENDS * gap_bytes * room, np.uint8)
    events, moves = memory.events(level), memory.moves(level)
    jobs = 3 * sizes.event_tiles * TILE_THREADS
    target.launch(
        unit,
        "spread_events",
        jobs,
        level=row,
        room=room,
        events=events,
        moves=moves,
        slots=held["slots"],
        bases=held["bases"],
        counts=counts,
        gap_bytes=gaps,
        block=TILE_THREADS,
    )
    jobs = 3 * tiles(4 * room, sizes.tile) * TILE_THREADS
    target.launch(
        unit,
        "count_gaps",
        jobs,
        level=row,
        room=room,
        gap_bytes=gaps,
        counts=counts,
        event_sums=held["event_sums"],
        block=TILE_THREADS,
    )
    target.launch(
        unit,
        "close_gaps",
        jobs,
        level=row,
        room=room,
        gap_bytes=gaps,
        events=events,
        moves=moves,
        bases=held["bases"],
        counts=counts,
        event_sums=held["event_sums"],
        next_events=memory.events(level + 1),
        starts=held["starts"],
        block=TILE_THREADS,
    )


def clip_and_sort(target: Target, unit: Unit, start: Unit, memory: Memory, primitives: Primitives, level: int) -> None:
    """Cut the boxes of the level before `level` has its events along all axes, and make its lists anew."""
    room, row, references, events = memory.sizes.room, memory.row(level), memory.references(level), memory.events(level)
    target.launch(
        unit, "clip_references", room, primitives=primitives.view, level=row, room=room, reference_words=references
    )
    keys, values = memory.level_keys(level)
    for axis in range(3):
        target.launch(
            unit,
            "write_level_keys",
            2 * room,
            level=row,
            room=room,
            axis=axis,
            reference_words=references,
            keys=keys,
            events=values,
        )
        _, in_order = target.sort_pairs(keys, values, (0, 62), "sah_events.again")
        target.launch(
            unit, "take_level_events", 2 * room, level=row, room=room, axis=axis, sorted=in_order, events=events
        )
    jobs = 3 * memory.sizes.event_tiles * TILE_THREADS
    target.launch(
        start,
        "count_starts",
        jobs,
        level=row,
        room=room,
        events=events,
        starts=memory.held["starts"],
        block=TILE_THREADS,
    )


def further_bytes(room: int, gap_bytes: int, is_exact: bool) -> int:
    """What these take beside the builder's memory: keys and events of an axis to sort them in, or a list with gaps."""
    return 2 * 12 * room if is_exact else 2 * _ENDS * gap_bytes * room

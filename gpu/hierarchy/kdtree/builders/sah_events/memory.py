"""Working memory of sah_events: three regions of 32 bytes per reference that take turns, and small arrays beside them.

A region holds the references of a level, or its events (24 bytes per reference, with 8 of `moves` behind them), or what
is written for the next level. Events are written where references were, which nothing reads any more by then. Keys are
sorted in the same memory before the first level.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....target.base import Array, Target
from .....target.structs import address
from ....scratch import Shapes, bytes_of, scratch_arrays
from ...tree import MOST_DEPTH

TILE_THREADS = 256
NODE_TILE = 512
LEVEL_WORDS = 12
REFERENCE_BYTES = 32
EVENT_BYTES = 24
KEY_BYTES = 48
SORT = "sah_events.sort"
_ROUND = 256


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What the memory depends on: primitives, references at one time, nodes of a level, and the forms of flags and
    tiles."""

    primitives: int
    room: int
    slots: int
    flag_bytes: int
    tile: int

    @property
    def tiles(self) -> int:
        """Tiles of references."""
        return tiles(self.room, self.tile)

    @property
    def event_tiles(self) -> int:
        """Tiles of events along an axis."""
        return tiles(2 * self.room, self.tile)

    @property
    def node_tiles(self) -> int:
        """Tiles of nodes."""
        return tiles(self.slots, NODE_TILE)

    def region_bytes(self) -> int:
        """A region; the places of primitives lie in the tail of the first one."""
        return _rounded(REFERENCE_BYTES * max(self.room, self.primitives))

    def sorting_bytes(self) -> int:
        """A region that keys are sorted in, too."""
        return max(self.region_bytes(), _rounded(KEY_BYTES * self.primitives))

    def pool_bytes(self) -> int:
        """The two regions that are the sort's memory before they are the levels'."""
        return self.sorting_bytes() + self.region_bytes()

    def small(self) -> Shapes:
        """Shapes and types of the arrays beside the regions."""
        twice: Shapes = {
            "cells": ((self.slots, 8), np.float32),
            "ranges": ((self.slots, 4), np.int32),
        }
        once: Shapes = {
            "box_words": ((8,), np.int32),
            "levels": ((MOST_DEPTH + 2, LEVEL_WORDS), np.int32),
            "flags": ((self.flag_bytes * self.room,), np.uint8),
            "slots": ((self.room,), np.int32),
            "side_sums": ((2 * self.tiles,), np.int32),
            "event_sums": ((12 * self.event_tiles,), np.int32),
            "starts": ((3 * self.event_tiles,), np.int32),
            "node_sums": ((8 * self.node_tiles,), np.int32),
            "splits": ((self.slots, 4), np.int32),
            "best": ((self.slots,), np.uint64),
            "side_counts": ((self.slots, 2), np.int32),
            "numbers": ((self.slots, 12), np.int32),
            "bases": ((self.slots, 4), np.int32),
        }
        return once | twice | {f"{name}_too": shape for name, shape in twice.items()}

    def bytes(self) -> int:
        """All of it."""
        return self.pool_bytes() + self.sorting_bytes() + bytes_of(self.small())


class Memory:
    """The arrays of `sizes`, cut from scratch memory: `held` by name, and those that take turns by level."""

    def __init__(self, sizes: Sizes, blocks: list[Array]) -> None:
        self.sizes, self.key = sizes, _key(sizes, blocks)
        n, room = sizes.primitives, sizes.room
        pool, third, levels = blocks
        behind = sizes.sorting_bytes()
        regions = (pool[behind : behind + sizes.region_bytes()], pool[:behind], third)
        self.keys = third[: KEY_BYTES * n].view(np.uint64)
        tail = EVENT_BYTES * max(room, n)
        self.places, self.active = (
            regions[0][tail + 4 * n * i : tail + 4 * n * (i + 1)].view(np.int32) for i in range(2)
        )
        self._references = [region[: REFERENCE_BYTES * room].view(np.float32) for region in regions]
        self._events = [region[: EVENT_BYTES * room].view(np.int32) for region in regions]
        self._moves = [region[EVENT_BYTES * room : REFERENCE_BYTES * room].view(np.int32) for region in regions]
        self._keys = [
            (region[: 16 * room].view(np.uint64), region[16 * room : 24 * room].view(np.uint32)) for region in regions
        ]
        self._levels = [levels[level] for level in range(len(levels))]
        self.held: dict[str, Array] = {}

    def row(self, level: int) -> Array:
        """A level's counters."""
        return self._levels[level]

    def references(self, level: int) -> Array:
        """The references of a level."""
        return self._references[(level + 1) % 3]

    def events(self, level: int) -> Array:
        """Its events, a list an axis."""
        return self._events[level % 3]

    def moves(self, level: int) -> Array:
        """Where its references go."""
        return self._moves[level % 3]

    def level_keys(self, level: int) -> tuple[Array, Array]:
        """Keys and events of an axis, where the events of the level before were."""
        return self._keys[(level - 1) % 3]

    def nodes(self, level: int) -> dict[str, Array]:
        """Its cells and ranges, by the kernels' names."""
        side = "" if level % 2 == 0 else "_too"
        return {"cells": self.held[f"cells{side}"], "ranges": self.held[f"ranges{side}"]}


def memory_of(target: Target, sizes: Sizes, present: Memory | None) -> Memory:
    """The arrays as scratch memory has them now; what is cut from them is cut again only where they have moved."""
    held = scratch_arrays(target, "sah_events", sizes.small())
    blocks = [
        the_pool(target, sizes),
        target.scratch("sah_events.third", sizes.sorting_bytes(), np.uint8),
        held["levels"],
    ]
    made = Memory(sizes, blocks) if present is None or present.key != _key(sizes, blocks) else present
    made.held = held
    return made


def the_pool(target: Target, sizes: Sizes) -> Array:
    """Two regions, in the scratch memory that a sort named `SORT` takes: it asks for less of it, so ask again behind
    the sort."""
    return target.scratch(f"{SORT}.keys", sizes.pool_bytes(), np.uint8)


def _key(sizes: Sizes, blocks: list[Array]) -> tuple[Sizes, list[int]]:
    return sizes, [address(block) for block in blocks]


def tiles(count: int, tile: int) -> int:
    """Tiles that hold `count` things."""
    return -(-count // tile)


def _rounded(size: int) -> int:
    return -(-size // _ROUND) * _ROUND

"""Working memory of sah_events: three regions of 32 bytes a reference that take turns, and small arrays beside them.

A region holds the references of a level, or its events (24 bytes a reference, with 8 of `moves` behind them), or what is written for the next level.
Events are written where references were, which nothing reads any more by then. Keys are sorted in the same memory before the first level.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .....target.base import Array, Target
from .....target.structs import address
from ...tree import MOST_DEPTH

TILE_THREADS = 256
NODE_TILE = 512
LEVEL_WORDS = 8
REFERENCE_BYTES = 32
EVENT_BYTES = 24
_ROUND = 256


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What the memory depends on: primitives, references at one time, nodes of a level, and the forms of flags and tiles."""

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
        """A region; the places of primitives lie in the tail of one of them."""
        return _rounded(REFERENCE_BYTES * max(self.room, self.primitives))

    def key_bytes(self) -> int:
        """Keys to sort, once."""
        return _rounded(6 * 8 * self.primitives)

    def pool_bytes(self) -> int:
        """The three regions; two of them, or more, take the keys and the memory to sort them in."""
        return self.region_bytes() + max(2 * self.region_bytes(), 2 * self.key_bytes())

    def small(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Shapes and types of the arrays beside the regions."""
        twice: dict[str, tuple[tuple[int, ...], Any]] = {"cells": ((self.slots, 8), np.float32), "ranges": ((self.slots, 4), np.int32)}
        once: dict[str, tuple[tuple[int, ...], Any]] = {
            "box_words": ((8,), np.int32),
            "levels": ((MOST_DEPTH + 2, LEVEL_WORDS), np.int32),
            "flags": ((self.flag_bytes * self.room,), np.uint8),
            "slots": ((self.room,), np.int32),
            "side_sums": ((2 * self.tiles,), np.int32),
            "event_sums": ((12 * self.event_tiles,), np.int32),
            "starts": ((3 * self.event_tiles,), np.int32),
            "node_sums": ((6 * self.node_tiles,), np.int32),
            "splits": ((self.slots, 4), np.int32),
            "best": ((self.slots,), np.uint64),
            "side_counts": ((self.slots, 2), np.int32),
            "numbers": ((self.slots, 8), np.int32),
            "bases": ((self.slots, 4), np.int32),
        }
        return once | twice | {f"{name}_too": shape for name, shape in twice.items()}

    def bytes(self) -> int:
        """All of it."""
        return self.pool_bytes() + sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in self.small().values())


class Memory:
    """The arrays of `sizes`, cut from scratch memory: `held` by name, and those that take turns by level."""

    def __init__(self, target: Target, sizes: Sizes, pool: Array) -> None:
        self.sizes, self.key = sizes, (sizes, address(pool))
        self.held = {name: target.scratch(f"sah_events.{name}", shape, dtype) for name, (shape, dtype) in sizes.small().items()}
        region, keys = sizes.region_bytes(), sizes.key_bytes()
        behind = max(2 * region, 2 * keys)
        starts = (behind, 0, region)
        n, room = sizes.primitives, sizes.room
        self.keys = pool[keys : keys + 48 * n].view(np.uint64)
        tail = starts[0] + EVENT_BYTES * max(room, n)
        self.places, self.active = (pool[tail + 4 * n * i : tail + 4 * n * (i + 1)].view(np.int32) for i in range(2))
        self._references = [pool[at : at + REFERENCE_BYTES * room].view(np.float32) for at in starts]
        self._events = [pool[at : at + EVENT_BYTES * room].view(np.int32) for at in starts]
        self._moves = [pool[at + EVENT_BYTES * room : at + REFERENCE_BYTES * room].view(np.int32) for at in starts]
        self._levels = [self.held["levels"][level] for level in range(MOST_DEPTH + 2)]
        self._nodes = [(self.held[f"cells{side}"], self.held[f"ranges{side}"]) for side in ("", "_too")]

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

    def nodes(self, level: int) -> tuple[Array, Array]:
        """Its cells and ranges."""
        return self._nodes[level % 2]


def memory_of(target: Target, sizes: Sizes, present: Memory | None) -> Memory:
    """`present`, unless it is of other sizes or scratch memory has moved."""
    pool = target.scratch("sah_events.sort.keys", sizes.pool_bytes(), np.uint8)
    made = Memory(target, sizes, pool) if present is None or present.key != (sizes, address(pool)) else present
    return made


def tiles(count: int, tile: int) -> int:
    """Tiles that hold `count` things."""
    return -(-count // tile)


def _rounded(size: int) -> int:
    return -(-size // _ROUND) * _ROUND

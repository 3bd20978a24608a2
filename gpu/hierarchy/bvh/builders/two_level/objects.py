"""Which primitives belong to which object, in tiles for blocks; and which objects have moved since they were last
looked at."""

from __future__ import annotations

import numpy as np

from .....target.base import Array, Target
from ....base import ObjectRange, Primitives
from ....primitives import reserved


def ranges_of(primitives: Primitives) -> np.ndarray:
    """(K, 2) int32: first primitive and count of every object that has any. Where objects do not hold all primitives in
    turn, they are one object."""
    found = np.array([(thing.first, thing.count) for thing in primitives.objects if thing.count > 0], np.int32).reshape(
        -1, 2
    )
    firsts = np.concatenate([[0], np.cumsum(found[:, 1], dtype=np.int64)])
    if len(found) and firsts[-1] == primitives.count and np.array_equal(firsts[:-1], found[:, 0]):
        return found
    return np.array([(0, primitives.count)], np.int32)


def tiles_of(ranges: np.ndarray, size: int) -> np.ndarray:
    """(T, 4) int32: first primitive, count, first and last object. A tile is a piece of one object, of `size` but for
    the last one, or several small objects, whole."""
    rows: list[tuple[int, int, int, int]] = []
    pack_first, pack_count, pack_object = 0, 0, 0
    for thing, (first, count) in enumerate(ranges.tolist()):
        if pack_count and pack_count + count > size:
            rows.append((pack_first, pack_count, pack_object, thing - 1))
            pack_count = 0
        if count > size:
            rows += [(first + at, min(size, count - at), thing, thing) for at in range(0, count, size)]
            continue
        if not pack_count:
            pack_first, pack_object = first, thing
        pack_count += count
    if pack_count:
        rows.append((pack_first, pack_count, pack_object, len(ranges) - 1))
    return np.array(rows, np.int32).reshape(-1, 4)


class ObjectTable:
    """The objects of one set of primitives on a target: `ranges` (`host_ranges` too) and `tiles` as above; `all_tiles`
    and `moved_tiles` list tiles to work on: how many, then which. `look` brings `moved_tiles` up to date, by a write
    from the host, where the list is another one than before."""

    ranges: Array
    tiles: Array
    all_tiles: Array
    moved_tiles: Array

    def __init__(self, target: Target, tile_size: int) -> None:
        self._target, self._tile_size = target, tile_size
        self.count = self.tile_count = self.largest = 0
        self._held: dict[str, Array] = {}
        self.host_ranges = np.zeros((0, 2), np.int32)
        self._made_of: Primitives | None = None
        self._shown: tuple[ObjectRange, ...] = ()
        self._listed: bytes | None = None

    def take(self, primitives: Primitives) -> None:
        """These primitives from now on, as they are now. Uploads where their objects are others than before."""
        is_known = self._knows(primitives)
        self._shown, self._made_of = primitives.objects, primitives
        if is_known:
            return
        ranges = ranges_of(primitives)
        if np.array_equal(ranges, self.host_ranges):
            return
        tiles = tiles_of(ranges, self._tile_size)
        self.host_ranges, self.count, self.tile_count, self.largest = (
            ranges,
            len(ranges),
            len(tiles),
            int(ranges[:, 1].max()),
        )
        every = self._list(np.arange(self.tile_count))
        for name, values in (("ranges", ranges), ("tiles", tiles), ("all_tiles", every), ("moved_tiles", every)):
            held = reserved(self._target, self._held.get(name), values.shape, np.int32, "hierarchy")
            self._held[name] = held
            setattr(self, name, held)
            self._target.write(held[: len(values)], values)
        self._first_tile = np.searchsorted(tiles[:, 3], np.arange(self.count), side="left")
        self._last_tile = np.searchsorted(tiles[:, 2], np.arange(self.count), side="right") - 1
        self._listed = None

    def look(self, primitives: Primitives) -> None:
        """List the tiles of the objects whose version is another than at the last look. All of them where none is, or
        where these are other primitives: then something moved that the versions do not tell."""
        moved = self._moved(primitives)
        self.take(primitives)
        listed = np.arange(self.tile_count) if moved is None else self._tiles_over(moved)
        if listed.tobytes() == self._listed:
            return
        self._listed = listed.tobytes()
        values = self._list(listed)
        self._target.write(self.moved_tiles[: len(values)], values)

    def _moved(self, primitives: Primitives) -> np.ndarray | None:
        """Rows of `ranges`, or None for all."""
        objects = primitives.objects
        if not self._knows(primitives) or len(objects) != len(self._shown):
            return None
        if len(self.host_ranges) == 1 or objects is self._shown:
            return None
        pairs = zip(objects, self._shown, strict=True)
        moved = np.array([new is not old and new.version != old.version for new, old in pairs], bool)
        has_any = (
            np.array([thing.count > 0 for thing in objects], bool)
            if len(moved) != self.count
            else np.ones(len(moved), bool)
        )
        rows = np.flatnonzero(moved[has_any])
        return rows if len(rows) else None

    def _knows(self, primitives: Primitives) -> bool:
        """Whether the table was made of these, perhaps at another moment: the same topology in the same arrays."""
        known = self._made_of
        return known is not None and primitives.has_topology_of(known) and primitives.view == known.view

    def _tiles_over(self, objects: np.ndarray) -> np.ndarray:
        spans = zip(self._first_tile[objects].tolist(), self._last_tile[objects].tolist(), strict=True)
        return np.unique(np.concatenate([np.arange(first, last + 1) for first, last in spans]))

    def _list(self, tiles: np.ndarray) -> np.ndarray:
        """How many, then which."""
        return np.concatenate([[len(tiles)], tiles]).astype(np.int32)

    @property
    def bytes(self) -> int:
        """Reserved bytes."""
        return sum(int(array.nbytes) for array in self._held.values())

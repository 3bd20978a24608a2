"""The broad phase of collisions: which objects ask for which, and where their boxes meet at this instant."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..hierarchy.base import ObjectRange, Primitives
from ..rows import Int, Ints, Struct
from ..target.base import Array, Target, UnitSource
from ..target.structs import pack

Between = tuple[int, int]
"""Two objects of the scene; -1 is any other."""

ANY: Between = (-1, -1)

TILE = 2048
"""Primitives that a block bounds."""

MOST_PARTS = 8
"""Boxes of others that a row of `contacts` holds one by one."""

CONTACT_WORDS = 6 + 1 + 6 * MOST_PARTS
"""Of a row of `contacts` (contacts.cuh): a box, how many parts there are, and these."""

MOST_COMPARED = 4096
"""Objects of which each is compared with all; where there are more, only their primitives are."""


@dataclasses.dataclass(frozen=True)
class ContactRows(Struct):
    """As kernels read them."""

    ends: Ints
    ranks: Ints
    contacts: Ints
    count: Int


@dataclasses.dataclass(frozen=True, eq=False)
class Contacts:
    """K objects in the order of their primitives' numbers in the scene, on the target: one more than the last number of
    each, `ends` (K,) int32, ascending; `ranks` (K,) int32, an object asks for what is in those of greater rank, and one
    below 0 for nothing, nor is it found; `contacts` (K, CONTACT_WORDS) int32, where that may be (contacts.cuh)."""

    ends: Array
    ranks: Array
    contacts: Array

    device_type = "Contacts"
    headers = ("gpu/device/touching.cuh", "gpu/query/contacts.cuh")
    periodic = None

    def __len__(self) -> int:
        return len(self.ends)

    def packed(self, _: Array | None = None) -> np.ndarray:
        """The by-value struct."""
        return pack(ContactRows(self.ends, self.ranks, self.contacts, len(self)))

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What lies on the target."""
        return self.ends, self.ranks, self.contacts


def find_contacts(
    target: Target, primitives: Primitives, objects: Sequence[ObjectRange], between: Between = ANY
) -> Contacts:
    """`objects` are the scene's, `primitives` those of them that are not hidden. Launches only."""
    shown = np.array([(thing.first, thing.count) for thing in primitives.objects], np.int64).reshape(-1, 2)
    numbers = np.array([(thing.first, thing.first + thing.count) for thing in objects], np.int64).reshape(-1, 2)
    order = np.lexsort((numbers[:, 1], numbers[:, 0]))  # objects without primitives lie between others
    count, ranks = len(order), _ranks(shown[:, 1], between)
    ends = target.upload(numbers[order, 1].astype(np.int32), "collisions")
    rank_rows = target.upload(ranks[order].astype(np.int32), "collisions")
    tiles = _tiles(shown[order])
    boxes = target.scratch("collisions.boxes", 6 * max(1, count), np.int32)
    contacts = target.empty((max(1, count), CONTACT_WORDS), np.int32, "collisions")
    aliases = (("PrimitiveView", primitives.type_name),)
    unit = target.unit(UnitSource("gpu/query/contacts.cu", (primitives.header,), aliases))
    target.launch(unit, "clear_boxes", 6 * count, boxes=boxes, count=count)
    if len(tiles):
        rows = target.upload(tiles, "collisions")
        view = {"primitives": primitives.view, "tiles": rows, "tile_count": len(tiles), "boxes": boxes}
        target.launch(unit, "bound_objects", len(tiles), **view, blocks=len(tiles))
    compared = {"count": count, "is_narrowed": int(count <= MOST_COMPARED)}
    target.launch(unit, "find_contacts", count, boxes=boxes, ranks=rank_rows, contacts=contacts, **compared)
    return Contacts(ends, rank_rows, contacts)


def _ranks(counts: np.ndarray, between: Between) -> np.ndarray:
    """(K,): who has fewer primitives asks, for they are the fewer visits."""
    first, second = between if between[0] >= 0 else between[::-1]
    if first < 0:
        ranks = np.zeros(len(counts), np.int64)
        ranks[np.argsort(counts, kind="stable")] = np.arange(len(counts))
        return ranks
    if second >= 0:
        ranks = np.full(len(counts), -1, np.int64)
        is_first = counts[first] <= counts[second]
        ranks[[first, second]] = (0, 1) if is_first else (1, 0)
        return ranks
    ranks = np.full(len(counts), int(2 * counts[first] <= counts.sum()), np.int64)
    ranks[first] = 1 - ranks[first]
    return ranks


def _tiles(shown: np.ndarray) -> np.ndarray:
    """(T, 4) int32: object, first primitive and how many, at most TILE, and nothing."""
    per_object = -(-shown[:, 1] // TILE)
    owners = np.repeat(np.arange(len(shown)), per_object)
    within = np.arange(len(owners)) - np.repeat(np.cumsum(per_object) - per_object, per_object)
    counts = np.minimum(shown[owners, 1] - within * TILE, TILE)
    return np.stack([owners, shown[owners, 0] + within * TILE, counts, 0 * owners], axis=1).astype(np.int32)

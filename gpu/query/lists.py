"""Lists of primitives, one for each question, side by side on the target."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..hierarchy.base import HierarchyError
from ..target.base import Array, Target, UnitSource

_BYTES_PER_PLACE = 40
"""What a place of a list takes while lists are made ascending: itself twice, keys twice, a sum, and what sorting needs.
"""


class TooManyListedError(HierarchyError):
    """All lists of one query together are too long: the regions are to be asked about in parts."""


MOST_LISTED = 2**31 - 2**24
"""Primitives in all lists of one query together: they are counted in 32 bits, and sorted by one launch."""


@dataclasses.dataclass(frozen=True, eq=False)
class ListedPrimitives:
    """The primitives that belong to each of N questions, on the target, int32: those of question i are `counts[i]` of
    `prim_ids` from `first[i]` on, each once; in the order of the structure, or ascending where that was asked for or
    the structure lists primitives several times."""

    prim_ids: Array
    first: Array
    counts: Array


def in_halves(part: Any, ask: Callable[[Any], ListedPrimitives]) -> Iterator[ListedPrimitives]:
    """What is asked at once where the lists fit, else half by half."""
    try:
        yield ask(part)
    except TooManyListedError:
        if len(part) == 1:
            raise
        for half in (slice(0, len(part) // 2), slice(len(part) // 2, len(part))):
            yield from in_halves(part.part(half), ask)


def total_of(target: Target, counts: Array, first: Array) -> int:
    """How many there are in all, and `first`, where each list begins. Waits. TooManyListedError where they are more
    than MOST_LISTED, or than there is memory for."""
    total = int(target.download(counts).sum(dtype=np.int64))
    most = min(MOST_LISTED, target.free_bytes() // _BYTES_PER_PLACE)
    if total > most:
        raise TooManyListedError(
            f"There are {total:,} primitives in these regions, and at most {most:,} are listed at once here: ask "
            f"about fewer regions, or smaller ones."
        )
    target.exclusive_scan(counts, first, "queries.scan")
    return total


def make_ascending(target: Target, lists: ListedPrimitives) -> ListedPrimitives:
    """The same lists in ascending order, each primitive once in each. Waits; needs 12 bytes and what a sort takes for
    each place while it works."""
    total, count = len(lists.prim_ids), len(lists.counts)
    if total == 0:
        return lists
    unit = target.unit(UnitSource("gpu/query/ascending.cu"))
    keys = target.scratch("queries.keys", total, np.uint64)
    target.launch(
        unit, "write_keys", total, first=lists.first, count=count, prim_ids=lists.prim_ids, total=total, keys=keys
    )
    keys = target.sort_keys(keys, (0, 32 + max(1, (count - 1).bit_length())), "queries.sort")
    places = target.scratch("queries.places", total + 1, np.int32)
    target.launch(unit, "flag_first", total + 1, keys=keys, total=total, is_first=places)
    target.exclusive_scan(places, places, "queries.scan")
    kept = target.empty(int(target.download(places[total:])[0]), np.int32, "queries")
    target.launch(unit, "keep_first", total, keys=keys, total=total, places=places, prim_ids=kept)
    target.launch(unit, "move_lists", count, places=places, count=count, first=lists.first, counts=lists.counts)
    return ListedPrimitives(kept, lists.first, lists.counts)

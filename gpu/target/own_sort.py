"""Raygrove's own radix sort and scan, kernels that run on every target: the sorter of a CUDA target without
cuda.compute.

Three launches for every 8 bits of the keys, none of which waits for another block; stable, and the same bytes whatever
the number of blocks. Many keys of more than 56 bits are sorted by their upper 32 alone: few share those in most inputs,
and they are put in order where they lie. Where too many do, all bits are sorted by; the device decides, so that a
recorded frame stays right for any keys.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .base import Array, Target, Unit, UnitSource

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
SCAN_TILE = 4096
MOST_THREADS = 1024


SORT_TILE, SORT_THREADS, RESIDENT = 4096, 512, 1024
"""Keys that a block takes at once, its threads, and the threads of a processor that registers are left for."""

UPPER_BITS, MOST_RUN = 32, 256
"""The bits that many long keys are sorted by, and the most keys alike in them that are put in order where they lie."""
LONG_KEYS, MANY_KEYS = 56, 2_000_000
"""Bits beyond which, and keys from which on, it pays: launches that find nothing to do take a few microseconds, too."""
IDLE_BLOCKS = 264
"""Blocks of a launch that seldom has anything to do: two for each of 132 multiprocessors, all that run at once."""


@dataclasses.dataclass
class _Pairs:
    """What is sorted, and the arrays that the next pass writes."""

    keys: Array
    values: Array | None
    keys_out: Array
    values_out: Array | None

    def swap(self) -> None:
        self.keys, self.keys_out = self.keys_out, self.keys
        self.values, self.values_out = self.values_out, self.values

    @property
    def rows(self) -> dict[str, Any]:
        """By the names that kernels give them."""
        payload = {"values": self.values, "values_out": self.values_out}
        words = {name: None if array is None else array.view(np.uint32) for name, array in payload.items()}
        return {"keys": self.keys, "keys_out": self.keys_out} | words


class OwnSorter:
    """See the module. Scratch memory is the target's, under the caller's name."""

    name = "own"

    def __init__(self, target: Target, many_keys: int = MANY_KEYS) -> None:
        self._target, self._many_keys = target, many_keys
        self._crowded: dict[str, Array] = {}

    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str) -> Array:
        """See Target.sort_keys."""
        return self._sort(keys, None, bits, scratch)[0]

    def sort_pairs(self, keys: Array, values: Array, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        """See Target.sort_pairs."""
        sorted_keys, sorted_values = self._sort(keys, values, bits, scratch)
        return sorted_keys, sorted_values

    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None:
        """See Target.exclusive_scan."""
        n = int(values.size)
        tiles = -(-n // SCAN_TILE)
        unit = self._target.unit(UnitSource("gpu/primitives/scan.cu", constants=(("TILE", SCAN_TILE),)))
        sums = self._target.scratch(scratch + ".sums", max(1, tiles), np.uint32)
        values, out = values.view(np.uint32), out.view(np.uint32)
        shared = {"tile_count": tiles, "tile_sums": sums}
        self._target.launch(unit, "sum_tiles", n, values=values, n=n, **shared, blocks=tiles)
        self._target.launch(unit, "scan_tile_sums", n, **shared, block=_wide(tiles), blocks=1)
        self._target.launch(unit, "scan_tiles", n, values=values, n=n, **shared, out=out, blocks=tiles)

    def _sort(self, keys: Array, values: Array | None, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        target, n, tiles = self._target, int(keys.size), -(-int(keys.size) // SORT_TILE)
        unit = target.unit(sort_unit(keys.dtype.itemsize * 8, values is not None))
        digits = {
            "counts": target.scratch(scratch + ".counts", DIGITS * tiles, np.int32),
            "digit_first": target.scratch(scratch + ".firsts", DIGITS, np.int32),
            "arrived": target.scratch(scratch + ".arrived", 1, np.int32),
        }
        other_values = None if values is None else target.scratch(scratch + ".values", values.shape, values.dtype)
        pairs = _Pairs(keys, values, target.scratch(scratch + ".keys", keys.shape, keys.dtype), other_values)
        if n < self._many_keys or bits[1] - bits[0] <= LONG_KEYS:
            self._sort_by(unit, pairs, bits, digits)
        else:
            self._sort_long(unit, pairs, bits, digits, scratch)
        return pairs.keys, pairs.values

    def _sort_long(
        self, unit: Unit, pairs: _Pairs, bits: tuple[int, int], digits: dict[str, Array], scratch: str
    ) -> None:
        """By the upper bits, and runs that share them by the lower ones, where all are short. Else by all bits, and so
        at once where the sort before had keys of that kind: `crowded` is kept."""
        target, n, upper = self._target, int(pairs.keys.size), bits[1] - UPPER_BITS
        if scratch not in self._crowded:
            self._crowded[scratch] = target.zeros(1, np.int32, "scratch")
        crowded, unordered = self._crowded[scratch], target.scratch(scratch + ".unordered", 1, np.int32)
        parts = {"n": n, "upper": upper, "lower": bits[0], "lower_mask": _ones(upper - bits[0])}
        told = parts | {"crowded": crowded, "unordered": unordered}
        self._sort_by(unit, pairs, (upper, bits[1]), digits, (crowded, 0))
        target.fill(unordered, 0)
        target.launch(unit, "order_runs", n, **pairs.rows, **told)
        pairs.swap()
        # An even number of passes, so that they end where they began.
        self._sort_by(unit, pairs, bits, digits, (unordered, 1), is_seldom=True)
        target.fill(crowded, 0)
        target.launch(unit, "look_for_runs", n, keys=pairs.keys, **told)

    def _sort_by(
        self,
        unit: Unit,
        pairs: _Pairs,
        bits: tuple[int, int],
        digits: dict[str, Array],
        condition: tuple[Array | None, int] = (None, 0),
        is_seldom: bool = False,
    ) -> None:
        """Stably by these bits, where a number (1,) int32 on the target is the one that is wanted."""
        n, tiles = int(pairs.keys.size), -(-int(pairs.keys.size) // SORT_TILE)
        first_of, arrived = {"digit_first": digits["digit_first"]}, {"arrived": digits["arrived"]}
        shared = {"tile_count": tiles, "counts": digits["counts"], "flag": condition[0], "wanted": condition[1]}
        blocks = min(tiles, IDLE_BLOCKS) if is_seldom else tiles
        tile_wise = shared | {"block": SORT_THREADS, "blocks": blocks, "n": n}
        for first in range(bits[0], bits[1], DIGIT_BITS):
            digit = {"shift": first, "mask": _ones(min(DIGIT_BITS, bits[1] - first))}
            self._launch(unit, "count_digits", **tile_wise, **digit, keys=pairs.keys, **arrived)
            self._launch(unit, "scan_digits", **shared, **first_of, **arrived, block=_wide(tiles), blocks=DIGITS)
            self._launch(unit, "scatter_digits", **tile_wise, **digit, **first_of, **pairs.rows)
            pairs.swap()

    def _launch(self, unit: Unit, kernel: str, /, **arguments: Any) -> None:
        self._target.launch(unit, kernel, arguments["tile_count"], **arguments)


def _ones(bits: int) -> int:
    return (1 << bits) - 1


def _wide(items: int) -> int:
    """Threads of a block that goes over so many items alone."""
    return min(MOST_THREADS, max(256, -(-items // 32) * 32))


def sort_unit(key_bits: int, has_values: bool) -> UnitSource:
    """The unit that sorts keys of 32 or 64 bits, with or without 32-bit values."""
    shape = (("TILE", SORT_TILE), ("THREADS", SORT_THREADS), ("RESIDENT", RESIDENT), ("MOST_RUN", MOST_RUN))
    constants = (*shape, ("HAS_VALUES", has_values))
    aliases = (("Key", "unsigned" if key_bits == 32 else "uint64"),)
    return UnitSource("gpu/primitives/radix_sort.cu", ("gpu/device/types.cuh",), aliases, constants)

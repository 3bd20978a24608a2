"""Raygrove's own radix sort and scan, kernels that run on every target: the sorter of a CUDA target without
cuda.compute.

Three launches for every 8 bits of the keys, none of which waits for another block; stable, and the same bytes whatever
the number of blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Array, Target, Unit, UnitSource

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
SCAN_TILE = 4096
MOST_THREADS = 1024


SORT_TILE, SORT_THREADS, RESIDENT = 4096, 512, 1024
"""Keys that a block takes at once, its threads, and the threads of a processor that registers are left for."""


class OwnSorter:
    """See the module. Scratch memory is the target's, under the caller's name."""

    name = "own"

    def __init__(self, target: Target) -> None:
        self._target = target

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
        target, n, key_bits = self._target, int(keys.size), keys.dtype.itemsize * 8
        unit, tiles = target.unit(sort_unit(key_bits, values is not None)), -(-n // SORT_TILE)
        counts = target.scratch(scratch + ".counts", DIGITS * tiles, np.int32)
        firsts = target.scratch(scratch + ".firsts", DIGITS, np.int32)
        arrived = target.scratch(scratch + ".arrived", 1, np.int32)
        other = target.scratch(scratch + ".keys", keys.shape, keys.dtype)
        other_values = None if values is None else target.scratch(scratch + ".values", values.shape, values.dtype)
        tile_wise = {"block": SORT_THREADS, "blocks": tiles, "n": n, "tile_count": tiles, "counts": counts}
        for first in range(bits[0], bits[1], DIGIT_BITS):
            digit = {"shift": first, "mask": (1 << min(DIGIT_BITS, bits[1] - first)) - 1}
            self._launch(unit, "count_digits", **tile_wise, **digit, keys=keys, arrived=arrived)
            scanned = {"tile_count": tiles, "counts": counts, "digit_first": firsts, "arrived": arrived}
            self._launch(unit, "scan_digits", **scanned, block=_wide(tiles), blocks=DIGITS)
            places = {
                "values": None if values is None else values.view(np.uint32),
                "values_out": None if other_values is None else other_values.view(np.uint32),
            }
            moved = {"keys": keys, "keys_out": other, "digit_first": firsts, **places}
            self._launch(unit, "scatter_digits", **tile_wise, **digit, **moved)
            keys, other, values, other_values = other, keys, other_values, values
        return keys, values

    def _launch(self, unit: Unit, kernel: str, /, **arguments: Any) -> None:
        self._target.launch(unit, kernel, arguments["tile_count"], **arguments)


def _wide(items: int) -> int:
    """Threads of a block that goes over so many items alone."""
    return min(MOST_THREADS, max(256, -(-items // 32) * 32))


def sort_unit(key_bits: int, has_values: bool) -> UnitSource:
    """The unit that sorts keys of 32 or 64 bits, with or without 32-bit values."""
    shape = (("TILE", SORT_TILE), ("THREADS", SORT_THREADS), ("RESIDENT", RESIDENT))
    constants = (*shape, ("HAS_VALUES", has_values))
    aliases = (("Key", "unsigned" if key_bits == 32 else "uint64"),)
    return UnitSource("gpu/primitives/radix_sort.cu", ("gpu/device/types.cuh",), aliases, constants)

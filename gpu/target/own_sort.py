"""Raygrove's own radix sort and scan, kernels that run on every target: the sorter of a CUDA target without
cuda.compute.

Three launches for every 8 bits of the keys, none of which waits for another block; stable, and the same bytes whatever
the number of blocks.
"""

from __future__ import annotations

import numpy as np

from .base import Array, Target, UnitSource

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
SCAN_TILE = 2048


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
        self._target.launch(unit, "sum_tiles", n, values=values, n=n, tile_count=tiles, tile_sums=sums, blocks=tiles)
        self._target.launch(unit, "scan_tile_sums", n, tile_count=tiles, tile_sums=sums, blocks=1)
        self._target.launch(
            unit, "scan_tiles", n, values=values, n=n, tile_count=tiles, tile_sums=sums, out=out, blocks=tiles
        )

    def _sort(self, keys: Array, values: Array | None, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        target, n = self._target, int(keys.size)
        unit, tile = (
            target.unit(sort_unit(keys.dtype.itemsize * 8, values is not None)),
            tile_size(keys.dtype.itemsize * 8),
        )
        tiles = -(-n // tile)
        counts = target.scratch(scratch + ".counts", DIGITS * tiles, np.int32)
        totals = target.scratch(scratch + ".totals", DIGITS, np.int32)
        other = target.scratch(scratch + ".keys", keys.shape, keys.dtype)
        other_values = None if values is None else target.scratch(scratch + ".values", values.shape, values.dtype)
        for first in range(bits[0], bits[1], DIGIT_BITS):
            mask = (1 << min(DIGIT_BITS, bits[1] - first)) - 1
            target.launch(
                unit,
                "count_digits",
                n,
                keys=keys,
                n=n,
                shift=first,
                mask=mask,
                tile_count=tiles,
                counts=counts,
                blocks=tiles,
            )
            target.launch(unit, "scan_digits", n, counts=counts, tile_count=tiles, digit_totals=totals, blocks=DIGITS)
            places = (
                None if values is None else values.view(np.uint32),
                None if other_values is None else other_values.view(np.uint32),
            )
            target.launch(
                unit,
                "scatter_digits",
                n,
                keys=keys,
                values=places[0],
                n=n,
                shift=first,
                mask=mask,
                tile_count=tiles,
                counts=counts,
                digit_totals=totals,
                keys_out=other,
                values_out=places[1],
                blocks=tiles,
            )
            keys, other, values, other_values = other, keys, other_values, values
        return keys, values


def sort_unit(key_bits: int, has_values: bool) -> UnitSource:
    """The unit that sorts keys of 32 or 64 bits, with or without 32-bit values."""
    constants = (("TILE", tile_size(key_bits)), ("HAS_VALUES", has_values))
    aliases = (("Key", "unsigned" if key_bits == 32 else "uint64"),)
    return UnitSource("gpu/primitives/radix_sort.cu", ("gpu/device/types.cuh",), aliases, constants)


def tile_size(key_bits: int) -> int:
    """Keys of a tile: as many as a block's static shared memory holds sorted, with their values."""
    return 4096 if key_bits == 32 else 2048

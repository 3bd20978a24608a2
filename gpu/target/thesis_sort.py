"""The radix sort and the scans of Meister's thesis (2.4, 6.1.3), to compare with the target's own: the options `sort`
and `scan`.

Merrill and Grimshaw's sort takes three launches for every 4 or 5 bits of the keys; Hillis and Steele's and Blelloch's
scans take one for the tiles, as many again for the tiles' sums, and one to add them. Kernels in gpu/primitives that run
on every target.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Array, DeviceCount, Target, UnitSource

TILE = 2048
MOST_CHUNKS = 512
SCAN_TILE = 1024
SORTS = {"merrill_4": 4, "merrill_5": 5}
"""Names of the option `sort`, and the bits of a digit."""


class MerrillSorter:
    """Sorts by digits of `digit_bits` bits. Scratch memory is the target's, under the caller's name."""

    def __init__(self, target: Target, digit_bits: int) -> None:
        self._target, self._digit_bits = target, digit_bits
        self.name = f"merrill_{digit_bits}"

    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str, counted: DeviceCount | None = None) -> Array:
        """See Target.sort_keys. `counted` is the number of keys where only the device knows it; what lies past it is
        undefined."""
        return self._sort(keys, None, bits, scratch, counted)[0]

    def sort_pairs(
        self, keys: Array, values: Array, bits: tuple[int, int], scratch: str, counted: DeviceCount | None = None
    ) -> tuple[Array, Array]:
        """See Target.sort_pairs."""
        return self._sort(keys, values, bits, scratch, counted)

    def _sort(
        self, keys: Array, values: Array | None, bits: tuple[int, int], scratch: str, counted: DeviceCount | None
    ) -> tuple[Array, Array]:
        target, n = self._target, int(keys.size)
        unit = target.unit(merrill_unit(keys.dtype.itemsize * 8, values is not None, self._digit_bits))
        chunks = min(max(1, -(-n // TILE)), MOST_CHUNKS)
        total = chunks << self._digit_bits
        counts = target.scratch(scratch + ".counts", total, np.int32)
        places = [
            keys.view(f"u{keys.dtype.itemsize}"),
            target.scratch(scratch + ".keys", keys.shape, f"u{keys.dtype.itemsize}"),
        ]
        payload = (
            [None, None]
            if values is None
            else [values.view(np.uint32), target.scratch(scratch + ".values", values.shape, np.uint32)]
        )
        counter = None if counted is None else counted.array
        for first in range(bits[0], bits[1], self._digit_bits):
            mask = (1 << min(self._digit_bits, bits[1] - first)) - 1
            target.launch(
                unit,
                "count_buckets",
                n,
                keys=places[0],
                n=n,
                counted=counter,
                shift=first,
                mask=mask,
                chunk_count=chunks,
                counts=counts,
                blocks=chunks,
            )
            target.launch(unit, "scan_buckets", n, total=total, counts=counts, block=1024, blocks=1)
            source, goal = {"keys": places[0], "values": payload[0]}, {"keys_out": places[1], "values_out": payload[1]}
            target.launch(
                unit,
                "scatter_buckets",
                n,
                **source,
                n=n,
                counted=counter,
                shift=first,
                mask=mask,
                chunk_count=chunks,
                counts=counts,
                **goal,
                blocks=chunks,
            )
            places.reverse()
            payload.reverse()
        return places[0].view(keys.dtype), None if values is None else payload[0].view(values.dtype)  # type: ignore[union-attr]


class ThesisScanner:
    """Scans by the algorithm of that name: hillis_steele or blelloch."""

    def __init__(self, target: Target, name: str) -> None:
        self._target, self.name = target, name

    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None:
        """See Target.exclusive_scan."""
        self._scan(values.view(np.uint32), out.view(np.uint32), scratch, 0)

    def _scan(self, values: Array, out: Array, scratch: str, level: int) -> None:
        target, n = self._target, int(values.size)
        unit, tiles = target.unit(scan_unit(self.name)), -(-n // SCAN_TILE)
        sums = target.scratch(f"{scratch}.sums{level}", max(1, tiles), np.uint32)
        target.launch(
            unit, "scan_each_tile", n, values=values, n=n, tile_count=tiles, out=out, tile_sums=sums, blocks=tiles
        )
        if tiles > 1:
            self._scan(sums, sums, scratch, level + 1)
            target.launch(unit, "add_tile_sums", n, n=n, tile_sums=sums, out=out)


def chosen_of_thesis(target: Target, usual: Any) -> tuple[Any, Any]:
    """Who sorts and who scans after the target's options; `usual` is who does what they leave open."""
    digit_bits, scan = SORTS.get(target.options.sort), target.options.scan
    sorter = usual if digit_bits is None else MerrillSorter(target, digit_bits)
    return sorter, usual if scan == "auto" else ThesisScanner(target, scan)


def merrill_unit(key_bits: int, has_values: bool, digit_bits: int) -> UnitSource:
    """The unit that sorts keys of 32 or 64 bits, with or without 32-bit values."""
    constants = (("DIGIT_BITS", digit_bits), ("TILE", TILE), ("HAS_VALUES", has_values))
    aliases = (("Key", "unsigned" if key_bits == 32 else "uint64"),)
    return UnitSource("gpu/primitives/merrill_sort.cu", ("gpu/device/types.cuh",), aliases, constants)


def scan_unit(name: str) -> UnitSource:
    """The unit of hillis_steele or blelloch."""
    return UnitSource(
        "gpu/primitives/thesis_scan.cu", constants=(("TILE", SCAN_TILE), ("IS_BLELLOCH", name == "blelloch"))
    )

"""The radix sort and the scans of Meister's thesis by name, whatever the target's options say: for comparing, for
tests, and for keys whose number only the device knows."""

from __future__ import annotations

from ..target.base import Array, DeviceCount, Target
from ..target.thesis_sort import MerrillSorter, ThesisScanner


def sort_keys(
    target: Target,
    keys: Array,
    bits: tuple[int, int],
    digit_bits: int,
    scratch: str = "merrill_sort",
    counted: DeviceCount | None = None,
) -> Array:
    """Sort unsigned keys (n,) of 32 or 64 bits by the bits [first, last), stably, `digit_bits` (4 or 5) at a time;
    returns `keys` or scratch memory. With `counted` only so many of them, and the rest of the result is undefined."""
    return MerrillSorter(target, digit_bits).sort_keys(keys, bits, scratch, counted)


def sort_pairs(
    target: Target,
    keys: Array,
    values: Array,
    bits: tuple[int, int],
    digit_bits: int,
    scratch: str = "merrill_sort",
    counted: DeviceCount | None = None,
) -> tuple[Array, Array]:
    """Like `sort_keys`, with 32-bit values (n,) that go along."""
    return MerrillSorter(target, digit_bits).sort_pairs(keys, values, bits, scratch, counted)


def exclusive_scan(target: Target, values: Array, out: Array, algorithm: str, scratch: str = "thesis_scan") -> None:
    """Exclusive prefix sums of 32-bit integers (n,) by hillis_steele or blelloch, wrapping round; `out` may be
    `values`."""
    ThesisScanner(target, algorithm).exclusive_scan(values, out, scratch)

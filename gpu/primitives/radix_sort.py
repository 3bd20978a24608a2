"""The project's own radix sort and scan, the same kernels on every target.

`Target.sort_keys` and the others are what builders call: there each target does its best (a library on CUDA, a small
parallel sort on the host). These are for comparing, for machines without the library, and for tests.
"""

from __future__ import annotations

from ..target.base import Array, Target
from ..target.own_sort import OwnSorter


def sort_keys(target: Target, keys: Array, bits: tuple[int, int], scratch: str = "radix_sort") -> Array:
    """Sort unsigned keys (n,) of 32 or 64 bits ascending by the bits [first, last), stably; returns `keys` or scratch
    memory."""
    return OwnSorter(target).sort_keys(keys, bits, scratch)


def sort_pairs(
    target: Target, keys: Array, values: Array, bits: tuple[int, int], scratch: str = "radix_sort"
) -> tuple[Array, Array]:
    """Like `sort_keys`, with 32-bit values (n,) that go along."""
    return OwnSorter(target).sort_pairs(keys, values, bits, scratch)


def exclusive_scan(target: Target, values: Array, out: Array, scratch: str = "scan") -> None:
    """Exclusive prefix sums of 32-bit integers (n,), wrapping round; `out` may be `values`."""
    OwnSorter(target).exclusive_scan(values, out, scratch)

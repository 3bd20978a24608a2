"""Stream compaction: the flagged items of an array, close together and in their order."""

from __future__ import annotations

from ..target.base import Array, Target, UnitSource

_UNIT = UnitSource("gpu/primitives/compact.cu")


def compact(target: Target, values: Array, flags: Array, out: Array, count: Array, scratch: str = "compact") -> None:
    """Copy the items of `values` (n,) whose flag is 1 to the front of `out` (n,) and write their number to `count` (1,)
    int32.

    `values` and `out` have any type of 32 bits; `flags` (n,) int32 are 0 or 1. What lies in `out` past the count stays
    as it was. Nothing is waited for. `out` must not be `values`.
    """
    if values.dtype.itemsize != 4 or out.dtype != values.dtype:
        raise ValueError(f"Values of one type of 32 bits are compacted; {values.dtype} to {out.dtype} was asked for.")
    places = _places(target, flags, scratch)
    n = int(flags.shape[0])
    target.launch(
        target.unit(_UNIT),
        "scatter_values",
        n + 1,
        values=values.view("u4"),
        flags=flags,
        places=places,
        n=n,
        out=out.view("u4"),
        count=count,
    )


def compact_indices(target: Target, flags: Array, out: Array, count: Array, scratch: str = "compact") -> None:
    """Write the indices of the flags (n,) that are 1 to the front of `out` (n,) int32, ascending, and their number to
    `count` (1,) int32."""
    places = _places(target, flags, scratch)
    n = int(flags.shape[0])
    target.launch(target.unit(_UNIT), "scatter_indices", n + 1, flags=flags, places=places, n=n, out=out, count=count)


def _places(target: Target, flags: Array, scratch: str) -> Array:
    places = target.scratch(f"{scratch}.places", max(1, int(flags.shape[0])), "i4")
    if flags.shape[0]:
        target.exclusive_scan(flags, places[: flags.shape[0]], scratch)
    return places

"""Attributes of all frames brought together under their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from raygrove.gpu.scene import Attribute, Remark

from .columns import float32
from .frame import Frame

__all__ = ["float32", "float_count", "picked", "together"]


def float_count(frame: Frame) -> int:
    """Numbers that a frame keeps."""
    count = len(frame.positions)
    given = [frame.radii, frame.colours, *(attribute.values for attribute in frame.attributes)]
    return 3 * count + sum(values.size for values in given if values is not None)


def picked(frame: Frame, chosen: np.ndarray) -> Frame:
    """The frame with the chosen particles only."""

    def some(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[chosen]

    return dataclasses.replace(
        frame,
        positions=frame.positions[chosen],
        radii=some(frame.radii),
        colours=some(frame.colours),
        ids=some(frame.ids),
        elements=some(frame.elements),
        attributes=tuple(dataclasses.replace(a, values=a.values[chosen]) for a in frame.attributes),
    )


def _is_shared(
    name: str, known: Attribute, by_frame: Sequence[dict[str, Attribute]], slots: Sequence[np.ndarray], count: int
) -> bool:
    """Whether all frames have the very same whole numbers of all particles in one order."""
    is_whole = known.values.dtype.kind in "ui" and len(slots[0]) == count
    return (
        is_whole
        and all(slot is slots[0] for slot in slots)
        and all(name in found and found[name].values is known.values for found in by_frame)
    )


def together(
    frames: Sequence[Frame],
    slots: Sequence[np.ndarray],
    count: int,
    present: np.ndarray,
    empty: Callable[[tuple[int, ...], type], np.ndarray] = np.empty,
) -> tuple[tuple[Attribute, ...], list[Remark]]:
    """Each attribute as (N,) or (N, C) where it never changes, else (K, N) or (K, N, C); NaN where a frame lacks it.
    Remarks count values that are not numbers, and name what changes its width."""
    result, remarks = [], []
    by_frame = [{attribute.name: attribute for attribute in frame.attributes} for frame in frames]
    names = dict.fromkeys(name for found in by_frame for name in found)
    for name in names:
        known = next(found[name] for found in by_frame if name in found)
        if _is_shared(name, known, by_frame, slots, count):
            result.append(dataclasses.replace(known, values=float32(known.values)))
            continue
        shape = known.values.shape[1:]
        values = empty((len(frames), count, *shape), np.float32)
        wrong = count_of = lacking = 0
        for row, found, slot, there in zip(values, by_frame, slots, present, strict=True):
            row[:] = np.nan
            if name in found and found[name].values.shape[1:] == shape:
                row[slot] = found[name].values
            elif name in found:
                wrong += 1
            without = int(np.count_nonzero(~np.isfinite(row).reshape(count, -1).all(axis=1) & there))
            count_of, lacking = count_of + without, lacking + (without > 0)
        if wrong:
            remarks.append(
                Remark(
                    1,
                    f"The attribute {name!r} has another width in {wrong:,} of {len(frames):,} frames and is missing "
                    "there.",
                )
            )
        if count_of:
            where = f", in {lacking:,} of {len(frames):,} frames" if len(frames) > 1 else f" ({count_of:,})"
            remarks.append(Remark(1, f"The attribute {name!r} has no finite value at some particles{where}."))
        same = all((row == values[0]).all() for row in values[1:])
        result.append(Attribute(name, values[0] if same else values, known.unit))
    return tuple(result), remarks

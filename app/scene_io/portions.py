"""Many small things worked on together: numpy takes as long for ten numbers as for a thousand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

Thing = TypeVar("Thing")


def portions(things: Sequence[Thing], sizes: Sequence[int], most: int) -> Iterator[Sequence[Thing]]:
    """The things in their order, so many at a time as have at most `most` in all; a larger one comes alone."""
    first, count = 0, 0
    for last, size in enumerate(sizes):
        if last > first and count + size > most:
            yield things[first:last]
            first, count = last, 0
        count += size
    if first < len(things):
        yield things[first:]


def together(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The arrays one after another; one alone is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def apart(array: np.ndarray, sizes: Sequence[int]) -> list[np.ndarray]:
    """The rows of `array`, so many for each of `sizes`: views."""
    ends = np.cumsum(sizes).tolist()
    return [array[start:end] for start, end in zip([0, *ends], ends, strict=False)]

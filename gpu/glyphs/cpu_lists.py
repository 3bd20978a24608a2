"""Lists of the tiles' spheres made on the CPU, as the thesis makes them (4.5): each sphere is pushed to the vectors of
the tiles that its box lies in, in the order of the spheres, and the vectors are copied one behind the other.

Here numpy makes the same lists at once: every sphere's pairs of list and sphere, sorted stably by list.
"""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class CpuLists:
    """`first` and `counts` (L,) int32: where each list begins in `ids` (E,) int32, and its length; `large` (K,) int32:
    spheres over too many tiles, which all of them look at."""

    first: np.ndarray
    counts: np.ndarray
    ids: np.ndarray
    large: np.ndarray


def sort_to_tiles(
    boxes: np.ndarray, layers: np.ndarray | None, tile: tuple[int, int], tiles: tuple[int, int], depth: int, most: int
) -> CpuLists:
    """The lists of spheres with `boxes` (N, 2) uint32 as pixel_box.cuh packs them, for `tiles` (across, down) of
    `tile` (width, height) pixels; `layers` (N,) uint8 says which of `depth` layers each belongs to, None where there
    is one; a sphere over more than `most` tiles is large."""
    across, down = tiles
    x0, x1 = _range(boxes[:, 0], tile[0], across)
    y0, y1 = _range(boxes[:, 1], tile[1], down)
    wide = np.maximum(x1 - x0, 0)
    count = wide * np.maximum(y1 - y0, 0)
    large = np.flatnonzero(count > most).astype(np.int32)
    count[large] = 0
    ids = np.repeat(np.arange(len(boxes), dtype=np.int32), count)
    place = np.arange(len(ids)) - np.repeat(np.cumsum(count) - count, count)  # among its sphere's tiles
    of_row = wide[ids]
    lists = (y0[ids] + place // of_row) * across + x0[ids] + place % of_row
    if layers is not None:
        lists = lists * depth + layers[ids]
    counts = np.bincount(lists, minlength=across * down * depth)
    first = np.cumsum(counts) - counts
    return CpuLists(
        first.astype(np.int32), counts.astype(np.int32), ids[np.argsort(lists, kind="stable")].astype(np.int32), large
    )


def _range(packed: np.ndarray, pixels: int, tiles: int) -> tuple[np.ndarray, np.ndarray]:
    """First tile and the one past the last along an axis; of an empty box none."""
    first, end = (packed & 0xFFFF).astype(np.int64), (packed >> 16).astype(np.int64)
    begins = np.minimum(first // pixels, tiles)
    return begins, np.where(end > first, np.minimum((end - 1) // pixels + 1, tiles), begins)

"""The SAH cost of a plain binned SAH tree, from the root downwards, in float64: what builders of better trees are
compared with."""

from __future__ import annotations

import numpy as np

from raygrove.testing.kept import kept
from raygrove.testing.tree_walker import half_area


@kept
def binned_sah_cost(lower: np.ndarray, upper: np.ndarray, bins: int = 32, max_leaf_size: int = 4) -> float:
    """Cost with c_t = c_i = 1, root included, of a tree whose nodes part at the cheapest of `bins` - 1 planes on each
    axis over their centroids."""
    lower, upper = lower.astype(np.float64), upper.astype(np.float64)
    centres = (lower + upper) / 2
    waiting, cost = [np.arange(len(lower))], 0.0
    while waiting:
        ids = waiting.pop()
        area = float(half_area(lower[ids].min(axis=0)[None], upper[ids].max(axis=0)[None])[0])
        if len(ids) <= max_leaf_size:
            cost += area * len(ids)
            continue
        cost += area
        is_left = _cheapest_split(lower[ids], upper[ids], centres[ids], bins)
        waiting += [ids[is_left], ids[~is_left]]
    root_area = float(half_area(lower.min(axis=0)[None], upper.max(axis=0)[None])[0])
    return cost / root_area


def _cheapest_split(lower: np.ndarray, upper: np.ndarray, centres: np.ndarray, bins: int) -> np.ndarray:
    """Who goes to the left (N,); the first half where no plane parts anything."""
    best, is_left = np.inf, np.arange(len(centres)) < len(centres) // 2
    for axis in range(3):
        first, extent = centres[:, axis].min(), np.ptp(centres[:, axis])
        if extent <= 0:
            continue
        place = np.minimum(((centres[:, axis] - first) / extent * bins).astype(int), bins - 1)
        order = np.argsort(place, kind="stable")
        ends = np.flatnonzero(np.diff(place[order])) + 1  # where bins end, among those that hold anything
        left = half_area(np.minimum.accumulate(lower[order])[ends - 1], np.maximum.accumulate(upper[order])[ends - 1])
        right = half_area(
            np.minimum.accumulate(lower[order][::-1])[::-1][ends], np.maximum.accumulate(upper[order][::-1])[::-1][ends]
        )
        costs = left * ends + right * (len(order) - ends)
        if costs.min() < best:
            best, is_left = costs.min(), place < place[order][ends[costs.argmin()]]
    return is_left

"""How far apart particles stand: the radius of those that have none."""

from __future__ import annotations

import numpy as np

ASKED = 24
MOST = 400_000


def spacing(positions: np.ndarray) -> float:
    """The median distance (N, 3) of a few particles to their nearest neighbour; 1 for a single one. Of more than
    `MOST` every n-th counts, and their distance is scaled to that of all."""
    good = positions[np.isfinite(positions).all(axis=1)]
    stride = -(-len(good) // MOST)
    thinned = good[::stride].astype(np.float32) if stride > 1 else good
    if len(thinned) < 2:
        return 1.0
    asked = thinned[np.linspace(0, len(thinned) - 1, min(ASKED, len(thinned))).astype(np.int64)]
    nearest = []
    for point in asked:
        difference = thinned - point
        squares = np.einsum("ij,ij->i", difference, difference)
        apart = squares[squares > 0.0]
        nearest += [float(apart.min())] if len(apart) else []
    if not nearest:
        return 1.0
    distance = float(np.sqrt(np.median(nearest))) * stride ** (-1.0 / 3.0)
    return distance if np.isfinite(distance) and distance > 0.0 else 1.0

"""Many numbers that are near what they should be."""

from __future__ import annotations

import numpy as np


def are_near(found: np.ndarray, wanted: np.ndarray, rel: float = 0.0, abs: float = 0.0) -> bool:
    """What pytest.approx says, whichever of the two limits is wider, which takes a hundred times as long of thousands
    of numbers."""
    return bool(np.all(np.abs(found - wanted) <= np.maximum(rel * np.abs(wanted), abs)))

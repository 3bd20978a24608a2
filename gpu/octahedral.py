"""Directions as two numbers in [0, 1], as gpu/device/octahedral.cuh has them: where on a sphere a ray hits it."""

from __future__ import annotations

import numpy as np


def octahedral_direction(u: np.ndarray | float, v: np.ndarray | float) -> np.ndarray:
    """(..., 3) float64 of unit length, for u and v of one shape."""
    a, b = np.asarray(u, np.float64) * 2.0 - 1.0, np.asarray(v, np.float64) * 2.0 - 1.0
    z = 1.0 - np.abs(a) - np.abs(b)
    below = np.maximum(-z, 0.0)
    x, y = a - np.where(a < 0.0, -below, below), b - np.where(b < 0.0, -below, below)
    direction = np.stack([x, y, z], axis=-1)
    return np.asarray(direction / np.linalg.norm(direction, axis=-1, keepdims=True))

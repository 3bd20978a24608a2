"""Gravity by numpy in double precision, and bodies to try it on."""

from __future__ import annotations

import numpy as np


def clustered(count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions and velocities (N, 3) and masses (N,), float32: a ball, and a small dense one beside it."""
    random = np.random.default_rng(seed)
    positions = random.normal(size=(count, 3))
    positions[::3] = 0.05 * positions[::3] + (2.0, 1.0, 0.5)
    masses = random.uniform(0.5, 1.5, count) / max(count, 1)
    velocities = 0.3 * random.normal(size=(count, 3))
    return positions.astype(np.float32), velocities.astype(np.float32), masses.astype(np.float32)


def attraction(positions: np.ndarray, masses: np.ndarray, softening: float) -> np.ndarray:
    """(N, 4): acceleration and potential of each body by all others, sums of m (x_j - x_i) / (d^2 + e^2)^(3/2) and of
    -m / (d^2 + e^2)^(1/2)."""
    places, weights = positions.astype(np.float64), masses.astype(np.float64)
    field = np.zeros((len(places), 4))
    for i, place in enumerate(places):
        away = places - place
        squared = (away * away).sum(axis=1) + softening**2
        squared[i] = np.inf
        squared[squared == 0.0] = np.inf
        field[i, :3] = (weights / squared**1.5) @ away
        field[i, 3] = -(weights / np.sqrt(squared)).sum()
    return field


def rms_error(found: np.ndarray, exact: np.ndarray) -> float:
    """The rms difference of accelerations over their rms."""
    return float(np.sqrt(((found[:, :3] - exact[:, :3]) ** 2).sum() / (exact[:, :3] ** 2).sum()))


def leapfrog(
    positions: np.ndarray, velocities: np.ndarray, masses: np.ndarray, softening: float, step: float, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities after `count` steps, kick, drift and kick."""
    places, speeds = positions.astype(np.float64), velocities.astype(np.float64)
    pull = attraction(places, masses, softening)[:, :3]
    for _ in range(count):
        speeds = speeds + 0.5 * step * pull
        places = places + step * speeds
        pull = attraction(places, masses, softening)[:, :3]
        speeds = speeds + 0.5 * step * pull
    return places, speeds


def energy(positions: np.ndarray, velocities: np.ndarray, masses: np.ndarray, softening: float) -> tuple[float, float]:
    """Kinetic and potential."""
    weights = masses.astype(np.float64)
    kinetic = 0.5 * float(weights @ (velocities.astype(np.float64) ** 2).sum(axis=1))
    return kinetic, 0.5 * float(weights @ attraction(positions, masses, softening)[:, 3])

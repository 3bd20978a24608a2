"""Spheres that attract one another: what a scene says of a motion that is simulated. Plain values."""

from __future__ import annotations

import dataclasses

import numpy as np

FORCES = ("auto", "direct", "barnes_hut", "multipole")
"""How the forces between bodies are found: all pairs, Barnes and Hut's tree code, the fast multipole method, or
whichever suits their number."""


@dataclasses.dataclass(frozen=True, eq=False)
class Gravity:
    """A motion that is simulated instead of keyed: spheres that attract one another, from their `centres` on, in steps
    of `step` seconds, and from the start again after `duration` seconds. `velocities` (N, 3) at the start and `masses`
    (N,), those times the gravitational constant, in units of the spheres' frame and seconds of the animation;
    `softening` is Plummer's. An attribute `speed` of the spheres is that of the instant."""

    velocities: np.ndarray
    masses: np.ndarray
    softening: float
    step: float
    duration: float
    forces: str = "auto"

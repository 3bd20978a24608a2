"""N bodies on a target: places and masses, velocities, and what attracts them."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from ..target.base import Array, Target

PROGRESS = ("steps", "lacking")
"""Words that kernels keep of a run: the steps done, and what the newest forces lacked room for (0: nothing), in which
case no further step is done."""


@dataclasses.dataclass(frozen=True, eq=False)
class Bodies:
    """N bodies on a target, float32: `places` (N, 4) x, y, z and mass; `velocities` (N, 4) x, y, z and 0; `field`
    (N, 4) acceleration and potential; `before` (N, 4) the places a step ago; `energies` (2, N) kinetic and half of the
    potential; `progress` int32, as PROGRESS names them. Masses are those times the gravitational constant."""

    places: Array
    velocities: Array
    field: Array
    before: Array
    energies: Array
    progress: Array

    @property
    def count(self) -> int:
        """N."""
        return int(self.places.shape[0])


class Forces(Protocol):
    """A way to find the attraction of all bodies by all others."""

    def find(self, bodies: Bodies) -> None:
        """Write `field`. Launches only; where it lacks room, `progress` says so and the field is not to be used."""

    def make_room(self) -> None:
        """Reserve more of what was too small. Between two frames; may wait."""


def upload_bodies(target: Target, positions: np.ndarray, velocities: np.ndarray, masses: np.ndarray) -> Bodies:
    """Bodies from the host: positions and velocities (N, 3), masses (N,). Raises ValueError where they do not fit one
    another or are not finite."""
    count = len(positions)
    for what, values, shape in (("velocities", velocities, (count, 3)), ("masses", masses, (count,))):
        if np.shape(values) != shape:
            raise ValueError(f"{count} bodies need {what} of shape {shape}; {np.shape(values)} was given.")
    with np.errstate(over="ignore"):
        rows = np.column_stack([positions, masses, velocities]).astype(np.float32)
    bad = int(np.count_nonzero(~np.isfinite(rows).all(axis=1)))
    if bad:
        raise ValueError(f"{bad:,} of {count:,} bodies have places, masses or velocities that are not finite.")
    moving = np.zeros((count, 4), np.float32)
    moving[:, :3] = rows[:, 4:]
    places = np.ascontiguousarray(rows[:, :4])
    return Bodies(
        target.upload(places, "bodies"),
        target.upload(moving, "bodies"),
        target.zeros((count, 4), np.float32, "bodies"),
        target.upload(places, "bodies"),
        target.zeros((2, count), np.float32, "bodies"),
        target.zeros(len(PROGRESS), np.int32, "bodies"),
    )

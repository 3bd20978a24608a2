"""The clipping plane: options, and the half space of a scene that rays from the eye see. Plain values.

The plane cuts what the eye sees, not the light: rays that go on from a hit (shadows, reflections) meet the whole scene,
so that a cut opens a view without changing what it shows.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .camera import Vector
from .rows import Row
from .settings import option

AXES: dict[str, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
HalfSpace = tuple[float, float, float, float]
"""Normal of unit length and offset, as kernels read them: a ClipRow."""


@dataclasses.dataclass(frozen=True)
class ClipRow(Row):
    """A point p is seen where normal . p <= offset."""

    normal: Vector
    offset: float


@dataclasses.dataclass(frozen=True)
class ClipOptions:
    """A plane that takes away what lies beyond it, to look inside. Light and shadows stay those of the whole scene."""

    on: bool = option(False, "Cut the scene by a plane: what lies beyond it is not seen.")
    axis: str = option(
        "x",
        "The direction beyond which things are taken away: an axis, or the normal.",
        choices=("x", "y", "z", "normal"),
    )
    normal: Vector = option(
        (1.0, 0.0, 0.0), "The direction where the axis is normal; of any length.", minimum=-1e6, maximum=1e6
    )
    position: float = option(
        0.5, "Where the plane cuts the scene's box along the direction: 0 where the box begins (nothing is left), 1 "
        "where it ends (all is left).",
        minimum=0.0, maximum=1.0,
    )  # fmt: skip
    flip: bool = option(False, "Take away the other side instead.")


def direction_of(options: ClipOptions) -> np.ndarray:
    """The unit vector (float64) along which positions are counted; +X where the normal has no length."""
    given = np.asarray(AXES.get(options.axis, options.normal), np.float64)
    length = float(np.linalg.norm(given))
    return given / length if length > 0.0 else np.array(AXES["x"])


def half_space(options: ClipOptions, lower: Vector, upper: Vector) -> HalfSpace | None:
    """What is seen of a scene with this box, None where all is."""
    if not options.on:
        return None
    direction = direction_of(options)
    first, last = _extent(direction, lower, upper)
    offset = first + (last - first) * options.position
    x, y, z, w = (-1.0 if options.flip else 1.0) * np.array([*direction, offset])
    return float(x), float(y), float(z), float(w)


def position_of(options: ClipOptions, point: Vector, lower: Vector, upper: Vector) -> float:
    """The position at which the plane goes through a point, from 0 to 1."""
    direction = direction_of(options)
    first, last = _extent(direction, lower, upper)
    share = (float(np.dot(direction, point)) - first) / (last - first) if last > first else 0.5
    return min(max(share, 0.0), 1.0)


def _extent(direction: np.ndarray, lower: Vector, upper: Vector) -> tuple[float, float]:
    ends = direction * np.array([lower, upper], np.float64)
    return float(ends.min(axis=0).sum()), float(ends.max(axis=0).sum())

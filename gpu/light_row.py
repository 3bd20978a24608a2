"""A light as animate places it for shading and shadows (gpu/animate/pose.cuh writes it, gpu/trace/lights.cuh reads
it)."""

from __future__ import annotations

import dataclasses

from .rows import Row, Vector

MAX_LIGHTS = 32
"""Lights that shading and shadows take; a remark names the rest."""


@dataclasses.dataclass(frozen=True)
class LightRow(Row):
    """A light in the scene's space. `place` is the direction of a directional light, `kind` a place in LIGHT_KINDS."""

    place: Vector
    kind: int
    color: Vector
    radius: float
    direction: Vector = (0.0, 0.0, 0.0)
    cosine_outside: float = 0.0
    """Of the angle to the direction where nothing is left of the light."""
    across: Vector = (0.0, 0.0, 0.0)
    """Half the edge of a rectangle."""
    cosine_inside: float = 0.0
    """Up to here all of it is there."""
    down: Vector = (0.0, 0.0, 0.0)
    unused: float = 0.0

"""What OpenGL is told to draw of spheres (gl_spheres.py). Plain values: who makes them needs no OpenGL."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..clip import HalfSpace

WAYS = ("full_screen", "impostors")
"""A full-screen quad whose fragment shader tests every pixel against all spheres; a box of pixels each, with depth."""

MOST_FULL_SCREEN = 100_000
"""Spheres that the full-screen quad takes: the published table ends there, and each costs every pixel a test."""


class SphereDrawingError(ValueError):
    """OpenGL does not draw these spheres; the message is a sentence, `instead` the setting and its value by which they
    are drawn."""

    instead = ("display.spheres", "rays")


@dataclasses.dataclass(frozen=True)
class SphereLook:
    """How spheres are shown: the camera (a CameraRow's 16 numbers), what is kept of the scene, and flat shading's
    options; colours linear. `depth_scale` is about how far the spheres are, in scene units."""

    camera: np.ndarray
    clip: HalfSpace | None = None
    color: tuple[float, float, float] = (0.75, 0.75, 0.75)
    ambient: float = 0.1
    below: tuple[float, float, float] = (0.2, 0.2, 0.22)
    above: tuple[float, float, float] = (0.6, 0.7, 0.8)
    exposure: float = 1.0
    tone: str = "none"
    depth_scale: float = 1.0


@dataclasses.dataclass(frozen=True, eq=False)
class SpherePicture:
    """Spheres at one instant, (N, 4) float32 centre and radius, and how they are shown: one of WAYS, a look, and linear
    colours (N, 3) float32, negative where one has that of the look; None where all have."""

    spheres: np.ndarray
    way: str
    look: SphereLook
    colours: np.ndarray | None = None

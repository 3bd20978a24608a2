"""`galaxy`: a rotating disc of stars, simulated while it plays: all of them attract one another."""

from __future__ import annotations

import math

import numpy as np

from raygrove.gpu.gravity import Gravity
from raygrove.gpu.scene import Attribute, Light, Material, Object, Scene, Spheres

from .memory import check_memory
from .parts import bounds

DURATION = 12.0
STEPS_A_SECOND = 48
"""Leapfrog steps: few enough to be made while it plays, and so many that the energy stays within a thousandth."""

SOFTENING = 0.06
"""Attractions are those of bodies of this radius (Plummer), so that near pairs do not fly apart."""

DISC_MASS, CORE_MASS = 0.5, 0.5
BYTES_A_BODY = 120
"""Of memory while it is made, as measured."""

TURNS = 1.5
"""Of a body at the disc's half-mass radius, in all."""


def make_galaxy(spheres: int, seed: int) -> Scene:
    """A heavy core and a thin exponential disc round it, on circular orbits at first, in units in which the disc's
    scale is 0.5."""
    check_memory(spheres, BYTES_A_BODY)
    centres, velocities, masses = _disc(spheres, np.random.default_rng(seed))
    pace = _time_scale() / DURATION  # of the disc's own time in a second
    gravity = Gravity(pace * velocities, pace**2 * masses, SOFTENING, 1.0 / STEPS_A_SECOND, DURATION)
    radii = (0.34 / math.sqrt(spheres) * np.cbrt(masses / masses.mean())).astype(np.float32)
    radii[0] = 0.09
    speed = np.linalg.norm(gravity.velocities, axis=1).astype(np.float32)
    stars = Spheres(
        "stars",
        centres,
        radii,
        _colours(spheres, seed),
        attributes=(Attribute("speed", speed), Attribute("mass", masses)),
        gravity=gravity,
    )
    reach = float(np.quantile(np.abs(centres), 0.999))
    lower, upper = bounds(np.full(3, -reach), np.full(3, reach))
    return Scene(
        "galaxy",
        spheres=(stars,),
        objects=(Object(0, spheres=0),),
        materials=(Material("star", (1.0, 1.0, 1.0, 1.0), roughness=0.5),),
        lights=(Light("directional", (3.0, 2.9, 2.7), direction=(-0.4, -0.8, -0.5)),),
        lower=lower,
        upper=upper,
        eye=(0.0, 1.6, 2.8),
        look_at=(0.0, 0.0, 0.0),
    )


def _disc(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres, velocities and masses: body 0 is the core. Speeds balance the mass inside."""
    radius = np.sort(random.gamma(2.0, 0.25, count)) + 0.12  # of a surface density e^(-r / 0.25)
    angle = random.uniform(0.0, 2.0 * math.pi, count)
    masses = (DISC_MASS * random.uniform(0.5, 1.5, count) / count).astype(np.float32)
    radius[0], masses[0] = 0.0, CORE_MASS
    centres = np.stack(
        [radius * np.cos(angle), random.normal(0.0, 0.012, count), radius * np.sin(angle)], axis=1
    ).astype(np.float32)
    centres[0] = 0.0
    inside = np.cumsum(masses, dtype=np.float64) - masses
    speed = np.sqrt(inside * radius**2 / np.maximum(radius**2 + SOFTENING**2, 1e-12) ** 1.5)
    velocities = np.stack([-np.sin(angle) * speed, np.zeros(count), np.cos(angle) * speed], axis=1)
    velocities[0] = 0.0
    velocities -= (masses[:, None] * velocities).sum(axis=0) / masses.sum()  # the galaxy stays where it is
    return centres, velocities.astype(np.float32), masses


def _time_scale() -> float:
    """Time in which a body at 0.5 goes round TURNS times."""
    return TURNS * 2.0 * math.pi * math.sqrt(0.5**3 / (CORE_MASS + 0.6 * DISC_MASS))


def _colours(count: int, seed: int) -> np.ndarray:
    """From blue to red as stars have it; the core is pale yellow."""
    heat = np.random.default_rng(seed + 1).beta(2.0, 2.0, count)[:, None]
    cold, hot = np.array([1.0, 0.42, 0.16]), np.array([0.35, 0.55, 1.0])
    colours = (cold * (1.0 - heat) + hot * heat).astype(np.float32)
    colours[0] = (1.0, 0.85, 0.5)
    return colours

"""Spheres that attract one another: what a scene says of a motion that is simulated, and what can be chosen about how
its forces are found. Plain values."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from .settings import option

FORCES = ("auto", "direct", "barnes_hut", "multipole")
"""How the forces between bodies are found: all pairs, Barnes and Hut's tree code, the fast multipole method, or
whichever suits their number."""

MOST_DIRECT = 2000
"""Up to so many bodies `auto` sums all pairs: there it is no slower than what needs a tree, and exact."""

FOR_MANY = {"host": "multipole", "cuda": "barnes_hut"}
"""What `auto` takes for more, by the kind of target: what was measured to be the faster one at the same error
(docs/performance/octrees.md, docs/nbody.md)."""

MOST_STEP_SECONDS = 1.0
"""Of the direct sum on a CPU, which asks for up to ten steps a frame in a window; more is refused."""

_PAIRS_PER_SECOND = 2e9
"""Of the direct sum on one thread of a CPU, about: two with AVX-512, shared with others, summed 2.0 and 5.6."""

LEAST_ORDER, MOST_ORDER = 1, 8
"""Of expansions that kernels are compiled for."""

TERMS = ("monopole", "quadrupole")
"""What Barnes and Hut's tree code takes a far cell for; about its centre of mass, where it has no dipole."""


@dataclasses.dataclass(frozen=True)
class BarnesHutOptions:
    """What can be chosen about Barnes and Hut's tree code."""

    terms: str = option(
        "quadrupole",
        "What a far cell attracts by: its mass alone, or its quadrupole too, which is more exact and slower.",
        choices=TERMS,
    )
    angle: float = option(
        0.5,
        "A cell is taken as a whole where its radius is less than this share of its distance: smaller is more exact "
        "and slower.",
        minimum=0.05,
        maximum=0.95,
    )
    leaf_points: int = option(16, "The most bodies of a leaf of the tree.", minimum=1, maximum=1024)


@dataclasses.dataclass(frozen=True)
class MultipoleOptions:
    """What can be chosen about the fast multipole method."""

    order: int = option(
        4, "Highest order of the expansions: higher is more exact and slower.", minimum=LEAST_ORDER, maximum=MOST_ORDER
    )
    angle: float = option(
        0.7,
        "Two cells attract one another as wholes where their radii together are less than this share of their "
        "distance: smaller is more exact and slower.",
        minimum=0.05,
        maximum=0.95,
    )
    leaf_points: int = option(64, "The most bodies of a leaf of the tree.", minimum=1, maximum=1024)


@dataclasses.dataclass(frozen=True)
class GravityOptions:
    """How the forces between bodies are found where a scene is simulated. With others the simulation begins again at
    its start."""

    forces: str = option(
        "auto",
        "direct sums all pairs, in a time that grows with the square of their number; barnes_hut walks an octree for "
        f"each body; multipole lets cells attract one another. auto takes what the scene asks for, else direct up to "
        f"{MOST_DIRECT:,} bodies, and above them multipole on a CPU and barnes_hut on a GPU.",
        choices=FORCES,
    )
    multipole_order: int = option(
        MultipoleOptions.order,
        "Highest order of the expansions of multipole: higher is more exact and slower.",
        minimum=LEAST_ORDER,
        maximum=MOST_ORDER,
    )
    multipole_angle: float = option(
        MultipoleOptions.angle,
        "Opening angle of multipole: two cells attract one another as wholes where their radii together are less than "
        "this share of their distance. Smaller is more exact and slower.",
        minimum=0.05,
        maximum=0.95,
    )
    barnes_hut_terms: str = option(
        BarnesHutOptions.terms,
        "What barnes_hut takes a far cell for: its mass alone, or its quadrupole too, which is more exact and slower.",
        choices=TERMS,
    )
    barnes_hut_angle: float = option(
        BarnesHutOptions.angle,
        "Opening angle of barnes_hut: a cell is taken as a whole where its radius is less than this share of its "
        "distance. Smaller is more exact and slower.",
        minimum=0.05,
        maximum=0.95,
    )


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


@dataclasses.dataclass(frozen=True)
class ForceMethod:
    """A way to find forces that was decided on: its `name`, one of FORCES but auto, and its options; None for the
    direct sum, which has none."""

    name: str
    options: BarnesHutOptions | MultipoleOptions | None = None

    def __str__(self) -> str:
        if isinstance(self.options, MultipoleOptions):
            return f"{self.name}, order {self.options.order}, angle {self.options.angle:g}"
        if isinstance(self.options, BarnesHutOptions):
            return f"{self.name}, {self.options.terms}, angle {self.options.angle:g}"
        return self.name


class ForcesError(RuntimeError):
    """Forces that take too long; `instead` is the setting and its value by which they do not, whatever a scene names
    itself."""

    instead = ("gravity.forces", "multipole")


def check_direct(bodies: int, threads: int) -> None:
    """ForcesError where one step of the direct sum on so many threads of a CPU takes longer than anyone waits for."""
    seconds = bodies**2 / (_PAIRS_PER_SECOND * threads)
    if seconds > MOST_STEP_SECONDS:
        most = math.floor(math.sqrt(MOST_STEP_SECONDS * _PAIRS_PER_SECOND * threads) / 1000) * 1000
        raise ForcesError(
            f"The direct sum (gravity.forces) of {bodies:,} bodies takes about {seconds:,.0f} s a step on this CPU, an "
            f"estimate by its {threads} threads; up to {most:,} bodies are summed so. Choose multipole or "
            f"barnes_hut, or fewer bodies."
        )


def force_method(gravity: Gravity, options: GravityOptions, target_kind: str = "host") -> ForceMethod:
    """The way to find forces for what a scene simulates: as the options say, else as the scene does, else by the number
    of bodies and the kind of target. Raises ValueError where the scene names one that is not known."""
    name = gravity.forces if options.forces == "auto" else options.forces
    if name not in FORCES:
        raise ValueError(f"Forces are found by one of {', '.join(FORCES)}; {name!r} was asked for.")
    if name == "auto":
        name = "direct" if len(gravity.masses) <= MOST_DIRECT else FOR_MANY[target_kind]
    if name == "multipole":
        return ForceMethod(name, MultipoleOptions(options.multipole_order, options.multipole_angle))
    if name == "barnes_hut":
        return ForceMethod(name, BarnesHutOptions(options.barnes_hut_terms, options.barnes_hut_angle))
    return ForceMethod(name)

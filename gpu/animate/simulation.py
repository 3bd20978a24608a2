"""Spheres whose motion is simulated (scene.Gravity): steps up to the instant that is shown, made before the launches of
a frame, as the host alone knows how many they are. What is shown lies between the last two of them.

An instant is reached from the one before, or from the start where that was later; so it is the same however it was come
to. A step whose forces lacked room is made up for before the next frame: `is_behind` until then.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from ..attributes import SIMULATED
from ..gravity import (
    BarnesHutOptions,
    ForceMethod,
    Gravity,
    GravityOptions,
    MultipoleOptions,
    check_direct,
    force_method,
)
from ..nbody.barnes_hut import BarnesHut
from ..nbody.bodies import PROGRESS, Forces
from ..nbody.direct import DirectSum
from ..nbody.multipole import FastMultipole
from ..nbody.run import Energy, Run
from ..scene import Scene, Spheres
from ..stats import SIMULATE, SimulationStatistics
from ..target.base import Array, Target, UnitSource

LIVE = tuple(name.replace(".", "_") for name in SIMULATED)
"""Attributes that a simulation gives, as kernels name them."""


@dataclasses.dataclass(eq=False)
class _Simulated:
    """A group of spheres that is simulated: where its centres go, and what is known of its energy."""

    index: int
    spheres: Spheres
    gravity: Gravity
    method: ForceMethod
    run: Run
    centres: Array
    start: Energy
    newest: Energy
    alpha: float = 0.0
    wanted: int = 0
    steps: int = 0
    arriving: Callable[[], Energy | None] | None = None


class Simulations:
    """See the module. `centres` gives where the centres of a group of the scene lie on the target."""

    most_steps = 0
    """Steps that a frame makes at most, 0: as many as its instant asks for. With fewer it shows an earlier instant, and
    is behind."""

    def __init__(self, target: Target, scene: Scene, centres: Callable[[int], Array]) -> None:
        self._target = target
        placed = sorted({thing.spheres for thing in scene.objects if thing.spheres >= 0})
        groups = [(index, scene.spheres[index]) for index in placed if scene.spheres[index].gravity is not None]
        self._unit = target.unit(UnitSource("gpu/animate/simulation.cu")) if groups else None
        self._options = GravityOptions()
        self._simulated = [
            self._start(index, group, force_method(group.gravity, self._options, target.kind), centres(index))
            for index, group in groups
            if group.gravity is not None
        ]

    def _check(self, group: Spheres, method: ForceMethod) -> None:
        threads = getattr(self._target, "threads", 0)
        if method.name == "direct" and threads:
            check_direct(len(group.centres), threads)

    def _start(self, index: int, group: Spheres, method: ForceMethod, centres: Array) -> _Simulated:
        gravity = group.gravity
        assert gravity is not None
        forces = make_forces(self._target, method, len(group.centres), gravity.softening)
        run = Run(self._target, forces, group.centres, gravity.velocities, gravity.masses, gravity.step)
        start = run.energy()
        return _Simulated(index, group, gravity, method, run, centres, start, start)

    def take(self, options: GravityOptions) -> bool:
        """Find forces as the options say from now on, and whether that is otherwise than before: then a simulation is
        at its start again, as an instant is the same however it was come to. Between two frames; may wait. ForcesError
        where they would take too long; then it goes on as before."""
        if options == self._options:
            return False
        wanted = [force_method(one.gravity, options, self._target.kind) for one in self._simulated]
        for one, method in zip(self._simulated, wanted, strict=True):
            self._check(one.spheres, method)
        is_other = [method != one.method for method, one in zip(wanted, self._simulated, strict=True)]
        self._simulated = [
            self._start(one.index, one.spheres, method, one.centres) if changes else one
            for one, method, changes in zip(self._simulated, wanted, is_other, strict=True)
        ]
        self._options = options
        return any(is_other)

    # -- the frame ------------------------------------------------------------------------------------------------
    def show(self, time: float, columns: dict[tuple[int, str], Array]) -> None:
        """Launch the steps up to an instant, and what shows it: centres, and the `columns` of attributes, by group and
        name. Does not wait."""
        prefix, self._target.phase_prefix = self._target.phase_prefix, SIMULATE
        try:
            for one in self._simulated:
                self._advance(one, time)
                with self._target.phase("show"):
                    self._show(one, {name: rows for (group, name), rows in columns.items() if group == one.index})
        finally:
            self._target.phase_prefix = prefix

    def _advance(self, one: _Simulated, time: float) -> None:
        steps = max(0.0, min(time, one.gravity.duration)) / one.gravity.step
        one.wanted, one.alpha = math.floor(steps) + 1, steps - math.floor(steps)
        if one.wanted < one.run.launched:
            one.run.reset()
            one.newest, one.arriving = one.start, None
        missing = one.wanted - one.run.launched
        if self.most_steps and missing > self.most_steps:
            missing, one.alpha = self.most_steps, 1.0
        one.run.advance(missing)
        if missing and one.arriving is None:
            one.arriving = one.run.read_energy()

    def _show(self, one: _Simulated, columns: dict[str, Array]) -> None:
        bodies, count = one.run.bodies, one.run.bodies.count
        shared = {"before": bodies.before, "bodies": bodies.places, "n": count, "alpha": one.alpha}
        assert self._unit is not None
        self._target.launch(self._unit, "show_bodies", count, **shared, centres=one.centres)
        for name, rows in columns.items():
            more = {"velocities": bodies.velocities, "what": SIMULATED.index(name), "values": rows}
            self._target.launch(self._unit, "show_column", count, **shared, **more)

    # -- between frames -------------------------------------------------------------------------------------------
    def settle(self) -> bool:
        """Make up for steps that lacked room, as far as is known without waiting. Whether there were any, or steps were
        left out: what was shown is not the instant that was asked for."""
        are_redone = [one.run.settle(waits=False) for one in self._simulated]
        return any(are_redone) or any(one.run.launched < one.wanted for one in self._simulated)

    def reader(self) -> Callable[[], SimulationStatistics] | None:
        """What is known of the simulations of the frame that was just issued, to be asked once it has finished; None
        where nothing is simulated."""
        if not self._simulated:
            return None
        issued = [(one, one.wanted, self._target.read_later(one.run.bodies.progress)) for one in self._simulated]

        def read() -> SimulationStatistics:
            is_behind = False
            for one, wanted, reading in issued:
                words = reading()
                if words is not None:
                    one.steps = int(words[PROGRESS.index("steps")])
                    is_behind |= one.steps < wanted
                _take_energy(one)
            return SimulationStatistics(
                bodies=sum(one.run.bodies.count for one in self._simulated),
                steps=min(one.steps for one in self._simulated),
                energy=sum(one.newest.total for one in self._simulated),
                energy_drift=max(one.newest.drift(one.start) for one in self._simulated),
                is_behind=is_behind,
                forces="; ".join(dict.fromkeys(str(one.method) for one in self._simulated)),
            )

        return read

    def speed_of(self, group: int, sphere: int) -> float | None:
        """The speed of a body of a group now; None for a group that is not simulated. Waits."""
        for one in self._simulated:
            if one.index == group:
                velocity = self._target.download(one.run.bodies.velocities[sphere : sphere + 1])[0, :3]
                return float(np.linalg.norm(velocity.astype(np.float64)))
        return None


def _take_energy(one: _Simulated) -> None:
    found = one.arriving() if one.arriving is not None else None
    if found is not None:
        one.newest, one.arriving = found, None


def make_forces(target: Target, method: ForceMethod, count: int, softening: float) -> Forces:
    """A way to find the forces between `count` bodies."""
    options = method.options
    if isinstance(options, BarnesHutOptions):
        return BarnesHut(target, count, softening, options)
    if isinstance(options, MultipoleOptions):
        return FastMultipole(target, count, softening, options)
    return DirectSum(target, softening)


def check_gravity(spheres: Spheres) -> None:
    """ValueError where a group that is simulated has key frames, or parts that do not fit it."""
    gravity, count = spheres.gravity, len(spheres.centres)
    if gravity is None:
        return
    if spheres.key_frames is not None:
        raise ValueError(f"Spheres {spheres.name!r} have both key frames and gravity: their motion is one of them.")
    if gravity.velocities.shape != (count, 3) or gravity.masses.shape != (count,):
        raise ValueError(
            f"Spheres {spheres.name!r} have velocities of shape {gravity.velocities.shape} and masses of shape "
            f"{gravity.masses.shape}; {count} centres need {(count, 3)} and {(count,)}."
        )
    if not gravity.step > 0.0 or not gravity.duration > 0.0 or not gravity.softening >= 0.0:
        raise ValueError(
            f"Spheres {spheres.name!r} are simulated in steps of {gravity.step} s for {gravity.duration} s with a "
            f"softening of {gravity.softening}: the first two must be above 0, the last not below."
        )

"""A run of N bodies through time: leapfrog steps of one length, from a start that it can go back to, with the energy
that each step began with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ..primitives.reduce import reduce
from ..target.base import Target, UnitSource
from .bodies import PROGRESS, Forces, upload_bodies

_STEPS, _LACKING = (PROGRESS.index(word) for word in ("steps", "lacking"))


@dataclasses.dataclass(frozen=True)
class Energy:
    """What a run's bodies had of energy, in units of mass times squared velocity: after `step` steps."""

    step: int
    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Of both."""
        return self.kinetic + self.potential

    def drift(self, start: Energy) -> float:
        """By what share of the energy at the start it is another one now."""
        return abs(self.total - start.total) / abs(start.total) if start.total else abs(self.total)


class Run:
    """See the module. The same start, step and forces give the same bytes after the same number of steps, however they
    are spread over calls."""

    def __init__(
        self,
        target: Target,
        forces: Forces,
        positions: np.ndarray,
        velocities: np.ndarray,
        masses: np.ndarray,
        step: float,
    ) -> None:
        self.target, self.forces, self.step = target, forces, step
        self.bodies = upload_bodies(target, positions, velocities, masses)
        self._start = tuple(target.download(array) for array in (self.bodies.places, self.bodies.velocities))
        self._unit = target.unit(UnitSource("gpu/nbody/leapfrog.cu"))
        self._sums = target.zeros((2, 1), np.float32, "bodies")
        self.launched = 0
        """Steps asked for since the start."""
        self._progress: Callable[[], np.ndarray | None] | None = None
        self._is_settled = True
        self._make_ready()

    def reset(self) -> None:
        """Back to the start. Launches nothing, does not wait."""
        places, velocities = self._start
        self.target.write(self.bodies.places, places)
        self.target.write(self.bodies.before, places)
        self.target.write(self.bodies.velocities, velocities)
        self.target.write(self.bodies.progress, np.zeros(self.bodies.progress.shape, np.int32))
        self.launched, self._progress, self._is_settled = 0, None, True

    def advance(self, steps: int) -> None:
        """Launch further steps. Does not wait."""
        for _ in range(steps):
            self._measure()
            with self.target.phase("nbody.move"):
                moving = {"velocities": self.bodies.velocities, "bodies": self.bodies.places}
                self._launch("kick_and_drift", **moving, field=self.bodies.field, before=self.bodies.before)
                self.target.launch(self._unit, "count_step", 1, progress=self.bodies.progress)
        self.launched += steps
        self._is_settled = self._is_settled and not steps

    def settle(self, waits: bool = True) -> bool:
        """Where the forces of a step lacked room, make it, and launch the steps that were not done; whether there were
        any. Between two frames. Without `waits` only what is known by now counts, and a step that lacked room is made
        up for later."""
        words = self._read_progress(waits)
        if words is None:
            return False
        is_redone = bool(words[_LACKING])
        while words[_LACKING]:
            self.forces.make_room()
            done = self.target.download(self.bodies.progress)
            self.target.write(self.bodies.progress[_LACKING:], np.zeros(1, np.int32))
            missing, self.launched = self.launched - int(done[_STEPS]), int(done[_STEPS])
            self.advance(missing)
            words = self.target.download(self.bodies.progress)
        self._is_settled = int(words[_STEPS]) == self.launched
        return is_redone

    def _read_progress(self, waits: bool) -> np.ndarray | None:
        """The words of progress; None where they are not known yet, or say nothing new."""
        if waits:
            self._progress = None
            return self.target.download(self.bodies.progress)
        if self._is_settled:
            return None
        self._progress = self._progress or self.target.read_later(self.bodies.progress)
        words = self._progress()
        if words is not None:
            self._progress = None
        return words

    def energy(self) -> Energy:
        """The energy now. Waits, and finds the forces for it."""
        self.settle()
        bodies, velocities = self.bodies, self.target.download(self.bodies.velocities)
        self._measure()
        read = self.read_energy()
        found = read()
        while found is None:
            self.target.synchronize()
            found = read()
        self.target.write(bodies.velocities, velocities)
        return found

    def read_energy(self) -> Callable[[], Energy | None]:
        """The energy that the newest step began with, once it has arrived."""
        for part in range(2):
            reduce(self.target, "sum", self.bodies.energies[part], self._sums[part], f"nbody.energy.{part}")
        sums, progress = self.target.read_later(self._sums), self.target.read_later(self.bodies.progress)

        def taken() -> Energy | None:
            values, words = sums(), progress()
            if values is None or words is None:
                return None
            return Energy(int(words[0]), float(values[0, 0]), float(values[1, 0]))

        return taken

    def _make_ready(self) -> None:
        """Room for the forces of the start. Waits."""
        self.forces.find(self.bodies)
        while self.target.download(self.bodies.progress)[_LACKING]:
            self.forces.make_room()
            self.forces.find(self.bodies)

    def _measure(self) -> None:
        """Forces, velocities and energies of this instant."""
        self.forces.find(self.bodies)
        with self.target.phase("nbody.move"):
            bodies = {"bodies": self.bodies.places, "velocities": self.bodies.velocities}
            self._launch("catch_up", **bodies, field=self.bodies.field, energies=self.bodies.energies)

    def _launch(self, kernel: str, **arrays: Any) -> None:
        count = self.bodies.count
        more = {"n": count, "step": self.step, "progress": self.bodies.progress}
        self.target.launch(self._unit, kernel, count, **arrays, **more)

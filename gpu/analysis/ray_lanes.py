"""Contestants of races over rays: a structure that follows a clip by its update policy and traces the same rays in
every frame, and what any other program has to do to take part."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Protocol

import numpy as np

from ..hierarchy.registry import structure
from ..scene import Moment, Scene
from ..stats import HierarchyStatistics
from ..target.base import Target
from ..update.history import UpdateHistory
from ..update.registry import policy
from ..view import ViewSettings
from .divergence import Divergence, divergence_of_rays
from .racing import as_raced
from .rig import Rig
from .traced_rays import in_rows
from .workload import Workload


@dataclasses.dataclass(frozen=True)
class Frame:
    """What one contestant did in a frame, in milliseconds."""

    update: str
    update_ms: float
    trace_ms: float


class Lane(Protocol):
    """A contestant at work on one clip."""

    layout: str
    ray_count: int
    note: str

    def play(self, moment: Moment) -> Frame:
        """One frame: follow the clip, trace all rays; waits."""

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """t (inf: nothing hit) and prim_id (-1), (N,) each, of the last frame."""

    def statistics(self) -> HierarchyStatistics | None:
        """Of the tree as it is; None where nobody may look into it."""

    def warps(self) -> Divergence | None:
        """For whom the warps of the last frame's rays wait, 32 rays that follow one another; None where nobody may
        look into the tree."""

    def close(self) -> None:
        """Give everything back."""


class StructureLane:
    """One configuration, and how it follows what moves."""

    def __init__(
        self, target: Target, scene: Scene, settings: ViewSettings, rays: Workload, hidden: Collection[int] = ()
    ) -> None:
        self._policy = policy(settings.update.mode)
        self._scene, self._settings = scene, as_raced(settings)
        known = structure(settings.hierarchy).optimisers()
        choice = self._policy.fitted(settings.structure_choice, known)
        self.rig = Rig(target, scene, settings.hierarchy, choice, rays, hidden)
        self._history = UpdateHistory()
        self.layout, self.ray_count, self.note = self.rig.hierarchy.layout_name, len(rays), ""

    def play(self, moment: Moment) -> Frame:
        """One frame; waits."""
        rig, history = self.rig, self._history
        rig.show(moment)
        primitives = rig.surface.primitives
        how = self._settings.update_over(self._scene, moment.clip)
        decision, update_ms = self._policy.decide(history, rig.hierarchy, primitives, how), 0.0
        if decision.update == "refit":
            rig.hierarchy.check_refit(primitives)
        if decision.update != "nothing":
            update_ms = rig.build() if decision.update == "rebuild" else rig.refit()
        history.note(decision, primitives)
        ticket = history.ticket
        trace_ms = rig.trace()
        history.learn(ticket, update_ms, trace_ms, len(rig.rays))
        if self._policy.needs_times and history.take_measurement_turn():
            rig.hierarchy.measure()
        return Frame(decision.update, update_ms, trace_ms)

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the last frame."""
        prim_id, t = self.rig.hits()
        return np.array(t), np.array(prim_id)

    def statistics(self) -> HierarchyStatistics:
        """Of the tree as it is."""
        hierarchy = self.rig.hierarchy
        hierarchy.measure()
        hierarchy.measure_quality()
        self.rig.target.synchronize()
        return hierarchy.stats()

    def warps(self) -> Divergence:
        """Of the last frame."""
        rows = in_rows(self.rig.target, self.rig.rays)
        return divergence_of_rays(self.rig.target, self.rig.hierarchy, rows)

    def close(self) -> None:
        """Give the memory back."""
        self.rig.close()

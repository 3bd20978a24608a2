"""What all structures with measured figures share: the figures that a kernel writes as one row, and that arrive frames
after they were asked for.

A family names the columns of its row and launches the kernels that fill it; waiting for nothing, keeping what arrived
last and turning it into statistics is done here. Quality (gpu/hierarchy/quality.py) is measured beside it, on request.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..stats import HierarchyStatistics
from ..target.base import Array, Target
from .base import DEFAULT_COSTS, Hierarchy, Primitives, StatisticsOptions, StructureChoice
from .quality import Quality


class MeasuredHierarchy(Hierarchy):
    """See the module. A family gives `figures`, `launch_measuring`, `memory`, and, where it has a tree to judge,
    `start_quality` and `latest_quality`."""

    figures: ClassVar[tuple[str, ...]]
    """What the columns of a row are: fields of HierarchyStatistics, or the family's own words."""

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self._figures = np.zeros(len(self.figures))
        self._is_measured = False
        self._pending: Callable[[], np.ndarray | None] | None = None
        self._pending_tree: Any = None

    # -- what a family gives ----------------------------------------------------------------------------------------
    @abc.abstractmethod
    def launch_measuring(self, primitives: Primitives, costs: StatisticsOptions) -> Array:
        """Launch what measures the tree over these primitives, at least one: the row (len(figures),), which need not be
        kept."""

    @abc.abstractmethod
    def memory(self) -> tuple[int, int]:
        """Bytes that the structure holds, and scratch bytes that building and refitting it take."""

    def start_quality(self, primitives: Primitives, costs: StatisticsOptions) -> None:
        """Launch the measurement of quality. A structure without a tree has none."""

    def latest_quality(self) -> Quality:
        """The quality that has arrived."""
        return Quality()

    # -- the contract -----------------------------------------------------------------------------------------------
    def measure(self, costs: StatisticsOptions = DEFAULT_COSTS, tree: Any = None) -> None:
        primitives = self.last_built()
        if primitives.count == 0:
            self._pending = None
            self.take_figures(np.zeros(len(self.figures)), tree)
            return
        self._pending = self.target.read_later(self.launch_measuring(primitives, costs))
        self._pending_tree = tree

    def measure_quality(self, costs: StatisticsOptions = DEFAULT_COSTS) -> None:
        self.start_quality(self.last_built(), costs)

    def stats(self) -> HierarchyStatistics:
        self.take_arrived()
        found = dict(zip(self.figures, self._figures.tolist(), strict=True))
        columns = {name: int(found[name]) for name in HierarchyStatistics.__dataclass_fields__ if name in found}
        held_bytes, scratch_bytes = self.memory()
        measured: dict[str, Any] = {
            **columns,
            "depth": columns.get("depth") if self._is_measured else None,
            "sah_cost": found.get("sah_cost") if self._is_measured else None,
        }
        return HierarchyStatistics(
            **measured,
            primitive_count=0 if self._built is None else self._built.count,
            bytes=held_bytes,
            scratch_bytes=scratch_bytes,
            is_stale=self.is_stale,
            **vars(self.latest_quality()),
        )

    # -- figures ----------------------------------------------------------------------------------------------------
    def take_arrived(self) -> None:
        """Take the figures that were asked for last, once they have arrived."""
        arrived = self._pending() if self._pending is not None else None
        if arrived is not None:
            self._pending = None
            self.take_figures(arrived, self._pending_tree)

    def take_figures(self, row: np.ndarray, tree: Any) -> None:
        """Keep a row that arrived, of the tree that is called so."""
        self._figures, self._is_measured, self.measured_tree = row, True, tree

    def forget_pending(self) -> None:
        """Figures that were asked for are not to arrive: they would be of a tree that is no more."""
        self._pending = None

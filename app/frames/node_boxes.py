"""The boxes of a structure's nodes, drawn over the picture: which of them, how often they are read back, and how many
there are on each level."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raygrove.app.document.state import State
from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.engine import Boxes, Engine, View, depth_colors
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.scene import Moment, Scene

REFRESH_S = 0.2
"""Seconds between two readings of the tree while something moves."""

LEAST_SHARE = 20.0
"""Readings take at most one part in so many of the time, however large the tree."""


@dataclasses.dataclass(frozen=True, eq=False)
class BoxReport:
    """What there is on each level, and how many boxes were drawn of those asked for. `colors` (levels, 3) uint8 are the
    levels' colours."""

    level_counts: tuple[int, ...]
    leaf_counts: tuple[int, ...]
    shown: int
    wanted: int
    colors: np.ndarray

    @property
    def sentence(self) -> str:
        """How many boxes are seen."""
        if self.shown < self.wanted:
            return f"{self.shown:,} of {self.wanted:,} boxes are drawn: those nearest to the eye."
        return f"{self.shown:,} boxes of {sum(self.level_counts):,} are drawn."


def select_boxes(table: NodeTable, options: Any, camera: Camera) -> tuple[Boxes, BoxReport]:
    """The boxes that `settings.boxes` asks for, and the levels of the whole tree."""
    levels = int(table.depth.max()) + 1 if len(table) else 0
    counts, leaves = (np.bincount(depths, minlength=levels) for depths in (table.depth, table.depth[table.is_leaf]))
    is_wanted = (
        (table.depth >= options.first_depth)
        & (table.depth <= options.last_depth)
        & np.all(table.lower <= table.upper, axis=1)
    )
    if options.leaves_only:
        is_wanted &= table.is_leaf
    rows = np.flatnonzero(is_wanted)
    wanted = len(rows)
    if wanted > options.limit:
        outside = np.maximum(np.maximum(table.lower[rows] - camera.eye, camera.eye - table.upper[rows]), 0.0)
        rows = np.sort(rows[np.argpartition(np.sum(outside**2, axis=1), options.limit)[: options.limit]])
    boxes = Boxes(table.lower[rows], table.upper[rows], table.depth[rows], levels, options.opacity)
    report = BoxReport(tuple(counts.tolist()), tuple(leaves.tolist()), len(rows), wanted, depth_colors(levels))
    return boxes, report


class NodeBoxes:
    """Draws the boxes of one view's structure. A tree that moves is read back at most five times a second; one that
    rests whenever it is another."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.forget()

    def forget(self) -> None:
        """Another scene or target."""
        self.report: BoxReport | None = None
        self._table: NodeTable | None = None
        self._boxes: Boxes | None = None
        self._structure: object = None
        self._instant: object = None
        self._selection: object = None
        self._read_time, self._cost = -1e9, 0.0

    def paint(self, engine: Engine, view: View, scene: Scene, state: State, moment: Moment, is_moving: bool) -> None:
        """Draw over the picture that the view's last frame made, where `settings.boxes` asks for it. Waits for the
        target to read the tree."""
        options = state.settings.boxes
        if not options.show:
            if self.report is not None:
                self.forget()
            return
        chosen = dataclasses.replace(
            view.settings, ray_type="", ray_type_options=None, samples=1, seed=0, clip=ClipOptions()
        )
        self._read(engine, view, (id(scene), chosen, state.hidden), (moment.time, moment.clip), is_moving)
        assert self._table is not None
        selection = (id(self._table), options, view.camera)
        if selection != self._selection or self._boxes is None:
            self._selection = selection
            self._boxes, self.report = select_boxes(self._table, options, view.camera)
        engine.paint_boxes(view, self._boxes)

    def _read(self, engine: Engine, view: View, structure: object, instant: object, is_moving: bool) -> None:
        is_same = self._table is not None and structure == self._structure
        waited = self._clock() - self._read_time
        if is_same and (instant == self._instant or (is_moving and waited < max(REFRESH_S, LEAST_SHARE * self._cost))):
            return
        begin = self._clock()
        self._table, self._structure, self._instant = engine.nodes(view), structure, instant
        self._read_time = self._clock()
        self._cost = self._read_time - begin

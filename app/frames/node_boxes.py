"""The boxes of a structure's nodes, drawn over the picture: which of them, how often they are read back, how many there
are on each level, and how many of the cells can be seen."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raygrove.app.document.state import State
from raygrove.gpu.analysis.frame_bounds import frame_table
from raygrove.gpu.analysis.tree_levels import joined_nodes
from raygrove.gpu.brief import brief
from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.engine import Boxes, Engine, View, depth_colors
from raygrove.gpu.face.named_trees import frames_of
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.scene import Moment, Scene

REFRESH_S = 0.2
"""Seconds between two readings of the tree while something moves."""

LEAST_SHARE, SHORT_SHARE = 20.0, 4.0
"""Readings take at most one part in so many of the time, however large the tree: of the second, those that take less
than a picture, which nobody sees as a pause; else boxes of a slow machine would lie seconds behind its pictures."""


@dataclasses.dataclass(frozen=True, eq=False)
class BoxReport:
    """What there is on each level, and how many boxes were drawn of those asked for. `colors` (levels, 3) uint8 are the
    levels' colours. `visibility` is a sentence on what can be seen from the camera or a cell, where that is asked.
    `joined` inner nodes of the binary tree, whose levels these are, a wide layout has in nodes further up. `source`
    says whose boxes they are, where the file's were asked for."""

    level_counts: tuple[int, ...]
    leaf_counts: tuple[int, ...]
    shown: int
    wanted: int
    colors: np.ndarray
    visibility: str = ""
    joined: int = 0
    source: str = ""

    @property
    def sentence(self) -> str:
        """How many boxes are seen."""
        if self.shown < self.wanted:
            said = f"{self.shown:,} of {self.wanted:,} boxes are drawn: those nearest to the eye."
        else:
            said = f"{self.shown:,} boxes of {sum(self.level_counts):,} are drawn."
        if self.joined:
            said += f" They are the binary tree's: the layout joins {self.joined:,} of its inner nodes to those above."
        return " ".join(part for part in (said, self.source, self.visibility) if part)


def heights(table: NodeTable) -> np.ndarray:
    """(N,) int32: how many nodes are below each on the longest way, 0 of leaves."""
    found = np.zeros(len(table), np.int32)
    by_depth = np.argsort(table.depth, kind="stable")
    ends = np.cumsum(np.bincount(table.depth)) if len(table) else np.zeros(0, np.int64)
    for first, end in zip(ends[-2::-1], ends[:0:-1], strict=True):
        rows = by_depth[first:end]
        np.maximum.at(found, table.parent[rows], found[rows] + 1)
    return found


def select_boxes(
    table: NodeTable,
    options: Any,
    camera: Camera,
    visible: np.ndarray | None = None,
    level_of: np.ndarray | None = None,
) -> tuple[Boxes, BoxReport]:
    """The boxes that `settings.boxes` asks for, and the levels of the whole tree; but those that are not
    `visible` (N,) bool. `level_of` (N,) are the nodes' levels, None: their depths."""
    level_of = table.depth if level_of is None else level_of
    levels = int(level_of.max()) + 1 if len(table) else 0
    counts, leaves = (np.bincount(some, minlength=levels) for some in (level_of, level_of[table.is_leaf]))
    is_wanted = (
        (level_of >= options.first_depth)
        & (level_of <= options.last_depth)
        & np.all(table.lower <= table.upper, axis=1)
    )
    if options.leaves_only:
        is_wanted &= table.is_leaf
    if visible is not None:
        is_wanted &= visible
    rows = np.flatnonzero(is_wanted)
    wanted = len(rows)
    if wanted > options.limit:
        outside = np.maximum(np.maximum(table.lower[rows] - camera.eye, camera.eye - table.upper[rows]), 0.0)
        rows = np.sort(rows[np.argpartition(np.sum(outside**2, axis=1), options.limit)[: options.limit]])
    boxes = Boxes(table.lower[rows], table.upper[rows], level_of[rows], levels, options.opacity)
    report = BoxReport(
        tuple(counts.tolist()),
        tuple(leaves.tolist()),
        len(rows),
        wanted,
        depth_colors(levels),
        _visibility(table, options, visible),
        joined_nodes(table),
    )
    return boxes, report


def _visibility(table: NodeTable, options: Any, visible: np.ndarray | None) -> str:
    """How many leaves can be seen, of those that have a box."""
    if visible is not None:
        cells = table.is_leaf & np.all(table.lower <= table.upper, axis=1)
        of_cell = f"the cell of node {options.cell}, sampled at 27 places"
        place = "the camera" if options.visible_from == "camera" else of_cell
        return f"{(visible & cells).sum():,} of {cells.sum():,} cells are visible from {place}."
    if options.visible_from == "cell":
        return f"There is no node {options.cell} with a box among {len(table):,}: choose another cell."
    return ""


class NodeBoxes:
    """Draws the boxes of one view's structure. A tree that moves is read back at most five times a second, more
    seldom where that takes long; one that rests whenever it is another."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.forget()

    def forget(self) -> None:
        """Another scene or target."""
        self.report: BoxReport | None = None
        self._table: NodeTable | None = None
        self._boxes: Boxes | None = None
        self._visible: np.ndarray | None = None
        self._heights: np.ndarray | None = None
        self._source = ""
        self._structure: object = None
        self._instant: object = None
        self._selection: object = None
        self._read_time, self._cost = -1e9, 0.0
        self._painted_time, self._picture_s = 0.0, 0.0

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
        place = {"camera": view.camera.eye, "cell": options.cell}.get(options.visible_from)
        structure = (id(scene), chosen, state.hidden, options.visible_from, options.cell, options.source)
        cut = None if place is None else view.settings.clip
        self._picture_s = self._clock() - self._painted_time
        self._read(engine, view, structure, (moment.time, moment.clip, place, cut), is_moving, options)
        self._painted_time = self._clock()
        assert self._table is not None
        selection = (id(self._table), id(self._visible), options, view.camera)
        if selection != self._selection or self._boxes is None:
            self._selection = selection
            if self._heights is None and options.count_from == "leaves":
                self._heights = heights(self._table)
            level_of = self._heights if options.count_from == "leaves" else None
            self._boxes, report = select_boxes(self._table, options, view.camera, self._visible, level_of)
            self.report = dataclasses.replace(report, source=self._source)
        engine.paint_boxes(view, self._boxes)

    def _nodes(self, engine: Engine, view: View, source: str, time: float) -> NodeTable:
        """The nodes whose boxes are drawn: the structure's, or those of its file in the frame nearest to a time."""
        self._source = ""
        if source == "file":
            tree = frames_of(view.settings.hierarchy)
            if tree is not None:
                nearest = float(np.asarray(tree.frame_times)[np.abs(np.asarray(tree.frame_times) - time).argmin()])
                self._source = f"They are the file's, of its frame at {brief(nearest)} s."
                return frame_table(tree, time)
            self._source = "They are the structure's own: no file of it has boxes of frames."
        return engine.nodes(view)

    def _read(
        self, engine: Engine, view: View, structure: object, instant: tuple[Any, ...], is_moving: bool, options: Any
    ) -> None:
        """The tree, and what of it can be seen: both of one instant."""
        is_same = self._table is not None and structure == self._structure
        waited = self._clock() - self._read_time
        share = SHORT_SHARE if self._cost < self._picture_s else LEAST_SHARE
        if is_same and (instant == self._instant or (is_moving and waited < max(REFRESH_S, share * self._cost))):
            return
        begin = self._clock()
        table = self._table = self._nodes(engine, view, options.source, float(instant[0]))
        self._structure, self._instant, self._visible, self._heights = structure, instant, None, None
        if options.visible_from == "camera":
            self._visible = engine.visible_nodes(view, table, view.camera.eye)
        elif options.visible_from == "cell" and _has_box(table, options.cell):
            self._visible = engine.visible_nodes(view, table, view.camera.eye, options.cell)
        self._read_time = self._clock()
        self._cost = self._read_time - begin


def _has_box(table: NodeTable, row: int) -> bool:
    return row < len(table) and bool(np.all(table.lower[row] <= table.upper[row]))

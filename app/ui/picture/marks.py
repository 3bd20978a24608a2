"""A few boxes and points drawn over the picture where the camera sees them: the path to what was picked, the cells
beside its leaf, what is near it, and the region that is selected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from raygrove.app.camera.projection import box_lines, point_place
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.node_path import PathNode
from raygrove.app.ui.picture.overlay import Overlay
from raygrove.gpu.region import COLOR, Region
from raygrove.gpu.stats import Surroundings

LEAF, INNER, POINT = QColor("#ffcf3f"), QColor(255, 255, 255, 170), QColor("#ff5a4f")
NEAR, REGION = QColor("#4fc3ff"), QColor(*COLOR)
BESIDE = {"corner": QColor("#ff9b6a"), "edge": QColor("#ff7ac8"), "face": QColor("#c792ff")}
"""Cells by how they meet the picked one, those across its faces last and so on top."""

FAR = 1e5
"""Lines that leave the picture further than this many pixels are not drawn: Qt's painter slows down on them."""


class Marks(Overlay):
    """Draws over the whole picture."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("marks", parent)
        self._document = document
        self.path: tuple[PathNode, ...] = ()
        self.cells: Mapping[str, tuple[PathNode, ...]] = {}
        self.point: tuple[float, float, float] | None = None
        self.near: Surroundings | None = None
        document.observe(self._changed)

    def has_content(self) -> bool:
        """Boxes, a cross, dots or a region."""
        return (
            bool(self.path)
            or any(self.cells.values())
            or self.point is not None
            or self.near is not None
            or self._region().is_there
        )

    def show_path(self, path: tuple[PathNode, ...]) -> None:
        """Draw these boxes."""
        self.path = path
        self.refresh()

    def show_cells(self, cells: Mapping[str, tuple[PathNode, ...]]) -> None:
        """Draw the boxes of cells beside the picked one, by how they meet it."""
        self.cells = cells
        self.refresh()

    def show_point(self, point: tuple[float, float, float] | None) -> None:
        """Draw a cross at this point."""
        self.point = point
        self.refresh()

    def show_near(self, near: Surroundings | None) -> None:
        """Draw a dot at each neighbour."""
        self.near = near
        self.refresh()

    def dots(self) -> list[QPointF]:
        """Where the neighbours are in the picture, in pixels; those behind the eye are left out."""
        return self._pixels([one.position for one in self.near.nearest] if self.near is not None else [])

    def ball(self) -> tuple[QPointF, float] | None:
        """Middle and radius of the ball's outline, in pixels: that of a circle around its centre, across the view."""
        region = self._region()
        if region.shape != "ball" or not region.is_there:
            return None
        right = self._document.state.camera_of(0).basis()[0]
        x, y, z = np.add(region.centre, np.multiply(right, region.size)).tolist()
        middle, side = self._pixel(region.centre), self._pixel((x, y, z))
        if middle is None or side is None:
            return None
        return middle, QLineF(middle, side).length()

    def box(self) -> np.ndarray:
        """(N, 4) ends of the selected box's edges in pixels, those that are seen."""
        region = self._region()
        if region.shape != "box" or not region.is_there:
            return np.zeros((0, 4))
        lower, upper = (np.array([corner]) for corner in region.corners)
        edges = self._edges(lower, upper)[0]
        return np.asarray(edges[np.isfinite(edges).all(axis=1)])

    def _region(self) -> Region:
        return self._document.state.selection.region

    def _pixels(self, points: Iterable[tuple[float, float, float]]) -> list[QPointF]:
        places = map(self._pixel, points)
        return [place for place in places if place is not None]

    def _pixel(self, point: tuple[float, float, float]) -> QPointF | None:
        place = point_place(self._document.state.camera_of(0), self.width() / max(self.height(), 1), point)
        if place is None or max(abs(place[0]), abs(place[1])) >= FAR:
            return None
        return QPointF(place[0] * self.width(), place[1] * self.height())

    def lines(self, nodes: Sequence[PathNode] | None = None) -> np.ndarray:
        """(N, 12, 4) ends of the edges of these nodes' boxes, without any the path's, in pixels; NaN where there is
        nothing to see."""
        nodes = self.path if nodes is None else nodes
        if not nodes:
            return np.zeros((0, 12, 4))
        lower, upper = (np.array([getattr(node, side) for node in nodes]) for side in ("lower", "upper"))
        return self._edges(lower, upper)

    def _edges(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        camera = self._document.state.camera_of(0)
        found = box_lines(camera, self.width() / max(self.height(), 1), lower, upper) * (
            [self.width(), self.height()] * 2
        )
        found[np.abs(found).max(axis=-1) > FAR] = np.nan
        return np.asarray(found)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cells beside the leaf, boxes from the root on, the leaf last, the point on top."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for contact, color in BESIDE.items():
            painter.setPen(QPen(color, 1.2))
            edges = self.lines(self.cells.get(contact, ())).reshape(-1, 4)
            painter.drawLines([QLineF(*ends) for ends in edges[np.isfinite(edges).all(axis=1)].tolist()])
        for node, edges in zip(self.path, self.lines(), strict=True):
            painter.setPen(QPen(LEAF, 2.0) if node.is_leaf else QPen(INNER, 1.0))
            seen = edges[np.isfinite(edges).all(axis=1)]
            painter.drawLines([QLineF(*ends) for ends in seen.tolist()])
        self._paint_region(painter)
        self._paint_near(painter)
        at = None if self.point is None else self._pixel(self.point)
        if at is not None:
            painter.setPen(QPen(POINT, 2.0))
            painter.drawLine(at - QPointF(7, 0), at + QPointF(7, 0))
            painter.drawLine(at - QPointF(0, 7), at + QPointF(0, 7))

    def _paint_region(self, painter: QPainter) -> None:
        painter.setPen(QPen(REGION, 1.5))
        painter.drawLines([QLineF(*ends) for ends in self.box().tolist()])
        ball = self.ball()
        if ball is not None:
            painter.drawEllipse(ball[0], ball[1], ball[1])

    def _paint_near(self, painter: QPainter) -> None:
        painter.setPen(QPen(INNER, 1.0))
        painter.setBrush(NEAR)
        for dot in self.dots():
            painter.drawEllipse(dot, 4.0, 4.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _changed(self, before: State, after: State) -> None:
        if before.selection.region != after.selection.region:
            self.refresh()
        elif self.isVisible() and before.cameras != after.cameras:
            self.update()

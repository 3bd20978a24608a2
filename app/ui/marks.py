"""A few boxes and a point drawn over the picture where the camera sees them: the path to what was picked."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.document import Document
from app.node_path import PathNode
from app.projection import box_lines, point_place
from app.state import State
from app.ui.overlay import Overlay

LEAF, INNER, POINT = QColor("#ffcf3f"), QColor(255, 255, 255, 170), QColor("#ff5a4f")
FAR = 1e5
"""Lines that leave the picture further than this many pixels are not drawn: Qt's painter slows down on them."""


class Marks(Overlay):
    """Draws over the whole picture."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("marks", parent)
        self._document = document
        self.path: tuple[PathNode, ...] = ()
        self.point: tuple[float, float, float] | None = None
        document.observe(self._changed)

    def has_content(self) -> bool:
        """Boxes or a cross."""
        return bool(self.path) or self.point is not None

    def show_path(self, path: tuple[PathNode, ...]) -> None:
        """Draw these boxes."""
        self.path = path
        self.refresh()

    def show_point(self, point: tuple[float, float, float] | None) -> None:
        """Draw a cross at this point."""
        self.point = point
        self.refresh()

    def lines(self) -> np.ndarray:
        """(N, 12, 4) ends of the boxes' edges in pixels; NaN where there is nothing to see."""
        if not self.path:
            return np.zeros((0, 12, 4))
        camera = self._document.state.camera_of(0)
        lower, upper = (np.array([getattr(node, side) for node in self.path]) for side in ("lower", "upper"))
        found = box_lines(camera, self.width() / max(self.height(), 1), lower, upper) * ([self.width(), self.height()] * 2)
        found[np.abs(found).max(axis=-1) > FAR] = np.nan
        return found

    def paintEvent(self, event: QPaintEvent) -> None:
        """Boxes from the root on, the leaf last, the point on top."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for node, edges in zip(self.path, self.lines(), strict=True):
            painter.setPen(QPen(LEAF, 2.0) if node.is_leaf else QPen(INNER, 1.0))
            seen = edges[np.isfinite(edges).all(axis=1)]
            painter.drawLines([QLineF(*ends) for ends in seen.tolist()])
        place = None
        if self.point is not None:
            place = point_place(self._document.state.camera_of(0), self.width() / max(self.height(), 1), self.point)
        if place is not None and max(abs(place[0]), abs(place[1])) < FAR:
            at = QPointF(place[0] * self.width(), place[1] * self.height())
            painter.setPen(QPen(POINT, 2.0))
            painter.drawLine(at - QPointF(7, 0), at + QPointF(7, 0))
            painter.drawLine(at - QPointF(0, 7), at + QPointF(0, 7))

    def _changed(self, before: State, after: State) -> None:
        if self.isVisible() and before.cameras != after.cameras:
            self.update()

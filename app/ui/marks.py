"""A few boxes and a point drawn over the picture where the camera sees them: the path to what was picked."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QObject, QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.document import Document
from app.node_path import PathNode
from app.projection import box_lines, point_place
from app.state import State

LEAF, INNER, POINT = QColor("#ffcf3f"), QColor(255, 255, 255, 170), QColor("#ff5a4f")
FAR = 1e5
"""Lines that leave the picture further than this many pixels are not drawn: Qt's painter slows down on them."""


class Marks(QWidget):
    """Lies over a picture and lets the mouse through."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("marks")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._document = document
        self.path: tuple[PathNode, ...] = ()
        self.point: tuple[float, float, float] | None = None
        document.observe(self._changed)
        self.hide()

    def lie_on(self, picture: QWidget) -> None:
        """Lie over the whole of a picture, whatever its size becomes."""
        before = self.parentWidget()
        if before is not None:
            before.removeEventFilter(self)
        self.setParent(picture)
        picture.installEventFilter(self)
        self.resize(picture.size())
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the picture's size."""
        if isinstance(event, QResizeEvent):
            self.resize(event.size())
        return False

    def show_path(self, path: tuple[PathNode, ...]) -> None:
        """Draw these boxes."""
        self.path = path
        self._show()

    def show_point(self, point: tuple[float, float, float] | None) -> None:
        """Draw a cross at this point."""
        self.point = point
        self._show()

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

    def _show(self) -> None:
        self.setVisible(bool(self.path) or self.point is not None)
        self.update()

    def _changed(self, before: State, after: State) -> None:
        if self.isVisible() and before.cameras != after.cameras:
            self.update()

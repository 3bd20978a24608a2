"""Lines and boxes of the scene drawn over the picture, with a casing so that they read on any heat map."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from raygrove.app.camera.projection import box_lines, line_places
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.ui.picture.overlay import Overlay
from raygrove.gpu.camera import Camera

SELECTED, CURRENT = QColor("#FFFFFF"), QColor("#FFD400")
CASING = QColor("#000000")
WIDTH, CASING_WIDTH = 2.0, 1.0
FAR = 1e5
"""Lines that leave the picture further than this many pixels are not drawn: Qt's painter slows down on them."""


def pens(color: QColor, style: Qt.PenStyle = Qt.PenStyle.SolidLine, width: float = WIDTH) -> tuple[QPen, QPen]:
    """The casing's, then the line's."""

    def pen(of: QColor, wide: float) -> QPen:
        made = QPen(of, wide, style)
        made.setCapStyle(Qt.PenCapStyle.FlatCap if style == Qt.PenStyle.DashLine else Qt.PenCapStyle.RoundCap)
        if style == Qt.PenStyle.DashLine:
            made.setDashPattern([4.0 * width / wide, 3.0 * width / wide])
        return made

    return pen(CASING, width + 2.0 * CASING_WIDTH), pen(color, width)


class LineMarks(Overlay):
    """See the module. A subclass draws in its `paintEvent`."""

    def __init__(self, name: str, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._document = document
        document.observe(self._changed)

    def draw(
        self,
        painter: QPainter,
        lines: np.ndarray,
        color: QColor,
        style: Qt.PenStyle = Qt.PenStyle.SolidLine,
        width: float = WIDTH,
    ) -> None:
        """Lines (L, 4) in pixels."""
        rows = [QLineF(*ends) for ends in lines.tolist()]
        for pen in pens(color, style, width):
            painter.setPen(pen)
            painter.drawLines(rows)

    def edges(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """The edges of boxes (B, 3) in pixels, (L, 4); empty boxes have none."""
        if not len(lower):
            return np.zeros((0, 4))
        is_there = (lower <= upper).all(axis=1)
        lower, upper = (np.clip(corner[is_there], -1e30, 1e30) for corner in (lower, upper))
        return self.pixels(box_lines(self.camera(), self.aspect(), lower, upper).reshape(-1, 4))

    def lines(self, ends: np.ndarray) -> np.ndarray:
        """Lines of the scene (L, 2, 3) in pixels, those that are seen."""
        return self.pixels(line_places(self.camera(), self.aspect(), ends)) if len(ends) else np.zeros((0, 4))

    def pixels(self, places: np.ndarray) -> np.ndarray:
        """Lines of places from 0 to 1 in pixels, those that are seen."""
        lines = places * ([self.width(), self.height()] * 2)
        lines[np.abs(lines).max(axis=-1) > FAR] = np.nan
        return np.asarray(lines[np.isfinite(lines).all(axis=-1)])

    def camera(self) -> Camera:
        """That of the picture."""
        return self._document.state.camera_of(0)

    def aspect(self) -> float:
        """Width over height."""
        return self.width() / max(self.height(), 1)

    def _changed(self, before: State, after: State) -> None:
        if self.isVisible() and before.cameras != after.cameras:
            self.update()

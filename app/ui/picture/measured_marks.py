"""Some of the rays that are measured in the picture's place, drawn over it: each from where it begins to what it hits,
and a mark where the sensor is."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from raygrove.app.document.document import Document
from raygrove.app.ui.picture.line_marks import CASING, CURRENT, LineMarks

RAY = QColor(255, 212, 0, 150)
HIT, ORIGIN = 2.0, 5.0
"""Radii of dots where rays end, and where all begin."""


class MeasuredMarks(LineMarks):
    """See the module."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("measured_marks", document, parent)
        self.ends: np.ndarray | None = None

    def has_content(self) -> bool:
        """Rays."""
        return self.ends is not None

    def show_rays(self, ends: np.ndarray | None) -> None:
        """Draw rays (L, 2, 3), NaN the end of those that hit nothing; None: none."""
        self.ends = ends
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Lines, dots where they end, and where they begin if that is one place."""
        if self.ends is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lines = self.lines(self.ends[np.isfinite(self.ends).all(axis=(1, 2))])
        painter.setPen(RAY)
        for x0, y0, x1, y1 in lines.tolist():
            painter.drawLine(QPointF(x0, y0), QPointF(x1, y1))
        painter.setPen(CASING)
        painter.setBrush(CURRENT)
        begin = self.ends[:1, :1] if (self.ends[:, 0] == self.ends[0, 0]).all() else self.ends[:0, :1]
        for places, radius in ((self.ends[:, 1:], HIT), (begin, ORIGIN)):
            points = places[np.isfinite(places).all(axis=(1, 2))]
            for x, y, _, _ in self.lines(np.repeat(points, 2, axis=1)).tolist():
                painter.drawEllipse(QPointF(x, y), radius, radius)

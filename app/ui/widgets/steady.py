"""A label whose texts change many times a second: it keeps its height, so that no new text lays the window out anew."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

INTERVAL_S = 0.25
"""Seconds between two writings of figures that change: numbers that change more often cannot be read."""


class Steady(QWidget):
    """Holds a label of a number of lines. No layout, which would be told of each text: the label is put where it
    belongs by hand."""

    def __init__(self, label: QLabel, lines: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label, self._lines = label, lines
        label.setParent(self)
        label.setWordWrap(True)
        label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """So many lines of the label's font."""
        return QSize(120, self._label.fontMetrics().lineSpacing() * self._lines + 2)

    def minimumSizeHint(self) -> QSize:
        """The same height."""
        return QSize(40, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The label has all of it."""
        super().resizeEvent(event)
        self._label.setGeometry(self.rect())

    def changeEvent(self, event: QEvent) -> None:
        """Another font has other lines."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()

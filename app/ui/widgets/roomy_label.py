"""A label that keeps the room of the longest text it is to show, so that what stands below it never jumps."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QWidget

from raygrove.app.ui.plain_text import Label


class RoomyLabel(Label):
    """A text that wraps, never lower than `room` would be at the label's width."""

    def __init__(self, room: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._room = room
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    def heightForWidth(self, width: int) -> int:
        """What the text needs, or what `room` would."""
        return max(super().heightForWidth(width), self._kept(width))

    def sizeHint(self) -> QSize:
        """At the label's width, where it has one yet."""
        found = super().sizeHint()
        if self.isVisible():
            return QSize(found.width(), self.heightForWidth(self.width()))
        return found.expandedTo(QSize(0, self._kept(found.width())))

    def _kept(self, width: int) -> int:
        across = QRect(0, 0, max(width, 1), 1 << 20)
        margin = 2 * self.margin()
        return self.fontMetrics().boundingRect(across, Qt.TextFlag.TextWordWrap, self._room).height() + margin

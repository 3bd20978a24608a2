"""A widget that lies over the picture, follows its size, and lets the mouse through."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget


class Overlay(QWidget):
    """See the module. A subclass says whether it `has_content`, and may take another `place` than the whole picture."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def place(self, size: QSize) -> None:
        """Take the place that belongs to a picture of this size."""
        self.resize(size)

    def has_content(self) -> bool:
        """Whether there is anything to show."""
        return True

    def lie_on(self, picture: QWidget) -> None:
        """Lie over a picture, whatever its size becomes."""
        before = self.parentWidget()
        if before is not None:
            before.removeEventFilter(self)
        self.setParent(picture)
        picture.installEventFilter(self)
        self.place(picture.size())
        self.refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep to the place."""
        if isinstance(event, QResizeEvent):
            self.place(event.size())
        return False

    def refresh(self) -> None:
        """Show what there is now."""
        self.setVisible(self.has_content())
        self.update()

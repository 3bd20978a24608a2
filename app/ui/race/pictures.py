"""A picture of a race: one contestant's, or two with a line between them that can be dragged."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from raygrove.app.ui.picture.painter_view import BACKGROUND
from raygrove.gpu.display.layout import fitted

REACH = 6.0
"""Pixels from the line in which the pointer takes it."""


class RacePicture(QWidget):
    """See the module. `painted` is called after each painting; `split_moved` carries where the line was dragged to, 0
    to 1, and whether the drag is over."""

    split_moved = Signal(float, bool)

    def __init__(self, name: str, painted: Callable[[], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._painted = painted
        self._left: QImage | None = None
        self._right: QImage | None = None
        self._split = 1.0
        self._has_line = self._is_dragged = False

    def show_one(self, image: QImage | None) -> None:
        """Show one picture."""
        self._left, self._right, self._has_line = image, None, False
        self.update()

    def show_two(self, left: QImage | None, right: QImage | None, split: float) -> None:
        """Show two, with the line at `split` of the width."""
        self._left, self._right, self._split, self._has_line = left, right, split, True
        self.update()

    def sizeHint(self) -> QSize:
        """What a picture would like."""
        return QSize(480, 360)

    def watch_line(self) -> None:
        """Take the mouse where it is on the line, before the camera does: called after the navigator was made."""
        self.installEventFilter(self)

    def is_on_line(self, place: QPointF) -> bool:
        """Whether a place is on the line."""
        return self._has_line and abs(place.x() - self._split * self.width()) <= REACH

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Drag the line."""
        if not isinstance(event, QMouseEvent) or not self._has_line:
            return False
        kind, place = event.type(), event.position()
        if kind == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
            self._is_dragged = self.is_on_line(place)
            return self._is_dragged
        if kind in (QEvent.Type.MouseMove, QEvent.Type.MouseButtonRelease) and self._is_dragged:
            self._is_dragged = kind == QEvent.Type.MouseMove
            share = min(max(place.x() / max(self.width(), 1), 0.0), 1.0)
            self.split_moved.emit(share, not self._is_dragged)
            return True
        if kind == QEvent.Type.MouseMove:
            self.setCursor(Qt.CursorShape.SplitHCursor if self.is_on_line(place) else Qt.CursorShape.ArrowCursor)
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what was given last."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor.fromRgbF(*BACKGROUND))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, True)
        x = round(self._split * self.width())
        if self._has_line:
            self._draw(painter, self._left, QRect(0, 0, x, self.height()))
            self._draw(painter, self._right, QRect(x, 0, self.width() - x, self.height()))
            painter.setClipping(False)
            for width, color in ((4.0, "black"), (2.0, "white")):
                painter.setPen(QPen(QColor(color), width))
                painter.drawLine(x, 0, x, self.height())
            painter.setBrush(QColor("white"))
            painter.drawEllipse(QRectF(x - 5, self.height() / 2 - 5, 10, 10))
        else:
            self._draw(painter, self._left, self.rect())
        painter.end()
        self._painted()

    def _draw(self, painter: QPainter, image: QImage | None, part: QRect) -> None:
        if image is not None:
            painter.setClipRect(part)
            painter.drawImage(QRect(*fitted(image.width(), image.height(), self.width(), self.height())), image)

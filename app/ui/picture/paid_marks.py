"""The pixels of the picture that paid for what is selected, lit up, and the warp that is."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from raygrove.app.ui.picture.overlay import Overlay

LIT = (255, 212, 0)
LEAST, MOST = 60, 170
"""How opaque a pixel is that paid least, and most."""


class PaidMarks(Overlay):
    """Draws over the whole picture."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("paid", parent)
        self.paid: np.ndarray | None = None
        self._image: QImage | None = None
        self.tile: tuple[float, float, float, float] | None = None

    def has_content(self) -> bool:
        return self._image is not None or self.tile is not None

    def show_paid(self, paid: np.ndarray | None) -> None:
        """(height, width) of what each pixel paid; None for nothing."""
        self.paid = paid
        self._image = None if paid is None or not paid.any() else lit_image(paid)
        self.refresh()

    def show_tile(self, tile: tuple[float, float, float, float] | None) -> None:
        """Outline a part of the picture: left, top, width and height, from 0 to 1; None for none."""
        self.tile = tile
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._image is not None:
            painter.drawImage(QRectF(self.rect()), self._image)
        if self.tile is not None:
            left, top, width, height = self.tile
            box = QRectF(left * self.width(), top * self.height(), width * self.width(), height * self.height())
            for color, line in ((QColor("black"), 3.0), (QColor(*LIT), 1.0)):
                painter.setPen(QPen(color, line))
                painter.drawRect(box.adjusted(-1, -1, 1, 1))


def lit_image(paid: np.ndarray) -> QImage:
    """Who paid more is more opaque, by the square root."""
    height, width = paid.shape
    share = np.sqrt(paid / max(int(paid.max()), 1))
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[..., :3] = LIT
    pixels[..., 3] = np.where(paid > 0, LEAST + (MOST - LEAST) * share, 0)
    return QImage(pixels.tobytes(), width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()

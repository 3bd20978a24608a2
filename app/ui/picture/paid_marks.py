"""The pixels of the picture that paid for what is selected, lit up, and the warp that is."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from raygrove.app.ui.picture.overlay import Overlay

LIT = (255, 212, 0)
LEAST, MOST = 60, 170
"""How opaque a pixel is that paid least, and most."""
ROUNDED = 0.02
"""Pictures whose proportions differ by less show the same at the same places: sizes are whole pixels."""


class PaidMarks(Overlay):
    """Draws over the whole picture, as long as that has the proportions which it had when it was marked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("paid", parent)
        self.paid: np.ndarray | None = None
        self._image: QImage | None = None
        self.tile: tuple[float, float, float, float] | None = None
        self._marked_at = (0, 0)

    def has_content(self) -> bool:
        is_any = self._image is not None or self.tile is not None
        return is_any and same_proportions((self.width(), self.height()), self._marked_at)

    def place(self, size: QSize) -> None:
        super().place(size)
        self.refresh()

    def show_paid(self, paid: np.ndarray | None) -> None:
        """(height, width) of what each pixel paid; None for nothing."""
        self.paid = paid
        self._image = None if paid is None or not paid.any() else lit_image(paid)
        self._marked_at = (self.width(), self.height())
        self.refresh()

    def show_tile(self, tile: tuple[float, float, float, float] | None) -> None:
        """Outline a part of the picture: left, top, width and height, from 0 to 1; None for none."""
        self.tile = tile
        self._marked_at = (self.width(), self.height())
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


def same_proportions(size: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether pictures of these sizes, of one camera, show the same at the same places."""
    wide, high = size[0] * other[1], other[0] * size[1]
    return abs(wide - high) <= ROUNDED * max(wide, high)


def lit_image(paid: np.ndarray) -> QImage:
    """Who paid more than who paid least is more opaque, by the square root. Where all paid alike, as for the root of a
    room, all are faint, so that the picture stays to be seen."""
    height, width = paid.shape
    least, most = (
        int(find(paid, where=paid > 0, initial=start)) for find, start in ((np.min, paid.max()), (np.max, 0))
    )
    share = np.sqrt(np.maximum(paid - least, 0) / max(most - least, 1))
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[..., :3] = LIT
    pixels[..., 3] = np.where(paid > 0, LEAST + (MOST - LEAST) * share, 0)
    return QImage(pixels.tobytes(), width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()

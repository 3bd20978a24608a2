"""The picture painted by Qt: for machines without OpenGL in hardware, where it is many times faster than OpenGL in
software."""

from __future__ import annotations

import time

import numpy as np
from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from raygrove.app.frames.pixel_slots import HostSlot, PixelSlot, SlotExchange
from raygrove.app.ui.picture.slots import Slots
from raygrove.gpu.display.layout import fitted
from raygrove.gpu.display.sphere_look import SphereDrawingError, SpherePicture

RESIZE_PAUSE_MS = 40
BACKGROUND = (0.07, 0.07, 0.08)


class PainterView(QWidget):
    """Shows the newest finished picture of its exchange. `painted` follows each painting of a new picture,
    `exchange_changed` each change of size."""

    painted = Signal()
    exchange_changed = Signal()
    interop_failed = Signal(str)
    drawing_failed = Signal(object)
    kind = "painter"
    way = "painted by Qt"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("picture")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(64, 48)
        self.paint_ms = 0.0
        self._image: QImage | None = None
        self._has_news = False
        self._slots = Slots(self._make, lambda slot: None, self)
        self._slots.changed.connect(self.exchange_changed)
        self._timer = QTimer(self, singleShot=True, interval=RESIZE_PAUSE_MS)
        self._timer.timeout.connect(self._fit_slots)

    @property
    def exchange(self) -> SlotExchange | None:
        """Where the render thread finds a slot of the present size."""
        return self._slots.exchange

    @property
    def exchanges(self) -> tuple[SlotExchange, ...]:
        """The same for whoever asks for an exchange a picture."""
        return (self.exchange,) if self.exchange is not None else ()

    def device_size(self) -> tuple[int, int]:
        """The widget's size in the screen's own pixels."""
        ratio = self.devicePixelRatioF()
        return max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio))

    def sizeHint(self) -> QSize:
        """What the picture would like."""
        return QSize(1024, 768)

    def use_target(self, target_name: str) -> None:
        """The target whose pictures come; painting takes them from main memory, whichever it is."""

    def refresh(self) -> None:
        """A picture was finished: show it."""
        self._take_newest()
        self._has_news = (
            True  # also where the picture was of a size that is gone: who waits for the painting must not wait for ever
        )
        self.update()

    def show_spheres(self, picture: SpherePicture) -> None:
        """Qt paints finished pictures. Raises SphereDrawingError: OpenGL is not there."""
        raise SphereDrawingError(
            "This window is painted by Qt, without OpenGL. Choose Structure > Spheres drawn by > Rays, or "
            "set display.view to gl."
        )

    def clear(self) -> None:
        """Show nothing."""
        self._image = None
        self.update()

    def open_slots(self) -> None:
        """Lend slots of the present size, where it does not yet."""
        self._fit_slots()

    def close_slots(self) -> bool:
        """Lend nothing any more; True once all slots are free."""
        return self._slots.close()

    def picture(self) -> QImage | None:
        """A copy of the picture shown."""
        return self._image.copy() if self._image is not None else None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make slots of the new size, once it has settled."""
        super().resizeEvent(event)
        if self.exchange is None:
            self._fit_slots()
        else:
            self._timer.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture that was taken last."""
        start = time.perf_counter()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor.fromRgbF(*BACKGROUND))
        if self._image is not None:
            area = QRect(*fitted(self._image.width(), self._image.height(), self.width(), self.height()))
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, True)
            painter.drawImage(area, self._image)
        painter.end()
        if self._has_news:
            self._has_news = False
            self.paint_ms = (time.perf_counter() - start) * 1e3
            QTimer.singleShot(0, self, self.painted.emit)

    def _take_newest(self) -> None:
        exchange = self.exchange
        slot = exchange.newest_finished() if exchange is not None else None
        if exchange is None or slot is None:
            return
        assert isinstance(slot, HostSlot)
        self._image = image_of(slot.pixels)
        self._image.setDevicePixelRatio(1.0)
        exchange.give_back(slot)

    def _fit_slots(self) -> None:
        self._slots.resize(*self.device_size())

    def _make(self, width: int, height: int) -> tuple[PixelSlot, ...]:
        return HostSlot(width, height), HostSlot(width, height)


def image_of(pixels: np.ndarray) -> QImage:
    """An opaque image that owns a copy of (height, width, 4) uint8 pixels, in the format that Qt paints fastest."""
    height, width, _ = pixels.shape
    lent = QImage(np.ascontiguousarray(pixels).data, width, height, width * 4, QImage.Format.Format_RGBX8888)
    return lent.convertToFormat(QImage.Format.Format_RGB32)

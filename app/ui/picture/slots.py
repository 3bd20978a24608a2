"""The pixel slots of one picture: two of the present size, and those of older sizes until the render thread has let go
of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from raygrove.app.frames.pixel_slots import PixelSlot, SlotExchange

RETIRE_INTERVAL_MS = 20


class Slots(QObject):
    """Makes exchanges with `make(width, height)` and frees their slots with `free(slot)` when nobody draws into them
    any more."""

    changed = Signal()

    def __init__(
        self, make: Callable[[int, int], tuple[PixelSlot, ...]], free: Callable[[PixelSlot], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._make, self._free = make, free
        self.exchange: SlotExchange | None = None
        self.size = (0, 0)
        self._slots: tuple[PixelSlot, ...] = ()
        self._retired: list[tuple[SlotExchange, tuple[PixelSlot, ...]]] = []
        self._timer = QTimer(self)
        self._timer.setInterval(RETIRE_INTERVAL_MS)
        self._timer.timeout.connect(self._free_retired)

    def resize(self, width: int, height: int) -> None:
        """Two slots of another size; nothing where it is the same."""
        if (width, height) != self.size and width > 0 and height > 0:
            self.renew(width, height)

    def renew(self, width: int, height: int) -> None:
        """Two new slots, made even where the size is the same (the way of the pixels has changed)."""
        self._retire()
        self._slots = self._make(width, height)
        self.exchange = SlotExchange(self._slots)
        self.size = (width, height)
        self.changed.emit()

    def close(self) -> bool:
        """Lend nothing any more; True once all slots are free."""
        self._retire()
        self.size = (0, 0)
        self._free_retired()
        return not self._retired

    def _retire(self) -> None:
        if self.exchange is not None:
            self._retired.append((self.exchange, self._slots))
            self.exchange, self._slots = None, ()
            self._timer.start()

    def _free_retired(self) -> None:
        for entry in list(self._retired):
            exchange, slots = entry
            if exchange.close():
                self._retired.remove(entry)
                for slot in slots:
                    self._free(slot)
        if not self._retired:
            self._timer.stop()

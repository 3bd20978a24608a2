"""One time axis: charts over the seconds of the animation lie along the line of the playing head, instant above
instant, wherever that line is and however long."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QTimer, Signal

from raygrove.app.ui.timeline.scrubber import Scrubber


class TimeAxis(QObject):
    """See the module. `changed`: charts are seen along it, or no longer (`is_led`)."""

    changed = Signal()
    MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)

    def __init__(self, line: Scrubber, parent: QObject) -> None:
        super().__init__(parent)
        self._line = line
        self._charts: list[Any] = []
        self.is_led = False
        self._told: dict[int, tuple[int, int] | None] = {}
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._tell)
        line.installEventFilter(self)

    def lead(self, chart: Any) -> None:
        """Tell a widget where the line begins and ends, in its own pixels, now and whenever that changes:
        `lie_along(ends)`, with None where the line is not seen in its window."""
        self._charts.append(chart)
        chart.installEventFilter(self)
        self._timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What has moved, or is another size, is looked at once all has been arranged."""
        if event.type() in self.MOVES:
            self._timer.start()
        return super().eventFilter(watched, event)

    def _tell(self) -> None:
        line = self._line
        was_led, self.is_led = self.is_led, any(chart.isVisible() for chart in self._charts)
        if was_led != self.is_led:
            self.changed.emit()
        for chart in self._charts:
            is_seen = line.isVisible() and chart.isVisible() and line.window() is chart.window()
            ends: tuple[int, int] | None = None
            if is_seen:
                begin, end = (chart.mapFromGlobal(line.mapToGlobal(QPoint(x, 0))).x() for x in line.ends())
                ends = begin, end
            if self._told.get(id(chart), ()) != ends:
                self._told[id(chart)] = ends
                chart.lie_along(ends)

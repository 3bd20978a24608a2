"""Lines over the seconds of an animation, told apart by letters and dashes, and a mark where the playing head stands.

The lines are drawn once into a picture, which is copied when only the mark moves: a library's plot took 3 ms for each
move of the mark.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

LEFT, TOP, RIGHT, BOTTOM = 58, 20, 10, 20
"""Pixels about the lines, for the title and the numbers."""
TOP_UNTITLED = 8
"""Pixels above the lines where there is no title."""

GRID, MARK = QColor(128, 128, 128, 60), QColor("#888888")
DOT_RADIUS = (2.0, 1.2)
"""Pixels of a value between two gaps, which no line shows: of the present line and of an old one."""

DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)
"""Of the lines A, B, C, D, and of the next four again."""

MARK_RADIUS = 3.5
CORNERS: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
    ((0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)),
)
"""Shapes of the values of A, B, C and D, in radii; none: a disc."""

LETTER_WIDTH, LETTER_HEIGHT = 14, 12
KEPT = LEFT, RIGHT + LETTER_WIDTH
"""Pixels at both ends of the axis in a chart that keeps room for letters."""

FEWEST_LOG_TICKS = 4
"""Of a log scale: these make it read as one, and numbers are low enough for so many."""

TICK_WIDTH, TICK_HEIGHT = 70, 24
"""Pixels that a number along an axis may have at least."""


@dataclasses.dataclass(frozen=True)
class Line:
    """Values over times, both of one length and times ascending; a value that is not a number is a gap. `is_old` draws
    thin, and without a letter dotted; a `letter` stands at the line's end, and chooses one of DASHES. A shape,
    the letter's own, is on each `mark_every`-th value, 0 on none; lines of other letters have them elsewhere."""

    times: np.ndarray
    values: np.ndarray
    color: str
    is_old: bool = False
    letter: str = ""
    mark_every: int = 0

    @property
    def style(self) -> Qt.PenStyle:
        """How the line is dashed."""
        if self.letter:
            return DASHES[(ord(self.letter) - ord("A")) % len(DASHES)]
        return Qt.PenStyle.DotLine if self.is_old else Qt.PenStyle.SolidLine

    def first_mark(self, count: int) -> int:
        """Which of `count` values has the first shape: later with each letter, so that shapes do not lie upon each
        other where values are alike."""
        place = (ord(self.letter or "A") - ord("A")) % len(DASHES)
        return min(place * self.mark_every // len(DASHES), count - 1)


class LineChart(QWidget):
    """See the module. `chosen` carries the seconds of a click among the lines. With `keeps_letters` there is room for
    letters at the right also while no line has one, so that the axis stays where it is."""

    chosen = Signal(float)

    def __init__(self, title: str, parent: QWidget | None = None, *, keeps_letters: bool = False) -> None:
        super().__init__(parent)
        self._keeps_letters = keeps_letters
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(140, 90)
        self._title = title
        self.lines: tuple[Line, ...] = ()
        self._ranges = ((0.0, 1.0), (0.0, 1.0))
        self.is_log = False
        self._mark, self._drawn_mark = 0.0, 0.0
        self._drawn: QPixmap | None = None

    def show_lines(
        self, lines: Sequence[Line], duration: float, title: str | None = None, *, is_log: bool = False
    ) -> None:
        """Show these lines from 0 to `duration`, under another title where one is given. `is_log`: equal steps upwards
        are equal ratios; values that have no logarithm are gaps then."""
        self._title, self.is_log = self._title if title is None else title, is_log
        if is_log:
            lines = [dataclasses.replace(line, values=logarithms(line.values)) for line in lines]
        self.lines = tuple(line for line in lines if np.isfinite(line.values).any())
        values = [end for line in self.lines for end in (float(np.nanmin(line.values)), float(np.nanmax(line.values)))]
        low, high = min(values, default=0.0), max(values, default=1.0)
        margin = 0.06 * (high - low) or (0.1 if is_log else 0.06 * abs(high) or 0.5)
        has_floor = low >= 0.0 and not is_log
        self._ranges = ((0.0, duration or 1.0), (max(low - margin, 0.0) if has_floor else low - margin, high + margin))
        self._forget()

    def show_mark(self, seconds: float) -> None:
        """Put the mark elsewhere."""
        self._mark = seconds
        if abs(self._x(seconds) - self._x(self._drawn_mark)) >= 0.5:
            for time in (self._drawn_mark, seconds):
                self.update(round(self._x(time)) - 2, 0, 4, self.height())
            self._drawn_mark = seconds

    def place_of(self, seconds: float) -> QPointF:
        """Where an instant lies, in the middle of the height."""
        area = self._area()
        return QPointF(self._x(seconds), area.center().y())

    def time_at(self, place: QPointF) -> float | None:
        """The instant under a place; None beside the lines."""
        area = self._area()
        return (
            (place.x() - area.left()) / area.width() * self._ranges[0][1]
            if area.contains(place) and self.lines
            else None
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Copy the lines, draw the mark."""
        ratio = self.devicePixelRatioF()
        if self._drawn is None or self._drawn.devicePixelRatio() != ratio:
            self._drawn = QPixmap(self.size() * ratio)
            self._drawn.setDevicePixelRatio(ratio)
            self._draw(self._drawn)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._drawn)
        area = self._area()
        painter.setPen(QPen(MARK, 1.0))
        painter.drawLine(
            QPointF(self._x(self._drawn_mark), area.top()), QPointF(self._x(self._drawn_mark), area.bottom())
        )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click chooses an instant."""
        seconds = self.time_at(event.position()) if event.button() == Qt.MouseButton.LeftButton else None
        if seconds is not None:
            self.chosen.emit(seconds)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Draw anew."""
        super().resizeEvent(event)
        self._forget()

    def changeEvent(self, event: QEvent) -> None:
        """Other fonts or colours: draw anew."""
        super().changeEvent(event)
        self._forget()

    # -- drawing --------------------------------------------------------------------------------------------------
    def _forget(self) -> None:
        self._drawn = None
        self.update()

    def _area(self) -> QRectF:
        right = RIGHT + (LETTER_WIDTH if self._keeps_letters or any(line.letter for line in self.lines) else 0)
        top = TOP if self._title else TOP_UNTITLED
        return QRectF(LEFT, top, max(self.width() - LEFT - right, 1), max(self.height() - top - BOTTOM, 1))

    def _x(self, seconds: float) -> float:
        return LEFT + min(max(seconds / self._ranges[0][1], 0.0), 1.0) * self._area().width()

    def _draw(self, picture: QPixmap) -> None:
        palette, area = self.palette(), self._area()
        picture.fill(palette.color(QPalette.ColorRole.Base))
        painter = QPainter(picture)
        painter.setFont(self.font())
        self._draw_axes(painter, area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(area.adjusted(-1, -1, 1, 1))
        for line in self.lines:
            pen = QPen(QColor(line.color), 1.0 if line.is_old else 2.0)
            pen.setStyle(line.style)
            painter.setPen(pen)
            for run in runs(line):
                points = self._points(run, area)
                if len(points) > 1:
                    painter.drawPolyline(points)
                if line.mark_every:
                    for place in points[line.first_mark(len(points)) :: line.mark_every]:
                        painter.fillPath(mark(line.letter, place), QColor(line.color))
                elif len(points) == 1:
                    dot = QPainterPath()
                    dot.addEllipse(points[0], *(DOT_RADIUS[line.is_old],) * 2)
                    painter.fillPath(dot, QColor(line.color))
        painter.setClipping(False)
        for letter, place in self.letter_places().items():
            painter.setPen(palette.color(QPalette.ColorRole.Text))
            painter.drawText(place, letter)
        painter.end()

    def letter_places(self) -> dict[str, QPointF]:
        """Where each letter begins: right of its line's last value, and not upon another letter."""
        area, places = self._area(), {}
        ends = []
        for line in self.lines:
            if line.letter:
                last = self._points(runs(line)[-1], area)[-1]
                ends.append((last.y(), last.x(), line.letter))
        lowest = area.bottom()
        for y, x, letter in sorted(ends, reverse=True):
            lowest = min(y + LETTER_HEIGHT / 3, lowest)
            places[letter] = QPointF(x + 4, lowest)
            lowest -= LETTER_HEIGHT
        return places

    def _points(self, line: Line, area: QRectF) -> list[QPointF]:
        """The line in pixels; where several values share a pixel's column, the least and the greatest of them."""
        (start, end), (low, high) = self._ranges
        x = area.left() + (line.times - start) / (end - start) * area.width()
        y = area.bottom() - (line.values - low) / (high - low) * area.height()
        if len(x) > 2 * area.width():
            first = np.flatnonzero(np.diff(np.floor(x), prepend=-1.0))
            x = np.repeat(x[first], 2)
            y = np.stack([np.minimum.reduceat(y, first), np.maximum.reduceat(y, first)], axis=1).reshape(-1)
        return [QPointF(*point) for point in zip(x.tolist(), y.tolist(), strict=True)]

    def _draw_axes(self, painter: QPainter, area: QRectF) -> None:
        """The title, and numbers along both axes with lines across."""
        (start, end), (low, high) = self._ranges
        text, metrics = self.palette().color(QPalette.ColorRole.Text), painter.fontMetrics()
        painter.setPen(text)
        painter.drawText(QPointF(4, metrics.ascent() + 2), self._title)
        count = round(area.height() / TICK_HEIGHT)
        for value in log_ticks(low, high, count) if self.is_log else ticks(low, high, count):
            number = f"{10.0**value:.6g}" if self.is_log else f"{value:g}"
            y = area.bottom() - (value - low) / (high - low) * area.height()
            painter.fillRect(
                QRect(LEFT, round(y), round(area.width()), 1), GRID
            )  # a line of half a pixel costs ten times as much
            painter.drawText(
                QPointF(area.left() - 5 - metrics.horizontalAdvance(number), y + 0.35 * metrics.ascent()), number
            )
        for value in ticks(start, end, round(area.width() / TICK_WIDTH)):
            x, number = self._x(value), f"{value:g} s"
            painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3))
            left = min(x - metrics.horizontalAdvance(number) / 2, self.width() - metrics.horizontalAdvance(number) - 1)
            painter.drawText(QPointF(left, area.bottom() + metrics.ascent() + 4), number)


def mark(letter: str, place: QPointF) -> QPainterPath:
    """The shape of a letter's values: A a disc, B a square, C a triangle, D a diamond, and the next four again."""
    shape, r = QPainterPath(), MARK_RADIUS
    corners = CORNERS[(ord(letter or "A") - ord("A")) % len(CORNERS)]
    if corners:
        shape.addPolygon(QPolygonF([place + QPointF(x * r, y * r) for x, y in (*corners, corners[0])]))
    else:
        shape.addEllipse(place, r, r)
    return shape


def runs(line: Line) -> list[Line]:
    """The parts of a line between its gaps."""
    known = np.flatnonzero(np.isfinite(line.values))
    parts = np.split(known, np.flatnonzero(np.diff(known) > 1) + 1)
    return [dataclasses.replace(line, times=line.times[part], values=line.values[part]) for part in parts if len(part)]


def ticks(low: float, high: float, count: int) -> list[float]:
    """Round values within a range, at most about `count` of them."""
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0.0 else 1.0
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * (1.0 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def logarithms(values: np.ndarray) -> np.ndarray:
    """To the base of 10; not a number where there is none."""
    found = np.full(len(values), np.nan)
    is_positive = np.isfinite(values) & (values > 0.0)
    found[is_positive] = np.log10(values[is_positive])
    return found


def log_ticks(low: float, high: float, count: int) -> list[float]:
    """Logarithms of round numbers within a range of logarithms: 1, 2 and 5 of each power of ten, or where these are
    more than `count` the powers alone, or some of them."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    for factors, every in (((1.0, 2.0, 5.0), 1), ((1.0,), 1), ((1.0,), 2), ((1.0,), 4)):
        found = [power + math.log10(factor) for power in powers if power % every == 0 for factor in factors]
        found = [value for value in found if low - 1e-9 <= value <= high + 1e-9]
        if len(found) <= max(count, FEWEST_LOG_TICKS):
            break
    return found

"""The cells of figures that have changed, painted by themselves: where several rows are to be painted, Qt's tree paints
all their cells, names too. What is seen is the same to the pixel (tests/app/ui/panels/test_stats_table.py)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QFontMetricsF, QPainter, QPaintEvent, QPalette, QRegion
from PySide6.QtWidgets import QStyle, QTreeWidget, QTreeWidgetItem

from raygrove.app.frames.frame_history import OTHER
from raygrove.app.ui.colors import phase_color
from raygrove.app.ui.panels.stats_row import Row
from raygrove.app.ui.panels.value_cells import SHORT, widened

NAME, VALUE, SPREAD, BAR = range(4)
"""The columns."""


class FigureCells:
    """Those of a table whose rows of a key `place_of` finds; `heading` makes the font of headings of the table's. `add`
    says what has to be painted, `paint` paints it where nothing else has to be."""

    def __init__(self, table: QTreeWidget, place_of: Callable[[str], QRect], heading: Callable[[QFont], QFont]) -> None:
        self._table, self._place_of, self._heading = table, place_of, heading
        self._waiting: dict[str, Row] = {}
        self._area = QRegion()

    def forget(self) -> None:
        """The next painting is the tree's own, of whatever it is: rows have moved, or are others."""
        self._waiting.clear()
        self._area = QRegion()

    def add(self, changed: Sequence[tuple[Row, Row]]) -> QRegion:
        """Where rows, as they were and as they are, have to be painted anew: from where their values begin."""
        area, first, pens = QRegion(), self._table.columnViewportPosition(VALUE), self._pens()
        for old, row in changed:
            place = self._place_of(row.key)
            if place.isEmpty():
                continue
            left = first
            if len(old.value) > SHORT or len(row.value) > SHORT:
                left = min(pens[not row.parent].room_of(one, place).left() for one in (old, row))
            place.setLeft(left)
            area += place
            self._waiting[row.key] = row
        self._area += area
        return area

    def paint(self, event: QPaintEvent) -> bool:
        """Paint what was added; False where more than that is to be painted, or a row looks otherwise than others."""
        waiting, area, marked = dict(self._waiting), self._area, self._table.currentItem()
        self.forget()
        if marked is not None and (marked.isSelected() or self._table.hasFocus()) and key_of(marked) in waiting:
            return False
        if not waiting or not event.region().subtracted(area).isEmpty():
            return False
        pens = self._pens()
        with QPainter(self._table.viewport()) as painter:
            painter.setPen(self._table.palette().color(QPalette.ColorRole.Text))
            for row in waiting.values():
                place = self._place_of(row.key)
                pens[not row.parent].write(painter, row.value, pens[not row.parent].room_of(row, place))
                if row.spread:
                    pens[False].write(painter, row.spread, pens[False].cell(SPREAD, place))
                if row.share is not None:
                    draw_share(painter, pens[False].cell(BAR, place), row.share, row.part)
        return True

    def _pens(self) -> tuple[_Pen, _Pen]:
        """For rows under headings, and for headings."""
        font = self._table.font()
        return _Pen(self._table, font), _Pen(self._table, self._heading(font))


class _Pen:
    """Writes in a font in the columns of a table as they are now."""

    def __init__(self, table: QTreeWidget, font: QFont) -> None:
        self._font, self._metrics, self._exact = font, QFontMetrics(font), QFontMetricsF(font)
        self._columns = [(table.columnViewportPosition(column), table.columnWidth(column)) for column in range(4)]
        self._margin = table.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, table) + 1

    def cell(self, column: int, place: QRect) -> QRect:
        """A cell of the row at a place."""
        left, wide = self._columns[column]
        return QRect(left, place.top(), wide, place.height())

    def room_of(self, row: Row, place: QRect) -> QRect:
        """Where a row's value is drawn: its cell, and what it needs beside it."""
        cell, wide = self.cell(VALUE, place), self._metrics.horizontalAdvance
        if len(row.value) <= SHORT:
            return cell
        beside = 0 if row.spread else self._columns[SPREAD][1]
        return widened(cell, wide(row.value), beside, lambda: cell.left() - place.left() - wide(row.name))

    def write(self, painter: QPainter, text: str, room: QRect) -> None:
        """A text at the right of its room, cut where it is wider."""
        most, wide = room.width() - 2 * self._margin, self._exact.horizontalAdvance(text)
        if wide > most:
            text = self._exact.elidedText(text, Qt.TextElideMode.ElideRight, most)
            wide = self._exact.horizontalAdvance(text)
        painter.setFont(self._font)
        top = room.top() + room.height() // 2 - math.ceil(self._exact.height()) // 2  # as Qt halves lines and rooms
        painter.drawText(QPointF(room.right() + 1 - self._margin - wide, top + self._metrics.ascent()), text)


def draw_share(painter: QPainter, cell: QRect, share: float, part: str) -> None:
    """What share of the frame a part has: a bar from the left, as long as its share."""
    area = QRectF(cell).adjusted(4, 5, -2, -5)
    area.setWidth(max(area.width() * min(share, 1.0), 1.0))
    painter.fillRect(area, brush_of(part))


def brush_of(part: str) -> QBrush:
    """The colour of a part; what belongs to no phase is hatched."""
    return _brush(phase_color(part).name(), part == OTHER)


@functools.lru_cache(maxsize=32)  # of two themes
def _brush(color: str, is_hatched: bool) -> QBrush:
    return QBrush(QColor(color), Qt.BrushStyle.BDiagPattern if is_hatched else Qt.BrushStyle.SolidPattern)


def key_of(item: QTreeWidgetItem) -> str:
    """The key of the row that an item shows."""
    return str(item.data(NAME, Qt.ItemDataRole.UserRole))

"""The table of the statistics: rows under headings that open and close, a range beside each median, and the phases as
bars of the frame. Rows keep their places; it is worked by the keys, and a screen reader reads it cell by cell."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QFont, QIcon, QKeyEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from raygrove.app.frames.frame_history import PARTS
from raygrove.app.ui.panels.figure_cells import BAR, NAME, SPREAD, VALUE, FigureCells, brush_of, draw_share, key_of
from raygrove.app.ui.panels.stats_row import DASH, Row
from raygrove.app.ui.panels.value_cells import Values
from raygrove.app.ui.plain_text import tip

OPEN_AT_FIRST = {"frame", "update", "rate", "structure", "memory"}
ROW_HEIGHT, TEXT = 20, 12
VALUE_WIDTH, SPREAD_WIDTH, BAR_WIDTH = 68, 96, 30

OWN_KEYS = (
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End),
    *(Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_Asterisk),
)
"""Keys that move in the table and open its rows; elsewhere in the window they are the timeline's."""

Role = Qt.ItemDataRole
NONE = Row("", "", "")
"""Before a row is shown for the first time."""


class StatsTable(QTreeWidget):
    """See the module."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rows")
        self.setAccessibleName(self.tr("Figures"))
        self.setColumnCount(4)
        self.setUniformRowHeights(True)
        self.setIndentation(12)
        self.setFont(table_font(self.font()))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows: list[Row] = []
        self._items: dict[str, QTreeWidgetItem] = {}
        self._icons: dict[str, QIcon] = {}
        self.name_columns("")
        header = self.header()
        header.setFont(table_font(self.font(), 11))
        header.setSectionsClickable(False)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(8)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in ((VALUE, VALUE_WIDTH), (SPREAD, SPREAD_WIDTH), (BAR, BAR_WIDTH)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, width)
        self._figures = FigureCells(self, self.place_of, heading_font)
        self.setItemDelegateForColumn(VALUE, Values(self))
        self.setItemDelegateForColumn(BAR, Shares(self))

    def name_columns(self, frame: str) -> None:
        """Say above the columns what they hold: medians of the last second, or the figures of one frame."""
        titles = [self.tr("median"), self.tr("range, 1 s")] if not frame else [frame, ""]
        self.setHeaderLabels(["", *titles, ""])
        for column in (VALUE, SPREAD):
            self.headerItem().setToolTip(
                column,
                self.tr(
                    "Medians and ranges of the last second. Those of the phases are of the frames in the middle by "
                    "their time, so that they add up."
                ),
            )
            self.headerItem().setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def show_rows(self, rows: list[Row]) -> None:
        """Change texts in place, and paint once, no rows but those that have changed. Rows that are missing keep their
        places, with dashes; only other rows than before make the table anew."""
        rows = merged(self.rows, rows)
        if [row.key for row in rows] != list(self._items):
            self._make_items(rows)
            self.rows = []
        before = {row.key: row for row in self.rows}
        changed = [(before.get(row.key, NONE), row) for row in rows if row != before.get(row.key)]
        is_new, self.rows = not self.rows, rows
        blocker = QSignalBlocker(self.model())  # each text alone would be a reason to paint
        for old, row in changed:
            self._show_row(self._items[row.key], row, old)
        del blocker
        self._paint_anew(None if is_new else changed)

    def _paint_anew(self, changed: list[tuple[Row, Row]] | None) -> None:
        """Paint rows whose texts have changed, from where their values begin; None: all of it."""
        if changed is None:
            self._figures.forget()
            self.viewport().update()
            return
        self.viewport().update(self._figures.add(changed))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Figures that have changed, by themselves where nothing else is to be painted."""
        if not self._figures.paint(event):
            super().paintEvent(event)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Rows have other places."""
        self._figures.forget()
        super().scrollContentsBy(dx, dy)

    def place_of(self, key: str) -> QRect:
        """Where a row is drawn; empty while it is closed away."""
        return self.visualItemRect(self._items[key])

    def clear_rows(self) -> None:
        """No rows."""
        self.rows = []
        self._figures.forget()
        self._items.clear()
        self.clear()

    def sizeHint(self) -> QSize:
        """Room for the frame's phases."""
        return QSize(300, ROW_HEIGHT * (len(PARTS) + 6))

    def event(self, event: QEvent) -> bool:
        """Keys that move in the table are not the timeline's while it has the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.key() in OWN_KEYS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
                event.accept()
                return True
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_icons"):
            self._icons.clear()
            for row in self.rows:
                if row.part:
                    self._items[row.key].setIcon(NAME, self._icon_of(row.part))

    # -- rows -----------------------------------------------------------------------------------------------------
    def _show_row(self, item: QTreeWidgetItem, row: Row, before: Row) -> None:
        """Change what has changed."""
        if row.value != before.value:
            item.setText(VALUE, row.value)
        if row.spread != before.spread:
            item.setText(SPREAD, row.spread)
        if row.share != before.share:
            item.setData(BAR, Role.UserRole, (row.share, row.part) if row.share is not None else None)
        if row.tip != before.tip:
            item.setToolTip(NAME, row.tip)
        if row.spread:
            return
        if (row.value, row.tip, row.spread) != (before.value, before.tip, before.spread):  # it may be cut
            item.setToolTip(VALUE, tip(f"{row.value}\n{row.tip}" if row.tip else row.value))

    def _make_items(self, rows: list[Row]) -> None:
        is_open = {key: item.isExpanded() for key, item in self._items.items() if item.childCount()}
        current = self.currentItem()
        chosen = key_of(current) if current is not None else None
        self._items.clear()
        self.clear()
        for row in rows:
            above = self._items.get(row.parent)
            item = QTreeWidgetItem(self if above is None else above, [row.name])
            for column in (VALUE, SPREAD):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setSizeHint(NAME, QSize(0, ROW_HEIGHT))
            item.setData(NAME, Role.UserRole, row.key)
            if row.part:
                item.setIcon(NAME, self._icon_of(row.part))
            if above is None:
                for column in (NAME, VALUE):
                    item.setFont(column, heading_font(self.font()))
            self._items[row.key] = item
        for key, item in self._items.items():
            item.setExpanded(is_open.get(key, key in OPEN_AT_FIRST))
        if chosen in self._items:
            self.setCurrentItem(self._items[chosen])

    def _icon_of(self, part: str) -> QIcon:
        """A square of a part's colour."""
        if part not in self._icons:
            pixmap = QPixmap(10, 10)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.fillRect(0, 0, 10, 10, brush_of(part))
            painter.end()
            self._icons[part] = QIcon(pixmap)
        return self._icons[part]


class Shares(QStyledItemDelegate):
    """Draws what share of the frame a part has; the cell's user data are the share and the part."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """A bar from the left, as long as its share."""
        found = index.data(Role.UserRole)
        if found is None:
            if option.state & QStyle.StateFlag.State_Selected:  # type: ignore[attr-defined]
                super().paint(painter, option, index)
            return
        super().paint(painter, option, index)
        draw_share(painter, option.rect, *found)  # type: ignore[attr-defined]


def table_font(font: QFont, pixels: int = TEXT, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """The font of tables: digits of one width where the font has them."""
    found = QFont(font)
    found.setPixelSize(pixels)
    found.setWeight(weight)
    found.setFeature(QFont.Tag("tnum"), 1)
    return found


def heading_font(font: QFont) -> QFont:
    """That of rows that head others."""
    return table_font(font, weight=QFont.Weight.DemiBold)


def merged(before: list[Row], rows: list[Row]) -> list[Row]:
    """The rows, and those of before that are missing at their places, with a dash for what is not there now. Rows
    of before whose parent is neither there go."""
    there = {row.key for row in rows}
    known = {row.key for row in before}
    if not before or known <= there:
        return rows
    found, places = list(rows), {row.key: place for place, row in enumerate(rows)}
    for number, row in enumerate(before):
        if row.key in there or (row.parent and row.parent not in there | known):
            continue
        above = before[number - 1].key if number else ""
        place = places[above] + 1 if above in places else len(found)
        found.insert(place, row._replace(value=DASH, spread="", share=None))
        places = {one.key: at for at, one in enumerate(found)}
    return found

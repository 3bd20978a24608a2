"""A table of texts: a model without items, so that thousands of rows cost what is seen of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class TextRows(QAbstractTableModel):
    """Rows of texts under titles with tips; `marked` rows are bold. All but the first column stand at the right."""

    def __init__(self, titles: Sequence[tuple[str, str]], parent: QWidget) -> None:
        super().__init__(parent)
        self._titles = tuple(titles)
        self.rows: tuple[tuple[str, ...], ...] = ()
        self.marked: frozenset[int] = frozenset()

    def entitle(self, column: int, title: str, tip: str) -> None:
        """Another title of a column."""
        self._titles = (*self._titles[:column], (title, tip), *self._titles[column + 1 :])
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, column, column)

    def take(self, rows: Sequence[Sequence[str]]) -> None:
        """Other rows, none of them marked."""
        self.beginResetModel()
        self.rows, self.marked = tuple(tuple(row) for row in rows), frozenset()
        self.endResetModel()

    def mark(self, places: frozenset[int]) -> None:
        """Make these rows bold."""
        self.marked = places
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(self._titles) - 1))

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        title, tip = self._titles[section]
        return {Qt.ItemDataRole.DisplayRole: title, Qt.ItemDataRole.ToolTipRole: tip}.get(Qt.ItemDataRole(role))

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() > 0:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.FontRole and index.row() in self.marked:
            font = QFont()
            font.setBold(True)
            return font
        return None


class TextTable(QTableView):
    """See the module. `row_chosen` carries the row that is selected."""

    row_chosen = Signal(int)

    def __init__(self, name: str, titles: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = TextRows(titles, self)
        self.setModel(self.rows)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 6)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.selectionModel().currentRowChanged.connect(lambda now, before: self._tell(now))

    def fill_width(self) -> None:
        """The first column takes what the others leave, so that the last ends where the table does."""
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Show these; columns are as wide as what they hold."""
        head = self.horizontalHeader()
        fills = head.sectionResizeMode(0) == QHeaderView.ResizeMode.Stretch
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        if fills:
            self.fill_width()
        self.rows.take(rows)

    def show_newer(self, rows: Sequence[Sequence[str]], chosen: int | None) -> None:
        """The same rows some moments later, of which one is `chosen`, many times a second: columns get wider and never
        narrower, and what is seen stays where it is. Nobody chose anything: `row_chosen` is not told."""
        place = self.verticalScrollBar().value()
        widths = [self.columnWidth(column) for column in range(self.rows.columnCount())]
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        with QSignalBlocker(self):
            self.rows.take(rows)
            if chosen is not None:
                self.selectRow(chosen)
        for column, width in enumerate(widths):
            wanted = self._width_of(rows, column)
            if wanted > width:
                self.setColumnWidth(column, wanted)
        self.verticalScrollBar().setValue(place)

    def _width_of(self, rows: Sequence[Sequence[str]], column: int) -> int:
        """Pixels that the longest text of a column takes: each asked of the view, as Qt does, is a tenth of a second of
        200 rows."""
        longest = max((row[column] for row in rows), key=len, default="")
        return self.fontMetrics().horizontalAdvance(longest) + 2 * self.fontMetrics().averageCharWidth()

    def _tell(self, now: QModelIndex) -> None:
        if now.isValid():
            self.row_chosen.emit(now.row())

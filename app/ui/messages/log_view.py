"""Lines of the log in a view: all that is kept of one is its entry, and what is seen is laid out. A text edit keeps the
layout of each line, 4.3 KiB (Qt 6.11): 8 MiB of the lines that there may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPalette, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QTreeView, QWidget

from raygrove.app.document.log import LIMIT, Entry

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class LogLines(QAbstractListModel):
    """The newest entries as rows; errors have a colour of their own."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = parent
        self.entries: list[Entry] = []

    def take(self, entries: Sequence[Entry]) -> None:
        """Other entries."""
        self.beginResetModel()
        self.entries = list(entries)
        self.endResetModel()

    def add(self, entry: Entry) -> None:
        """One more; of as many as there may be the first goes."""
        count = len(self.entries)
        if count == LIMIT:
            self.beginRemoveRows(_NOWHERE, 0, 0)
            del self.entries[0]
            self.endRemoveRows()
            count -= 1
        self.beginInsertRows(_NOWHERE, count, count)
        self.entries.append(entry)
        self.endInsertRows()

    def change_last(self, entry: Entry) -> None:
        """Another one in the last one's place."""
        self.entries[-1] = entry
        last = self.index(len(self.entries) - 1)
        self.dataChanged.emit(last, last)

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.line
        if role == Qt.ItemDataRole.ForegroundRole and entry.kind == "error":
            return self._view.palette().brush(QPalette.ColorRole.BrightText)
        return None


class LogView(QTreeView):
    """See the module. The newest line is seen, unless somebody has scrolled back; what is selected can be copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines = LogLines(self)
        self.setModel(self.lines)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.header().setStretchLastSection(False)
        self.take(())

    def take(self, entries: Sequence[Entry]) -> None:
        """Show these."""
        self.lines.take(entries)
        self.setColumnWidth(0, 0)
        self._widen(max((entry.line for entry in entries), key=len, default=""))
        self.scrollToBottom()

    def add(self, entry: Entry, is_again: bool) -> None:
        """One more, or in the last one's place."""
        bar = self.verticalScrollBar()
        is_at_end = bar.value() == bar.maximum()
        if is_again and self.lines.entries:
            self.lines.change_last(entry)
        else:
            self.lines.add(entry)
        self._widen(entry.line)
        if is_at_end and self.isVisible():
            self.scrollToBottom()

    def text(self) -> str:
        """All that is shown."""
        return "\n".join(entry.line for entry in self.lines.entries)

    def copy(self) -> None:
        """Copy the lines that are selected."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        if rows:
            QGuiApplication.clipboard().setText("\n".join(self.lines.entries[row].line for row in rows))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt would copy the last of the lines alone."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin with the newest line."""
        super().showEvent(event)
        self.scrollToBottom()

    def _widen(self, line: str) -> None:
        """Give the column room for a line: Qt would ask for the width of each."""
        wanted = self.fontMetrics().horizontalAdvance(line) + 2 * self.fontMetrics().averageCharWidth()
        self.setColumnWidth(0, max(self.columnWidth(0), wanted))

"""How a table of figures shows a value that is wider than its column: over the empty cell to its right, then over what
its name leaves free to its left."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTreeView

SHORT = 8
"""Letters that a cell has room for, as those of "4.120 ms"."""

MARGIN = 4
"""Pixels that a style leaves at each side of the text of a cell."""


class Values(QStyledItemDelegate):
    """See the module. For the second column; a wider value ends where the third one does, where that is empty."""

    def __init__(self, tree: QTreeView) -> None:
        super().__init__(tree)
        self._tree = tree

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the value in the room that it has. Most have enough in their cell, and are drawn often."""
        if len(index.data() or "") <= SHORT:
            super().paint(painter, option, index)
            return
        roomy = QStyleOptionViewItem(option)
        roomy.rect = self.room_of(index, option.rect)  # type: ignore[attr-defined]
        super().paint(painter, roomy, index)

    def room_of(self, index: QModelIndex | QPersistentModelIndex, cell: QRect) -> QRect:
        """Where the value of a row is drawn: its cell, and as much beside it as it needs and is free."""
        font = index.data(Qt.ItemDataRole.FontRole)  # headings are bold
        metrics = QFontMetrics(font) if isinstance(font, QFont) else self._tree.fontMetrics()
        room = QRect(cell)
        needed = metrics.horizontalAdvance(str(index.data() or "")) + 2 * MARGIN
        if needed > room.width() and not index.sibling(index.row(), index.column() + 1).data():
            room.setRight(room.right() + self._tree.columnWidth(index.column() + 1))
        if needed > room.width():
            name = self._tree.visualRect(index.sibling(index.row(), 0))
            free = name.width() - metrics.horizontalAdvance(str(index.sibling(index.row(), 0).data())) - 3 * MARGIN
            room.setLeft(room.left() - max(0, min(needed - room.width(), free)))
        return room

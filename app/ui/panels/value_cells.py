"""How a table of figures shows a value that is wider than its column: over the empty cell to its right, then over what
its name leaves free to its left."""

from __future__ import annotations

from collections.abc import Callable

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
        is_free = not index.sibling(index.row(), index.column() + 1).data()
        name = index.sibling(index.row(), 0)
        return widened(
            cell,
            metrics.horizontalAdvance(str(index.data() or "")),
            self._tree.columnWidth(index.column() + 1) if is_free else 0,
            lambda: self._tree.visualRect(name).width() - metrics.horizontalAdvance(str(name.data())),
        )


def widened(cell: QRect, wide: int, beside: int, left: Callable[[], int]) -> QRect:
    """The room of a value of so many pixels: its cell, `beside` pixels to its right where it needs them, and of those
    that its name leaves to its left as many as it needs."""
    room, needed = QRect(cell), wide + 2 * MARGIN
    if needed > room.width():
        room.setRight(room.right() + beside)
    if needed > room.width():
        room.setLeft(room.left() - max(0, min(needed - room.width(), left() - 3 * MARGIN)))
    return room

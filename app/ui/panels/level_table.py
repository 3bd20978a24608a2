"""The tree level by level, and beside it that of another configuration over the same triangles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLineEdit, QPushButton, QTableView, QVBoxLayout, QWidget

from raygrove.app.ui.plain_text import Label
from raygrove.gpu.brief import filled, percent
from raygrove.gpu.errors import Error

if TYPE_CHECKING:
    from raygrove.gpu.analysis.tree_levels import Level, Levels

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
ROWS = 8
"""Rows that are seen without scrolling."""


class LevelModel(QAbstractTableModel):
    """A row a level, each figure of all trees side by side: A's, then B's."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.trees: tuple[Levels, ...] = ()
        self._titles = (self.tr("Nodes"), self.tr("Leaves"), self.tr("SAH"), self.tr("Boxes met"), self.tr("Overlap"))

    def show_trees(self, trees: tuple[Levels, ...]) -> None:
        """Others than before."""
        self.beginResetModel()
        self.trees = trees
        self.endResetModel()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else max((len(tree.levels) for tree in self.trees), default=0)

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        return len(self._titles) * len(self.trees)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        if role != Qt.ItemDataRole.DisplayRole or not self.trees:
            return None
        if orientation == Qt.Orientation.Vertical:
            return str(section)
        title = self._titles[section // len(self.trees)]
        return title if len(self.trees) == 1 else f"{title} {'AB'[section % len(self.trees)]}"

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        levels = self.trees[index.column() % len(self.trees)].levels
        row = levels[index.row()] if index.row() < len(levels) else None
        return "–" if row is None else cells(row)[index.column() // len(self.trees)]


class LevelTable(QWidget):
    """See the module. `ask` puts a question to an Inspector and hands over the answer."""

    def __init__(
        self, ask: Callable[[Callable[[Any], Any], Callable[[Any], None]], None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("levels_beside")
        self._ask = ask
        self.other, self.compare = QLineEdit(self), QPushButton(self.tr("Levels"), self)
        self.other.setPlaceholderText(self.tr("Beside it: a configuration, as lbvh/bvh2"))
        self.other.setAccessibleName(self.tr("Configuration whose tree is put beside this one"))
        self.compare.setToolTip(self.tr("Count the tree level by level, and the other one, which is built for that"))
        self.compare.clicked.connect(self.count)
        self.other.returnPressed.connect(self.count)
        self.sentence, self.model, self.view = Label(self), LevelModel(self), QTableView(self)
        self.sentence.setWordWrap(True)
        self.view.setModel(self.model)
        self.view.setAccessibleName(self.tr("Levels of the tree"))
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.view.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 4)
        self.view.setFixedHeight((ROWS + 1) * (self.fontMetrics().height() + 6))
        row, column = QHBoxLayout(), QVBoxLayout(self)
        row.addWidget(self.other, 1)
        row.addWidget(self.compare)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        column.addWidget(self.sentence)
        column.addWidget(self.view)
        self.clear()

    def clear(self) -> None:
        """Nothing is known."""
        self._show(())

    def count(self) -> None:
        """Ask for the levels, and for those of the configuration that is typed."""
        beside = self.other.text().strip()

        def question(inspector: Any) -> Any:
            try:
                return inspector.levels(beside)
            except (Error, LookupError) as error:
                return [str(error)]

        self._ask(question, self._take)

    def _take(self, found: Any) -> None:
        if isinstance(found, list):
            self.clear()
            self.sentence.setText(found[0])
            self.sentence.show()
        else:
            self._show(found)

    def _show(self, trees: tuple[Levels, ...]) -> None:
        self.model.show_trees(trees)
        self.view.setVisible(bool(trees))
        self.sentence.setVisible(bool(trees))
        lines = [
            " ".join(
                [
                    f"{letter} {tree.name}: SAH cost {tree.sah_cost:.4g},",
                    filled("{count} levels", count=len(tree.levels)),
                    tree.said_of_layout,
                ]
            ).rstrip()  # fmt: skip
            for letter, tree in zip("AB", trees, strict=False)
        ]
        self.sentence.setText("\n".join(lines))


def cells(row: Level) -> tuple[str, ...]:
    """A level in words: nodes, leaves, its part of the SAH cost, boxes that a ray meets, overlap."""
    overlap = "–" if row.overlap is None else percent(row.overlap, 1)
    return f"{row.nodes:,}", f"{row.leaves:,}", f"{row.sah:.3f}", f"{row.area:.2f}", overlap

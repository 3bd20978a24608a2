"""The structure as a tree to open, node by node: how much of the whole each is, and how well its children lie. Nodes
are asked of the target as they are opened."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.ui.panels.level_table import LevelTable
from raygrove.app.ui.panels.tree_model import NUMBERS, TreeModel
from raygrove.app.ui.widgets.roomy_label import RoomyLabel

if TYPE_CHECKING:
    from raygrove.gpu.analysis.tree_rows import TreeNode, TreeRows, TreeWay

Ask = Callable[[Callable[[Any], Any], Callable[[Any], None]], None]
"""Puts a question to an Inspector, and hands over the answer; None where there is no picture, a sentence where the
structure does not tell."""

WAYS = ("node", "primitive", "box")
FIRST = (120, 240)
"""Pixels of the first column: at first, and at the most, as numbers and levels need more."""


class TreePanel(QWidget):
    """See the module. `node_chosen` carries the TreeNode that is chosen, or None; `ray_wanted` asks for the node that
    the ray debugger is at, `build_wanted` for the step that made the one that is chosen; `seen` tells that the panel is
    shown."""

    node_chosen = Signal(object)
    ray_wanted, build_wanted, seen = Signal(), Signal(), Signal()

    def __init__(self, ask: Ask, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tree")
        self._ask_now = ask
        self._waiting: deque[tuple[Callable[[Any], Any], Callable[[Any], None]]] = deque()
        self._is_asking = False
        self.is_old = True
        self.usual = self.tr(
            "Area: of the root's, how likely a ray meets the box. SAH: its part of the tree's cost. "
            "Visits: of the rays that Hot spots counted. Overlap: surface that its children share."
        )
        self.hint = RoomyLabel(self.usual, self)
        self.model = TreeModel(self)
        self.model.wanted.connect(self._want_page)
        self.view = QTreeView(self)
        self.view.setModel(self.model)
        self.view.setUniformRowHeights(True)
        self.view.setIndentation(12)
        self.view.setAccessibleName(self.tr("Nodes of the structure"))
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.view.header().setStretchLastSection(False)  # the boxes, which are long: all of them, by scrolling
        self.view.header().setSectionResizeMode(self.model.columnCount() - 1, QHeaderView.ResizeMode.ResizeToContents)
        self.view.header().resizeSection(0, FIRST[0])
        for opened in (self.model.rowsInserted, self.view.expanded):
            opened.connect(lambda *of: self._widen())
        wide = self.fontMetrics().horizontalAdvance
        for column in NUMBERS:
            self.view.header().resizeSection(column, max(wide(self.model.titles[column]), wide("100.0 %")) + 14)
        self.view.selectionModel().currentChanged.connect(lambda now, before: self._choose(now))
        self.way, self.number = QComboBox(self), QLineEdit(self)
        self.way.addItems([self.tr("Node"), self.tr("Primitive"), self.tr("Box")])
        self.way.setAccessibleName(self.tr("What is searched for"))
        self.number.setAccessibleName(self.tr("Number or box to search for"))
        self.way.currentIndexChanged.connect(self._show_way_of_search)
        self._show_way_of_search()
        self.number.returnPressed.connect(self.search)
        self.find_it, self.from_ray = QPushButton(self.tr("Find"), self), QPushButton(self.tr("Node of the ray"), self)
        self.find_it.clicked.connect(self.search)
        self.from_ray.clicked.connect(self.ray_wanted)
        self.from_ray.setToolTip(self.tr("Go to the node that the ray debugger shows"))
        self.how_made = QPushButton(self.tr("How it was made"), self)
        self.how_made.setToolTip(self.tr("Go to the step that made this node, in the panel Build"))
        self.how_made.setEnabled(False)
        self.how_made.clicked.connect(self.build_wanted)
        self.levels = LevelTable(self.ask, self)
        row, jumps, rows = QHBoxLayout(), QHBoxLayout(), QVBoxLayout(self)
        for widget in (self.way, self.number, self.find_it):
            row.addWidget(widget)
        for button in (self.from_ray, self.how_made):
            jumps.addWidget(button)
        jumps.addStretch(1)
        rows.setContentsMargins(6, 6, 6, 6)
        rows.addWidget(self.hint)
        rows.addLayout(row)
        rows.addWidget(self.view, 1)
        rows.addLayout(jumps)
        rows.addWidget(self.levels)
        self.explain()

    @property
    def chosen(self) -> int | None:
        """The number of the node that is chosen."""
        row = self.model.row_of(self.view.currentIndex())
        return row.node.id if row is not None else None

    def explain(self, sentence: str = "") -> None:
        """Say what the columns are, or something else."""
        self.hint.setText(sentence or self.usual)

    def clear(self) -> None:
        """Another scene: nothing is known of its tree."""
        self._waiting.clear()
        self.is_old = True
        self.model.begin(None)
        self.how_made.setEnabled(False)
        self.levels.clear()
        self.node_chosen.emit(None)

    def mark_old(self) -> None:
        """The picture's tree is another one, or will be."""
        if not self.is_old:
            self.is_old = True
            self.explain(self.tr("The tree has changed; it is opened anew with the next picture that stands."))

    def showEvent(self, event: QShowEvent) -> None:
        """Whoever looks wants to see a tree."""
        super().showEvent(event)
        self.look()
        self.seen.emit()

    def look(self) -> None:
        """Open the tree of the newest picture, where it is seen and another than the one shown."""
        if self.isVisible() and self.is_old:
            self.is_old = False
            self.ask(lambda inspector: inspector.root(), self._begin)

    def reveal(self, path: tuple[TreeNode, ...]) -> None:
        """Open the way to a node that is known, and choose it."""
        if path:
            self.ask(lambda inspector: inspector.way_through(path), self._show_way)

    def search(self) -> None:
        """Find what is typed."""
        way = WAYS[self.way.currentIndex()]
        if way == "box":
            self._search_box()
            return
        text = self.number.text().strip().replace(",", "")
        is_leaf = text.startswith("~")
        if not text.removeprefix("~").isdigit():
            self.explain(self.tr("Type a number; of a leaf that is no node, ~ and its first reference."))
            return
        number = ~int(text[1:]) if is_leaf else int(text)
        self.find_node(number) if way == "node" else self.find_primitive(number)

    def _search_box(self) -> None:
        try:
            numbers = [float(one) for one in self.number.text().replace(",", " ").split()]
        except ValueError:
            numbers = []
        if len(numbers) not in (3, 6) or not all(math.isfinite(one) for one in numbers):
            self.explain(self.tr("Type a point, x y z, or a box, its lower and its upper corner: six numbers."))
            return
        lower, upper = numbers[:3], numbers[-3:]
        if any(low > high for low, high in zip(lower, upper, strict=True)):
            self.explain(self.tr("The lower corner lies above the upper one: type the lower one first."))
            return
        self.ask(lambda inspector: inspector.way_to_box(tuple(lower), tuple(upper)), self._show_way)

    def _show_way_of_search(self) -> None:
        is_box = WAYS[self.way.currentIndex()] == "box"
        self.number.setPlaceholderText(self.tr("x y z, or two corners") if is_box else self.tr("Number"))

    def find_node(self, node_id: int) -> None:
        """Open the way to the node of that number."""
        self.ask(lambda inspector: inspector.way_to(node_id), self._show_way)

    def find_primitive(self, prim_id: int) -> None:
        """Open the way to a leaf that holds a primitive."""
        self.ask(lambda inspector: inspector.way_to_primitive(prim_id), self._show_way)

    def ask(self, question: Callable[[Any], Any], take: Callable[[Any], None]) -> None:
        """Put one question after the other."""
        self._waiting.append((question, take))
        self._ask_next()

    def _ask_next(self) -> None:
        if self._waiting and not self._is_asking:
            self._is_asking = True
            question, take = self._waiting.popleft()
            self._ask_now(question, lambda found: self._answered(found, take))

    def _is_of_another_tree(self, found: Any) -> bool:
        from raygrove.gpu.analysis.tree_rows import TreeWay  # what has answered has imported it

        return isinstance(found, TreeWay) and found.rows.key != self.model.key

    def _answered(self, found: Any, take: Callable[[Any], None]) -> None:
        self._is_asking = False
        if found is None or isinstance(found, str):
            self.explain(found or self.tr("There is no picture by rays yet."))
            self.is_old = True
        elif self._is_of_another_tree(found):
            self._waiting.appendleft(
                (lambda inspector: inspector.root(), lambda root: self._begin_with(root, found, take))
            )
        else:
            take(found)
        self._ask_next()

    def _begin(self, root: TreeRows) -> None:
        self.model.begin(root)
        self.how_made.setEnabled(False)
        self.explain("" if root.rows else self.tr("The structure is over nothing."))
        self.view.expand(self.model.index(0, 0))

    def _begin_with(self, root: TreeRows, way: TreeWay, take: Callable[[Any], None]) -> None:
        self._begin(root)
        if way.rows.key == root.key:
            take(way)
        else:
            self.explain(self.tr("The tree changes with each picture: pause the animation."))

    def _want_page(self, node: TreeNode, first: int) -> None:
        key = self.model.key

        def take(page: TreeRows) -> None:
            if page.key == key:
                self.model.take_page(node.id, page)
            else:
                self.is_old = True
                self.look()

        self.ask(lambda inspector: inspector.children(node, first), take)

    def _show_way(self, way: TreeWay) -> None:
        index = self.model.take_way(way)
        if not index.isValid():
            is_box = WAYS[self.way.currentIndex()] == "box"
            nothing = (
                self.tr("No node of this tree holds that box."),
                self.tr("There is nothing of that number in this tree."),
            )
            self.explain(nothing[0] if is_box else nothing[1])
            return
        self.explain()
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)
        self._widen()

    def _widen(self) -> None:
        """Let what was opened have its whole number."""
        needed, header = min(self.view.sizeHintForColumn(0), FIRST[1]), self.view.header()
        if needed > header.sectionSize(0):
            header.resizeSection(0, needed)

    def _choose(self, index: QModelIndex) -> None:
        row = self.model.row_of(index)
        self.how_made.setEnabled(row is not None)
        self.node_chosen.emit(row.node if row is not None else None)

"""A tree of millions of nodes as a model that asks for the children of what is opened, a page at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from raygrove.gpu.brief import least_percent, percent

if TYPE_CHECKING:
    from raygrove.gpu.analysis.tree_rows import NodeVisits, TreeRow, TreeRows, TreeWay


_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
VISITS, NUMBERS = 3, range(1, 6)
"""The column that hot spots fill, and those of figures."""


@dataclasses.dataclass(eq=False)
class _Item:
    """A node that is known. `fetched` of its children came in pages; others came by a way that led through them."""

    row: TreeRow
    number: int
    parent: _Item | None
    place: int
    children: list[_Item] = dataclasses.field(default_factory=list)
    fetched: int = 0
    is_complete: bool = False
    is_asked: bool = False


class TreeModel(QAbstractItemModel):
    """See the module. `wanted(node, first)` asks for a page of a node's children from the `first` on: `take_page` is
    the answer."""

    wanted = Signal(object, int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.key: Hashable = None
        self._sah_cost: float | None = None
        self._items: list[_Item] = []
        self._by_node: dict[int, _Item] = {}
        self._visits: NodeVisits | None = None
        self.titles = (
            self.tr("Node"),
            self.tr("Area"),
            self.tr("SAH"),
            self.tr("Visits"),
            self.tr("Overlap"),
            self.tr("Primitives"),
            self.tr("Box"),
        )

    def begin(self, root: TreeRows | None) -> None:
        """Another tree: its root, closed; None: none."""
        self.beginResetModel()
        self._items, self._by_node = [], {}
        if root is not None:
            self.key, self._sah_cost = root.key, root.sah_cost
            for row in root.rows:
                self._make(row, None)
        self.endResetModel()

    def show_visits(self, visits: NodeVisits | None) -> None:
        """How often rays entered the nodes; None: nobody knows of this tree."""
        if visits is None and self._visits is None:  # as every frame of a clip says
            return
        self._visits = visits
        if self._items:
            self.dataChanged.emit(self.index(0, VISITS), self.index(0, VISITS))

    def take_page(self, node_id: int, page: TreeRows) -> None:
        """The next children of a node."""
        item = self._by_node.get(node_id)
        if item is None or page.key != self.key:
            return
        item.is_asked = False
        item.fetched += len(page.rows)
        from raygrove.gpu.analysis.tree_rows import PAGE  # what has made the rows has imported it

        item.is_complete = len(page.rows) < PAGE
        self._add(item, [row for row in page.rows if row.node.id not in self._by_node])  # a view may ask on at once

    def take_way(self, way: TreeWay) -> QModelIndex:
        """Open the way to a node; where that is, or nowhere."""
        if way.rows.key != self.key or not way.rows.rows:
            return QModelIndex()
        for row, page in zip(way.rows.rows, way.pages, strict=False):
            item = self._by_node.get(row.node.id)
            if item is None:
                return QModelIndex()
            if item.fetched == 0:
                self.take_page(row.node.id, page)
        for above, below in zip(way.rows.rows, way.rows.rows[1:], strict=False):
            if below.node.id not in self._by_node:
                self._add(self._by_node[above.node.id], [below])
        found = self._by_node.get(way.rows.rows[-1].node.id)
        return QModelIndex() if found is None else self.createIndex(found.place, 0, found.number)

    def row_of(self, index: _Index) -> TreeRow | None:
        """What stands there."""
        return self._items[index.internalId()].row if index.isValid() else None

    # -- what views ask -----------------------------------------------------------------------------------------------
    def index(self, row: int, column: int, parent: _Index = _NOWHERE) -> QModelIndex:
        items = self._children(parent)
        return self.createIndex(row, column, items[row].number) if 0 <= row < len(items) else QModelIndex()

    def parent(self, index: _Index) -> QModelIndex:  # type: ignore[override]
        above = self._items[index.internalId()].parent if index.isValid() else None
        return QModelIndex() if above is None else self.createIndex(above.place, 0, above.number)

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return len(self._children(parent)) if parent.column() <= 0 else 0

    def columnCount(self, parent: _Index = _NOWHERE) -> int:
        return len(self.titles)

    def hasChildren(self, parent: _Index = _NOWHERE) -> bool:
        if not parent.isValid():
            return bool(self._items)
        return parent.column() == 0 and not self._items[parent.internalId()].row.node.is_leaf

    def canFetchMore(self, parent: _Index) -> bool:
        if not parent.isValid():
            return False
        item = self._items[parent.internalId()]
        return not (item.row.node.is_leaf or item.is_complete or item.is_asked)

    def fetchMore(self, parent: _Index) -> None:
        if self.canFetchMore(parent):
            item = self._items[parent.internalId()]
            item.is_asked = True
            self.wanted.emit(item.row.node, item.fetched)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        is_title = role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal
        return self.titles[section] if is_title else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in NUMBERS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        row = self._items[index.internalId()].row
        return self.cells(row)[index.column()]

    def cells(self, row: TreeRow) -> tuple[str, ...]:
        """A node in words: what it is, the shares of area and of SAH cost, visits, overlap, primitives, its box."""
        node = row.node
        name = self.tr("leaf {id}") if node.is_leaf else self.tr("node {id}")
        share = row.sah / self._sah_cost if self._sah_cost else None
        visits = None if self._visits is None else self._visits.of(node.id)
        corners = (", ".join(f"{x:.4g}" for x in corner) for corner in (node.lower, node.upper))
        return (
            name.format(id=node.id if node.id >= 0 else f"~{~node.id}"),
            _percent(row.area_share),
            "–" if share is None else _percent(share),
            "–" if visits is None else f"{visits:,}",
            "–" if row.overlap is None else _percent(row.overlap),
            f"{node.reference_count:,}" if node.is_leaf else "–",
            " … ".join(corners),
        )

    def _children(self, parent: _Index) -> list[_Item]:
        if not parent.isValid():
            return self._items[:1]
        return self._items[parent.internalId()].children

    def _add(self, item: _Item, rows: list[TreeRow]) -> None:
        if rows:
            first = len(item.children)
            self.beginInsertRows(self.createIndex(item.place, 0, item.number), first, first + len(rows) - 1)
            for row in rows:
                item.children.append(self._make(row, item))
            self.endInsertRows()

    def _make(self, row: TreeRow, parent: _Item | None) -> _Item:
        made = _Item(row, len(self._items), parent, len(parent.children) if parent is not None else 0)
        self._items.append(made)
        self._by_node[row.node.id] = made
        return made


def _percent(share: float) -> str:
    return percent(share, 1) if share == 0.0 or share >= 0.001 else least_percent(share)

"""The objects of the scene: which are seen, how many triangles they have, of what they are made; and which one is
selected."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.edits import objects
from raygrove.app.ui.commands.object_commands import ObjectCommands
from raygrove.app.ui.panels.collision_controls import CollisionControls
from raygrove.app.ui.plain_text import Label, tip
from raygrove.gpu.brief import filled
from raygrove.gpu.scene import Scene

Index = QModelIndex | QPersistentModelIndex
ROLE = Qt.ItemDataRole


class ObjectsModel(QAbstractTableModel):
    """A row per object. Rows are made when they are looked at, so that a scene of many thousand objects is there at
    once."""

    def __init__(self, document: Document, commands: ObjectCommands, parent: Any = None) -> None:
        super().__init__(parent)
        self._document, self._commands = document, commands
        self.scene: Scene | None = None
        self.names: tuple[str, ...] = ()
        self._titles = (self.tr("Object"), self.tr("Primitives"), self.tr("Materials"))

    def show_scene(self, scene: Scene | None) -> None:
        """Another scene."""
        self.beginResetModel()
        self.scene, self.names = scene, objects.names_of(scene) if scene is not None else ()
        self.endResetModel()

    def show_visibility(self) -> None:
        """Others are hidden than before."""
        if self.names:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.names) - 1, 0), [ROLE.CheckStateRole])

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """The objects."""
        return 0 if parent.isValid() else len(self.names)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Name, triangles, materials."""
        return len(self._titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = ROLE.DisplayRole) -> Any:
        """The titles."""
        return self._titles[section] if orientation == Qt.Orientation.Horizontal and role == ROLE.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Names have a box."""
        return super().flags(index) | (
            Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else Qt.ItemFlag.NoItemFlags
        )

    def data(self, index: Index, role: int = ROLE.DisplayRole) -> Any:
        """What a cell shows."""
        if self.scene is None or not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role == ROLE.CheckStateRole and column == 0:
            return Qt.CheckState.Unchecked if row in self._document.state.hidden else Qt.CheckState.Checked
        if role == ROLE.TextAlignmentRole and column == 1:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == ROLE.UserRole:  # what rows are put in order by
            return (
                (self.names[row].lower(), self.primitives(row), "")[column]
                if column < 2
                else ", ".join(objects.materials_of(self.scene, row))
            )
        if role == ROLE.ToolTipRole and column == 0:
            node, mesh = self.scene.objects[row].node, self.scene.name_of(row) or "-"
            said = self.tr("{name}: node {node}, mesh {mesh}").format(name=self.names[row], node=node, mesh=mesh)
            return tip(said)
        if role in (ROLE.DisplayRole, ROLE.ToolTipRole):
            shown = (
                (self.names[row], f"{self.primitives(row):,}")[column]
                if column < 2
                else ", ".join(objects.materials_of(self.scene, row))
            )
            return tip(shown) if role == ROLE.ToolTipRole else shown
        return None

    def setData(self, index: Index, value: Any, role: int = ROLE.EditRole) -> bool:
        """A box was clicked."""
        if role != ROLE.CheckStateRole or not index.isValid():
            return False
        self._commands.set_visible(index.row(), Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def primitives(self, row: int) -> int:
        """Triangles or spheres of an object."""
        return self.scene.count_of(row) if self.scene is not None else 0


class ObjectsPanel(QWidget):
    """See the module."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("objects")
        self._document = document
        self.commands = ObjectCommands(document, lambda sentence: self.summary.setText(sentence))
        self.model = ObjectsModel(document, self.commands, self)
        self.rows = QSortFilterProxyModel(self)
        self.rows.setSourceModel(self.model)
        self.rows.setSortRole(ROLE.UserRole)
        self.rows.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.rows.setFilterKeyColumn(-1)
        self.search, self.view, self.summary = QLineEdit(self), QTreeView(self), Label(self)
        self.collisions = CollisionControls(document, self)
        self._set_up_view()
        self.summary.setWordWrap(True)
        self.summary.setObjectName("summary")
        buttons = QHBoxLayout()
        for name, title, run in (
            ("hide", self.tr("Hide"), self.commands.hide),
            ("isolate", self.tr("Isolate"), self.commands.isolate),
            ("show_all", self.tr("Show all"), self.commands.show_all),
        ):
            button = QPushButton(title, self)
            button.setObjectName(name)
            button.clicked.connect(lambda checked=False, run=run: run())
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        column.addWidget(self.search)
        column.addWidget(self.view, 1)
        column.addWidget(self.summary)
        column.addLayout(buttons)
        column.addWidget(self.collisions)
        document.observe(self._changed)
        document.on_scene.append(self.show_scene)
        self.show_scene(document.scene)

    def sizeHint(self) -> QSize:
        """Narrow: the picture is what counts."""
        return QSize(290, 500)

    def show_scene(self, scene: Scene | None) -> None:
        """Another scene."""
        self.model.show_scene(scene)
        self._summarise()

    def _set_up_view(self) -> None:
        self.search.setPlaceholderText(self.tr("Search names and materials"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self.rows.setFilterFixedString)
        self.view.setObjectName("rows")
        self.view.setModel(self.rows)
        self.view.setRootIsDecorated(False)
        self.view.setUniformRowHeights(True)
        self.view.setSortingEnabled(True)
        self.view.header().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.view.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # what is cut is in the tip
        self.view.header().resizeSection(0, 108)
        self.view.header().resizeSection(1, 66)
        self.view.setToolTip(self.tr("Click: mark it in the picture. The box: show it, or leave it out."))
        self.view.selectionModel().currentChanged.connect(self._choose)

    def _choose(self, index: QModelIndex, before: QModelIndex) -> None:
        """A row was chosen."""
        row = self.rows.mapToSource(index).row() if index.isValid() else -1
        if row >= 0 and row != self.commands.selected:
            self.commands.select(row)

    def _changed(self, before: State, after: State) -> None:
        if before.hidden != after.hidden:
            self.model.show_visibility()
        if before.selection != after.selection:
            self._show_selected(after.selection.object)
        if (before.hidden, before.selection) != (after.hidden, after.selection):
            self._summarise()

    def _show_selected(self, index: int) -> None:
        """Turn to the row of what was selected in the picture."""
        place = self.rows.mapFromSource(self.model.index(index, 0)) if index >= 0 else QModelIndex()
        self.view.setCurrentIndex(place)
        if place.isValid():
            self.view.scrollTo(place, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _summarise(self) -> None:
        scene, state = self._document.scene, self._document.state
        if scene is None:
            self.summary.clear()
            return
        count = len(scene.objects)
        left = sum(self.model.primitives(index) for index in state.hidden)
        text = self.tr("{seen:,} of {count:,} objects and {primitives:,} of {all:,} primitives are seen.")
        text = filled(
            text,
            seen=count - len(state.hidden),
            count=count,
            primitives=scene.primitive_count - left,
            all=scene.primitive_count,
        )
        if 0 <= state.selection.object < len(self.model.names):
            text = self.tr("{name} is selected. ").format(name=self.model.names[state.selection.object]) + text
        self.summary.setText(text)

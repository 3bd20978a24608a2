"""The camera in numbers, and its bookmarks: a panel that shows the first view's camera while it moves, and takes what
is typed."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDoubleSpinBox,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.camera import moves as cameras
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.ui.commands.camera_commands import CameraCommands
from raygrove.app.ui.panels.path_panel import PathPanel
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.form import OptionForm, make_narrow
from raygrove.app.ui.widgets.list_rows import add_row
from raygrove.gpu.settings import OptionError

SHOW_INTERVAL_MS = 50


class CameraPanel(QWidget):
    """See the module."""

    def __init__(self, document: Document, commands: CameraCommands, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._commands = document, commands
        self.setObjectName("camera")
        self.form = OptionForm(cameras.LENS, parent=self)
        for editor in self.form.editors.values():
            make_narrow(editor)
        self.form.changed.connect(self._apply)
        self.list = QListWidget(self)
        self.list.setObjectName("bookmarks")
        self.list.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.SelectedClicked
        )
        self.list.setToolTip(self.tr("Double click: look from there. F2: rename."))
        self.list.itemDoubleClicked.connect(lambda item: commands.go_to(self.list.row(item)))
        self.list.itemChanged.connect(lambda item: commands.rename_bookmark(self.list.row(item), item.text()))
        keep, self.delete = QPushButton(self.tr("Add bookmark"), self), QPushButton(self.tr("Delete"), self)
        keep.setObjectName("keep")
        self.delete.setObjectName("delete")
        keep.clicked.connect(commands.bookmark)
        self.delete.clicked.connect(self._delete)
        row = QHBoxLayout()
        row.addWidget(keep)
        row.addWidget(self.delete)
        column = QVBoxLayout(self)
        column.addWidget(self.form)
        column.addWidget(Label(self.tr("Bookmarks"), self))
        column.addWidget(self.list, 1)
        column.addLayout(row)
        self.path = PathPanel(document, commands, self.list.currentRow, self)
        self.path.moved.connect(self.list.setCurrentRow)
        self.list.currentRowChanged.connect(lambda row: self._show_chosen())
        column.addWidget(self.path)
        self._timer = QTimer(self, singleShot=True, interval=SHOW_INTERVAL_MS)
        self._timer.timeout.connect(self.show_state)
        document.observe(self._changed)
        self.show_state()
        self._show_chosen()

    def sizeHint(self) -> QSize:
        """Narrow: the picture is what counts."""
        return QSize(270, 520)

    def show_state(self) -> None:
        """Show the first view's camera and the bookmarks."""
        state = self._document.state
        camera = state.camera_of(0)
        for name, editor in self.form.editors.items():
            if not any(box.hasFocus() and box.lineEdit().isModified() for box in editor.findChildren(QDoubleSpinBox)):
                editor.set_value(getattr(camera, name))
        self.form.editors["fov"].setEnabled(not camera.orthographic)
        self.form.editors["height"].setEnabled(camera.orthographic)
        names = [one.name for one in state.bookmarks]
        if names != [self.list.item(row).text() for row in range(self.list.count())]:
            blocker, row = QSignalBlocker(self.list), self.list.currentRow()
            self.list.clear()
            for name in names:
                item = add_row(self.list, name)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self.list.setCurrentRow(min(row, len(names) - 1))
            del blocker
            self._show_chosen()

    def _show_chosen(self) -> None:
        """What can be done with the bookmark that is chosen; without one there is nothing to delete."""
        self.delete.setEnabled(self.list.currentRow() >= 0)
        self.path.show_state()

    def _changed(self, before: State, after: State) -> None:
        """Twenty times a second is enough while the camera moves."""
        is_other = (before.cameras, before.views, before.bookmarks) != (after.cameras, after.views, after.bookmarks)
        if is_other and self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def showEvent(self, event: object) -> None:
        """Show what changed while it was hidden."""
        self.show_state()

    def _apply(self, name: str, value: object) -> None:
        try:
            self._commands.change_field(name, self.form.editors[name].field.checked(value))
        except OptionError as error:
            self.form.show_error(name, str(error))

    def _delete(self) -> None:
        row = self.list.currentRow()
        if row >= 0:
            self._commands.delete_bookmark(row)

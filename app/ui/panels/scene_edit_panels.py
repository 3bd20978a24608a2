"""The panels of materials and of lights: one thing is chosen, its values are edited; each drag is one step of undo."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.document.document import Document
from raygrove.app.document.scene_edit_commands import USED, SceneEditCommands, shown_fields
from raygrove.app.document.state import State
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.form import Editor, make_narrow, title_of
from raygrove.gpu.scene import Scene

TITLES = {
    "base_color": "Colour",
    "color": "Colour",
    "ior": "Index of refraction",
    "attenuation_color": "Tint",
    "attenuation_distance": "Tint after",
}
"""Labels of editors whose option's name is long."""


class ScenePartPanel(QWidget):
    """What both panels are: a list to choose from, a form of editors, and a row of buttons. `group` is the table's
    group in the settings."""

    group = ""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{self.group}s")
        self._document, self.commands = document, SceneEditCommands(document)
        self.chooser, self.note = QComboBox(self), Label(self)
        self.chooser.setObjectName("chooser")
        self.chooser.setAccessibleName(self.tr("Which one is edited"))
        self.chooser.currentIndexChanged.connect(lambda index: self._show())
        self.note.setWordWrap(True)
        self.editors = {field.name: Editor(field, parent=self) for field in shown_fields(self.group)}
        self.form, inside = QFormLayout(), QWidget(self)
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)  # a narrow panel is not scrolled sideways
        for name, editor in self.editors.items():
            make_narrow(editor)
            editor.edited.connect(lambda value, name=name: self._edit(name, value))
            self.form.addRow(TITLES.get(name, title_of(name)), editor)
        inside.setLayout(self.form)
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        column.addWidget(self.chooser)
        column.addWidget(area, 1)
        column.addWidget(self.note)
        column.addLayout(self._buttons())
        document.observe(self._changed)
        document.on_scene.append(self.show_scene)
        self.show_scene(document.scene)

    def sizeHint(self) -> QSize:
        """Narrow: the picture is what counts."""
        return QSize(300, 460)

    @property
    def key(self) -> str:
        """What is chosen, "" for nothing."""
        return str(self.chooser.currentData() or "")

    def choose(self, key: str) -> None:
        """Edit another one."""
        index = self.chooser.findData(key)
        if index >= 0:
            self.chooser.setCurrentIndex(index)

    def show_scene(self, scene: Scene | None) -> None:
        """Another scene, or another list."""
        chosen, parts = self.key, self.commands.titles(self.group)
        blocker = QSignalBlocker(self.chooser)
        self.chooser.clear()
        for key, title in parts.items():
            self.chooser.addItem(title, key)
        self.chooser.setCurrentIndex(max(self.chooser.findData(chosen), 0) if parts else -1)
        del blocker
        self._show()

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.reset = self._button("reset", self.tr("Reset to file"), self.tr("Undo the changes of this one"))
        self.reset.clicked.connect(lambda: self.commands.reset(self.group, self.key))
        row.addWidget(self.reset)
        return row

    def _button(self, name: str, title: str, tip: str) -> QPushButton:
        button = QPushButton(title, self)
        button.setObjectName(name)
        button.setToolTip(tip)
        return button

    def _edit(self, name: str, value: Any) -> None:
        if self.key:
            self.commands.set_value(self.group, self.key, name, value)

    def _changed(self, before: State, after: State) -> None:
        old, new = getattr(before.settings, self.group), getattr(after.settings, self.group)
        if old is not new:
            is_same_list = list(self.commands.titles(self.group)) == [
                self.chooser.itemData(index) for index in range(self.chooser.count())
            ]
            self._show() if is_same_list else self.show_scene(self._document.scene)

    def _show(self) -> None:
        key = self.key
        self.reset.setEnabled(bool(key) and self.commands.is_changed(self.group, key))
        for editor in self.editors.values():
            editor.setEnabled(bool(key))
        if key:
            for name, value in self.commands.values(self.group, key).items():
                self.editors[name].set_value(value)


class MaterialsPanel(ScenePartPanel):
    """The scene's materials. Selecting an object chooses its material."""

    group = "material"

    def _changed(self, before: State, after: State) -> None:
        super()._changed(before, after)
        if before.selection != after.selection:
            self.choose(self.commands.material_of_selection())

    def _show(self) -> None:
        super()._show()
        material = self.commands.materials.get(self.key)
        maps = 0 if material is None else sum(texture >= 0 for texture in material.texture_ids)
        self.note.setText(self.tr("Multiplied by its textures.") if maps else "")
        if material is not None:
            is_glass, is_open = material.transmission > 0.0, material.alpha_mode != "opaque"
            for name in ("ior", "thin", "attenuation_color", "attenuation_distance"):
                self.form.setRowVisible(self.editors[name], is_glass or name == "ior")
            self.form.setRowVisible(self.editors["alpha"], is_open)
            self.form.setRowVisible(self.editors["double_sided"], max(material.emission) > 0.0)


class LightsPanel(ScenePartPanel):
    """The scene's lights: those of the file and those that were added."""

    group = "light"

    def _buttons(self) -> QHBoxLayout:
        row = super()._buttons()
        self.add = self._button("add", self.tr("Add"), self.tr("Add a light above the middle of the scene"))
        self.remove = self._button("remove", self.tr("Remove"), self.tr("Take this light away; undo brings it back"))
        self.add.clicked.connect(lambda: self.choose(self.commands.add_light()))
        self.remove.clicked.connect(lambda: self.commands.remove_light(self.key))
        row.addWidget(self.add)
        row.addWidget(self.remove)
        return row

    def _show(self) -> None:
        super()._show()
        lights = self.commands.lights
        self.add.setEnabled(self._document.scene is not None)
        self.remove.setEnabled(bool(self.key))
        self.note.setText("" if lights else self.tr("There is no light: the scene is lit from the eye."))
        if self.key in lights:
            used = ("kind", "color", "strength", *USED[lights[self.key].kind])
            for name, editor in self.editors.items():
                self.form.setRowVisible(editor, name in used)

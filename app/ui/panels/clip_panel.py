"""The clipping plane's panel: a slider that moves it, and its options."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtWidgets import QFormLayout, QSlider, QVBoxLayout, QWidget

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.ui.commands.object_commands import ClipCommands
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.widgets.form import Editor, make_narrow, tooltip_of
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.settings import fields_of

STEPS = 1000
TITLES = {"on": "Cut", "axis": "Direction", "normal": "Normal", "position": "Position", "flip": "Other side"}


class ClipPanel(QWidget):
    """See the module. Each drag of the slider is one step of undo; moving it begins to cut."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("clip")
        self._document, self.commands = document, ClipCommands(document)
        self.editors = {field.name: Editor(field, parent=self) for field in fields_of(ClipOptions)}
        make_narrow(self.editors["normal"])
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setObjectName("slider")
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(STEPS // 20)
        self.slider.setToolTip(tooltip_of(self.editors["position"].field))
        self.slider.setAccessibleName(self.tr("Position of the clipping plane"))
        self.slider.valueChanged.connect(self._slide)
        self.slider.sliderReleased.connect(document.end_merge)
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for name, title in TITLES.items():
            self.editors[name].edited.connect(lambda value, name=name: document.change(f"settings.clip.{name}", value))
            form.addRow(self.tr(title), self.editors[name])
            if name == "position":
                form.addRow("", self.slider)
        note = Label(self.tr("Light and shadows stay those of the whole scene."), self)
        note.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        column.addLayout(form)
        column.addWidget(note)
        column.addStretch(1)
        document.observe(self._changed)
        self._show()

    def sizeHint(self) -> QSize:
        """Narrow: the picture is what counts."""
        return QSize(270, 260)

    def _slide(self, value: int) -> None:
        if not self.commands.options.on:
            self._document.change("settings.clip.on", True, "clip position")
        self.commands.move(value / STEPS)

    def _changed(self, before: State, after: State) -> None:
        if before.settings.clip != after.settings.clip:
            self._show()

    def _show(self) -> None:
        options = self.commands.options
        for name, editor in self.editors.items():
            editor.set_value(getattr(options, name))
        self.editors["normal"].setEnabled(options.axis == "normal")
        blocker = QSignalBlocker(self.slider)
        self.slider.setValue(round(options.position * STEPS))
        del blocker

"""One page of the settings dialog: a table of the settings as a form, with a button that takes everything back."""

from __future__ import annotations

import html
import re
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from raygrove.app.document.document import Document
from raygrove.app.settings import titles
from raygrove.app.settings.settings import option_field
from raygrove.app.settings.start_options import as_options
from raygrove.app.ui.plain_text import RichLabel
from raygrove.app.ui.widgets.form import OptionForm, title_of
from raygrove.gpu.settings import OptionError, OptionField, fields_of

_TITLES = {
    "hierarchy": "Structure",
    "optimiser": "Optimiser",
    "ray_type": "Ray type",
    "import": "Opening files",
    "demo": "Built-in scenes",
    "update": "Build or refit",
    "start": "At the start",
}


def page_title(table: str) -> str:
    """The title of a table of the settings: `hierarchy.lbvh` is "Structure: Linear BVH"."""
    group, _, name = table.partition(".")
    title = _TITLES.get(group, title_of(group))
    return f"{title}: {titles.short_title(group, name)}" if name else title


def said_of(options: type) -> str:
    """What the options are for, as rich text: the first paragraph beside their code, names that it marks slanted."""
    paragraph = " ".join((options.__doc__ or "").split("\n\n")[0].split())
    return re.sub(r"`([^`]+)`", r"<i>\1</i>", html.escape(paragraph, quote=False))


class SettingsPage(QWidget):
    """See the module. A change takes effect at once."""

    def __init__(self, document: Document, table: str, options: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self.table = document, table
        self.fields: tuple[OptionField, ...] = tuple(
            option_field(f"{table}.{field.name}") for field in fields_of(options)
        )
        self.form = OptionForm(
            self.fields, parent=self, choice_title=lambda name, value: titles.title(f"{table}.{name}", value)
        )
        self.form.changed.connect(self._apply)
        heading = RichLabel(f"<b>{page_title(table)}</b><br>{said_of(type(options))}", self)
        heading.setWordWrap(True)
        column = QVBoxLayout(self)
        column.addWidget(heading)
        column.addWidget(self.form)
        column.addStretch(1)
        column.addLayout(self._buttons())
        self.show_options(options)

    def show_options(self, options: Any, before: Any = None) -> None:
        """Show the values of an instance; with the instance `before`, only what differs."""
        self.form.set_values(options, before)

    def reset(self) -> None:
        """Every option of this page to its default, as one step of undo."""
        self._document.end_merge()
        for field in self.fields:
            self._document.change(f"settings.{self.table}.{field.name}", field.default, f"reset {self.table}")
            self.form.editors[field.name].set_value(field.default)
        self._document.end_merge()

    def take_camera(self) -> None:
        """Start every scene where the camera stands now, as one step of undo."""
        state = self._document.state
        wanted = as_options(
            state.camera_of(0), state.settings.start, self._document.scene, state.settings.camera.up_axis
        )
        self._document.end_merge()
        for name in ("position", "elevation", "azimuth", "camera"):
            self._document.change(f"settings.start.{name}", getattr(wanted, name), "take the camera")
        self._document.end_merge()

    @property
    def errors(self) -> list[str]:
        """The sentences that stand at fields now."""
        return [editor.error for editor in self.form.editors.values() if editor.error]

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        reset = QPushButton(self.tr("Reset this page"), self)
        reset.setObjectName("reset")
        reset.clicked.connect(self.reset)
        row.addWidget(reset, 0, Qt.AlignmentFlag.AlignLeft)
        if self.table == "start":
            take = QPushButton(self.tr("Use the camera's position"), self)
            take.setObjectName("take_camera")
            take.setToolTip(self.tr("Every scene is then first seen from where the camera stands now."))
            take.clicked.connect(self.take_camera)
            row.addWidget(take, 0, Qt.AlignmentFlag.AlignLeft)
        row.addStretch(1)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # Return in a field means that field
        return row

    def _apply(self, name: str, value: Any) -> None:
        key = f"settings.{self.table}.{name}"
        try:
            self._document.change(key, value, key)
        except (OptionError, ValueError, TypeError, KeyError) as error:
            self.form.show_error(name, str(error))
        else:
            self.form.show_error(name, "")

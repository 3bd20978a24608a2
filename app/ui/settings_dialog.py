"""The settings as pages of forms, made from the options' dataclasses. A change takes effect at once and is a step of undo."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.document import Document
from app.settings import option_field, option_groups
from app.state import State
from app.ui.form import OptionForm, title_of
from gpu.settings import OptionError, OptionField, fields_of

_TITLES = {"hierarchy": "Structure", "ray_type": "Ray type", "importer": "Opening files", "demo": "Built-in scenes", "update": "Build or refit"}


def page_title(table: str) -> str:
    """The title of a table of the settings: `hierarchy.lbvh` is "Structure: lbvh"."""
    group, _, name = table.partition(".")
    title = _TITLES.get(group, title_of(group))
    return f"{title}: {name}" if name else title


class SettingsPage(QWidget):
    """One table of the settings: its sentence, its form and a button that takes everything back to the defaults."""

    def __init__(self, document: Document, table: str, options: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self.table = document, table
        self.fields: tuple[OptionField, ...] = tuple(option_field(f"{table}.{field.name}") for field in fields_of(options))
        self.form = OptionForm(self.fields, parent=self)
        self.form.changed.connect(self._apply)
        reset = QPushButton(self.tr("Reset this page"), self)
        reset.setObjectName("reset")
        reset.setAutoDefault(False)  # Return in a field means that field
        reset.clicked.connect(self.reset)
        heading = QLabel(f"<b>{page_title(table)}</b><br>{(type(options).__doc__ or '').split(chr(10))[0]}", self)
        heading.setWordWrap(True)
        column = QVBoxLayout(self)
        column.addWidget(heading)
        column.addWidget(self.form)
        column.addStretch(1)
        column.addWidget(reset, 0, Qt.AlignmentFlag.AlignLeft)
        self.show_options(options)

    def show_options(self, options: Any) -> None:
        """Show the values of an instance."""
        self.form.set_values(options)

    def reset(self) -> None:
        """Every option of this page to its default, as one step of undo."""
        for field in self.fields:
            self._document.change(f"settings.{self.table}.{field.name}", field.default, f"reset {self.table}")
        self._document.end_merge()

    def _apply(self, name: str, value: Any) -> None:
        key = f"settings.{self.table}.{name}"
        try:
            self._document.change(key, value, key)
        except (OptionError, ValueError, TypeError, KeyError) as error:
            self.form.show_error(name, str(error))
        else:
            self.form.show_error(name, "")


class SettingsDialog(QDialog):
    """All settings; stays open beside the window while the picture changes. Save keeps them for the next start."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.setObjectName("settings")
        self.setWindowTitle(self.tr("Settings"))
        self.setModal(False)
        self.resize(760, 560)
        self.search = QLineEdit(self)
        self.search.setObjectName("search")
        self.search.setPlaceholderText(self.tr("Search the settings"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self._list = QListWidget(self)
        self._list.setObjectName("pages")
        self._stack = QStackedWidget(self)
        self._list.currentRowChanged.connect(self._stack.setCurrentIndex)
        self.pages: dict[str, SettingsPage] = {}
        self._make_pages()
        splitter = QSplitter(self)
        splitter.addWidget(self._list)
        splitter.addWidget(self._stack)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([200, 560])
        column = QVBoxLayout(self)
        column.addWidget(self.search)
        column.addWidget(splitter, 1)
        column.addLayout(self._buttons())
        self._forget = document.observe(self._changed)
        self._list.setCurrentRow(0)

    def show_page(self, table: str) -> None:
        """Turn to a table's page."""
        if table in self.pages:
            self._list.setCurrentRow(list(self.pages).index(table))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop watching the document."""
        self._stop_watching()
        super().closeEvent(event)

    def done(self, result: int) -> None:
        """Stop watching the document."""
        self._stop_watching()
        super().done(result)

    def _stop_watching(self) -> None:
        self._forget()
        self._forget = lambda: None

    def _make_pages(self) -> None:
        for table, options in option_groups(self._document.state.settings):
            if options is None or not fields_of(options):
                continue
            page = SettingsPage(self._document, table, options)
            area = QScrollArea(self)
            area.setWidgetResizable(True)
            area.setFrameShape(QFrame.Shape.NoFrame)
            area.setWidget(page)
            self._stack.addWidget(area)
            self._list.addItem(QListWidgetItem(page_title(table)))
            self.pages[table] = page

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()  # no button is the default one: Return in a field means that field
        undo = QPushButton(self.tr("Undo"), self)
        undo.clicked.connect(self._document.undo)
        save = QPushButton(self.tr("Save for the next start"), self)
        save.setObjectName("save")
        save.clicked.connect(self._save)
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.close)
        for button in (undo, save, *box.buttons()):
            if isinstance(button, QPushButton):
                button.setAutoDefault(False)
        self._note = QLabel(self)
        row.addWidget(undo)
        row.addWidget(save)
        row.addWidget(self._note, 1)
        row.addWidget(box)
        return row

    def _save(self) -> None:
        self._note.setText(self.tr("Saved.") if self._document.save_settings() else self.tr("Not saved: see the message in the window."))

    def _changed(self, before: State, after: State) -> None:
        if before.settings == after.settings:
            return
        self._note.clear()
        for table, options in option_groups(after.settings):
            if table in self.pages:
                self.pages[table].show_options(options)

    def _filter(self, words: str) -> None:
        first = -1
        for row, page in enumerate(self.pages.values()):
            is_titled = bool(words.strip()) and words.strip().lower() in page_title(page.table).lower()
            count = page.form.filter("" if is_titled else words)
            self._list.item(row).setHidden(count == 0)
            first = row if first < 0 and count else first
        if first >= 0 and self._list.item(max(self._list.currentRow(), 0)).isHidden():
            self._list.setCurrentRow(first)

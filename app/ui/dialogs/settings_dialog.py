"""The settings as pages of forms, made from the options' dataclasses.

The window shows every change at once, and each is a step of undo. Cancel brings back what was there before the dialog
opened (or since Apply), as one step more; OK and Apply keep the changes. The user's file is written only by "Save for
the next start".
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.settings.settings import Settings, option_groups
from raygrove.app.ui.dialogs.button_box import button_box, fill_with_ink
from raygrove.app.ui.dialogs.presets_menu import PresetsButton
from raygrove.app.ui.dialogs.settings_page import SettingsPage, page_title
from raygrove.app.ui.plain_text import Label
from raygrove.gpu.settings import fields_of

Standard = QDialogButtonBox.StandardButton
EDGES = 40
"""Pixels beside the buttons: the dialog's own margins and the frame of its window."""


class SettingsDialog(QDialog):
    """See the module. It stays open beside the window while the picture changes."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._before = document, document.state
        self.setObjectName("settings")
        self.setWindowTitle(self.tr("Settings"))
        self.setModal(False)
        self.resize(820, 600)
        self.search = QLineEdit(self)
        self.search.setObjectName("search")
        self.search.setPlaceholderText(self.tr("Search the settings of all pages"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self._list = QListWidget(self)
        self._list.setObjectName("pages")
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._stack = QStackedWidget(self)
        self._list.currentRowChanged.connect(self._turn)
        self._nothing = Label(self.tr("No setting has these words in its name, its sentence or its choices."), self)
        self._nothing.setObjectName("nothing")
        self._nothing.hide()
        self._tables = self._listed()
        self._titles = [page_title(table) for table in self._tables]
        self._list.addItems(self._titles)
        self._made: dict[str, SettingsPage] = {}
        self._areas: dict[str, QScrollArea] = {}
        self._later = QTimer(self, interval=0)
        self._later.timeout.connect(self._make_next)
        self._later.start()
        self._lay_out()
        document.end_merge()
        self._forget = document.observe(self._changed)
        self._show_changes()
        self._list.setCurrentRow(0)

    def show_page(self, table: str) -> None:
        """Turn to a table's page."""
        if table in self._tables:
            self.search.clear()
            self._list.setCurrentRow(self._tables.index(table))

    def apply(self) -> None:
        """Keep what was changed; Cancel goes back to here."""
        self._document.end_merge()
        self._before = self._document.state
        self._show_changes()

    def accept(self) -> None:
        """OK: keep what was changed, and close."""
        self.apply()
        super().accept()

    def reject(self) -> None:
        """Cancel, Escape and the window's close button: what was there before, as one step of undo."""
        self.restore()
        super().reject()

    def restore(self) -> None:
        """The settings as they were when the dialog was opened, or at the last Apply; with the cameras, where those
        followed the settings."""
        before, now = self._before, self._document.state
        if before.settings == now.settings:
            return
        has_followed = (before.settings.camera, before.settings.start) != (now.settings.camera, now.settings.start)
        self._document.end_merge()
        self._document.change("settings", before.settings, "cancel settings")
        if has_followed and before.scene == now.scene and len(before.cameras) == len(now.cameras):
            self._document.change("cameras", before.cameras, "cancel settings")
        self._document.end_merge()

    def reset_all(self) -> None:
        """Every setting to its built-in value, as one step of undo."""
        self._document.end_merge()
        self._document.change("settings", Settings())
        for page in self.pages.values():
            for field in page.fields:
                page.form.editors[field.name].set_value(field.default)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return in a field means that field: a button box makes OK the default button, whatever it is told."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """The window's close button is Cancel; nothing is restored once the dialog is done."""
        if self.isVisible():
            self.restore()
        self._stop_watching()
        super().closeEvent(event)

    def done(self, result: int) -> None:
        """Stop watching the document."""
        self._stop_watching()
        super().done(result)

    def _stop_watching(self) -> None:
        self._forget()
        self._forget = lambda: None

    # -- parts ----------------------------------------------------------------------------------------------------
    @property
    def pages(self) -> dict[str, SettingsPage]:
        """Every page by its table, all of them made. There are more than can be made at once without a pause, so the
        dialog opens with the page that is shown, and makes the others one by one while nobody waits."""
        return {table: self._page(table) for table in self._tables}

    def _page(self, table: str) -> SettingsPage:
        page = self._made.get(table)
        if page is None:
            options = dict(option_groups(self._document.state.settings))[table]
            page = self._made[table] = SettingsPage(self._document, table, options)
            area = self._areas[table] = QScrollArea(self)
            area.setWidgetResizable(True)
            area.setFrameShape(QFrame.Shape.NoFrame)
            area.setWidget(page)
            area.hide()  # until the stack has it
        return page

    def _make_next(self) -> None:
        missing = next((table for table in self._tables if table not in self._made), "")
        if missing:
            self._page(missing)
        else:
            self._later.stop()

    def _turn(self, row: int) -> None:
        """A page comes into the stack when it is first turned to: with each one more the stack asks all for their
        sizes."""
        if row < 0:
            return
        self._page(self._tables[row])
        area = self._areas[self._tables[row]]
        if self._stack.indexOf(area) < 0:
            self._stack.addWidget(area)
        self._stack.setCurrentWidget(area)

    def _listed(self) -> list[str]:
        """The tables that have options."""
        groups = option_groups(self._document.state.settings)
        return [table for table, options in groups if options is not None and fields_of(options)]

    def _lay_out(self) -> None:
        splitter = QSplitter(self)
        splitter.addWidget(self._list)
        splitter.addWidget(self._stack)
        splitter.setStretchFactor(1, 1)
        pages = min(240, self.screen().availableGeometry().width() // 4)
        splitter.setSizes([pages, self.width() - pages])
        self._note = Label(self)
        self._note.setObjectName("note")
        self._note.setWordWrap(True)
        column = QVBoxLayout(self)
        column.addWidget(self.search)
        column.addWidget(self._nothing)
        column.addWidget(splitter, 1)
        column.addWidget(self._note)
        column.addLayout(self._buttons())

    def _buttons(self) -> QBoxLayout:
        """One row, or on a narrow screen two: a window that is wider than its screen hides the last of them."""
        row, tools = QBoxLayout(QBoxLayout.Direction.LeftToRight), QHBoxLayout()
        undo = QPushButton(self.tr("&Undo"), self)
        undo.clicked.connect(self._document.undo)
        reset = QPushButton(self.tr("&Reset all"), self)
        reset.setObjectName("reset_all")
        reset.clicked.connect(self.reset_all)
        save = QPushButton(self.tr("&Save as defaults"), self)
        save.setObjectName("save")
        save.clicked.connect(self._save)
        self.presets = PresetsButton(self._document, self)
        self.presets.said.connect(self._note.setText)
        self.presets.failed.connect(self._note.setText)
        self._box = button_box(Standard.Ok | Standard.Apply | Standard.Cancel, self)
        fill_with_ink(self._box.button(Standard.Ok))
        self._box.accepted.connect(self.accept)
        self._box.rejected.connect(self.reject)
        self._box.button(Standard.Apply).clicked.connect(self.apply)
        for button in (undo, reset, self.presets, save):
            button.setAutoDefault(False)
            tools.addWidget(button)
        row.addLayout(tools)
        row.addStretch(1)
        row.addWidget(self._box)
        if row.minimumSize().width() + EDGES > self.screen().availableGeometry().width():
            row.setDirection(QBoxLayout.Direction.TopToBottom)
        return row

    # -- what happens ---------------------------------------------------------------------------------------------
    def _save(self) -> None:
        self._note.setText(self._document.save_settings() or self.tr("Not saved: see the message in the window."))

    def _changed(self, before: State, after: State) -> None:
        if before.settings == after.settings:
            return
        self._note.clear()
        old = dict(option_groups(before.settings))
        for table, options in option_groups(after.settings):
            if table in self._made:
                self._made[table].show_options(options, old[table])
        self._show_changes()

    def _show_changes(self) -> None:
        """Apply is for changes, and pages with changes are marked."""
        has_changed = self._before.settings != self._document.state.settings
        self._box.button(Standard.Apply).setEnabled(has_changed)
        both = (self._before.settings, self._document.state.settings) if has_changed else ()
        before, now = [dict(option_groups(settings)) for settings in both] or ({}, {})
        for row, title in enumerate(self._titles):
            is_changed = before.get(self._tables[row]) != now.get(self._tables[row])
            self._list.item(row).setText(title + (" •" if is_changed else ""))

    def _filter(self, words: str) -> None:
        first = -1
        for row, page in enumerate(self.pages.values()):
            is_titled = (
                bool(words.strip()) and words.strip().lower() in f"{page_title(page.table)} {page.table}".lower()
            )
            count = page.form.filter("" if is_titled else words)
            self._list.item(row).setHidden(count == 0)
            first = row if first < 0 and count else first
        self._nothing.setVisible(first < 0)
        self._stack.setVisible(first >= 0)
        if first >= 0 and self._list.item(max(self._list.currentRow(), 0)).isHidden():
            self._list.setCurrentRow(first)

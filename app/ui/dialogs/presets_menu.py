"""The Presets button of the settings dialog: keep the settings under a name, take them back, pass them on as files."""

from __future__ import annotations

import os
from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QInputDialog, QPushButton, QWidget

from raygrove.app.document.document import Document
from raygrove.app.settings import file as settings_file
from raygrove.app.settings.older import Older
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.commands.menu import Menu
from raygrove.app.ui.plain_text import menu_text
from raygrove.app.ui.session.settings_files import take_file
from raygrove.app.user_files import presets
from raygrove.app.user_files.published import PREFIX, PUBLISHED


class PresetsButton(QPushButton):
    """See the module. `said` carries a sentence about what was done; `failed` one about what could not be."""

    said = Signal(str)
    failed = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.setText(self.tr("&Presets"))
        self.setObjectName("presets")
        self.setAutoDefault(False)
        self._menu = Menu(self)
        self._menu.aboutToShow.connect(self.fill)
        self.setMenu(self._menu)

    def fill(self) -> None:
        """The presets there are, and what can be done."""
        menu = self._menu
        menu.clear()
        for name in presets.names():
            menu.addAction(menu_text(name)).triggered.connect(lambda checked=False, name=name: self.load(name))
        published = menu.submenu(self.tr("&As published"))
        published.setToolTipsVisible(True)
        for name, form in PUBLISHED.items():
            entry = published.addAction(menu_text(name.removeprefix(PREFIX)))
            entry.setToolTip(form.sentence)
            entry.triggered.connect(lambda checked=False, name=name: self.load(name))
        menu.addSeparator()
        menu.addAction(self.tr("Save as a &preset…")).triggered.connect(self._ask_name)
        delete = menu.submenu(self.tr("&Delete a preset"))
        delete.setEnabled(bool(presets.names()))
        for name in presets.names():
            delete.addAction(menu_text(name)).triggered.connect(lambda checked=False, name=name: self.delete(name))
        menu.addSeparator()
        menu.addAction(self.tr("&Open a file…")).triggered.connect(self._ask_file)
        menu.addAction(self.tr("&Save to a file…")).triggered.connect(self._ask_target)

    def load(self, name: str) -> None:
        """Take a preset's settings, as one step of undo."""

        def take() -> str:
            older = Older()
            self._change(presets.load(name, older))
            known = [PUBLISHED[name].sentence] if name in PUBLISHED else []
            return " ".join([self.tr("Preset {name} is in use.").format(name=name), *known, *older.sentences])

        self._try(take)

    def save(self, name: str) -> None:
        """Keep the settings under a name."""

        def keep() -> str:
            path = presets.save(name, self._document.state.settings)
            return self.tr("Saved as {path}.").format(path=path)

        self._try(keep)

    def delete(self, name: str) -> None:
        """Remove a preset."""

        def remove() -> str:
            presets.delete(name)
            return self.tr("Preset {name} is deleted.").format(name=name)

        self._try(remove)

    def open_file(self, path: str) -> None:
        """Take the settings of a file, TOML or Meister's form."""
        remarks = take_file(self._document, path)
        if remarks is not None:
            self.said.emit(" ".join([self.tr("The settings of {path} are in use.").format(path=path), *remarks]))

    def save_file(self, path: str) -> None:
        """Write the settings to a file that can be passed on."""

        def write() -> str:
            lost = settings_file.save_settings(self._document.state.settings, settings_file.Path(path))
            return f"{self.tr('Written to {path}.').format(path=path)} {lost}".strip()

        self._try(write)

    def _change(self, settings: Settings) -> None:
        self._document.end_merge()
        self._document.change("settings", settings)

    def _try(self, work: Callable[[], str]) -> None:
        """Do it, and say how it went."""
        try:
            self.said.emit(work())
        except (presets.PresetError, presets.SettingsError) as error:
            self.failed.emit(str(error))
        except OSError as error:
            self.failed.emit(f"{error.filename or presets.folder()}: {error.strerror}.")

    def _ask_name(self) -> None:
        name, is_given = QInputDialog.getText(
            self, self.tr("Save as a preset"), self.tr("Name; an existing one is replaced:")
        )
        if is_given:
            self.save(name.strip())

    def _ask_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, self.tr("Open settings"), str(presets.folder()), self.tr("Settings (*.toml *.env)")
        )
        if path:
            self.open_file(path)

    def _ask_target(self) -> None:
        start = os.path.join(os.path.expanduser("~"), "raygrove-settings.toml")
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Save the settings"), start, "TOML (*.toml)")
        if path:
            self.save_file(path if path.lower().endswith(".toml") else f"{path}.toml")

"""The window's comforts: the palette of commands, the help pages, the page of keys, the theme, closing the scene, and reading it again when its
file changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction

from app.state import State
from app.ui import theme
from app.ui.help_page import HelpDialog
from app.ui.keys_dialog import KeysDialog
from app.ui.palette import Palette
from app.ui.shortcuts import Shortcuts
from app.watch import Watcher

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow


class Extras(QObject):
    """See the module."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._recent_commands: list[str] = []
        self._help: HelpDialog | None = None
        self._actions: Mapping[str, QAction] = {}
        self._shortcuts: Shortcuts | None = None
        document = window.document
        self._watcher = watcher = Watcher(lambda: document.mailroom.post(self._file_changed))
        self.destroyed.connect(lambda: watcher.stop())
        document.observe(self._changed)
        document.on_scene.append(lambda scene: self._watch())
        if document.state.settings.window.theme != "system":
            theme.apply(document.state.settings.window.theme)

    def show_palette(self) -> None:
        """Help > Find a command."""
        palette = Palette(self._window, self._recent_commands)
        palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        palette.show()

    def show_keys(self) -> None:
        """Edit > Keys."""
        if self._shortcuts is not None:
            dialog = KeysDialog(self._shortcuts, self._window)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.show()

    def show_help(self, group: str) -> None:
        """Help on the structure (group hierarchy) or ray type (group ray_type) that is chosen now."""
        if self._help is None:
            self._help = HelpDialog(self._window)
            self._help.options_wanted.connect(self._window.show_settings)
        self._help.show_page(f"{group}.{getattr(self._window.document.state.settings.render, group)}")
        self._help.show()
        self._help.raise_()

    def close_scene(self) -> None:
        """File > Close the scene: back to the welcome page; a file that is being opened is not opened. The device's memory is given back."""
        window = self._window
        window.cancel_jobs()
        if window.document.scene is not None:
            window.document.close_scene()
            window.loop.ask("close", lambda maker: maker.close(), lambda found: None)

    def toggle_watch(self) -> None:
        """File > Reload when the file changes."""
        self._window.document.change("settings.window.watch", not self._window.document.state.settings.window.watch)

    def toggle_quality(self) -> None:
        """Structure > Measure its quality."""
        self._window.document.change("settings.statistics.quality", not self._window.document.state.settings.statistics.quality)

    def follow(self, actions: Mapping[str, QAction]) -> None:
        """Give the commands the user's keys, and keep their marks as the state is."""
        self._actions = actions
        self._shortcuts = Shortcuts(actions, self, self._window.gestures)
        problem = self._shortcuts.load()
        if problem:
            self._window.banners.show_message("warning", problem, topic="keys")
        self._watch()

    def _changed(self, before: State, after: State) -> None:
        if before.settings.window.theme != after.settings.window.theme:
            theme.apply(after.settings.window.theme)
        if before.settings.window.watch != after.settings.window.watch:
            self._watch()

    def _watch(self) -> None:
        """Watch the open scene's files, if that is wanted."""
        state = self._window.document.state
        is_wanted = state.settings.window.watch and state.scene.kind == "files"
        self._watcher.watch(state.scene.names if is_wanted else ())
        self._actions["file.watch"].setChecked(state.settings.window.watch)
        self._actions["file.close"].setEnabled(state.scene.kind != "none")

    def _file_changed(self) -> None:
        document = self._window.document
        if document.state.settings.window.watch:
            self._window.statusBar().showMessage(self.tr("The file has changed and is read again."), 5000)
            document.reopen()

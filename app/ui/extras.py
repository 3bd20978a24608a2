"""The window's comforts, each opened by a command: the palette of commands, the help pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from app.ui.help_page import HelpDialog
from app.ui.palette import Palette

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow


class Extras(QObject):
    """See the module."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._recent_commands: list[str] = []
        self._help: HelpDialog | None = None

    def show_palette(self) -> None:
        """Help > Find a command."""
        palette = Palette(self._window, self._recent_commands)
        palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        palette.show()

    def show_help(self, group: str) -> None:
        """Help on the structure (group hierarchy) or ray type (group ray_type) that is chosen now."""
        if self._help is None:
            self._help = HelpDialog(self._window)
            self._help.options_wanted.connect(self._window.show_settings)
        self._help.show_page(f"{group}.{getattr(self._window.document.state.settings.render, group)}")
        self._help.show()
        self._help.raise_()

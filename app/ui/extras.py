"""The window's comforts, each opened by a command: the palette of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from app.ui.palette import Palette

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow


class Extras(QObject):
    """See the module."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._recent_commands: list[str] = []

    def show_palette(self) -> None:
        """Help > Find a command."""
        palette = Palette(self._window, self._recent_commands)
        palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        palette.show()

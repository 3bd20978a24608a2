"""File > Open recent: the files and sequences opened last, and a way to forget them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu

from raygrove.app.ui.plain_text import menu_text
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.session.memory import Memory


def fill(
    menu: QMenu, memory: Memory, open_files: Callable[[list[str]], object], is_cleared: Callable[[], object]
) -> None:
    """Make the menu's entries anew; `is_cleared` is called once the list was forgotten."""
    menu.clear()
    for entry in memory.recent():
        title = recent_files.title_of(entry, with_folder=True)
        menu.addAction(menu_text(title)).triggered.connect(lambda checked=False, entry=entry: open_files([entry]))
    menu.addSeparator()

    def clear() -> None:
        memory.clear_recent()
        is_cleared()

    menu.addAction(QCoreApplication.translate("MainWindow", "Clear the list")).triggered.connect(clear)

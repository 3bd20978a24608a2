"""Text that comes from files (names of objects, paths, sentences about them) shown as it is. Qt takes what looks like
HTML for HTML in labels and tips, and `&` in menus for a mark of the next letter: all of that ends here."""

from __future__ import annotations

import html

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget


class Label(QLabel):
    """A label whose text is text."""

    def __init__(self, text: str | QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(text if isinstance(text, QWidget) else parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if isinstance(text, str):
            self.setText(text)


class RichLabel(QLabel):
    """A label of the program's own HTML; what comes from elsewhere is escaped by whoever puts it in."""


def tip(text: str) -> str:
    """A tip that shows `text` as it is."""
    return f"<qt>{html.escape(text).replace(chr(10), '<br>')}</qt>" if "<" in text else text


def menu_text(text: str) -> str:
    """The title of a menu's entry that shows `text` as it is."""
    return text.replace("&", "&&")

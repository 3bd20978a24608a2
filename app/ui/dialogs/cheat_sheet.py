"""Help > Cheat sheet: every command's key, and what the mouse does."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from raygrove.app.camera.gestures import GESTURES, Gestures
from raygrove.app.ui.commands.shortcuts import title_of
from raygrove.app.ui.dialogs.button_box import button_box


def text_of(actions: Iterable[QAction], gestures: Gestures) -> str:
    """The sheet as HTML: the mouse and the flying keys, then the commands that have a key; as they are bound now."""
    bound = [
        (", ".join(gestures.ways(gesture.name)), gesture.title) for gesture in GESTURES if gestures.ways(gesture.name)
    ]
    for action in actions:
        if not action.shortcut().isEmpty():
            keys = ", ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts())
            bound.append((keys, title_of(action)))
    rows = "".join(
        f"<tr><td><b>{escape(keys)}</b>&nbsp;&nbsp;</td><td>{escape(what)}</td></tr>" for keys, what in bound
    )
    return f"<table cellpadding='2'>{rows}</table>"


class CheatSheet(QDialog):
    """See the module."""

    def __init__(self, actions: Iterable[QAction], gestures: Gestures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cheat_sheet")
        self.setWindowTitle(self.tr("Cheat sheet"))
        self.resize(560, 560)
        browser = QTextBrowser(self)
        browser.setHtml(text_of(actions, gestures))
        box = button_box(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(browser)
        column.addWidget(box)

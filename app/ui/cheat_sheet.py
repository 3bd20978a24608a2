"""Help > Cheat sheet: every command's key, and what the mouse does."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

MOUSE = (
    ("Left drag", "orbit about the point under the pointer, or what Camera > Left drag says; axis-free, Ctrl rolls"),
    ("Double click", "look at what lies under the pointer"),
    ("Middle drag, or Shift and left drag", "pan"),
    ("Right drag", "look round from where the camera stands"),
    ("Shift and left click", "pick: what lies under the pointer, and the nodes that lead to it"),
    ("Wheel", "come nearer to what lies under the pointer (Shift faster, Ctrl slower)"),
    ("W A S D Q E", "fly forward, left, back, right, down, up (Shift ten times as fast, Ctrl a tenth)"),
)


def text_of(actions: Iterable[QAction]) -> str:
    """The sheet as HTML: the mouse, then the commands that have a key."""
    rows = "".join(f"<tr><td><b>{key}</b>&nbsp;&nbsp;</td><td>{what}</td></tr>" for key, what in MOUSE)
    keyed = [action for action in actions if not action.shortcut().isEmpty()]
    for action in keyed:
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        rows += f"<tr><td><b>{key}</b>&nbsp;&nbsp;</td><td>{action.text().replace('&', '').rstrip('.…')}</td></tr>"
    return f"<table cellpadding='2'>{rows}</table>"


class CheatSheet(QDialog):
    """See the module."""

    def __init__(self, actions: Iterable[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cheat_sheet")
        self.setWindowTitle(self.tr("Cheat sheet"))
        self.resize(560, 560)
        browser = QTextBrowser(self)
        browser.setHtml(text_of(actions))
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(browser)
        column.addWidget(box)

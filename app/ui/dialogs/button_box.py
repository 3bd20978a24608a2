"""The buttons at a dialog's foot, in words alone: the style's pictures on them are of another hand than our icons."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialogButtonBox, QWidget


def button_box(buttons: QDialogButtonBox.StandardButton, parent: QWidget) -> QDialogButtonBox:
    """Such buttons, in the platform's order."""
    box = QDialogButtonBox(buttons, parent)
    for button in box.buttons():
        button.setIcon(QIcon())
    return box

"""The buttons at a dialog's foot, in words alone: the style's pictures on them are of another hand than our icons. The
one that does what the dialog is for is filled with ink, the colour of texts."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton, QWidget

Role, Group = QPalette.ColorRole, QPalette.ColorGroup


def button_box(buttons: QDialogButtonBox.StandardButton, parent: QWidget) -> QDialogButtonBox:
    """Such buttons, in the platform's order."""
    box = QDialogButtonBox(buttons, parent)
    for button in box.buttons():
        button.setIcon(QIcon())
    return box


def fill_with_ink(button: QPushButton) -> None:
    """Make a button the one that Return presses, and show it."""
    button.setDefault(True)
    _Ink(button)


class _Ink(QObject):
    """Gives a button ink as its fill, in each theme; where it cannot be pressed it looks as others do."""

    def __init__(self, button: QPushButton) -> None:
        super().__init__(button)
        self._button = button
        button.installEventFilter(self)
        self._fill()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the theme."""
        if event.type() == QEvent.Type.ApplicationPaletteChange:
            self._fill()
        return super().eventFilter(watched, event)

    def _fill(self) -> None:
        colors = QApplication.palette(self._button)
        for group in (Group.Active, Group.Inactive):
            ink, panel = colors.color(group, Role.WindowText), colors.color(group, Role.Base)
            colors.setColor(group, Role.Button, ink)
            colors.setColor(group, Role.ButtonText, panel)
        self._button.setPalette(colors)

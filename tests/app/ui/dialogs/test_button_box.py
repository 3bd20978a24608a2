"""The button that a dialog is for is filled with ink, in each theme."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QDialog, QDialogButtonBox, QVBoxLayout

from raygrove.app.ui.colors import DARK, LIGHT
from raygrove.app.ui.dialogs.button_box import button_box, fill_with_ink
from raygrove.app.ui.window import theme
from raygrove.app.ui.window.main_window import MainWindow
from tests.color_science import contrast

Standard = QDialogButtonBox.StandardButton


def fill_of(button: Any) -> QColor:
    """The colour beside its text."""
    image = button.grab().toImage()
    return QColor(image.pixelColor(8, image.height() // 2))


@pytest.mark.parametrize(("first", "then"), [("dark", "light"), ("light", "dark")])
def test_it_is_filled_with_the_colour_of_texts_and_follows_the_theme(
    window: MainWindow, qtbot: Any, first: str, then: str
) -> None:
    theme.apply(first)
    dialog = QDialog(window)
    box = button_box(Standard.Ok | Standard.Cancel, dialog)
    QVBoxLayout(dialog).addWidget(box)
    button, other = box.button(Standard.Ok), box.button(Standard.Cancel)
    fill_with_ink(button)
    dialog.show()
    for name in (first, then):
        theme.apply(name)
        for _ in range(5):
            QApplication.processEvents()
        scheme, roles = DARK if name == "dark" else LIGHT, button.palette()
        assert roles.color(roles.ColorRole.Button).name().upper() == scheme.text
        assert roles.color(roles.ColorRole.ButtonText).name().upper() == scheme.panel
        assert contrast(fill_of(button).name(), scheme.panel) >= 4.5, "what is drawn, too"
        assert contrast(fill_of(button).name(), fill_of(other).name()) >= 3.0, "it stands out among the others"
    button.setEnabled(False)
    other.setEnabled(False)
    assert fill_of(button) == fill_of(other), "what cannot be pressed does not ask for it"
    assert button.isDefault()
    dialog.close()

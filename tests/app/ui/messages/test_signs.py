"""Signs of messages: our own lines, in the colours of the theme."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QWidget

from raygrove.app.ui import colors
from raygrove.app.ui.dialogs.button_box import button_box
from raygrove.app.ui.messages.banner import Banner
from raygrove.app.ui.messages.signs import sign
from raygrove.app.ui.window import theme


def inks(picture: QImage) -> set[str]:
    """The colours of what is drawn in full."""
    places = ((x, y) for x in range(picture.width()) for y in range(picture.height()))
    return {QColor(picture.pixelColor(x, y)).name() for x, y in places if picture.pixelColor(x, y).alpha() == 255}


@pytest.mark.parametrize("choice", ["dark", "light"])
def test_a_sign_is_in_ink_and_an_errors_in_its_colour(qtbot: Any, choice: str) -> None:
    theme.apply(choice)
    scheme = colors.DARK if choice == "dark" else colors.LIGHT
    banner = Banner("warning", "Something.")
    qtbot.addWidget(banner)
    for kind in ("none", "information", "warning"):
        assert inks(sign(kind, 2.0).toImage()) == {scheme.text.lower()}, kind
    assert inks(sign("error", 2.0).toImage()) == {scheme.error.lower()}
    theme.apply("light" if choice == "dark" else "dark")
    QApplication.processEvents()
    shown = banner._sign.pixmap().toImage()
    other = colors.LIGHT if choice == "dark" else colors.DARK
    assert inks(shown) == {other.text.lower()}, "it follows the theme"
    theme.apply("dark")


def test_buttons_of_dialogs_are_words_alone(qtbot: Any) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    box = button_box(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, parent)
    assert len(box.buttons()) == 2 and all(button.icon().isNull() and button.text() for button in box.buttons())

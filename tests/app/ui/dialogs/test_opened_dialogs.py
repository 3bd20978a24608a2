"""Dialogs as commands open them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QApplication, QDialog

from raygrove.app.ui.dialogs.opened_dialogs import OpenedDialogs
from raygrove.app.ui.window.main_window import MainWindow


@pytest.mark.parametrize(
    "show",
    [OpenedDialogs.show_export, OpenedDialogs.show_keys, OpenedDialogs.show_settings, OpenedDialogs.show_suites],
)
def test_a_dialog_is_no_higher_than_its_screen(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch, show: Callable[[OpenedDialogs], None]
) -> None:
    monkeypatch.setattr(QScreen, "availableGeometry", lambda screen: QRect(0, 0, 600, 400))
    before = set(QApplication.topLevelWidgets())
    show(scene_window.opened_dialogs)
    (dialog,) = [one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one not in before]
    assert dialog.isVisible() and dialog.height() <= 400 and dialog.width() <= 600
    dialog.close()

"""What processes that measure the window share."""

from __future__ import annotations

from typing import Any, cast

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from raygrove.app.ui.measuring.job import live


class Application:
    """Counts how often it lives."""

    lived = 0

    def exec(self) -> int:
        self.lived += 1
        return 0


@pytest.mark.parametrize("is_open", [False, True])
def test_a_window_that_its_first_painting_closed_is_not_waited_for(qtbot: QtBot, is_open: bool) -> None:
    window, application = QWidget(), Application()
    qtbot.addWidget(window)
    window.show()
    if not is_open:
        window.close()
    live(cast(Any, application), cast(Any, window))
    assert application.lived == is_open

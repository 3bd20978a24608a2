"""What processes that measure the window share."""

from __future__ import annotations

import gc
import time
from typing import Any, cast

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from raygrove.app.system import starting
from raygrove.app.ui.measuring import job
from raygrove.app.ui.measuring.job import begin, live, open_measured
from raygrove.app.ui.widgets.first_paint import FirstPaint


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


def test_a_measured_window_starts_as_the_commands_does(qtbot: QtBot) -> None:
    gc.enable()  # which rests while windows are tested (tests/app/conftest.py)
    begin()
    assert not gc.isenabled(), "until the window has been there for a while"
    starting.end()
    assert gc.get_freeze_count() > 10_000
    starting.forget()
    assert gc.isenabled()


class Window(QWidget):
    """As far as a measurement opens it."""

    def __init__(self) -> None:
        super().__init__()
        self.first_paint = FirstPaint(self)

    def window(self) -> QWidget:
        return self


def test_painting_that_opening_a_window_does_is_heard(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    window = Window()
    qtbot.addWidget(window)

    def open_window(opened: Window, size: tuple[int, int]) -> None:
        opened.resize(*size)
        opened.show()
        QApplication.processEvents()  # as the application's does, while the window finds its size

    monkeypatch.setattr(job, "open_window", open_window)
    before = time.time()
    first = open_measured(cast(Any, window), (320, 240))
    qtbot.waitUntil(lambda: first.at is not None)
    painted_at = first.at
    assert painted_at is not None and before <= painted_at <= time.time()
    window.repaint()
    qtbot.wait(20)
    assert first.at == painted_at, "the first painting, not the last"

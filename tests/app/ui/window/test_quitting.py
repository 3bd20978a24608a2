"""Quitting while something is written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from raygrove.app.document.jobs import Job
from raygrove.app.ui.colors import scheme
from raygrove.app.ui.window.application import _close_at_once
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.ui.messages.test_signs import inks


@pytest.fixture
def writing(scene_window: MainWindow) -> Iterator[Job]:
    """An export that is half done."""
    gate = threading.Event()

    def work(job: Job) -> None:
        job.report(0.37, "frame 37 of 100")
        while not gate.wait(0.005):
            job.check()

    job = scene_window.document.start_job("Exporting out", work, lambda job: None)
    job.is_kept = True
    yield job
    gate.set()
    assert job.wait(5.0)


Look = tuple[set[str], str, str, bool]
looks: list[Look] = []
"""Of the questions that came."""


def look_of(box: QMessageBox) -> Look:
    """The colours of its sign; which button is the default, and its fill; whether buttons are words alone."""
    default, palette = box.defaultButton(), box.defaultButton().palette()
    fill = palette.color(palette.ColorRole.Button).name().upper()
    words_alone = all(one.icon().isNull() for one in box.buttons())
    return inks(box.iconPixmap().toImage()), default.text().replace("&", ""), fill, words_alone


def answer(qtbot: Any, button: str, asked: list[str]) -> None:
    """Press that button of the question that comes."""

    def press() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(10, press)
            return
        asked.append(box.text())
        looks.append(look_of(box))
        next(one for one in box.buttons() if one.text().replace("&", "") == button).click()

    QTimer.singleShot(0, press)


def test_who_goes_on_loses_nothing_and_who_quits_was_told(scene_window: MainWindow, writing: Job, qtbot: Any) -> None:
    asked: list[str] = []
    qtbot.waitUntil(lambda: writing.progress is not None)
    answer(qtbot, "Go on", asked)
    assert not scene_window.close() and scene_window.isVisible() and not writing.is_cancelled
    assert asked == ["Exporting out (37 %) is not done."]
    assert looks.pop() == ({scheme().text.lower()}, "Go on", scheme().text, True), (
        "a sign and a button of our own, in ink"
    )
    answer(qtbot, "Quit", asked)
    assert scene_window.close() and not scene_window.isVisible() and writing.is_cancelled and len(asked) == 2


def test_nobody_is_asked_about_what_loses_nothing(scene_window: MainWindow, writing: Job) -> None:
    writing.is_kept = False
    assert scene_window.close() and writing.is_cancelled


def test_an_interrupt_asks_nobody(scene_window: MainWindow, writing: Job) -> None:
    _close_at_once(scene_window)
    assert not scene_window.isVisible() and writing.is_cancelled

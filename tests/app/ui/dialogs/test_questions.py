"""Quitting asks where a job would lose its work, and only there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from raygrove.app.document.jobs import Job
from raygrove.app.ui.dialogs import questions
from raygrove.app.ui.window.main_window import MainWindow


@pytest.fixture
def answered(qtbot: Any) -> Iterator[tuple[list[str], list[str]]]:
    """What boxes said, and by which button each is answered, the next one first."""
    said: list[str] = []
    answers: list[str] = []

    def look() -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox) and answers:
            said.append(f"{box.text()} {box.informativeText()}")
            wanted = answers.pop(0)
            next(button for button in box.buttons() if button.text() == wanted).click()

    timer = QTimer(QApplication.instance())
    timer.timeout.connect(look)
    timer.start(20)
    yield said, answers
    timer.stop()


@pytest.mark.parametrize("answer", ["Go on", "Quit"])
def test_quitting_amid_an_export_asks(
    answer: str, window: MainWindow, qtbot: Any, answered: tuple[list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "asks_before_quitting", True)
    said, answers = answered
    answers.append(answer)
    may_end = threading.Event()

    def work(job: Job) -> None:
        while not may_end.wait(0.01):
            job.check()

    job = window.document.start_job("Exporting <b>one</b>.mp4", work, lambda _: None)
    job.is_kept = True
    try:
        assert window.close() is (answer == "Quit")
    finally:
        may_end.set()
    assert len(said) == 1 and "Exporting <b>one</b>.mp4" in said[0] and "is not done" in said[0]
    assert "Quitting ends it" in said[0]
    if answer == "Go on":
        qtbot.waitUntil(lambda: job.is_done)
        assert not window._is_closed


def test_what_loses_nothing_is_not_asked(window: MainWindow, answered: tuple[list[str], list[str]]) -> None:
    said, _ = answered
    may_end = threading.Event()
    job = window.document.start_job("Opening", lambda job: may_end.wait(), lambda _: None)
    assert questions.may_quit(window, [job]) and questions.may_quit(window, []) and said == []
    may_end.set()

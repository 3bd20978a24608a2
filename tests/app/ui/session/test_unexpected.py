"""Errors that nobody expected are told once a place, and what broke off holds no painter."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from PySide6.QtCore import qInstallMessageHandler
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from raygrove.app.ui.session.notices import Notice, Notices
from raygrove.app.ui.session.unexpected import unexpected_told


class UnsayableError(Exception):
    """An error that breaks off itself where it is put into words."""

    def __str__(self) -> str:
        raise KeyError("frame")


class Breaks(QWidget):
    """Breaks off in its second painting, by an error or by one that comes of it."""

    painted = 0

    def __init__(self, error: type[Exception], then: type[Exception] | None) -> None:
        super().__init__()
        self.error, self.then = error, then

    def paintEvent(self, event: QPaintEvent) -> None:
        self.painted += 1
        try:
            self._paint()
        except self.error:
            if self.then is None:
                raise
            raise self.then("rows") from None

    def _paint(self) -> None:
        painter = QPainter(self)
        if self.painted == 2:
            raise self.error("frame")
        painter.fillRect(self.rect(), self.palette().window())


@pytest.mark.parametrize(
    ("error", "then", "sentence"),
    [(KeyError, None, "KeyError: 'frame'"), (KeyError, ValueError, "ValueError: rows"), (UnsayableError, None, "")],
)
def test_a_painting_that_breaks_off_is_told_and_leaves_nothing_active(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch, error: type[Exception], then: type[Exception] | None, sentence: str
) -> None:
    notices, shown, said, printed = Notices(), list[Notice](), list[str](), list[BaseException]()
    notices.shown.connect(shown.append)
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: printed.append(error))
    before = qInstallMessageHandler(lambda kind, context, text: said.append(text))
    try:
        with unexpected_told(notices):
            widget = Breaks(error, then)
            qtbot.addWidget(widget)
            widget.resize(40, 30)
            widget.show()
            qtbot.waitUntil(lambda: widget.painted >= 1)
            for wanted in range(2, 6):
                widget.update()
                qtbot.waitUntil(lambda wanted=wanted: widget.painted >= wanted)
            qtbot.waitUntil(lambda: bool(shown) == bool(sentence))
    finally:
        qInstallMessageHandler(before)
    assert [type(one) for one in printed] == [then or error]
    assert not [text for text in said if "painter" in text]
    for notice in shown:
        assert notice.kind == "error" and sentence in notice.sentence and "paintEvent" in notice.details


def test_an_error_is_told_once_a_place_and_no_more_afterwards(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    notices, shown, printed = Notices(), list[Notice](), list[BaseException]()
    notices.shown.connect(shown.append)
    own = lambda kind, error, trace: printed.append(error)  # noqa: E731
    monkeypatch.setattr(sys, "excepthook", own)

    def fail(kind: type[BaseException]) -> None:
        try:
            raise kind("again")
        except BaseException as error:
            sys.excepthook(kind, error, error.__traceback__)

    with unexpected_told(notices):
        for _ in range(3):
            fail(ValueError)
        fail(KeyboardInterrupt)
        sys.excepthook(ValueError, ValueError("elsewhere"), None)
        qtbot.waitUntil(lambda: len(shown) == 2)
        qtbot.wait(30)
    assert sys.excepthook is own and len(shown) == 2 and len(printed) == 5
    assert "again" in shown[0].sentence and "elsewhere" in shown[1].sentence

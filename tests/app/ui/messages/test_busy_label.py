"""What is over at once is not said; what stands is, with all that follows it."""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.app.ui.messages import busy_label
from raygrove.app.ui.messages.busy_label import BusyLabel


@pytest.fixture
def label(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> BusyLabel:
    monkeypatch.setattr(busy_label, "DELAY_MS", 60)
    made = BusyLabel()
    qtbot.addWidget(made)
    return made


def test_what_is_over_at_once_is_not_said(label: BusyLabel, qtbot: Any) -> None:
    label.say("Preparing H-PLOC ...")
    label.say("")
    qtbot.wait(150)
    assert label.text() == ""


def test_what_stands_is_said_and_followed(label: BusyLabel, qtbot: Any) -> None:
    label.say("Preparing H-PLOC ...")
    label.say("Compiling H-PLOC: 1 of 3")
    assert label.text() == ""
    qtbot.waitUntil(lambda: label.text() == "Compiling H-PLOC: 1 of 3")
    label.say("Compiling H-PLOC: 2 of 3")
    assert label.text() == "Compiling H-PLOC: 2 of 3"
    label.say("")
    assert label.text() == ""

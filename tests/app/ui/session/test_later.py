"""What is called later is called once, not for who is gone, and by timers that stay."""

from __future__ import annotations

import pathlib
import re
from typing import Any

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from raygrove.app.ui.session.later import call_once

ROOM = pathlib.Path(__file__).resolve().parents[4] / "app" / "ui"
ALLOWED = "measuring/"
"""Programs of minutes at most, of which nobody's work is lost."""


def test_it_is_called_once_unless_its_owner_is_gone(qtbot: QtBot) -> None:
    calls: list[str] = []
    owner: Any = QObject()
    gone: Any = QObject()
    call_once(owner, 5, lambda: calls.append("first"))
    call_once(gone, 5, lambda: calls.append("of who is gone"))
    call_once(owner, 40, lambda: calls.append("last"))
    del gone
    qtbot.waitUntil(lambda: "last" in calls)
    assert calls == ["first", "last"]


def test_nothing_else_lets_qt_make_timers_that_end_themselves() -> None:
    found = {
        f"{path.relative_to(ROOM)}: {call}"
        for path in ROOM.rglob("*.py")
        for call in re.findall(r"singleShot\(\s*(?!0,)[^,)]+", path.read_text(encoding="utf-8"))
    }
    assert {call for call in found if not call.startswith(ALLOWED)} == set()
    assert found, "the measuring programs have some, by which it is seen that they are looked for"

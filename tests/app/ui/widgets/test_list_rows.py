"""Rows of lists are made by Qt: one made in Python ended the program, at times, when its list was deleted."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QListWidget
from pytestqt.qtbot import QtBot

from raygrove.app.ui.widgets.list_rows import add_row
from tests.data import ROOT


def test_a_row_comes_last_and_can_be_described(qtbot: QtBot) -> None:
    rows = QListWidget()
    qtbot.addWidget(rows)
    add_row(rows, "first")
    add_row(rows, "second").setToolTip("tip")
    assert [rows.item(place).text() for place in range(rows.count())] == ["first", "second"]
    assert rows.item(1).toolTip() == "tip" and not rows.item(0).toolTip()


def test_no_row_of_a_list_is_made_in_python() -> None:
    made = re.compile(r"QListWidgetItem\(")
    files = list((ROOT / "app").rglob("*.py"))
    assert len(files) > 150
    assert [str(path) for path in files if made.search(path.read_text())] == []

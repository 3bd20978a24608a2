"""The log pane and the mark in the status bar: what went wrong can be read later, and nothing stands in the way."""

from __future__ import annotations

import logging
from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDockWidget, QPushButton

from raygrove.app.document.log import Log
from raygrove.app.problems.problem import Problem
from raygrove.app.ui.messages.log_pane import LogPane, StatusMark
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.target.remarks import remark


def test_lines_of_the_wanted_kinds_are_shown(qtbot: Any) -> None:
    log = Log()
    pane = LogPane(log)
    qtbot.addWidget(pane)
    for kind in ("detail", "information", "warning", "error"):
        log.add(kind, f"a {kind}", f"more of {kind}")
    assert [line[10:] for line in pane.text.toPlainText().splitlines()] == [
        "a information",
        "warning: a warning",
        "error: a error",
    ]
    pane.least.setCurrentIndex(3)
    assert pane.text.toPlainText().endswith("error: a error") and "warning" not in pane.text.toPlainText()
    pane.findChild(QPushButton, "copy").click()
    assert (
        "more of error" in QGuiApplication.clipboard().text()
        and "more of warning" not in QGuiApplication.clipboard().text()
    )
    pane.findChild(QPushButton, "clear").click()
    assert pane.text.toPlainText() == "" and log.entries == []


def test_an_entry_of_the_same_key_takes_the_last_ones_place(qtbot: Any) -> None:
    log = Log()
    pane = LogPane(log)
    qtbot.addWidget(pane)
    log.add("information", "before")
    for number in range(3):
        log.add("information", f"samples = {number}", key="samples")
    log.add("detail", "not shown", key="other")
    log.add("information", "after")
    assert [line[10:] for line in pane.text.toPlainText().splitlines()] == ["before", "samples = 2", "after"]


def test_the_mark_counts_what_was_not_read(qtbot: Any) -> None:
    log = Log()
    mark = StatusMark(log)
    qtbot.addWidget(mark)
    log.add("information", "fine")
    assert mark.text() == "" and "No warning" in mark.toolTip()
    log.add("warning", "careful")
    log.add("error", "broken")
    assert mark.text() == "2" and mark.toolTip() == "broken"
    mark.read_all()
    assert mark.text() == ""


def test_a_problem_in_the_window_is_in_the_log_and_a_click_shows_it(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.messages.show_problem(Problem("The file cannot be read", "a.obj: it is empty.", "where it happened"))
    logging.getLogger("somewhere").warning("a library %s", "complains")
    mark = scene_window.records.mark
    qtbot.waitUntil(lambda: mark.text() == "2")
    remark("The cache folder is not used.")
    qtbot.waitUntil(lambda: mark.text() == "3")
    dock = scene_window.findChild(QDockWidget, "dock.log")
    assert not dock.isVisible()
    mark.click()
    text = scene_window.records.pane.text.toPlainText()
    assert (
        dock.isVisible()
        and mark.text() == ""
        and "a.obj: it is empty." in text
        and "somewhere: a library complains" in text
    )
    assert "warning: raygrove: The cache folder is not used." in text
    assert "two triangles: 2 triangles" in text

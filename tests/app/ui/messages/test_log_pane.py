"""The log pane and the mark in the status bar: what went wrong can be read later, and nothing stands in the way."""

from __future__ import annotations

import ctypes
import logging
from typing import Any

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QPushButton

from raygrove.app.document.log import Log
from raygrove.app.problems.problem import Problem
from raygrove.app.ui.messages.log_pane import LogPane, StatusMark
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.target.remarks import remark


class _Heap(ctypes.Structure):
    """What glibc's mallinfo2 answers."""

    NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks used free keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in NAMES.split()]


def used_by_c() -> int:
    """Bytes that the C library has given out."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Heap
    heap = mallinfo2()
    return int(heap.used + heap.hblkhd)


def test_lines_of_the_wanted_kinds_are_shown(qtbot: Any) -> None:
    log = Log()
    pane = LogPane(log)
    qtbot.addWidget(pane)
    for kind in ("detail", "information", "warning", "error"):
        log.add(kind, f"a {kind}", f"more of {kind}")
    assert [line[10:] for line in pane.view.text().splitlines()] == [
        "a information",
        "warning: a warning",
        "error: a error",
    ]
    pane.least.setCurrentIndex(3)
    assert pane.view.text().endswith("error: a error") and "warning" not in pane.view.text()
    pane.findChild(QPushButton, "copy").click()
    assert (
        "more of error" in QGuiApplication.clipboard().text()
        and "more of warning" not in QGuiApplication.clipboard().text()
    )
    pane.findChild(QPushButton, "clear").click()
    assert pane.view.text() == "" and log.entries == []


def test_an_entry_of_the_same_key_takes_the_last_ones_place(qtbot: Any) -> None:
    log = Log()
    pane = LogPane(log)
    qtbot.addWidget(pane)
    log.add("information", "before")
    for number in range(3):
        log.add("information", f"samples = {number}", key="samples")
    log.add("detail", "not shown", key="other")
    log.add("information", "after")
    assert [line[10:] for line in pane.view.text().splitlines()] == ["before", "samples = 2", "after"]


def filled(pane: LogPane, log: Log, count: int) -> None:
    """Write so many lines, as the window works."""
    for number in range(count):
        log.add("information", f"Walker {number}: 300 triangles, 2.00 s, 1 clip.")
    QApplication.processEvents()


def test_a_line_costs_little_more_than_its_entry(qtbot: Any) -> None:
    """A text edit kept 4.3 KiB of each, which an hour of use adds up to 8 MiB."""
    log = Log()
    pane = LogPane(log)
    qtbot.addWidget(pane)
    pane.show()
    filled(pane, log, 100)
    before = used_by_c()
    filled(pane, log, 1000)
    assert used_by_c() - before < 1000 * 1024


def test_the_newest_lines_stay(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("raygrove.app.document.log", "raygrove.app.ui.messages.log_view"):
        monkeypatch.setattr(f"{module}.LIMIT", 5)
    log = Log()
    pane = LogPane(log)
    qtbot.addWidget(pane)
    filled(pane, log, 8)
    assert [line[10:18] for line in pane.view.text().splitlines()] == [f"Walker {number}" for number in range(3, 8)]
    log.add("error", "An error")
    errors = pane.view.model().index(4, 0)
    colour = pane.palette().brush(QPalette.ColorRole.BrightText)
    assert errors.data().endswith("error: An error") and errors.data(Qt.ItemDataRole.ForegroundRole) == colour


def test_what_is_selected_is_copied_and_stays_in_sight(qtbot: Any) -> None:
    log = Log()
    pane = LogPane(log)
    qtbot.addWidget(pane)
    pane.resize(300, 120)
    pane.show()
    log.add("information", "A long line. " * 40)
    filled(pane, log, 59)
    bar, view = pane.view.verticalScrollBar(), pane.view
    assert bar.value() == bar.maximum() > 30
    assert view.horizontalScrollBar().maximum() > 0, "long lines can be read to their ends"
    bar.setValue(10)
    for row in (20, 11):
        index = view.model().index(row, 0)
        view.selectionModel().select(index, QItemSelectionModel.SelectionFlag.Select)
    filled(pane, log, 5)
    assert bar.value() == 10, "nobody who reads is disturbed"
    QTest.keySequence(view, QKeySequence.StandardKey.Copy)
    assert [line[10:19] for line in QGuiApplication.clipboard().text().splitlines()] == ["Walker 10", "Walker 19"]


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
    text = scene_window.records.pane.view.text()
    assert (
        dock.isVisible()
        and mark.text() == ""
        and "a.obj: it is empty." in text
        and "somewhere: a library complains" in text
    )
    assert "warning: raygrove: The cache folder is not used." in text
    assert "two triangles: 2 triangles" in text

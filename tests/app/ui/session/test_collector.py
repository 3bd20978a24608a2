"""Garbage that refers to itself goes on the window's thread, and on no other."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject, QTimer
from shiboken6 import delete

from raygrove.app.ui.session import collector
from raygrove.app.ui.session.collector import Collector


@pytest.fixture(autouse=True)
def python_searches(collector: None) -> Iterator[None]:
    """As where a window is opened; the tests of windows have it at rest from their beginning."""
    gc.enable()
    yield
    gc.disable()


class Holder:
    """What is garbage together with a timer of Qt's."""

    def __init__(self, gone: list[int]) -> None:
        self.itself, self.timer = self, QTimer()
        self.timer.holder = self  # type: ignore[attr-defined]
        self.timer.destroyed.connect(lambda: gone.append(threading.get_ident()))


def made_elsewhere(count: int) -> None:
    """So much garbage, on another thread, where Python would search at once."""

    def make() -> None:
        for _ in range(count):
            one: list[object] = []
            one.append(one)

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()


def test_what_qt_made_is_destroyed_by_the_thread_of_the_window(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "PAUSE_MS", 10)
    owner, gone = QObject(), list[int]()
    searching = Collector(owner)
    Holder(gone)
    made_elsewhere(5000)
    assert not gone, "no search before the start is over, and none by another thread"
    searching.begin()
    for _ in range(30):  # the youngest are searched first, those that stayed after ten times
        if not gone:
            qtbot.wait(20)
            made_elsewhere(2000)
    assert gone == [threading.get_ident()]
    delete(owner)


def test_python_searches_again_once_the_window_is_gone(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "PAUSE_MS", 10)
    owner = QObject()
    Collector(owner).begin()
    assert not gc.isenabled()
    gc.enable()  # as an import does that had begun before
    qtbot.waitUntil(lambda: not gc.isenabled())
    delete(owner)
    assert gc.isenabled()


def test_what_is_due_is_searched_and_all_of_it_seldom(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search among all objects that took half a second is not made again for fifty."""
    searched: list[int] = []
    now = [1000.0]

    def collect(generation: int = collector.ALL) -> None:
        searched.append(generation)
        now[0] += 0.5 if generation == collector.ALL else 0.0

    monkeypatch.setattr(collector, "PAUSE_MS", 10)
    monkeypatch.setattr(collector.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(gc, "collect", collect)
    counts = [(700, 3, 3), (701, 3, 3), (701, 4, 3), (0, 0, 4), (0, 0, 4)]
    monkeypatch.setattr(gc, "get_count", lambda: counts.pop(0) if counts else (0, 0, 0))
    owner = QObject()
    Collector(owner).begin()
    qtbot.waitUntil(lambda: not counts)
    qtbot.wait(50)
    assert searched == [0, 1, 2, 1], "none for a window at rest"
    now[0] += 51.0
    counts.append((0, 0, 5))
    qtbot.waitUntil(lambda: len(searched) == 5)
    assert searched[-1] == collector.ALL
    delete(owner)

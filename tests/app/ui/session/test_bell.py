"""Threads that are faster than the window leave it its turn: its timers, its mouse, its keyboard."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QEventLoop, QObject, QThread, QTimer
from PySide6.QtWidgets import QApplication

from raygrove.app.document.jobs import Mailroom
from raygrove.app.ui.session import bell as bell_room
from raygrove.app.ui.session.bell import Bell, Letters, MailBell
from raygrove.app.ui.session.frame_loop import MOST_FRAMES
from raygrove.app.ui.window.main_window import MainWindow
from tests.waiting import EVENT_S

MANY = 500


def test_the_window_has_its_turn_while_letters_come_faster_than_they_are_read(qtbot: Any) -> None:
    owner = QObject()
    letters, read, turns = Letters(owner), [0], list[int]()

    def read_one() -> None:
        read[0] += 1
        if read[0] < MANY:  # another one is there before this one has been read
            letters.post(read_one)

    letters.post(read_one)
    turn = QTimer(interval=0)
    turn.timeout.connect(lambda: turns.append(read[0]))
    turn.start()
    qtbot.waitUntil(lambda: read[0] == MANY)
    assert len(turns) >= MANY // 2, f"{len(turns)} turns for {MANY} letters"
    assert max(later - sooner for sooner, later in zip(turns, turns[1:], strict=False)) <= 2


def test_letters_of_all_threads_are_read_in_order_on_the_readers_thread(qtbot: Any) -> None:
    owner = QObject()
    letters, read = Letters(owner), list[tuple[int, int]]()
    own = QThread.currentThread()

    def take(thread: int, number: int) -> None:
        assert QThread.currentThread() is own
        read.append((thread, number))

    def write(thread: int) -> None:
        for number in range(MANY):
            letters.post(take, thread, number)

    writers = [threading.Thread(target=write, args=(thread,)) for thread in range(3)]
    for writer in writers:
        writer.start()
    qtbot.waitUntil(lambda: len(read) == 3 * MANY)
    for thread in range(3):
        assert [number for one, number in read if one == thread] == list(range(MANY))


def test_the_oldest_of_too_many_letters_is_dropped_and_others_are_not(qtbot: Any) -> None:
    owner = QObject()
    letters, frames, words = Letters(owner), list[int](), list[int]()
    for number in range(6):
        letters.post(frames.append, number, most=2)
        letters.post(words.append, number)
    qtbot.waitUntil(lambda: len(words) == 6)
    assert frames == [4, 5] and words == list(range(6))


def test_letters_go_on_behind_one_that_keeps_its_reader_waiting(qtbot: Any) -> None:
    """As a dialog does that a letter has opened."""
    owner = QObject()
    letters, read = Letters(owner), list[str]()

    def ask() -> None:
        inner = QEventLoop()
        letters.post(inner.quit)
        inner.exec()
        read.append("answered")

    letters.post(ask)
    letters.post(read.append, "meanwhile")
    qtbot.waitUntil(lambda: len(read) == 2)
    assert read == ["meanwhile", "answered"]


def test_many_rings_before_an_answer_are_one(qtbot: Any) -> None:
    answers: list[int] = []
    owner = QObject()
    bell = Bell(lambda: answers.append(0), owner)
    for _ in range(MANY):
        bell.ring()
    qtbot.waitUntil(lambda: bool(answers))
    for _ in range(20):
        QApplication.processEvents()
    assert len(answers) == 1


def test_calls_of_a_mailroom_are_made_one_a_turn(qtbot: Any) -> None:
    mailroom, made, turns = Mailroom(), [0], list[int]()
    owner = QObject()
    MailBell(mailroom, owner)

    def call() -> None:
        made[0] += 1
        if made[0] < MANY:
            mailroom.post(call)

    for _ in range(3):
        mailroom.post(call)
    turn = QTimer(owner, interval=0)
    turn.timeout.connect(lambda: turns.append(made[0]))
    turn.start()
    qtbot.waitUntil(lambda: made[0] == MANY + 2)
    assert len(turns) >= MANY // 2


def test_a_render_thread_that_is_faster_than_the_window_leaves_it_its_turn(
    scene_window: MainWindow, qtbot: Any
) -> None:
    """Pictures that are drawn without end, each sooner than the window has taken the one before."""
    loop = scene_window.loop
    frame = loop.last_frame
    assert frame is not None
    is_over, taken, turns = threading.Event(), list[float](), list[float]()
    posted = loop._thread._on_frame

    def flood() -> None:
        while not is_over.is_set():
            posted(frame)
            time.sleep(0)

    def take(arrived: object) -> None:
        taken.append(time.perf_counter())
        time.sleep(0.002)
        if len(taken) >= 200:  # so that a window that never has its turn ends, too
            is_over.set()

    loop.frame_arrived.connect(take)
    turn = QTimer(scene_window, interval=0)
    turn.timeout.connect(lambda: turns.append(time.perf_counter()))
    thread = threading.Thread(target=flood)
    turn.start()
    thread.start()
    qtbot.waitUntil(is_over.is_set)
    thread.join()
    between = [sum(sooner < at < later for at in turns) for sooner, later in zip(taken, taken[1:], strict=False)]
    assert sum(count > 0 for count in between) >= 0.8 * len(between), between
    assert len(loop._letters._waiting) <= MOST_FRAMES + 2, "what waits does not grow"


def test_a_window_is_not_destroyed_while_a_thread_rings_its_bell(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal of an object that is half destroyed ended the program."""
    owner = QObject()
    bell = Bell(lambda: None, owner)
    has_begun, has_ended = threading.Event(), threading.Event()

    class Slow:
        def emit(self) -> None:
            has_begun.set()
            time.sleep(0.2)
            has_ended.set()

    monkeypatch.setattr(bell, "_rung", Slow())
    ringing = threading.Thread(target=bell.ring)
    ringing.start()
    assert has_begun.wait(EVENT_S)
    shiboken6.delete(owner)
    assert has_ended.is_set(), "it was destroyed under the thread's hands"
    ringing.join()


def test_a_bell_is_silent_once_its_owner_is_gone(qtbot: Any) -> None:
    owner, answers = QObject(), list[int]()
    bell = Bell(lambda: answers.append(0), owner)
    bell.ring()
    shiboken6.delete(owner)
    bell.ring()
    for _ in range(20):
        QApplication.processEvents()
    assert not answers and not shiboken6.isValid(bell)


def test_threads_reach_the_window_by_bells_alone() -> None:
    """A connection that is queued by name is one that another thread uses."""
    room = Path(bell_room.__file__).parents[1]
    found = [path.name for path in room.rglob("*.py") if re.search(r"\bQueuedConnection\b", path.read_text("utf-8"))]
    assert found == ["bell.py"], "other threads ring a bell or write a letter"

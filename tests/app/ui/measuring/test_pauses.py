"""What keeps the window's thread: Python's lock, and waiting for other threads. Pauses are counted without the queue
for a processor."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QTimer

from raygrove.app.frames import exporting
from raygrove.app.ui.dialogs.export_dialog import start_export
from raygrove.app.ui.measuring.heartbeat import Heartbeat, QueueClock
from raygrove.app.ui.window.application import SWITCH_INTERVAL_S, make_application
from raygrove.app.ui.window.main_window import MainWindow

HANDOVERS = 40

USUAL_S = 0.005
"""How often Python's threads take turns by themselves; a window of a test before may have changed it."""


@pytest.fixture
def own_interval() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def busy_thread() -> Iterator[None]:
    """A thread that computes in Python and never lets go by itself."""
    is_over = threading.Event()

    def compute() -> None:
        while not is_over.is_set():
            sum(range(3000))

    thread = threading.Thread(target=compute)
    thread.start()
    yield
    is_over.set()
    thread.join()


def handovers_ms(queue: QueueClock) -> float:
    """How long it takes to let go of Python and take it back as often as a small dialog does, without the queue for a
    processor."""
    found = []
    for _ in range(3):
        begin, queued = time.perf_counter(), queue()
        for _ in range(HANDOVERS):
            time.sleep(0)
        found.append((time.perf_counter() - begin) * 1e3 - (queue() - queued))
    return min(found)


def test_a_thread_that_computes_in_python_holds_the_window_up_no_longer_than_it_must(
    own_interval: None, busy_thread: None, qtbot: Any
) -> None:
    """Where other processes take the processors, the computing thread may not run while this one counts: then there is
    nothing to compare, and it is tried again."""
    queue, usual, found = QueueClock(), USUAL_S, []
    for _ in range(10):
        sys.setswitchinterval(usual)
        before = handovers_ms(queue)
        make_application()
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_S)
        found.append((handovers_ms(queue), before))
        if found[-1][0] < 0.5 * before:
            break
    queue.close()
    held_up = [(after, before) for after, before in found if before > 0.5 * HANDOVERS * usual * 1e3]
    assert not held_up or min(after / before for after, before in held_up) < 0.5, found


def test_a_pause_says_what_was_computed_and_what_was_waited(qtbot: Any) -> None:
    """Where the whole machine is held up, that is waiting, too, and it is tried again."""
    for last_try in (False, False, False, True):
        asleep, worked = paused()
        if worked["waited_ms"] < 0.5 * worked["cpu_ms"] or last_try:
            break
    assert asleep["wall_ms"] >= 119.0 and asleep["cpu_ms"] < 60.0 and asleep["waited_ms"] > asleep["cpu_ms"]
    assert worked["cpu_ms"] >= 99.0 and worked["waited_ms"] < 0.5 * worked["cpu_ms"]
    assert worked["wall_ms"] + 1.0 >= worked["cpu_ms"] + min(worked["queue_ms"], 0.0)


def paused() -> tuple[dict[str, float], dict[str, float]]:
    """The figures of a pause asleep, and of one at work."""
    beat = Heartbeat()
    beat.begin("asleep")
    time.sleep(0.12)
    beat.begin("at work")
    end = time.thread_time() + 0.1
    while time.thread_time() < end:
        pass
    beat.begin("end")
    beat.rest()
    return beat.worst["asleep"].figures(), beat.worst["at work"].figures()


def test_the_windows_thread_waits_for_no_other(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening, another structure, exporting, cancelling, closing the scene. A thread that is started answers at once:
    that wait is no wait."""
    waits: list[str] = []
    wait, main = threading.Condition.wait, threading.get_ident()

    def noticed(condition: threading.Condition, timeout: float | None = None) -> bool:
        stack = traceback.extract_stack()
        if threading.get_ident() == main and not any(
            frame.name == "start" and frame.filename == threading.__file__ for frame in stack
        ):
            waits.append(" > ".join(f"{Path(frame.filename).name}:{frame.name}" for frame in stack[-8:-1]))
        return wait(condition, timeout)

    monkeypatch.setattr(threading.Condition, "wait", noticed)
    monkeypatch.setattr(threading.Thread, "join", lambda thread, timeout=None: waits.append(f"join {thread.name}"))
    document = window.document
    document.change("settings.render.width", 64)  # a picture that was begun is drawn to its end
    document.change("settings.render.height", 48)
    seen: list[object] = []
    window.loop.frame_arrived.connect(seen.append)
    window.open_demo("orbit")
    qtbot.waitUntil(lambda: document.scene is not None and bool(seen))
    window.session.choices.choose_hierarchy("brute_force")
    assert document.scene is not None
    start_export(
        window.session,
        document.state,
        exporting.plan_of(document.state, document.scene, str(tmp_path / "p_%04d.png"), range(500)),
    )
    QTimer.singleShot(50, window.cancel_jobs)
    qtbot.waitUntil(lambda: not document.jobs)
    window.commands.actions["file.close"].trigger()
    qtbot.wait(100)
    monkeypatch.undo()
    assert waits == []
    qtbot.waitUntil(lambda: "export" not in {thread.name for thread in threading.enumerate()})

"""A structure that takes long to be prepared: the old picture stays, the strip names it, and Cancel or another choice
ends it."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QProgressBar

from raygrove.app.frames.row_words import drawn_so_far
from raygrove.app.ui.messages import waiting
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import PaintedMaker


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> type[PaintedMaker]:
    """PLOC is compiled for as long as nobody wants anything else."""
    paint, begin = PaintedMaker.draw, PaintedMaker.__init__

    def remember(self: Any, on_busy: Any) -> None:
        begin(self, on_busy)
        self.on_busy, self.check = on_busy, lambda: None

    def draw(self: Any, scene: Any, state: Any, *rest: Any) -> Any:
        name = state.settings.render.hierarchy
        self.on_busy(f"Preparing {name} ...")
        try:
            while name == "ploc":
                self.check()
                time.sleep(0.005)
        finally:
            self.on_busy("")
        return paint(self, scene, state, *rest)

    monkeypatch.setattr(PaintedMaker, "__init__", remember)
    monkeypatch.setattr(PaintedMaker, "draw", draw)
    monkeypatch.setattr(PaintedMaker, "close_engine", lambda self: None, raising=False)
    return PaintedMaker


def hierarchy(window: MainWindow) -> str:
    return window.loop.last_frame.request.state.settings.render.hierarchy if window.loop.last_frame else ""


def choose_slow(window: MainWindow, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: hierarchy(window) == "lbvh")
    assert not window.running.strip.isVisible()
    window.commands.actions["structure.hierarchy.ploc"].trigger()
    qtbot.waitUntil(lambda: window.running.strip.isVisible())
    assert (
        window.running.waiting.sentence == "Preparing ploc ..."
        and window.document.state.settings.render.hierarchy == "ploc"
    )
    picture = window.view.picture()
    assert hierarchy(window) == "lbvh" and picture is not None and not picture.isNull(), "the old picture stays"


def test_cancel_takes_the_choice_back(slow: Any, scene_window: MainWindow, qtbot: Any) -> None:
    choose_slow(scene_window, qtbot)
    scene_window.running.strip.cancelled.emit()
    qtbot.waitUntil(lambda: not scene_window.running.strip.isVisible())
    document = scene_window.document
    assert document.state.settings.render.hierarchy == "lbvh"
    document.undo()
    assert document.state.settings.render.hierarchy == "ploc", "what Cancel did is a step like any other"
    document.undo()


def test_the_picture_keeps_its_size_while_something_is_prepared(
    slow: Any, scene_window: MainWindow, qtbot: Any
) -> None:
    exchange, size = scene_window.view.exchange, scene_window.view.size()
    choose_slow(scene_window, qtbot)
    strip, page = scene_window.running.strip, scene_window.stack
    assert strip.geometry().topLeft() == page.geometry().topLeft() and strip.width() == page.width()
    scene_window.resize(scene_window.width() + 60, scene_window.height())
    qtbot.waitUntil(lambda: strip.width() == page.width() == size.width() + 60)
    scene_window.resize(scene_window.width() - 60, scene_window.height())
    qtbot.waitUntil(lambda: scene_window.view.size() == size)
    scene_window.running.strip.cancelled.emit()
    qtbot.waitUntil(lambda: not strip.isVisible())
    qtbot.wait(60)
    assert scene_window.view.size() == size and exchange is not None
    frames: list[Any] = []
    scene_window.loop.frame_arrived.connect(frames.append)
    exchange = scene_window.view.exchange
    scene_window.document.change("cameras.0.fov", 33.0)
    choose_slow(scene_window, qtbot)
    qtbot.wait(60)
    assert scene_window.view.exchange is exchange, "no new slots, and so no picture drawn twice"


def test_another_choice_wins(slow: Any, scene_window: MainWindow, qtbot: Any) -> None:
    choose_slow(scene_window, qtbot)
    scene_window.commands.actions["structure.hierarchy.hploc"].trigger()
    qtbot.waitUntil(lambda: hierarchy(scene_window) == "hploc")
    qtbot.waitUntil(lambda: not scene_window.running.strip.isVisible())


def test_the_camera_moves_on_meanwhile_and_the_window_closes(slow: Any, scene_window: MainWindow, qtbot: Any) -> None:
    choose_slow(scene_window, qtbot)
    scene_window.document.change("cameras.0.fov", 33.0)
    qtbot.wait(50)
    assert scene_window.running.strip.isVisible() and hierarchy(scene_window) == "lbvh"
    assert scene_window.close() and not scene_window.loop._thread._thread.is_alive(), "it waited for no compiler"


def test_cancel_before_the_first_picture_closes_the_scene(slow: Any, scene_window: MainWindow, qtbot: Any) -> None:
    choose_slow(scene_window, qtbot)
    scene_window.loop.last_frame = None
    scene_window.running.strip.cancelled.emit()
    assert scene_window.document.scene is None


def test_a_strip_that_is_there_stays_while_it_is_told_how_far_it_is(scene_window: MainWindow, qtbot: Any) -> None:
    waits, said = scene_window.running.waiting, []
    waits.changed.connect(lambda: said.append((waits.is_long, waits.sentence)))
    waits.hear("Compiling H-PLOC, first use only: 0 of 12")
    qtbot.waitUntil(lambda: waits.is_long)
    waits.hear("Compiling H-PLOC, first use only: 1 of 12")
    assert waits.is_long and said[-1] == (True, "Compiling H-PLOC, first use only: 1 of 12")
    waits.hear("")
    assert not waits.is_long and said[-1] == (False, "")


def test_each_sentence_stands_in_one_place(scene_window: MainWindow, qtbot: Any) -> None:
    busy, strip, label = scene_window.loop.busy, scene_window.running.strip, scene_window.busy_label
    bar = strip.findChild(QProgressBar)
    assert bar is not None
    said = lambda: {one.text() for one in strip.findChildren(QLabel)}  # noqa: E731
    busy.emit("Compiling H-PLOC, first use only: 3 of 12")
    qtbot.waitUntil(strip.isVisible)
    assert "Compiling H-PLOC, first use only: 3 of 12" in said() and label.text() == ""
    assert (bar.maximum(), bar.value()) == (1000, 250), "how far it is"
    busy.emit("Preparing H-PLOC ...")
    assert "Preparing H-PLOC ..." in said() and bar.maximum() == 0, "nobody knows how far"
    busy.emit("")
    assert not strip.isVisible()
    busy.emit("Optimizing kernels, first use only: 1 of 10")
    qtbot.waitUntil(lambda: label.text() == "Optimizing kernels, first use only: 1 of 10")
    qtbot.wait(waiting.PATIENCE_MS + 50)
    assert not strip.isVisible(), "the picture is there, and nobody waits"
    busy.emit("")
    assert label.text() == ""


def test_the_end_of_optimizing_ends_nothing_that_is_waited_for(scene_window: MainWindow, qtbot: Any) -> None:
    busy, strip, label = scene_window.loop.busy, scene_window.running.strip, scene_window.busy_label
    busy.emit("Compiling H-PLOC, first use only: 3 of 12")
    qtbot.waitUntil(strip.isVisible)
    for sentence in ("Optimizing kernels, first use only: 9 of 10", ""):
        busy.emit(sentence)
        assert strip.isVisible()
    assert label.text() == ""
    busy.emit("")
    assert not strip.isVisible()


def test_a_job_has_the_strip_and_the_status_bar_the_rest(scene_window: MainWindow, qtbot: Any) -> None:
    busy, strip, label = scene_window.loop.busy, scene_window.running.strip, scene_window.busy_label
    document, may_end = scene_window.document, threading.Event()
    job = document.start_job("Counting", lambda job: may_end.wait(60.0), lambda job: None)
    qtbot.waitUntil(strip.isVisible)
    busy.emit("Compiling H-PLOC, first use only: 3 of 12")
    qtbot.waitUntil(lambda: label.text() == "Compiling H-PLOC, first use only: 3 of 12")
    assert any("Counting" in one.text() for one in strip.findChildren(QLabel))
    may_end.set()
    qtbot.waitUntil(lambda: label.text() == "" and any("Compiling" in one.text() for one in strip.findChildren(QLabel)))
    assert job not in document.jobs and strip.isVisible()
    busy.emit("")


def test_a_picture_that_is_drawn_in_rows_has_no_strip(window: MainWindow, qtbot: Any) -> None:
    said = drawn_so_far("sponza", 0.25)
    window.loop._letters.post(window.loop.drawing.emit, said)
    qtbot.waitUntil(lambda: said in {label.text() for label in window.statusBar().findChildren(QLabel)})
    assert not window.running.waiting.sentence, "there is nothing to take back"
    window.loop._letters.post(window.loop.busy.emit, said)
    qtbot.waitUntil(lambda: window.running.waiting.sentence == said)

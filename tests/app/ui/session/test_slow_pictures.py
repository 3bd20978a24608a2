"""A picture that takes long is spoken of: a structure over millions of triangles is built for many seconds."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import PaintedMaker


@pytest.fixture
def may_go_on(scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """No picture comes until this is set; one that takes 20 ms is spoken of."""
    paint, event = PaintedMaker.draw, threading.Event()

    def draw(*of: Any) -> Any:
        event.wait(60.0)
        return paint(*of)

    monkeypatch.setattr(PaintedMaker, "draw", draw)
    scene_window.loop._slow.setInterval(20)
    yield event
    event.set()


def drawing(window: MainWindow) -> str:
    """What is said of its scene's picture."""
    assert window.document.scene is not None
    return f"Drawing {window.document.scene.name} …"


def test_what_is_waited_for_is_said_until_it_is_there(
    scene_window: MainWindow, may_go_on: threading.Event, qtbot: Any
) -> None:
    loop, label = scene_window.loop, scene_window.busy_label
    scene_window.document.change("settings.render.seed", 5)
    qtbot.waitUntil(lambda: label.text() == drawing(scene_window))
    may_go_on.set()
    qtbot.waitUntil(lambda: label.text() == "" and not loop._slow.isActive())


def test_a_finer_picture_that_takes_long_is_spoken_of(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first one is there at once; each sample after it is filtered whole, by seconds of a slow machine."""
    paint, may_go_on, drawn = PaintedMaker.draw, threading.Event(), list[int]()

    def draw(*of: Any) -> Any:
        drawn.append(len(drawn))
        if len(drawn) == 2:
            may_go_on.wait(60.0)
        return dataclasses.replace(paint(*of), samples=len(drawn), samples_wanted=2)

    monkeypatch.setattr(PaintedMaker, "draw", draw)
    loop, label = scene_window.loop, scene_window.busy_label
    loop._slow.setInterval(20)
    scene_window.document.change("settings.render.seed", 5)
    qtbot.waitUntil(lambda: label.text() == drawing(scene_window))
    assert loop.last_frame is not None and loop.last_frame.samples == 1
    may_go_on.set()
    qtbot.waitUntil(lambda: label.text() == "" and not loop._slow.isActive())


def test_a_picture_is_spoken_of_again_after_what_others_said(
    scene_window: MainWindow, may_go_on: threading.Event, qtbot: Any
) -> None:
    loop, label, strip = scene_window.loop, scene_window.busy_label, scene_window.running.strip
    loop.busy.emit("Compiling H-PLOC ...")
    scene_window.document.change("settings.render.seed", 5)
    qtbot.waitUntil(lambda: not loop._slow.isActive() and strip.isVisible())
    assert label.text() == "", "the strip says it"
    for other in ("Optimizing kernels ...", "Preparing H-PLOC ..."):
        loop.busy.emit(other)
        loop.busy.emit("")
        qtbot.waitUntil(lambda: label.text() == drawing(scene_window))
    may_go_on.set()
    qtbot.waitUntil(lambda: label.text() == "" and not loop._slow.isActive() and not loop._waits)


def test_what_is_said_already_stays(scene_window: MainWindow, qtbot: Any) -> None:
    loop, label, strip = scene_window.loop, scene_window.busy_label, scene_window.running.strip
    loop.busy.emit("Preparing H-PLOC ...")
    qtbot.waitUntil(strip.isVisible)
    loop._say_slow()
    assert label.text() == "" and strip.isVisible()
    loop.busy.emit("")
    assert label.text() == "" and not strip.isVisible()


def test_the_render_thread_hears_what_is_painted(scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = list[str]()
    monkeypatch.setattr(scene_window.loop._thread, "has_painted", lambda: heard.append("painted"))
    scene_window.view.painted.emit()
    assert heard == ["painted"]

"""A picture that takes long is spoken of: a structure over millions of triangles is built for many seconds."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import PaintedMaker


def test_what_is_waited_for_is_said_until_it_is_there(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    paint, may_go_on = PaintedMaker.draw, threading.Event()

    def draw(*of: Any) -> Any:
        may_go_on.wait(10.0)
        return paint(*of)

    monkeypatch.setattr(PaintedMaker, "draw", draw)
    loop, label, scene = scene_window.loop, scene_window.busy_label, scene_window.document.scene
    assert scene is not None
    loop._slow.setInterval(20)
    try:
        scene_window.document.change("settings.render.seed", 5)
        qtbot.waitUntil(lambda: label.text() == f"Drawing {scene.name} …")
    finally:
        may_go_on.set()
    qtbot.waitUntil(lambda: label.text() == "" and not loop._slow.isActive())


def test_a_picture_is_spoken_of_again_after_what_others_said(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    paint, may_go_on = PaintedMaker.draw, threading.Event()

    def draw(*of: Any) -> Any:
        may_go_on.wait(60.0)
        return paint(*of)

    monkeypatch.setattr(PaintedMaker, "draw", draw)
    loop, label, scene = scene_window.loop, scene_window.busy_label, scene_window.document.scene
    assert scene is not None
    loop._slow.setInterval(20)
    try:
        loop.busy.emit("Compiling H-PLOC ...")
        scene_window.document.change("settings.render.seed", 5)
        qtbot.waitUntil(lambda: not loop._slow.isActive() and label.text() == "Compiling H-PLOC ...")
        for other in ("Optimizing kernels ...", "Preparing H-PLOC ..."):
            loop.busy.emit(other)
            loop.busy.emit("")
            qtbot.waitUntil(lambda: label.text() == f"Drawing {scene.name} …")
    finally:
        may_go_on.set()
    qtbot.waitUntil(lambda: label.text() == "" and not loop._slow.isActive() and not loop._waits)


def test_what_is_said_already_stays(scene_window: MainWindow, qtbot: Any) -> None:
    loop, label = scene_window.loop, scene_window.busy_label
    loop.busy.emit("Preparing H-PLOC ...")
    qtbot.waitUntil(lambda: label.text() == "Preparing H-PLOC ...")
    loop._say_slow()
    assert label.text() == "Preparing H-PLOC ..."
    loop.busy.emit("")
    assert label.text() == ""

"""Closing, and reloading by itself, as a person meets them."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QPixmap, QPixmapCache

from raygrove.app.system import watch
from raygrove.app.ui.session import scene_files
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import PaintedMaker

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


class Circle:
    """What nobody but itself refers to."""

    def __init__(self) -> None:
        self.itself = self


def test_closing_goes_back_to_the_welcome_page(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[object] = []
    monkeypatch.setattr(PaintedMaker, "close", lambda maker: closed.append(maker))
    monkeypatch.setattr(scene_files, "AT_REST_MS", 100)
    kept_at_the_end: list[tuple[bool, bool]] = []
    kept = lambda: QPixmapCache.find("what was drawn of a widget", QPixmap(4, 4))  # noqa: E731
    circle = Circle()
    is_there = weakref.ref(circle)
    del circle
    monkeypatch.setattr(
        scene_files, "give_memory_back", lambda: kept_at_the_end.append((kept(), is_there() is not None))
    )
    assert QPixmapCache.insert("what was drawn of a widget", QPixmap(4, 4)) and kept() and is_there() is not None
    scene_window.commands.actions["file.close"].trigger()
    assert scene_window.document.scene is None and scene_window.stack.currentWidget() is scene_window.welcome
    assert not scene_window.commands.actions["file.close"].isEnabled() and scene_window.windowTitle() == "Raygrove"
    qtbot.waitUntil(lambda: len(closed) == 1 and kept_at_the_end[:1] == [(False, False)])
    qtbot.waitUntil(lambda: len(kept_at_the_end) == 5)  # again, of what the page was painted with, however late
    qtbot.wait(3 * scene_files.AT_REST_MS)
    assert len(kept_at_the_end) == 5, "a window at rest does nothing"
    scene_window.open_demo("walker")
    qtbot.waitUntil(lambda: scene_window.document.scene is not None)
    assert scene_window.commands.actions["file.close"].isEnabled()
    scene_window.commands.actions["file.close"].trigger()
    qtbot.waitUntil(lambda: len(kept_at_the_end) > 5)
    scene_window.open_demo("walker")
    qtbot.waitUntil(lambda: scene_window.document.scene is not None)
    times = len(kept_at_the_end)
    qtbot.wait(3 * scene_files.AT_REST_MS)
    assert len(kept_at_the_end) == times, "the memory of an open scene is in use"


def reopen(window: MainWindow, qtbot: Any, views: int) -> None:
    """Open a scene, and wait for as many pictures of it as its workspace shows."""
    before = window.loop.last_frame
    window.open_demo("walker")

    def is_shown() -> bool:
        frame = window.loop.last_frame
        return frame is not None and frame is not before and len(frame.request.exchanges) == views

    qtbot.waitUntil(is_shown)
    qtbot.waitUntil(lambda: window.place.page.picture() is not None)


@pytest.mark.each_value
def test_a_closed_scene_leaves_no_pictures(scene_window: MainWindow, qtbot: Any) -> None:
    """Neither what is shown nor what was drawn into, of none of the views, also of the size before."""
    scene_window.document.change("settings.race.contestants", "lbvh@refit, hploc")
    made = list[weakref.ref[object]]()

    def look() -> None:
        exchanges = scene_window.place.page.exchanges
        made.extend(weakref.ref(slot._bytes) for exchange in exchanges for slot in exchange.slots)

    look()
    scene_window.workspaces.choose("race")
    race = scene_window.place.race.view
    assert race is not None
    qtbot.waitUntil(lambda: all(picture._left is not None for picture in race.pictures))
    look()
    assert len(made) == 2 + 4
    scene_window.workspaces.choose("explore")
    assert race.exchanges == () and all(picture._left is None for picture in race.pictures)
    kept = scene_window.loop.last_frame
    scene_window.commands.actions["file.close"].trigger()
    assert scene_window.view.exchanges == () and scene_window.view.picture() is None
    qtbot.waitUntil(lambda: all(one() is None for one in made))
    assert kept is not None and kept.request.exchanges, "whose exchange somebody has still"
    for name, views in (("explore", 1), ("race", 2)):
        scene_window.workspaces.choose(name)
        reopen(scene_window, qtbot, views)
        scene_window.commands.actions["file.close"].trigger()
        assert scene_window.place.page.exchanges == ()


def test_a_closed_scene_goes(window: MainWindow, qtbot: Any) -> None:
    """The last frame's request kept it in memory."""
    reopen(window, qtbot, 1)
    scene = weakref.ref(window.document.scene)
    assert scene() is not None
    PaintedMaker.drawn.clear()  # the stand-in keeps what it has drawn
    window.commands.actions["file.close"].trigger()

    def is_gone() -> bool:
        gc.collect()
        return scene() is None

    qtbot.waitUntil(is_gone)
    assert window.loop.last_frame is None


def test_a_written_file_is_read_again_and_the_camera_stays(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []

    def looked(names: Sequence[str]) -> watch.Signature:
        found = signature(names)
        looks.append(found)
        return found

    signature = watch.signature
    monkeypatch.setattr(watch, "signature", looked)
    path = tmp_path / "a.obj"
    path.write_text(TRIANGLE)
    window.commands.actions["file.watch"].trigger()
    assert window.commands.actions["file.watch"].isChecked()
    window.open_files([str(path)])
    qtbot.waitUntil(lambda: window.document.scene is not None)
    window.document.change("cameras.0.fov", 33.0)
    qtbot.waitUntil(lambda: len(looks) > 1)  # it knows the file as it is
    path.write_text(TRIANGLE + "v 1 1 0\nf 2 4 3\n")
    os.utime(path, (2e9, 2e9))
    qtbot.waitUntil(lambda: window.document.scene is not None and window.document.scene.triangle_count == 2)
    assert window.document.state.cameras[0].fov == 33.0
    path.write_text("no model\n")
    os.utime(path, (2.1e9, 2.1e9))
    qtbot.waitUntil(lambda: bool(window.toasts.messages()))
    assert window.document.scene is not None and window.document.scene.triangle_count == 2
    window.document.change("settings.window.watch", False)
    assert not window.commands.actions["file.watch"].isChecked()

"""The window's soak does what it says, once each, with the cheapest of choices; and a window that hangs is seen."""

from __future__ import annotations

import gc
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QTabBar
from shiboken6 import isValid

from raygrove.app.ui.window.main_window import MainWindow
from tests.app.ui import window_soak


@pytest.fixture
def soak(scene_window: MainWindow, tmp_path: Path) -> window_soak.WindowSoak:
    made = window_soak.WindowSoak.__new__(window_soak.WindowSoak)
    made.folder, made.chance, made.counts = tmp_path, random.Random(1), Counter[str]()
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    made.application, made.window = application, scene_window
    made.document, made.choices = scene_window.document, [("brute_force", "records", "flat")]
    for key, value in {"demo.triangles": 100, "render.device": "cpu", "render.width": 16, "render.height": 16}.items():
        made.document.change(f"settings.{key}", value)
    return made


def test_each_of_its_steps_changes_the_window(soak: window_soak.WindowSoak, tmp_path: Path) -> None:
    before = soak.document.scene
    window_soak.live(soak.scene())
    assert soak.document.scene not in (None, before)
    soak.choose()
    assert soak.document.state.settings.render.ray_type == "flat"
    was_playing = soak.document.state.timeline.is_playing
    soak.play()
    assert soak.document.state.timeline.is_playing is not was_playing
    soak.play()
    state = soak.document.state
    for _ in range(4):
        soak.undo()
    assert soak.document.state is not state
    soak.chance = random.Random(5)
    for step in (soak.resize, soak.workspace, soak.export):
        step()
    assert soak.window.width() in {width for width, _ in window_soak.SIZES}
    assert [path.name for path in tmp_path.iterdir() if path.suffix in (".png", ".json")]


def test_a_window_that_does_not_answer_is_said(soak: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_soak, "ANSWER_S", 0.05)
    with pytest.raises(TimeoutError, match="does not answer: a picture"):
        window_soak.live(soak.until("a picture", lambda: False))


def test_bars_of_tabs_that_a_workspace_leaves_behind_go(soak: window_soak.WindowSoak) -> None:
    """Qt makes new ones for each workspace and has the old ones deleted later: in a loop that turns they are."""
    bars = []

    def work() -> window_soak.Work:
        for name in ("inspect", "explore") * 4:
            soak.workspace(name)
            yield 0.05
            found = [one for one in QApplication.allWidgets() if type(one) is QTabBar and one.window() is soak.window]
            bars.append(len(found))

    window_soak.live(work())
    assert bars[2:4] == bars[4:6] == bars[6:8] and max(bars[2:]) <= 4


def test_no_bar_of_before_is_kept_by_its_window(soak: window_soak.WindowSoak) -> None:
    """Each workspace leaves bars behind; what stands for them in Python goes, too."""
    gone = []

    def work() -> window_soak.Work:
        for name in ("inspect", "explore") * 8:
            soak.workspace(name)
            yield 0.05
            gc.collect()
            gone.append(sum(type(one) is QTabBar and not isValid(one) for one in gc.get_objects()))

    window_soak.live(work())
    assert gone[-1] - gone[3] <= 2, f"those since the last look: {gone}"

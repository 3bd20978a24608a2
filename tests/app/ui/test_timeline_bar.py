"""The timeline bar changes the document's head and shows where it stands."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from app.document import Document
from app.state import SceneReference
from app.ui.timeline_bar import TimelineBar
from gpu.scene import Scene


@pytest.fixture
def bar(qtbot: Any, document: Document, moving_scene: Scene) -> TimelineBar:
    document.change("settings.timeline.autoplay", False)
    made = TimelineBar(document)
    qtbot.addWidget(made)
    made.resize(900, 40)
    made.show()
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    return made


def click(bar: TimelineBar, name: str) -> None:
    button = bar.findChild(QToolButton, name)
    assert button is not None
    button.click()


def test_buttons_move_the_head(bar: TimelineBar, document: Document) -> None:
    click(bar, "play")
    assert document.state.timeline.is_playing
    click(bar, "play")
    assert not document.state.timeline.is_playing
    there = (("step", 1 / 30), ("step_back", 0.0), ("next_key", 0.5), ("next_key", 2.0))
    for name, expected in (*there, ("previous_key", 0.5), ("last", 2.0), ("first", 0.0)):
        click(bar, name)
        assert document.state.timeline.time == pytest.approx(expected), name
    assert not document.can_undo or document.state.timeline.time == 0.0


def test_scrubbing_pauses_and_sets_the_time(bar: TimelineBar, document: Document) -> None:
    bar.toggle_play()
    scrubber = bar.scrubber
    QTest.mousePress(scrubber, Qt.MouseButton.LeftButton, pos=QPoint(round(scrubber.place_of(1.0)), 10))
    assert document.state.timeline.time == pytest.approx(1.0, abs=0.02)
    assert not document.state.timeline.is_playing
    assert bar.time_box.value() == pytest.approx(document.state.timeline.time, abs=1e-3)


def test_typed_time_and_frame_move_the_head(bar: TimelineBar, document: Document) -> None:
    bar.frame_box.setValue(15)
    assert document.state.timeline.time == pytest.approx(0.5)
    bar.time_box.setValue(1.25)
    assert document.state.timeline.time == pytest.approx(1.25)
    assert bar.frame_box.value() in (37, 38)


def test_speed_and_end_are_settings(bar: TimelineBar, document: Document) -> None:
    bar.repeat_box.textActivated.emit("ping-pong")
    assert document.state.settings.timeline.repeat == "ping-pong"
    bar.speed_box.textActivated.emit("0.25")
    assert document.state.settings.timeline.speed == 0.25
    bar.speed_box.textActivated.emit("very fast")
    assert document.state.settings.timeline.speed == 0.25 and bar.speed_box.currentText() == "0.25"
    bar.speed_box.textActivated.emit("1e9")
    assert document.state.settings.timeline.speed == 0.25
    for _ in range(20):
        bar.scale_speed(2.0)
    assert document.state.settings.timeline.speed == 100.0


def test_ticks_say_which_key_they_are(bar: TimelineBar) -> None:
    assert bar.scrubber.tip_at(bar.scrubber.place_of(0.5)) == "Key 2 of 3 at 0.500 s"
    assert bar.scrubber.tip_at(bar.scrubber.place_of(1.0)) == "1.000 s, frame 30"


def test_a_still_scene_has_no_timeline(qtbot: Any, document: Document) -> None:
    bar = TimelineBar(document)
    qtbot.addWidget(bar)
    document.set_scene(SceneReference("demo", ("still",)), Scene("still"))
    assert not bar.isEnabled()

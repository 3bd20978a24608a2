"""The timeline bar changes the document's head and shows where it stands."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.app.ui.timeline.timeline_bar import TimelineBar
from raygrove.app.ui.widgets.line_chart import Line, LineChart
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Clip, Scene
from tests.app.stand_ins import take_places


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


def test_what_a_person_does_is_undone_and_playing_is_not(bar: TimelineBar, document: Document) -> None:
    def head() -> tuple[float, int]:
        return document.state.timeline.time, document.state.timeline.direction

    click(bar, "next_key")
    for _ in range(3):
        click(bar, "step")
    click(bar, "reverse")
    assert head() == (pytest.approx(0.6), -1) and bar.findChild(QToolButton, "reverse").isChecked()
    document.change("cameras.0.fov", 50.0)
    document.toggle_play()
    document.tick(0.25)
    played = document.state.timeline.time
    assert played == pytest.approx(0.35)
    document.undo()
    assert document.state.cameras[0].fov == 45.0 and document.state.timeline.time == played, (
        "a camera's step leaves the head alone"
    )
    document.undo()
    assert head() == (pytest.approx(0.6), 1) and not document.state.timeline.is_playing
    document.undo()
    assert head() == (0.5, 1), "steps on and on are one"
    document.undo()
    assert head() == (0.0, 1) and not document.can_undo
    document.redo()
    document.redo()
    assert head() == (pytest.approx(0.6), 1)


def test_a_scrub_is_one_step(bar: TimelineBar, document: Document) -> None:
    place = bar.scrubber.place_of
    for times in ((0.3, 0.6, 1.0), (1.5, 1.2)):
        QTest.mousePress(bar.scrubber, Qt.MouseButton.LeftButton, pos=QPoint(round(place(times[0])), 10))
        for time in times[1:]:
            bar.scrubber.scrubbed.emit(time)
    document.undo()
    assert document.state.timeline.time == 1.0
    document.undo()
    assert document.state.timeline.time == 0.0 and not document.can_undo


def test_the_clip_is_chosen_where_there_are_several(bar: TimelineBar, document: Document, moving_scene: Scene) -> None:
    assert not bar.clip_box.isVisible()
    clips = (Clip("walk", 2.0), Clip("", 3.0), Clip("run", 4.0))
    document.set_scene(SceneReference("demo", ("three",)), dataclasses.replace(moving_scene, clips=clips))
    assert bar.clip_box.isVisible() and [bar.clip_box.itemText(i) for i in range(3)] == ["walk", "clip 2", "run"]
    click(bar, "last")
    bar.clip_box.activated.emit(2)
    assert (document.state.timeline.clip, document.state.timeline.time, document.span.duration) == (2, 0.0, 4.0)
    click(bar, "last")
    assert document.state.timeline.time == 4.0
    document.undo()
    document.undo()
    assert (document.state.timeline.clip, document.state.timeline.time) == (
        0,
        2.0,
    ) and bar.clip_box.currentText() == "walk"


def test_fixed_steps_and_tooltips_of_keys(bar: TimelineBar, document: Document) -> None:
    bar.step_box.textActivated.emit("fixed")
    document.toggle_play()
    document.tick(7.0)
    assert document.state.timeline.time == pytest.approx(1 / 30)
    document.undo()
    assert document.state.settings.timeline.step == "real-time" and bar.step_box.currentText() == "real-time"
    names = ("first", "previous_key", "step_back", "reverse", "play", "step", "next_key", "last")
    actions = {f"animation.{name}": QAction(name) for name in names}
    bar.show_keys(actions)
    actions["animation.play"].setShortcut("P")
    assert bar.findChild(QToolButton, "play").toolTip() == "Play or pause (P)"
    assert bar.findChild(QToolButton, "last").toolTip() == "Last frame"


def test_scrubbing_pauses_and_sets_the_time(bar: TimelineBar, document: Document) -> None:
    document.toggle_play()
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
    assert document.state.settings.timeline.speed == 0.25 and bar.speed_box.currentText() == "0.25x"
    bar.speed_box.textActivated.emit("1e9")
    assert document.state.settings.timeline.speed == 0.25
    for _ in range(20):
        bar.scale_speed(2.0)
    assert document.state.settings.timeline.speed == 100.0


def test_ticks_say_which_key_they_are(bar: TimelineBar) -> None:
    assert bar.scrubber.tip_at(bar.scrubber.place_of(0.5)) == "Key frame 2 of 3 at 0.500 s"
    assert bar.scrubber.tip_at(bar.scrubber.place_of(1.0)) == "1.000 s, frame 30"


def test_a_still_scene_has_no_timeline(qtbot: Any, document: Document) -> None:
    bar = TimelineBar(document)
    qtbot.addWidget(bar)
    document.set_scene(SceneReference("demo", ("still",)), Scene("still"))
    assert not any(part.isEnabled() for part in (bar.scrubber, bar.time_box, bar.step_box, *bar._buttons.values()))
    assert bar.cost.isEnabled(), "what is unfolded can be folded"


def test_a_longer_animation_cuts_no_field(bar: TimelineBar, document: Document) -> None:
    bar.show()
    bar.resize(872, bar.height())
    take_places()
    assert document.scene is not None
    document.set_scene(SceneReference("demo", ("long",)), Scene("long", clips=(Clip("all", 1234.56),)))
    take_places()
    assert bar.time_box.text().endswith("of 1234.56 s") and bar.scrubber.width() >= 100
    for field in (bar.time_box, bar.frame_box, bar.speed_box, bar.repeat_box, bar.step_box):
        assert not field.isVisible() or field.width() >= min(field.sizeHint().width(), field.maximumWidth())


def test_it_lets_a_window_be_small_and_cuts_no_field(bar: TimelineBar, qtbot: Any) -> None:
    assert bar.minimumSizeHint().width() <= 400
    bar.show()
    fields = (bar.time_box, bar.frame_box, bar.speed_box, bar.repeat_box, bar.step_box)
    shown = []
    for width in (1300, 1000, 800, 640, 400, 1300):
        bar.resize(width, bar.height())
        take_places()
        there = [field for field in fields if field.isVisible()]
        shown.append(len(there))
        cut = [
            field.objectName() for field in there if field.width() < min(field.sizeHint().width(), field.maximumWidth())
        ]
        assert cut == [] and all(field.geometry().right() <= width for field in there), width
        assert bar.scrubber.width() >= 100
    assert (
        shown[0] == shown[-1] == len(fields)
        and shown == sorted(shown[:-1], reverse=True) + shown[-1:]
        and bar.time_box in fields
    )
    bar.resize(640, bar.height())
    assert bar.time_box.isVisible(), "where the head stands is given up last"


def test_costs_unfold_above_the_line_and_lie_along_it(scene_window: MainWindow) -> None:
    """Instant above instant, in the costs and in a race, at every width of the window; a click on Cost folds them."""
    window = scene_window
    bar, cost = window.timeline_bar, window.inspectors.cost
    for width in (900, 1280, 640):
        window.resize(width, 720)
        bar.cost.click()
        take_places()
        assert cost.isVisible() and bar.cost.arrowType() == Qt.ArrowType.DownArrow
        check_along(cost.chart, bar, width)
        assert bar.scrubber.width() >= (max(320, 0.4 * bar.width()) if width >= 900 else 104)
        bar.cost.click()
        take_places()
        assert not cost.isVisible() and bar.cost.arrowType() == Qt.ArrowType.UpArrow
    window.resize(1280, 720)
    window.workspaces.choose("race")
    take_places()
    assert window.place.race.view is not None
    check_along(window.place.race.view.lines.chart, bar, 1280)


def check_along(chart: LineChart, bar: TimelineBar, width: int) -> None:
    chart.show_lines([Line(np.array([0.0, 1.0, 2.0]), np.ones(3), "#ffffff", letter="A")], 2.0)
    for seconds in (0.0, 1.0, 2.0):
        above = chart.mapToGlobal(chart.place_of(seconds)).x()
        begin, end = bar.scrubber.ends()
        below = bar.scrubber.mapToGlobal(QPointF(begin + seconds / 2.0 * (end - begin), 0)).x()
        assert abs(above - below) <= 1.0, (width, seconds, above, below)

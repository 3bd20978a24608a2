"""A picture that cannot be drawn while the animation plays: it pauses where that is seen, says what to do, and goes on
when it can."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton

from raygrove.app.document.state import SceneReference
from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog
from raygrove.app.ui.messages.banner import Banner
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import NoDeviceError, OutOfMemoryError
from raygrove.gpu.target.cuda_driver import error_for
from tests.app.stand_ins import PaintedMaker, failing_pictures, wait_for_rest

FROM, TO = 0.6, 1.2
REFUSING = "sah_events"


@pytest.fixture
def refusing(scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """The scene of two seconds plays in fixed steps of 1/10 s; one structure refuses it from 0.6 s to 1.2 s."""
    paint = PaintedMaker.draw

    def draw(self: Any, scene: Any, state: Any, moment: Any, *rest: Any) -> Any:
        if state.settings.render.hierarchy == REFUSING and FROM <= moment.time < TO:
            raise HierarchyError("The structure sah_events would need too much. Raise max_leaf_size.")
        return paint(self, scene, state, moment, *rest)

    monkeypatch.setattr(PaintedMaker, "draw", draw)
    document = scene_window.document
    for key, value in {"timeline.step": "fixed", "timeline.fps": 10.0, "render.hierarchy": REFUSING}.items():
        document.change(f"settings.{key}", value)
    return scene_window


def halted(window: MainWindow, qtbot: Any) -> Banner:
    """Play until it halts; the banner."""
    window.commands.actions["animation.play"].trigger()
    assert window.document.state.timeline.is_playing
    qtbot.waitUntil(lambda: not window.document.state.timeline.is_playing)
    qtbot.waitUntil(lambda: bool(window.toasts.messages()))
    (banner,) = window.toasts.messages()
    return banner


def button(banner: Banner, name: str) -> QPushButton | None:
    return banner.findChild(QPushButton, name)


def test_playing_pauses_where_a_structure_refuses_and_the_last_picture_stays(refusing: MainWindow, qtbot: Any) -> None:
    banner = halted(refusing, qtbot)
    head = refusing.document.state.timeline
    assert head.time == pytest.approx(FROM, abs=1e-6) and refusing.timeline_bar._play_icon == "play"
    assert "Raise max_leaf_size." in banner.sentence and banner.sentence.endswith("Playback is paused at 0.60 s.")
    assert refusing.loop.last_frame is not None and refusing.loop.last_frame.request.moment.time == pytest.approx(
        FROM - 0.1
    )
    assert refusing.view.picture() is not None and "last picture" in refusing.messages.panels.marks["stats"].sentence
    button(banner, "options").click()
    dialog = refusing.findChild(SettingsDialog)
    assert dialog is not None and dialog.isVisible()
    dialog.close()
    refusing.document.undo()
    assert refusing.document.state.settings.render.hierarchy == "lbvh", "the pause is no step of undo"


def test_play_on_goes_past_the_instant_and_pauses_again_where_the_next_is_refused(
    refusing: MainWindow, qtbot: Any
) -> None:
    banner, seen = halted(refusing, qtbot), []
    for expected in (0.7, 0.8):
        button(banner, "play_on").click()
        qtbot.waitUntil(lambda: not refusing.document.state.timeline.is_playing)
        qtbot.waitUntil(lambda old=banner: refusing.toasts.messages() != [old])
        (banner,) = refusing.toasts.messages()
        seen.append(refusing.document.state.timeline.time)
        assert seen[-1] == pytest.approx(expected)
    refusing.timeline_bar.go(lambda head, span: type(head)(TO - 0.1))  # paused, and refused as well
    qtbot.waitUntil(lambda: refusing.loop._halt is not None and refusing.loop._halt.head.time > 1.0)
    PaintedMaker.drawn.clear()
    refusing.commands.actions["animation.play"].trigger()
    qtbot.waitUntil(lambda: any(moment.time > TO + 0.2 for _, moment, _ in PaintedMaker.drawn))


def test_a_painting_that_comes_at_a_halt_is_no_second_step(refusing: MainWindow, qtbot: Any) -> None:
    banner = halted(refusing, qtbot)
    button(banner, "play_on").click()
    refusing.loop._arrived_serial = refusing.loop._serial
    refusing.view.painted.emit()
    qtbot.waitUntil(lambda: refusing.loop._halt.head.time > FROM + 0.05)
    assert refusing.loop._halt.head.time == pytest.approx(FROM + 0.1)


def test_play_goes_the_other_way_from_where_it_halted(refusing: MainWindow, qtbot: Any) -> None:
    halted(refusing, qtbot)
    refusing.commands.actions["animation.reverse"].trigger()
    PaintedMaker.drawn.clear()
    refusing.commands.actions["animation.play"].trigger()
    qtbot.waitUntil(lambda: any(moment.time < FROM - 0.15 for _, moment, _ in PaintedMaker.drawn))
    assert all(moment.time < FROM for _, moment, _ in PaintedMaker.drawn[:5])


def test_another_structure_plays_on_by_itself(refusing: MainWindow, qtbot: Any) -> None:
    halted(refusing, qtbot)
    refusing.session.choices.choose_hierarchy("lbvh")
    qtbot.waitUntil(
        lambda: refusing.document.state.timeline.is_playing and refusing.document.state.timeline.time > FROM,
    )
    assert refusing.toasts.messages() == [] and not refusing.messages.panels.marks["stats"].isVisible()


def test_another_instant_is_drawn_and_nothing_plays_on_by_itself(refusing: MainWindow, qtbot: Any) -> None:
    halted(refusing, qtbot)
    refusing.timeline_bar.go(lambda head, span: type(head)(0.2))
    qtbot.waitUntil(lambda: not refusing.toasts.messages())
    qtbot.wait(50)
    assert refusing.document.state.timeline == type(refusing.document.state.timeline)(0.2)
    assert refusing.loop.last_frame is not None and refusing.loop.last_frame.request.moment.time == pytest.approx(0.2)


def test_a_still_picture_can_be_tried_again(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing_pictures(NoDeviceError("The device is gone."), scene_window, qtbot, monkeypatch):
        pass
    qtbot.waitUntil(lambda: bool(scene_window.toasts.messages()))
    (banner,) = scene_window.toasts.messages()
    assert button(banner, "options") is None and button(banner, "play_on") is None, (
        "no option of a structure mends a device"
    )
    button(banner, "retry").click()
    qtbot.waitUntil(lambda: not scene_window.toasts.messages())


@pytest.mark.parametrize("error", [error_for(700), error_for(2), OutOfMemoryError("an array", 1 << 40, 1 << 20)])
def test_a_gpu_that_fails_leaves_a_window_that_works(
    error: Exception, scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence; the scene, its settings and the playing head stay; the CPU, once chosen, draws."""
    with failing_pictures(error, scene_window, qtbot, monkeypatch):
        (banner,) = scene_window.toasts.messages()
        assert str(error) in banner.sentence and scene_window.document.scene is not None
        scene_window.timeline_bar.go(lambda head, span: type(head)(0.5))
        scene_window.document.change("settings.render.samples", 7)
        assert scene_window.document.state.timeline == type(scene_window.document.state.timeline)(0.5)
    scene_window.document.change("settings.render.device", "cpu")
    qtbot.waitUntil(lambda: not scene_window.toasts.messages())
    qtbot.waitUntil(lambda: scene_window.loop.last_frame.request.state.settings.render.device == "cpu")
    assert scene_window.document.state.settings.render.samples == 7


def test_playing_on_without_a_device_pauses_again(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[float] = []

    def fail(self: Any, scene: Any, state: Any, moment: Any, *_: Any) -> Any:
        calls.append(moment.time)
        raise NoDeviceError("The device is gone.")

    monkeypatch.setattr(PaintedMaker, "draw", fail)
    halted(scene_window, qtbot)
    wait_for_rest(scene_window, qtbot)
    tried = len(calls)
    for _ in range(3):
        scene_window.commands.actions["animation.play"].trigger()
        qtbot.waitUntil(lambda: not scene_window.document.state.timeline.is_playing)
    assert len(calls) == tried, "what a device cannot do is not tried for every instant"


def test_what_was_said_of_a_scenes_picture_goes_with_the_scene(
    refusing: MainWindow, moving_scene: Scene, qtbot: Any
) -> None:
    halted(refusing, qtbot)
    refusing.document.set_scene(SceneReference("demo", ("another",)), moving_scene)
    assert refusing.toasts.messages() == []


def test_a_question_that_fails_while_a_picture_is_drawn_leaves_no_instant_out(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions are answered before the picture is drawn: that one has failed says nothing of the other."""
    paint, may_draw, drawing = PaintedMaker.draw, threading.Event(), threading.Event()

    def draw(self: Any, *arguments: Any) -> Any:
        drawing.set()
        may_draw.wait(60)
        return paint(self, *arguments)

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no answer")

    monkeypatch.setattr(PaintedMaker, "draw", draw)
    loop, heard = scene_window.loop, list[object]()
    loop.problem.connect(heard.append)
    loop.ask("pick", fail, lambda answer: None)
    scene_window.commands.actions["animation.play"].trigger()
    qtbot.waitUntil(lambda: bool(heard) and drawing.is_set())
    time = scene_window.document.state.timeline.time
    loop._play_on()
    assert scene_window.document.state.timeline.time == time and scene_window.document.state.timeline.is_playing
    may_draw.set()
    qtbot.waitUntil(lambda: scene_window.document.state.timeline.time > time)


def test_spheres_that_this_window_cannot_draw_halt_it_once(
    scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames of spheres keep coming where Qt paints: none of them takes the halt back."""
    paint = PaintedMaker.draw

    def draw(self: Any, scene: Any, state: Any, *rest: Any) -> Any:
        outcome = paint(self, scene, state, *rest)
        given = None if state.settings.display.spheres == "rays" else object()
        return dataclasses.replace(outcome, spheres=given)

    monkeypatch.setattr(PaintedMaker, "draw", draw)
    window, last = scene_window, scene_window.loop.last_frame
    window.document.change("settings.display.spheres", "impostors")
    qtbot.waitUntil(lambda: bool(window.toasts.messages()))
    halted(window, qtbot)
    wait_for_rest(window, qtbot)
    (banner,) = window.toasts.messages()
    assert "without OpenGL" in banner.sentence and "Playback is paused" in banner.sentence
    assert not window.document.state.timeline.is_playing and window.loop.last_frame is last
    window.document.change("settings.display.spheres", "rays")
    qtbot.waitUntil(lambda: window.document.state.timeline.is_playing and not window.toasts.messages())

"""A picture that cannot be drawn while the animation plays: it pauses where that is seen, says what to do, and goes on when it can."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton

from app.state import SceneReference
from app.ui.banner import Banner
from app.ui.main_window import MainWindow
from app.ui.settings_dialog import SettingsDialog
from gpu.hierarchy.base import HierarchyError
from gpu.scene import Scene
from gpu.target.base import NoDeviceError
from tests.app.stand_ins import PaintedMaker, failing_pictures

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
    qtbot.waitUntil(lambda: not window.document.state.timeline.is_playing, timeout=5000)
    qtbot.waitUntil(lambda: bool(window.banners.messages()))
    (banner,) = window.banners.messages()
    return banner


def button(banner: Banner, name: str) -> QPushButton | None:
    return banner.findChild(QPushButton, name)


def test_playing_pauses_where_a_structure_refuses_and_the_last_picture_stays(refusing: MainWindow, qtbot: Any) -> None:
    banner = halted(refusing, qtbot)
    head = refusing.document.state.timeline
    assert head.time == pytest.approx(FROM, abs=1e-6) and refusing.timeline_bar._play_icon == "play"
    assert "Raise max_leaf_size." in banner.sentence and banner.sentence.endswith("Playback is paused at 0.60 s.")
    assert refusing.loop.last_frame is not None and refusing.loop.last_frame.request.moment.time == pytest.approx(FROM - 0.1)
    assert refusing.view.picture() is not None and "last picture" in refusing.messages.panels.marks["stats"].sentence
    button(banner, "options").click()
    dialog = refusing.findChild(SettingsDialog)
    assert dialog is not None and dialog.isVisible()
    dialog.close()
    refusing.document.undo()
    assert refusing.document.state.settings.render.hierarchy == "lbvh", "the pause is no step of undo"


def test_play_on_goes_past_the_instant_and_pauses_again_where_the_next_is_refused(refusing: MainWindow, qtbot: Any) -> None:
    banner, seen = halted(refusing, qtbot), []
    for expected in (0.7, 0.8):
        button(banner, "play_on").click()
        qtbot.waitUntil(lambda: not refusing.document.state.timeline.is_playing, timeout=5000)
        qtbot.waitUntil(lambda old=banner: refusing.banners.messages() != [old])
        (banner,) = refusing.banners.messages()
        seen.append(refusing.document.state.timeline.time)
        assert seen[-1] == pytest.approx(expected)
    refusing.timeline_bar.go(lambda head, span: type(head)(TO - 0.1))  # paused, and refused as well
    qtbot.waitUntil(lambda: refusing.loop._halt is not None and refusing.loop._halt.head.time > 1.0)
    PaintedMaker.drawn.clear()
    refusing.commands.actions["animation.play"].trigger()
    qtbot.waitUntil(lambda: any(moment.time > TO + 0.2 for _, moment, _ in PaintedMaker.drawn), timeout=5000)


def test_play_goes_the_other_way_from_where_it_halted(refusing: MainWindow, qtbot: Any) -> None:
    halted(refusing, qtbot)
    refusing.commands.actions["animation.reverse"].trigger()
    PaintedMaker.drawn.clear()
    refusing.commands.actions["animation.play"].trigger()
    qtbot.waitUntil(lambda: any(moment.time < FROM - 0.15 for _, moment, _ in PaintedMaker.drawn), timeout=5000)
    assert all(moment.time < FROM for _, moment, _ in PaintedMaker.drawn[:5])


def test_another_structure_plays_on_by_itself(refusing: MainWindow, qtbot: Any) -> None:
    halted(refusing, qtbot)
    refusing.choices.choose_hierarchy("lbvh")
    qtbot.waitUntil(lambda: refusing.document.state.timeline.is_playing and refusing.document.state.timeline.time > FROM, timeout=5000)
    assert refusing.banners.messages() == [] and not refusing.messages.panels.marks["stats"].isVisible()


def test_another_instant_is_drawn_and_nothing_plays_on_by_itself(refusing: MainWindow, qtbot: Any) -> None:
    halted(refusing, qtbot)
    refusing.timeline_bar.go(lambda head, span: type(head)(0.2))
    qtbot.waitUntil(lambda: not refusing.banners.messages(), timeout=5000)
    qtbot.wait(50)
    assert refusing.document.state.timeline == type(refusing.document.state.timeline)(0.2)
    assert refusing.loop.last_frame is not None and refusing.loop.last_frame.request.moment.time == pytest.approx(0.2)


def test_a_still_picture_can_be_tried_again(scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with failing_pictures(NoDeviceError("The device is gone."), scene_window, qtbot, monkeypatch):
        pass
    qtbot.wait(30)
    (banner,) = scene_window.banners.messages()
    assert button(banner, "options") is None and button(banner, "play_on") is None, "no option of a structure mends a device"
    button(banner, "retry").click()
    qtbot.waitUntil(lambda: not scene_window.banners.messages(), timeout=5000)


def test_playing_on_without_a_device_pauses_again(scene_window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []

    def fail(self: Any, scene: Any, state: Any, moment: Any, *_: Any) -> Any:
        calls.append(moment.time)
        raise NoDeviceError("The device is gone.")

    monkeypatch.setattr(PaintedMaker, "draw", fail)
    halted(scene_window, qtbot)
    qtbot.wait(50)
    tried = len(calls)
    for _ in range(3):
        scene_window.commands.actions["animation.play"].trigger()
        qtbot.waitUntil(lambda: not scene_window.document.state.timeline.is_playing, timeout=5000)
    assert len(calls) == tried, "what a device cannot do is not tried for every instant"


def test_what_was_said_of_a_scenes_picture_goes_with_the_scene(refusing: MainWindow, moving_scene: Scene, qtbot: Any) -> None:
    halted(refusing, qtbot)
    refusing.document.set_scene(SceneReference("demo", ("another",)), moving_scene)
    assert refusing.banners.messages() == []

"""A document that follows a loop: the newest frame at the end, a clip that stays once a person takes the head away."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.document import Document
from raygrove.app.live.following import FRAME_SECONDS, LiveScene
from raygrove.app.live.ring import VERTICES, LiveRing
from raygrove.app.playback import timeline as timelines
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene

from .test_ring import shape


class Followed:
    """A document, what it follows, and a clock that the test turns."""

    def __init__(self, capacity: int = 4) -> None:
        self.now = 0.0
        self.ring, self.document = LiveRing.create(shape(), capacity), Document()
        self.live = LiveScene(self.document, self.ring, lambda: self.now)

    def run(self, *numbers: int, time: float = np.nan) -> None:
        for number in numbers:
            self.ring.publish(VERTICES, np.full((4, 3), number) + shape().vertices, time)

    def poll(self, seconds: float = 1.0) -> None:
        self.now += seconds
        self.live.poll()

    def shown(self) -> float:
        """What number the frame at the head has."""
        scene, head = self.document.scene, self.document.state.timeline
        assert scene is not None
        keys = scene.meshes[0].key_frames
        if keys is None:
            return float(scene.meshes[0].positions[0, 0])
        return float(np.interp(head.time, keys.times, keys.positions[:, 0, 0]))


@pytest.fixture
def followed() -> Followed:
    return Followed()


def test_the_newest_frame_is_shown(followed: Followed) -> None:
    assert followed.shown() == 0 and followed.document.span.duration == 0.0
    for last in (1, 2, 7, 50):
        followed.run(*range(last - 1, last + 1))
        followed.poll()
        assert followed.shown() == last
    state = followed.document.state
    assert followed.document.span.duration == pytest.approx(3 * FRAME_SECONDS)
    assert state.timeline.time == pytest.approx(followed.document.span.duration) and not state.timeline.is_playing
    assert not followed.document.can_undo


def test_a_still_loop_shows_nothing_anew(followed: Followed) -> None:
    followed.run(1, 2)
    followed.poll()
    scene = followed.document.scene
    for _ in range(3):
        followed.poll()
    assert followed.document.scene is scene


def test_frames_come_no_faster_than_they_are_shown(followed: Followed) -> None:
    scenes: list[Scene | None] = []
    followed.document.on_scene.append(scenes.append)
    for step in range(100):
        followed.run(step)
        followed.poll(0.001)
    assert 1 <= len(scenes) <= 3


def test_a_head_that_is_taken_back_finds_the_frames_that_were_held(followed: Followed) -> None:
    followed.run(*range(1, 9))
    followed.poll()
    document = followed.document
    document.move_head(timelines.scrub(document.state.timeline, FRAME_SECONDS, document.span))
    followed.poll()
    assert followed.shown() == pytest.approx(6)
    scene = document.scene
    assert scene is not None and scene.meshes[0].key_frames is not None
    assert scene.meshes[0].key_frames.positions[:, 0, 0].tolist() == [5, 6, 7, 8]
    followed.run(*range(9, 20))
    followed.poll()
    assert document.scene is scene, "it stays while somebody looks at it"
    document.toggle_play()
    document.tick(FRAME_SECONDS)
    followed.poll()
    assert document.scene is scene and followed.shown() == pytest.approx(7)
    document.toggle_play()
    document.move_head(timelines.scrub(document.state.timeline, document.span.duration, document.span))
    followed.poll()
    assert followed.shown() == 19, "at the end it follows again"


def test_playing_from_the_end_plays_the_clip(followed: Followed) -> None:
    followed.run(*range(1, 9))
    followed.poll()
    followed.document.toggle_play()
    followed.poll()
    scene = followed.document.scene
    assert scene is not None and scene.meshes[0].key_frames is not None
    assert len(scene.meshes[0].key_frames.times) == 4 and followed.document.state.timeline.is_playing


def test_times_of_the_loop_are_the_clips(followed: Followed) -> None:
    for number, seconds in ((1, 3.0), (2, 3.5), (3, 5.0)):
        followed.run(number, time=seconds)
    followed.poll()
    document = followed.document
    document.move_head(timelines.scrub(document.state.timeline, 0.0, document.span))
    followed.poll()
    assert document.span.key_times == pytest.approx((0.0, 0.5, 2.0))


def test_cameras_and_settings_stay(followed: Followed) -> None:
    document, mine = followed.document, Camera(eye=(1.0, 2.0, 3.0))
    document.change("cameras.0", mine)
    document.change("settings.render.ray_type", "normals")
    followed.run(1, 2)
    followed.poll()
    assert document.state.cameras[0] == mine and document.state.settings.render.ray_type == "normals"


def test_another_scene_is_left_alone(followed: Followed, moving_scene: Scene) -> None:
    from raygrove.app.document.state import SceneReference

    followed.document.set_scene(SceneReference("demo", ("orbit",)), moving_scene)
    followed.run(1, 2)
    followed.poll()
    assert followed.document.scene is moving_scene


def test_vertices_that_are_not_finite_leave_the_rest(followed: Followed) -> None:
    rows: Any = shape().vertices.copy()
    rows[3] = np.nan
    followed.ring.publish(VERTICES, rows, np.nan)
    followed.poll()
    scene = followed.document.scene
    assert scene is not None and np.isfinite(scene.upper).all() and np.isfinite(scene.lower).all()
    normals = scene.meshes[0].normals
    assert normals is not None and np.isfinite(normals).all()


def test_many_frames_go_without_normals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raygrove.app.live.following.MOST_NORMALS", 15)
    followed = Followed()
    followed.run(1)
    followed.poll()
    scene = followed.document.scene
    assert scene is not None and scene.meshes[0].normals is None and dataclasses.is_dataclass(scene)

"""Opening a scene and the first look at it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from raygrove.app.document.jobs import Cancelled, Job
from raygrove.app.document.opening import cameras_of, first_look, open_scene
from raygrove.app.document.state import SceneReference, State, replaced
from raygrove.app.scene_io import SceneError
from raygrove.app.scene_io.demos import UnknownDemoError
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.scene import Node, Scene, SceneCamera

QUARTER = (0.0, math.sin(math.pi / 4), 0.0, math.cos(math.pi / 4))


def test_demos_follow_their_options() -> None:
    settings = set_option(Settings(), "demo.triangles", 2000)
    small = open_scene(SceneReference("demo", ("cloth",)), settings)
    assert small.triangle_count < 3000 < open_scene(SceneReference("demo", ("cloth",)), Settings()).triangle_count


def test_what_cannot_be_opened() -> None:
    with pytest.raises(UnknownDemoError):
        open_scene(SceneReference("demo", ("octopus",)), Settings())
    with pytest.raises(SceneError, match="absent"):
        open_scene(SceneReference("files", ("absent.obj",)), Settings())
    with pytest.raises(SceneError, match="No scene"):
        open_scene(SceneReference(), Settings())


def test_a_cancelled_job_opens_nothing() -> None:
    job = Job("opening")
    job.cancel()
    with pytest.raises(Cancelled):
        job.report(0.5)
    job.run(lambda running: running.report(0.1))
    assert job.is_done and job.problem is None and job.result is None


def test_the_scenes_camera_looks_along_minus_z_of_its_node() -> None:
    scene = Scene("one", (Node(translation=(5.0, 0.0, 0.0), rotation=QUARTER),), cameras=(SceneCamera("eye", 0, 30.0),))
    free, own = cameras_of(scene)
    assert own == free and own.fov == 30.0
    assert own.eye == pytest.approx((5.0, 0.0, 0.0))
    assert own.basis()[2] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-12)
    assert own.look_at == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_a_scene_without_camera_is_seen_whole() -> None:
    (camera,) = cameras_of(Scene("box", lower=(-1.0, -2.0, -3.0), upper=(3.0, 2.0, 1.0)))
    assert camera.look_at == pytest.approx((1.0, 0.0, -1.0))
    corner = np.array([3.0, 2.0, 1.0]) - camera.eye
    angle = math.degrees(math.acos(float(np.dot(corner, camera.basis()[2]) / np.linalg.norm(corner))))
    assert angle < camera.fov / 2.0 + 1e-6
    given = dataclasses.replace(Scene("box"), eye=(0.0, 1.0, 2.0), look_at=(0.0, 0.0, 1.0))
    assert cameras_of(given)[0].eye == (0.0, 1.0, 2.0)


def test_what_moves_plays_at_once_if_it_may(moving_scene: Scene) -> None:
    state = State()
    assert first_look(state, moving_scene).timeline.is_playing
    assert not first_look(state, Scene("still")).timeline.is_playing
    assert not first_look(replaced(state, "settings.timeline.autoplay", False), moving_scene).timeline.is_playing


def test_a_scene_begins_with_the_clip_that_the_settings_name(moving_scene: Scene) -> None:
    second = dataclasses.replace(moving_scene.clips[0], name="second")
    scene = dataclasses.replace(moving_scene, clips=(moving_scene.clips[0], second))
    assert first_look(State(), scene).timeline.clip == 0
    head = first_look(replaced(State(), "settings.timeline.clip", "second"), scene).timeline
    assert (head.clip, head.is_playing) == (1, True)


def test_a_reference_has_a_title() -> None:
    assert SceneReference("files", ("/a/b/c.obj", "/a/b/d.obj", "/a/b/e.obj")).title == "c.obj and 2 more"
    assert SceneReference("demo", ("orbit",)).title == "orbit"
    assert SceneReference().title == ""


def test_the_settings_give_a_still_scene_a_motion() -> None:
    settings = set_option(set_option(Settings(), "demo.triangles", 500), "motion.name", "turntable")
    scene = open_scene(SceneReference("demo", ("blob",)), settings)
    assert scene.duration() == 6.0 and scene.clips[0].name == "turntable"
    walker = open_scene(SceneReference("demo", ("walker",)), settings)
    assert walker.clips[0].name != "turntable" and "moves by itself" in walker.remarks[-1].sentence


def test_a_camera_of_the_file_that_sees_a_corner_is_not_where_it_begins() -> None:
    """A beam far longer than what the camera before it sees; a camera within the model is meant."""
    beam = Scene("beam", (Node(translation=(0.0, 0.0, 8.0)),), cameras=(SceneCamera("eye", 0, 30.0),))
    long = dataclasses.replace(beam, lower=(-36.0, -2.0, -1.0), upper=(35.0, 4.0, 1.0))
    free, own = cameras_of(long)
    assert own.eye == (0.0, 0.0, 8.0) and free.eye != own.eye and free.look_at == pytest.approx((-0.5, 1.0, 0.0))
    for lower, upper in (((-3.0, -2.0, -1.0), (3.0, 4.0, 1.0)), ((-36.0, -2.0, -1.0), (35.0, 4.0, 9.0))):
        free, own = cameras_of(dataclasses.replace(beam, lower=lower, upper=upper))
        assert free == own

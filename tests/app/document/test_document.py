"""The document: one writer, one history, and a scene that stays when the next one cannot be had."""

from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path

import pytest

from raygrove.app.document.document import Document
from raygrove.app.document.jobs import Job
from raygrove.app.document.state import SceneReference, Selection, State, replaced, value_at
from raygrove.app.problems.problem import Problem
from raygrove.app.settings import file as settings_file
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError
from tests.app.stand_ins import finish

MOVED = Camera(eye=(9.0, 9.0, 9.0))


def test_paths_lead_through_dataclasses_tuples_and_mappings() -> None:
    state = State()
    assert value_at(state, "cameras.0.fov") == 45.0
    changed = replaced(state, "cameras.0.fov", 60.0)
    assert changed.cameras[0].fov == 60.0 and state.cameras[0].fov == 45.0
    assert changed.settings is state.settings
    assert replaced({"a": 1, "b": 2}, "b", 3) == {"a": 1, "b": 3}
    with pytest.raises(KeyError):
        replaced(state, "camreas", ())
    with pytest.raises(KeyError):
        replaced(state, "timeline.speedd", 1)


def test_observers_hear_each_change_once(document: Document) -> None:
    heard: list[tuple[State, State]] = []
    forget = document.observe(lambda before, after: heard.append((before, after)))
    document.change("settings.render.ray_type", "steps")
    document.change("settings.render.ray_type", "steps")
    assert [(a.settings.render.ray_type, b.settings.render.ray_type) for a, b in heard] == [("smooth", "steps")]
    forget()
    document.change("settings.render.ray_type", "flat")
    assert len(heard) == 1


def test_wrong_changes_change_nothing(document: Document) -> None:
    before = document.state
    for path, value, error in (
        ("settings.render.width", 0, OptionError),
        ("settings.render.hierarchy", "octopus", OptionError),
        ("settings.nothing.here", 1, OptionError),
        ("nothing", 1, KeyError),
        ("cameras.7", MOVED, IndexError),
        ("cameras.0", "a camera", TypeError),
    ):
        with pytest.raises(error):
            document.change(path, value)
    assert document.state is before
    assert not document.can_undo


def test_undo_and_redo(document: Document) -> None:
    document.change("cameras.0", MOVED)
    document.change("settings.render.ray_type", "steps")
    document.undo()
    assert (document.state.settings.render.ray_type, document.state.cameras[0]) == ("smooth", MOVED)
    document.undo()
    assert document.state.cameras[0] == Camera() and not document.can_undo
    document.redo()
    document.redo()
    assert (document.state.settings.render.ray_type, document.can_redo) == ("steps", False)
    document.undo()
    document.change("settings.render.ray_type", "flat")
    assert not document.can_redo


def test_five_hundred_steps_can_be_undone(document: Document) -> None:
    for x in range(503):
        document.change("cameras.0", dataclasses.replace(MOVED, eye=(float(x), 0.0, 9.0)))
    steps = 0
    while document.can_undo:
        document.undo()
        steps += 1
    assert steps == 500 and document.state.cameras[0].eye[0] == 2.0


def test_what_is_selected_is_no_step_and_stays_through_undo_and_redo(document: Document, moving_scene: Scene) -> None:
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    document.change("selection", Selection(0))
    document.change("cameras.0", MOVED)
    document.change("selection", Selection())
    document.undo()
    assert document.state.selection == Selection() and document.state.cameras[0] != MOVED
    document.change("selection", Selection(0))
    document.redo()
    assert document.state.selection == Selection(0) and document.state.cameras[0] == MOVED
    document.undo()
    assert not document.can_undo


def test_a_drag_is_one_step(document: Document) -> None:
    for x in range(10):
        document.change("cameras.0", dataclasses.replace(MOVED, eye=(float(x), 0.0, 9.0)), merge_key="orbit")
    document.end_merge()
    document.change("cameras.0", MOVED, merge_key="orbit")
    document.undo()
    assert document.state.cameras[0].eye[0] == 9.0
    document.undo()
    assert document.state.cameras[0] == Camera()


def test_the_playing_head_is_no_step(document: Document, moving_scene: Scene) -> None:
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    assert document.state.timeline.is_playing
    document.change("cameras.0", MOVED)
    document.tick(0.75)
    document.undo()
    assert document.state.timeline.time == pytest.approx(0.75)
    assert document.moment(3).time == pytest.approx(0.75)
    assert not document.can_undo


def test_the_span_follows_scene_and_options(document: Document, moving_scene: Scene) -> None:
    assert document.span.duration == 0.0
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    assert (document.span.duration, document.span.fps) == (2.0, 30.0)
    assert document.span is document.span
    document.change("settings.timeline.fps", 12.0)
    assert document.span.fps == 12.0
    document.close_scene()
    assert document.span.duration == 0.0


def test_options_of_structures_are_changed_by_their_names(document: Document) -> None:
    key = next(iter(vars(document.state.settings.ray_type_options("smooth"))))
    value = getattr(document.state.settings.ray_type_options("smooth"), key)
    document.change(f"settings.ray_type.smooth.{key}", value)
    assert getattr(document.state.settings.ray_type["smooth"], key) == value


def test_a_built_in_scene_opens_and_starts_to_play(document: Document) -> None:
    scenes: list[Scene | None] = []
    document.on_scene.append(scenes.append)
    document.change("settings.demo.triangles", 2000)
    finish(document, document.open_demo("walker"))
    assert scenes == [document.scene]
    assert document.scene is not None and document.scene.triangle_count < 10_000
    assert document.state.scene == SceneReference("demo", ("walker",))
    assert document.state.timeline.is_playing and document.span.duration > 0.0
    assert document.state.cameras[0] != Camera()
    assert not document.can_undo


def test_the_open_scene_stays_when_the_next_cannot_be_had(
    document: Document, moving_scene: Scene, tmp_path: Path
) -> None:
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    problems: list[Problem] = []
    document.on_problem.append(problems.append)
    finish(document, document.open_files([str(tmp_path / "absent.obj")]))
    assert document.scene is moving_scene and document.state.scene.names == ("two",)
    assert [problem.exit_code for problem in problems] == [3]
    assert "absent.obj" in problems[0].sentence


def test_reopening_keeps_camera_and_head(document: Document) -> None:
    document.change("settings.demo.triangles", 2000)
    finish(document, document.open_demo("cloth"))
    document.change("cameras.0", MOVED)
    document.tick(0.5)
    first = document.scene
    job = document.reopen()
    assert job is not None
    finish(document, job)
    assert document.scene is not first
    assert document.state.cameras[0] == MOVED and document.state.timeline.time == pytest.approx(0.5)
    document.close_scene()
    assert document.scene is None and document.reopen() is None


def test_only_the_newest_opening_counts(document: Document) -> None:
    document.change("settings.demo.triangles", 2000)
    first, second = document.open_demo("explode"), document.open_demo("walker")
    finish(document, first)
    finish(document, second)
    assert document.state.scene.names == ("walker",)


@pytest.mark.parametrize("is_shown", [True, False])
def test_settings_that_change_while_a_scene_opens_make_that_scene(
    document: Document, moving_scene: Scene, is_shown: bool
) -> None:
    """Not the one before it: that would take the place of what was asked for later."""
    if is_shown:
        document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    document.change("settings.demo.triangles", 4000)
    asked = document.open_demo("walker")
    document.change("settings.demo.triangles", 1000)
    again = document.reopen()
    assert again is not None and again is not asked and asked.is_cancelled
    finish(document, asked)
    finish(document, again)
    assert document.state.scene.names == ("walker",) and document.scene is not None
    assert 0 < document.scene.triangle_count < 2000 and document.state.timeline.is_playing


def test_a_picture_that_opens_has_its_own_settings(document: Document, moving_scene: Scene) -> None:
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    job = document.open_saved({}, "a picture")
    assert document.reopen() is None and not job.is_cancelled
    finish(document, job)


def test_jobs_report_cancel_and_fail(document: Document) -> None:
    told: list[int] = []
    problems: list[Problem] = []
    document.on_jobs.append(lambda: told.append(len(document.jobs)))
    document.on_problem.append(problems.append)
    finished: list[object] = []
    go = threading.Event()

    def slow(job: Job) -> str:
        while True:
            job.report(0.5, "half")
            go.wait(0.005)

    job = document.start_job("slow", slow, lambda done: finished.append(done.result))
    job.cancel()
    finish(document, job)
    assert job.is_cancelled and not finished and not problems

    def fails(job: Job) -> None:
        raise MemoryError("no room")

    finish(document, document.start_job("fails", fails, lambda done: finished.append(done.result)))
    assert [problem.exit_code for problem in problems] == [5]
    finish(document, document.start_job("works", lambda job: 42, lambda done: finished.append(done.result)))
    assert finished == [42]
    assert told[0] == 1 and told[-1] == 0


def test_settings_are_saved_where_the_user_has_them(document: Document, own_folders: Path) -> None:
    document.change("settings.render.ray_type", "steps")
    assert document.save_settings()
    assert settings_file.load_user_settings()[0].render.ray_type == "steps"


def test_what_two_windows_change_is_saved_by_both(own_folders: Path) -> None:
    """Whichever is saved last; what both have changed is as the last one has it, also when that is a built-in value."""
    settings_file.save_settings(set_option(Settings(), "render.width", 640))
    one, two = (Document(settings_file.load_user_settings()[0]) for _ in range(2))
    one.change("settings.render.ray_type", "steps")
    one.change("settings.render.samples", 3)
    two.change("settings.render.height", 333)
    two.change("settings.render.samples", 5)
    assert one.save_settings() == "Saved."
    said = two.save_settings()
    assert said == "Saved. Left as it stands in the file by now, as it was not changed here: render.ray_type."
    kept = settings_file.load_user_settings()[0].render
    assert (kept.ray_type, kept.height, kept.samples, kept.width) == ("steps", 333, 5, 640)
    one.change("settings.render.ray_type", Settings().render.ray_type)
    one.change("settings.render.width", 800)
    one.save_settings()
    kept = settings_file.load_user_settings()[0].render
    assert (kept.ray_type, kept.height, kept.samples, kept.width) == (Settings().render.ray_type, 333, 5, 800)


def test_what_one_window_resets_is_not_undone_by_the_other(own_folders: Path) -> None:
    """The file that is left says nothing, and is there all the same."""
    settings_file.save_settings(set_option(Settings(), "render.width", 640))
    one, two = (Document(settings_file.load_user_settings()[0]) for _ in range(2))
    one.change("settings.render.width", Settings().render.width)
    one.save_settings()
    assert settings_file.user_file().exists() and settings_file.load_user_settings()[0] == Settings()
    two.change("settings.render.height", 333)
    assert str(two.save_settings()).endswith("as it was not changed here: render.width.")
    assert settings_file.load_user_settings()[0] == set_option(Settings(), "render.height", 333)


@pytest.mark.parametrize("damaged", [b"\xff damaged", None], ids=["damaged", "gone"])
def test_all_settings_are_saved_where_the_file_is_gone(own_folders: Path, damaged: bytes | None) -> None:
    settings_file.save_settings(set_option(Settings(), "render.width", 640))
    document = Document(settings_file.load_user_settings()[0])
    settings_file.user_file().unlink()
    if damaged is not None:
        settings_file.user_file().write_bytes(damaged)
    document.change("settings.render.height", 333)
    document.save_settings()
    kept = settings_file.load_user_settings()[0].render
    assert (kept.width, kept.height) == (640, 333)


def test_settings_that_cannot_be_saved_are_a_problem(document: Document, own_folders: Path) -> None:
    problems: list[Problem] = []
    document.on_problem.append(problems.append)
    (own_folders / "raygrove").write_text("a file stands where the folder should be")
    assert not document.save_settings()
    assert "raygrove" in problems[0].sentence


def test_a_still_model_is_given_a_motion_and_gives_it_back(document: Document) -> None:
    document.change("settings.demo.triangles", 500)
    finish(document, document.open_demo("blob"))
    still = document.scene
    assert document.span.duration == 0.0 and not document.state.timeline.is_playing
    document.change("settings.motion.name", "wobble")
    finish(document, document.jobs[-1])
    assert document.scene is not still and document.span.duration == 6.0 and document.state.timeline.is_playing
    document.change("settings.motion.seconds", 2.5)
    finish(document, document.jobs[-1])
    assert document.span.duration == 2.5
    document.undo()
    finish(document, document.jobs[-1])
    assert document.span.duration == 6.0
    document.undo()
    finish(document, document.jobs[-1])
    assert (
        document.span.duration == 0.0 and not document.state.timeline.is_playing and document.state.timeline.time == 0.0
    )


def test_a_job_that_does_not_hear_cancel_is_given_up(document: Document) -> None:
    release, outcomes = threading.Event(), []
    job = document.start_job("deaf", lambda job: release.wait(120), lambda job: outcomes.append(job))
    began = time.monotonic()
    document.cancel(job)
    while document.jobs:
        document.mailroom.poll()
        assert time.monotonic() < began + 60.0
        time.sleep(0.005)
    release.set()
    assert job.wait(60.0)
    document.mailroom.poll()
    assert outcomes == [] and document.jobs == []

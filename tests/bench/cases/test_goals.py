"""The goals' script: every promise of the target is there, with a figure or the reason why not, and it needs no desktop
library."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raygrove.bench.cases.goals as goals
from raygrove.app.scene_io.demos import make_demo
from raygrove.bench import model_bars, model_goals, moving_goals, replay, tracing_goals
from raygrove.bench.cases import main
from raygrove.bench.cases.goals import Bars, Goal, measure_goals
from raygrove.bench.cases.two_level import make_crowd
from raygrove.bench.measure import Task
from raygrove.bench.model_bars import bars
from raygrove.bench.model_goals import MODELS, Model, judge, known_models
from raygrove.bench.replay import Live
from raygrove.bench.saved_goals import saved_goals
from raygrove.bench.streaming import make_waves, play
from raygrove.gpu.scene import Scene, Texture
from raygrove.gpu.target.base import Target, TargetError
from raygrove.gpu.target.host import HostTarget

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_a_goal_knows_whether_it_is_reached() -> None:
    assert Goal("build", 6.0, 5.9, "ms").is_reached is True
    assert Goal("build", 6.0, 6.1, "ms").is_reached is False
    assert Goal("frames", 30.0, 31.0, "1/s", at_most=False).is_reached is True
    assert Goal("frames", 30.0, 29.0, "1/s", at_most=False).is_reached is False
    assert Goal("frames", 30.0, None, "1/s").is_reached is None


@pytest.fixture
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rays and frames of few pixels: what is asked for counts here, not what it takes."""

    def smaller(measure: Callable[..., Any]) -> Callable[..., Any]:
        def measured(target: Target, task: Task, **more: Any) -> Any:
            return measure(target, dataclasses.replace(task, size=(256, 192), warmup=1), **more)

        return measured

    for module in (tracing_goals, model_goals):
        monkeypatch.setattr(module, "run_trace", smaller(module.run_trace))
    monkeypatch.setattr(goals, "run_frame", smaller(goals.run_frame))
    monkeypatch.setattr(
        moving_goals, "play", lambda target, scene, share, frames, size: play(target, scene, share, frames, (32, 24))
    )


@pytest.mark.usefixtures("small_pictures")
def test_measures_every_goal_of_the_host(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {name: goals.make_demo(name, 300) for name in ("blob", "orbit", "room")}
    monkeypatch.setattr(goals, "make_demo", lambda name, count=None: small[name])
    monkeypatch.setattr(moving_goals, "make_waves", lambda count, keys: make_waves(100, 8))
    monkeypatch.setattr(moving_goals, "make_crowd", lambda triangles, objects, moving: make_crowd(2_000, 10, moving))
    monkeypatch.setattr(goals, "HOST", Bars({100_000: 6.0}, {100_000: 1.0}, 1.5))
    said: list[str] = []
    report = measure_goals(host_target, 1, said.append)
    names = [goal.what for goal in report.goals]
    built = ("LBVH rebuild, 100,000", "refit, 100,000", "memory of bvh2", "memory of bvh4", "scratch")
    for wanted in (
        *built,
        "skinning and morphing, 100,000",
        "Embree's packets",
        "incoherent any-hit rays over Embree's best, room",
        "orbit, 512x384",
        "hlbvh_sah over binned_sah, blob",
        "hploc over binned_sah, room",
        "sah_events over boxes cut along all axes, blob of 69,451",
        "update over rebuild, 1 %",
        "streamed over resident",
        "waited for a key frame",
    ):
        assert any(wanted in name for name in names), wanted
    absent = [
        goal for goal in measured_here("host", report.goals) if goal.measured is None and "Embree" not in goal.what
    ]
    on_models = [goal for goal in absent if "give its file" in goal.note]
    assert {model.name for model in MODELS} == {goal.what.rpartition(", ")[2] for goal in on_models}
    assert absent == on_models and {goal.what for goal in bars("host")} < {goal.what for goal in on_models}
    assert {goal.what for goal in saved_goals("host")} < set(names), "what other commands measure is read"
    assert all(goal.measured >= 0.0 for goal in report.goals if goal.measured is not None)
    assert said and len(report.builds) == 2 and len(report.traces) == 4 and len(report.frames) == 1
    text = report.text()
    assert "reached" in text and "build.sort" in text
    found = json.loads(json.dumps(report.as_json({"device": "x"})))
    assert (
        len(found["results"]) == 7
        and len(found["goals"]) == len(names)
        and found["goals"][0]["is_reached"] in (True, False)
    )


def test_streams_a_sequence_of_four_times_its_memory(host_target: Target) -> None:
    scene, before = make_waves(4_900, 40), host_target.options
    played = play(host_target, scene, 4, 60, (32, 24))
    facts = played.streaming
    assert host_target.options == before and facts.slots == 8 and facts.keys == 40 and facts.slot_bytes <= 1 << 20
    assert facts.stalls == 0 and facts.bytes_streamed > 20 * 24 * 4_900 and played.frame_ms > 0.0 < played.host_ms
    assert play(host_target, scene, 1, 4, (32, 24)).streaming.slots == 40


def measured_here(kind: str, found: list[Goal]) -> list[Goal]:
    """Without what is read from files of other commands, some of which are not there."""
    others = {goal.what for goal in saved_goals(kind)}
    return [goal for goal in found if goal.what not in others]


class Device(HostTarget):
    """The host under a device's name: the goals of a GPU are asked for, whatever computes them."""

    kind = "cuda"


@pytest.mark.usefixtures("small_pictures")
def test_measures_every_goal_of_a_device(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    small = {name: goals.make_demo(name, 300) for name in ("blob", "orbit", "room", "cloth", "explode")}
    given = {model.name: goals.make_demo("blob", 200 + 200 * i) for i, model in enumerate(MODELS)}
    live: list[bool] = []

    def as_large(model: Model, scene: Scene) -> Model:
        return dataclasses.replace(model, triangles=scene.triangle_count)

    def live_frames(
        target: Target, scene: Any, settings: Any, frames: int, size: tuple[int, int], repeats: bool
    ) -> Live:
        live.append(repeats)
        return replay.live_frames(target, scene, settings, frames, (32, 24), repeats)

    monkeypatch.setattr(goals, "live_frames", live_frames)
    monkeypatch.setattr(goals, "make_demo", lambda name, count=None: small[name])
    monkeypatch.setattr(moving_goals, "make_waves", lambda count, keys: make_waves(100, 8))
    monkeypatch.setattr(moving_goals, "make_crowd", lambda triangles, objects, moving: make_crowd(2_000, 10, 1))
    monkeypatch.setattr("raygrove.bench.arguments.choose", lambda name: Device())
    monkeypatch.setattr(goals, "load", lambda files: given[files[0]])
    monkeypatch.setattr(model_goals, "MODELS", tuple(map(as_large, MODELS, given.values())))
    assert main(["goals", *given, "--device", "cuda", "--repeat", "1", "--out", str(tmp_path / "goals")]) == 0
    found = json.loads((tmp_path / "goals.json").read_text())
    names = " | ".join(goal["what"] for goal in found["goals"])
    built = ("rebuild, 512,000", "rebuild, 12,800,000", "as a graph", "refit, 12,800,000")
    judged = [
        f"{rays} rays through hploc over those through hploc_sah, {model.name}"
        for rays in ("primary", "diffuse")
        for model in MODELS
    ]
    peers = (
        "primary rays through hploc, Crytek Sponza",
        "diffuse rays through hploc, country-kitchen",
        "hploc rebuild as a graph, country-kitchen",
    )
    for wanted in (
        *built,
        *judged,
        *peers,
        "skinning",
        "primary rays, blob of",
        "diffuse rays with the best tree, blob",
        "host work over",
    ):
        assert wanted in names
    others = {goal.what for goal in saved_goals("cuda")}
    absent = [goal for goal in found["goals"] if goal["measured"] is None and goal["what"] not in others]
    assert [goal["note"] for goal in absent] == ["the model was found without its textures"]
    assert {goal.what for goal in (*bars("cuda"), *saved_goals("cuda"))} < {goal["what"] for goal in found["goals"]}
    assert live == [True, False] * 7
    for way in ("as frames replay it", "launched one by one"):
        assert (
            f"sah_events live, {way}, cloth of 69,451" in names
            and f"median_sah primitives live, {way}, explode of 335,102" in names
        )
    assert "primary any-hit" in (tmp_path / "goals.txt").read_text()


def test_a_part_that_fails_leaves_the_others(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise TargetError("The device has gone away.")

    for part in ("_builds", "trace_beside_embree", "incoherent_beside_embree"):
        monkeypatch.setattr(goals, part, fail)
    monkeypatch.setattr(goals, "make_demo", lambda name, count=None, original=goals.make_demo: original(name, 300))
    monkeypatch.setattr(moving_goals, "make_waves", lambda count, keys: make_waves(100, 8))
    report = measure_goals(host_target, 1, lambda words: None)
    absent = [goal for goal in measured_here("host", report.goals) if goal.measured is None]
    assert [goal.note for goal in absent if "give its file" not in goal.note] == ["The device has gone away."] * 4
    assert report.frames and "not measured" in report.text()


def test_models_are_known_by_their_triangles(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """The dragon's figures are measured, the others' are not, and what is no model is a sentence before anything is
    measured."""
    scene = goals.make_demo("blob", 500)
    dragon = dataclasses.replace(MODELS[3], triangles=scene.triangle_count)
    monkeypatch.setattr(model_goals, "MODELS", (*MODELS[:3], dragon))
    with contextlib.closing(HostTarget()) as target:
        report = goals.Report()
        for _, part in judge(known_models([scene])):
            part(target, report, 1)
    assert {goal.what.rpartition(", ")[2]: goal.measured is not None for goal in report.goals} == {
        model.name: model is dragon for model in (*MODELS[:3], dragon)
    }
    ratio = next(goal for goal in report.goals if goal.what == "SAH cost of hploc over binned_sah, dragon")
    assert 0.9 < (ratio.measured or 0.0) < 1.3 and "hploc_sah" in ratio.note
    monkeypatch.setattr(goals, "load", lambda files: goals.make_demo("orbit", 500))
    with pytest.raises(SystemExit, match="2"):
        main(["goals", "orbit.obj", "--device", "cpu"])
    assert "is no model that a goal names: Crytek Sponza (262,205 triangles)" in capsys.readouterr().err
    monkeypatch.undo()
    assert main(["goals", str(tmp_path / "gone.obj"), "--device", "cpu"]) == 3
    assert "gone.obj" in capsys.readouterr().err


def test_a_target_that_is_not_there_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["goals", "--device", "abacus"])
    assert "no device 'abacus'" in capsys.readouterr().err


def test_needs_no_desktop_library() -> None:
    """On a bare GPU machine there is numpy and the target's libraries."""
    code = (
        "import sys, raygrove.bench.cases.goals; print(sorted({'PySide6', 'PIL', 'platformdirs', 'OpenGL', 'cupy'} & "
        "set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("count", "said"), [(0, "without its"), (2, "with 2 of its 21")])
def test_paths_count_with_all_pictures_alone(count: int, said: str, host_target: Target) -> None:
    """With fewer they cost less, and the bar was told as reached."""
    texture = Texture("white", np.full((1, 1, 4), 255, np.uint8))
    scene = dataclasses.replace(make_demo("orbit"), textures=(texture,) * count)
    found = model_bars._paths(host_target, model_goals.MODELS[0], scene, 3)
    assert found == ((None, f"the model was found {said} textures"),)

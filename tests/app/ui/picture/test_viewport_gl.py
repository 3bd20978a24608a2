"""The GL view, under a virtual X server: pictures arrive unflipped, unmixed in colour, at every size, and after the
context has moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.app.stand_ins import gradient
from tests.app.ui.virtual_screen import run_on_screen

pytestmark = pytest.mark.gl
Stage = Callable[[str], dict[str, np.ndarray]]


def run(scenes: str, path: Path) -> dict[str, np.ndarray]:
    """The answers of scenes of gl_stage.py, by SCENE.ANSWER; a skip where there is no virtual X server."""
    done = run_on_screen("tests.app.ui.picture.gl_stage", scenes, str(path), timeout=1500)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(path) as answers:
        return dict(answers)


def of_scene(answers: dict[str, np.ndarray], scene: str) -> dict[str, np.ndarray]:
    return {key.partition(".")[2]: value for key, value in answers.items() if key.startswith(f"{scene}.")}


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """The scenes of a view by itself, in one process: starting it takes longer than they do."""
    return run("picture,context,undock,interop,refusals", tmp_path_factory.mktemp("views") / "views.npz")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Run a scene in a process of its own."""
    return lambda name: of_scene(run(name, tmp_path / f"{name}.npz"), name)


def difference(shown: np.ndarray, expected: np.ndarray) -> int:
    return int(np.abs(shown.astype(int) - expected[..., :3]).max())


def test_a_picture_arrives_unflipped_and_unmixed_in_colour(views: dict[str, np.ndarray]) -> None:
    answers = of_scene(views, "picture")
    expected = gradient(320, 240)
    assert difference(answers["full"], expected) == 0
    assert (
        difference(answers["full"], expected[::-1]) > 100
        and difference(answers["full"], expected[..., [2, 1, 0, 3]]) > 100
    )
    assert difference(answers["half"], expected) <= 4, "a smaller picture fills the view, interpolated"
    narrow = answers["narrow"]
    assert narrow[:, 110:210].max() > 250 and narrow[120, :105].max() <= 25, "a picture of another shape keeps it"


def test_the_context_is_core_and_software_counts_as_none(views: dict[str, np.ndarray]) -> None:
    answers = of_scene(views, "context")
    assert tuple(answers["version"]) >= (3, 3)
    assert "llvmpipe" in str(answers["renderer"]).lower() and not bool(answers["is_hardware"])
    assert [str(answers[f"view_{choice}"]) for choice in ("auto", "gl", "painter")] == ["painter", "gl", "painter"]


def test_the_picture_survives_another_window_and_another_size(views: dict[str, np.ndarray]) -> None:
    answers = of_scene(views, "undock")
    assert difference(answers["moved"], gradient(320, 240)) == 0
    assert answers["resized"].shape == (100, 200, 3) and difference(answers["resized"], gradient(200, 100)) == 0


def test_without_the_gpus_context_pictures_are_copied_and_it_is_said_once(views: dict[str, np.ndarray]) -> None:
    answers = of_scene(views, "interop")
    assert not bool(answers["has_interop"]) and len(answers["sentences"]) == 1
    assert "copied through main memory" in str(answers["sentences"][0])
    assert difference(answers["shown"], gradient(320, 240)) == 0


@pytest.mark.parametrize(
    ("refused", "word"),
    [
        ("cudaSetDevice", "select the device"),
        ("cudaGraphicsGLRegisterBuffer", "register"),
        ("cudaGraphicsUnmapResources", "unmap"),
        ("cudaGraphicsMapResources", "map"),
    ],
)
def test_what_cuda_refuses_while_pictures_are_shared_ends_in_copies_and_a_sentence(
    views: dict[str, np.ndarray], refused: str, word: str
) -> None:
    answers = of_scene(views, "refusals")
    shared, had_interop, has_interop, left = answers[f"{refused}_counts"].tolist()
    assert (shared, had_interop) == (2, 1), "they were shared before"
    assert (has_interop, left) == (0, 0), "and are not any more, nor is a buffer kept"
    (sentence,) = answers[f"{refused}_said"].tolist()
    assert sentence.startswith(f"CUDA could not {word}") and "copied through main memory" in sentence
    assert difference(answers[f"{refused}_shown"], gradient(320, 240)) == 0, "the next picture comes"


def test_the_whole_window_plays_resizes_and_closes(stage: Stage) -> None:
    answers = stage("whole_window")
    height, width, _ = answers["shown"].shape
    assert bool(answers["is_closed"]) and difference(answers["shown"], gradient(width, height)) <= 4


@pytest.mark.parametrize("events", [40, pytest.param(1000, marks=[pytest.mark.full, pytest.mark.timeout(1800)])])
def test_resizing_undocking_and_full_screen_leave_the_context_whole(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, events: int, record_property: Callable[[str, object], None]
) -> None:
    monkeypatch.setenv("RAYGROVE_SOAK", str(events))
    answers = stage("soak")
    assert answers["counts"].sum() == events and answers["counts"].min() > events // 6, "of each kind there were some"
    assert int(answers["errors"]) == 0
    (objects_then, memory_then), (objects_now, memory_now) = answers["measured"].tolist()
    for name, count in zip(("resizes", "dockings", "full_screens"), answers["counts"].tolist(), strict=True):
        record_property(name, count)
    for name, objects, memory in (("after_a_quarter", objects_then, memory_then), ("at_last", objects_now, memory_now)):
        record_property(f"gl_objects_{name}", int(objects))
        record_property(f"memory_{name}_mib", round(memory, 1))
    print(
        f"{events} events: GL objects {objects_then:.0f} then, {objects_now:.0f} now; memory {memory_then:.0f} "
        f"MiB then, {memory_now:.0f} MiB now"
    )
    assert objects_now <= objects_then + 4 and memory_now < memory_then + (64 if events > 500 else 128)
    height, width = answers["shown"].shape[:2]
    assert difference(answers["shown"], gradient(width, height)) <= 4

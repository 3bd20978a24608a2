"""The GL view, under a virtual X server: pictures arrive unflipped, unmixed in colour, at every size, and after the context has moved."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.app.stand_ins import gradient

pytestmark = pytest.mark.gl
ROOT = Path(__file__).resolve().parents[3]
Stage = Callable[[str], dict[str, np.ndarray]]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Run a scene of gl_stage.py in a process of its own; a skip where there is no virtual X server."""
    if shutil.which("Xvfb") is None or shutil.which("xvfb-run") is None:
        pytest.skip("Xvfb is not installed: apt-get install xvfb xauth")

    def run(name: str) -> dict[str, np.ndarray]:
        path = tmp_path / f"{name}.npz"
        screen = ["xvfb-run", "--auto-servernum", "--server-args=-screen 0 1280x1024x24 +extension GLX"]
        command = [*screen, sys.executable, "-m", "tests.app.ui.gl_stage", name, str(path)]
        environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1500, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        with np.load(path) as answers:
            return dict(answers)

    return run


def difference(shown: np.ndarray, expected: np.ndarray) -> int:
    return int(np.abs(shown.astype(int) - expected[..., :3]).max())


def test_a_picture_arrives_unflipped_and_unmixed_in_colour(stage: Stage) -> None:
    answers = stage("picture")
    expected = gradient(320, 240)
    assert difference(answers["full"], expected) == 0
    assert difference(answers["full"], expected[::-1]) > 100 and difference(answers["full"], expected[..., [2, 1, 0, 3]]) > 100
    assert difference(answers["half"], expected) <= 4, "a smaller picture fills the view, interpolated"
    narrow = answers["narrow"]
    assert narrow[:, 110:210].max() > 250 and narrow[120, :105].max() <= 25, "a picture of another shape keeps it"


def test_the_context_is_core_and_software_counts_as_none(stage: Stage) -> None:
    answers = stage("context")
    assert tuple(answers["version"]) >= (3, 3)
    assert "llvmpipe" in str(answers["renderer"]).lower() and not bool(answers["is_hardware"])
    assert [str(answers[f"view_{choice}"]) for choice in ("auto", "gl", "painter")] == ["painter", "gl", "painter"]


def test_the_picture_survives_another_window_and_another_size(stage: Stage) -> None:
    answers = stage("undock")
    assert difference(answers["moved"], gradient(320, 240)) == 0
    assert answers["resized"].shape == (100, 200, 3) and difference(answers["resized"], gradient(200, 100)) == 0


def test_without_the_gpus_context_pictures_are_copied_and_it_is_said_once(stage: Stage) -> None:
    answers = stage("interop")
    assert not bool(answers["has_interop"]) and len(answers["sentences"]) == 1
    assert "copied through main memory" in str(answers["sentences"][0])
    assert difference(answers["shown"], gradient(320, 240)) == 0


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
    print(f"{events} events: GL objects {objects_then:.0f} then, {objects_now:.0f} now; memory {memory_then:.0f} MiB then, {memory_now:.0f} MiB now")
    assert objects_now <= objects_then + 4 and memory_now < memory_then + (64 if events > 500 else 128)
    height, width = answers["shown"].shape[:2]
    assert difference(answers["shown"], gradient(width, height)) <= 4

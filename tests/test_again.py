"""What `.ci/run` does with tests that fail: once more, alone, five at most, and for all to see."""

from __future__ import annotations

import os
import pathlib
import subprocess

import pytest

from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[1]

CONFTEST = """
import pytest

@pytest.fixture
def run(request):
    file = request.path.parent / request.node.name
    with file.open("a") as runs:
        runs.write("x")
    return file.stat().st_size
"""
ONCE = "def test_that_fails_once_{}(run):\n    assert run == 2\n"
PASSES = "def test_that_passes(run):\n    assert run == 1\n"
FAILS = "def test_that_fails(run):\n    assert run == 0\n"
CRASHES_ONCE = "import os\n\ndef test_that_crashes_once(run):\n    if run == 1:\n        os._exit(1)\n"


def run_planted(folder: pathlib.Path, *sessions: str) -> subprocess.CompletedProcess[str]:
    """`.ci/tests` over files of their own."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    for number, text in enumerate(sessions):
        (folder / f"test_{number}.py").write_text(text)
    command = [
        str(ROOT / ".ci/tests"),
        "-c",
        f"{folder}/pytest.ini",
        "-p",
        "no:xvfb",
        "-p",
        "no:pytest-qt",
        str(folder),
    ]
    alone = {**os.environ, "WORKERS": "1"}  # every worker starts anew, four times here
    return subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=PROCESS_S, check=False)


def test_what_passes_alone_is_named_and_does_not_fail(tmp_path: pathlib.Path) -> None:
    ended = run_planted(tmp_path, PASSES, ONCE.format(0), CRASHES_ONCE)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (tmp_path / "test_that_passes").read_text() == "x", "what passed is not run again"
    said = ended.stdout.partition("failed beside the others and passed alone")[2]
    assert "test_1.py::test_that_fails_once_0" in said and "test_2.py::test_that_crashes_once" in said
    assert "test_0.py" not in said


@pytest.mark.parametrize(
    ("sessions", "runs"),
    [((ONCE.format(0), FAILS), 2), (tuple(ONCE.format(number) for number in range(6)), 1)],
    ids=["fails alone too", "six"],
)
def test_what_fails_alone_or_fails_widely_fails(tmp_path: pathlib.Path, sessions: tuple[str, ...], runs: int) -> None:
    ended = run_planted(tmp_path, *sessions)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "passed alone" not in ended.stdout
    assert (tmp_path / "test_that_fails_once_0").stat().st_size == runs

"""Every error a person can meet has a sentence and its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.problems.problems import UsageError, problem_of
from raygrove.app.scene_io.errors import SceneError
from raygrove.app.settings.file import SettingsError
from raygrove.gpu.hierarchy.base import CannotRefitError
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import CompileError, NoDeviceError, OutOfMemoryError


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (SceneError("a.obj: it is empty."), 3, "a.obj: it is empty."),
        (SettingsError(Path("s.toml"), 3, "a.b", "no."), 3, "s.toml, line 3: no."),
        (OptionError("a.b", 5, "less"), 2, "a.b = 5 is not allowed: less."),
        (UsageError("not both."), 2, "not both."),
        (NoDeviceError("No GPU."), 4, "No GPU."),
        (OutOfMemoryError("nodes", 2 << 20, 1 << 20), 5, "Not enough memory for nodes: 2.0 MiB needed, 1.0 MiB free."),
        (
            MemoryError(),
            5,
            "The program ran out of memory: an array did not fit. A smaller scene or picture needs less.",
        ),
        (CannotRefitError("grid cannot refit."), 1, "grid cannot refit."),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (
            PermissionError(13, "Permission denied", "out.png"),
            1,
            "out.png: Permission denied. Change the permissions, or name another place.",
        ),
        (ZeroDivisionError("oh"), 1, "ZeroDivisionError: oh."),
    ],
)
def test_sentence_and_exit_code(error: BaseException, code: int, sentence: str) -> None:
    problem = problem_of(error)
    assert (problem.exit_code, problem.sentence) == (code, sentence)
    assert problem.title and type(error).__name__ in problem.details


def test_a_compilers_text_is_a_detail() -> None:
    problem = problem_of(CompileError("lbvh.cu does not compile.\nline 5: error\nline 6: error"))
    assert problem.sentence == "lbvh.cu does not compile."
    assert "line 6: error" in problem.details


def test_a_folder_that_went_away_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "started in is not there any more" in problem_of(FileNotFoundError(2, "No such file or directory")).sentence

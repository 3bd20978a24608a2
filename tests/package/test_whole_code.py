"""Modules that Python compiles are kept whole or not at all; one that was cut before is a sentence, once."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from raygrove import whole_code
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[2]
FIRST = ("__init__", "__main__", "whole_code", "version")
"""What Python compiles before anybody can see to it."""


def ran(folder: Path, most: int = 0) -> subprocess.CompletedProcess[str]:
    """The program with compiled modules in that folder, none of which the system lets be longer than `most` bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most or resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    own = {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, str(ROOT / "main.py"), "info", "--demo", "orbit", "--json"]
    return subprocess.run(
        command, env={**os.environ, **own}, preexec_fn=limit, capture_output=True, text=True, timeout=PROCESS_S
    )


def compiled(folder: Path) -> list[Path]:
    """The program's own compiled modules, but those that come first."""
    found = folder.rglob("raygrove/**/*.pyc")
    return sorted(path for path in found if not (path.parent.name == "raygrove" and path.name.startswith(FIRST)))


def test_a_full_disk_leaves_no_module_that_is_cut(tmp_path: Path) -> None:
    """Each later start ended with "marshal data too short"."""
    most = 12_000
    assert ran(tmp_path).returncode == 0
    for path in compiled(tmp_path):  # Python's own are there, as ever
        path.unlink()
    first = ran(tmp_path, most)
    assert first.returncode == 0, first.stderr
    assert compiled(tmp_path) and all(path.stat().st_size < most for path in compiled(tmp_path))
    assert not list(tmp_path.rglob("*.pyc.*"))
    again = ran(tmp_path)
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr


@pytest.mark.parametrize("name", ["main", "info"])
def test_a_module_that_was_cut_before_is_told_and_goes(tmp_path: Path, name: str) -> None:
    """One that the command line begins with, and one that it imports later."""
    assert ran(tmp_path).returncode == 0
    (path,) = (path for path in compiled(tmp_path) if path.name.startswith(f"{name}.") and path.parent.name == "cli")
    os.truncate(path, path.stat().st_size // 2)
    told = ran(tmp_path)
    assert told.returncode == 1 and "Traceback" not in told.stderr
    assert f"error: {path}, a module that Python had compiled, was cut short" in told.stderr
    assert ran(tmp_path).returncode == 0


def test_one_of_those_that_come_first_is_a_sentence(tmp_path: Path) -> None:
    assert ran(tmp_path).returncode == 0
    (path,) = (path for path in tmp_path.rglob("raygrove/__init__*.pyc") if path.parent.name == "raygrove")
    os.truncate(path, path.stat().st_size // 2)
    told = ran(tmp_path)
    assert told.returncode == 1 and "Traceback" not in told.stderr and "Remove the folders __pycache__" in told.stderr


def test_other_errors_are_not_taken_for_that() -> None:
    assert whole_code.told(EOFError("the file ends")) == "" == whole_code.told(ValueError(whole_code.SAYS))
    assert "remove the folders __pycache__" in whole_code.told(EOFError(whole_code.SAYS))

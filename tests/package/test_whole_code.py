"""Modules that Python compiles are kept whole or not at all; one that was cut before is compiled anew."""

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


def kept_in(folder: Path) -> dict[str, str]:
    """What has Python keep compiled modules there."""
    return {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}


def ran(
    folder: Path, most: int = 0, arguments: tuple[str, ...] = ("info", "--demo", "orbit", "--json")
) -> subprocess.CompletedProcess[str]:
    """The program with compiled modules in that folder, none of which the system lets be longer than `most` bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most or resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    command = [sys.executable, str(ROOT / "main.py"), *arguments]
    return subprocess.run(
        command,
        env={**os.environ, **kept_in(folder)},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
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


@pytest.mark.parametrize("name", ["cli/main", "cli/info", "particles/xyz"])
def test_a_module_that_was_cut_before_is_compiled_anew(tmp_path: Path, name: str) -> None:
    """One that the command line begins with, one that it imports later, and one of the process that reads files: it
    keeps none itself, and what others had kept was taken for a fault of the file."""
    whole = "import raygrove.app.scene_io.particles.xyz"
    subprocess.run([sys.executable, "-c", whole], env={**os.environ, **kept_in(tmp_path)}, check=True)
    (tmp_path / "a.xyz").write_text("2\n\nH 0 0 0\nH 1 0 0\n")
    arguments = ("info", str(tmp_path / "a.xyz"), "--json")
    first = ran(tmp_path, arguments=arguments)
    (path,) = (path for path in compiled(tmp_path) if f"{path.parent.name}/{path.name}".startswith(f"{name}."))
    length = path.stat().st_size
    os.truncate(path, length // 2)
    again = ran(tmp_path, arguments=arguments)
    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, ""), again.stderr
    assert ran(tmp_path, arguments=arguments).returncode == 0
    is_shut_in = name == "particles/xyz"  # and may take nothing away
    assert path.stat().st_size == (length // 2 if is_shut_in else length)


def test_one_of_those_that_come_first_is_a_sentence(tmp_path: Path) -> None:
    assert ran(tmp_path).returncode == 0
    (path,) = (path for path in tmp_path.rglob("raygrove/__init__*.pyc") if path.parent.name == "raygrove")
    os.truncate(path, path.stat().st_size // 2)
    told = ran(tmp_path)
    assert told.returncode == 1 and "Traceback" not in told.stderr and "Remove the folders __pycache__" in told.stderr


def test_what_has_no_source_stays_an_error(tmp_path: Path) -> None:
    cut = tmp_path / "a.pyc"
    cut.touch()
    for paths in ((str(cut), None), (None, None)):
        with pytest.raises(EOFError):
            whole_code.unpacked(b"", "a", *paths)
    assert cut.exists()

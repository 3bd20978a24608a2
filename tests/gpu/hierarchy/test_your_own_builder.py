"""docs/your-own-builder.md, performed: its builder, its script and its command, word for word."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

PAGE = (pathlib.Path(__file__).parents[3] / "docs" / "your-own-builder.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The page's blocks of code, in turn."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "mine.py").write_text(blocks("python")[0])
    return tmp_path


def run(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A program in the folder, with its files to be imported."""
    environment = {**os.environ, "RAYGROVE_HOME": str(folder / "home")}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


def test_the_function_has_twenty_lines() -> None:
    function = blocks("python")[0].partition("@rg.builder")[2]
    assert len(function.splitlines()) <= 20


def test_the_script_finds_its_triangle(folder: pathlib.Path) -> None:
    (folder / "script.py").write_text(blocks("python")[1])
    done = run(folder, "script.py")
    assert done.returncode == 0 and done.stdout == "[0]\n0\n", done.stderr


def test_it_keeps_the_contract(folder: pathlib.Path) -> None:
    """A few of the suite's tests; those of the project's structures run all."""
    (command,) = [line for block in blocks("sh") for line in block.splitlines() if "pytest" in line]
    words = shlex.split(command)
    assert words[:2] == ["python", "-m"]
    done = run(folder, "-m", *words[2:], "-q", "-p", "no:cacheprovider", "-k", "soup or degenerate or coincident")
    assert done.returncode == 0 and re.search(r"^\d\d+ passed", done.stdout, re.MULTILINE), done.stdout[-2000:]


def test_commands_know_it_by_its_file(folder: pathlib.Path) -> None:
    render, _, bench = (shlex.split(line) for line in blocks("sh")[0].splitlines())
    few = ("--set", "demo.triangles=5000")
    drawn = run(folder, "-m", "raygrove", *render[1:], *few, "--device", "cpu")
    assert drawn.returncode == 0 and (folder / "mine.png").stat().st_size > 1000, drawn.stderr
    small = ["--set", "demo.triangles=2000", "--device", "cpu", "--json"]
    measured = run(folder, "-m", "raygrove", *bench[1:], *small)
    (row,) = json.loads(measured.stdout)["results"]
    phases = row["phases_ms"]
    assert row["hierarchy"] == "mine" and phases["build.function"] < row["build_ms"] and phases["check.tree"] > 0
    unknown = run(folder, "-m", "raygrove", *[word for word in render[1:] if word not in ("--plug-in", "mine.py")])
    assert unknown.returncode == 2 and "mine" in unknown.stderr
    missing = run(folder, "-m", "raygrove", "render", "--plug-in", "none.py", "--demo", "orbit", "--out", "a.png")
    assert missing.returncode == 2 and missing.stderr == "error: --plug-in none.py: there is no such file.\n"

"""What README.md says of what the program is built on is what is there, and pages' examples print what they say."""

from __future__ import annotations

import pathlib
import re
import tomllib

import pytest

from raygrove.app.scene_io import EXTENSIONS

from .house_rules import packages_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
CALLED = {
    "av": "PyAV", "cupy-cuda12x": "CuPy", "cupy-cuda13x": "CuPy", "nvidia-cuda-nvrtc": "NVRTC",
    "nvidia-cuda-nvrtc-cu12": "NVRTC",
    "nvidia-cuda-runtime": "CUDA's runtime library", "nvidia-cuda-runtime-cu12": "CUDA's runtime library",
    "pytest-qt": "pytest with plug-ins",
    "pip": "setuptools and pip", "pytest-xvfb": "pytest with plug-ins", "pytest-timeout": "pytest with plug-ins",
    "pytest-xdist": "pytest with plug-ins",
}  # fmt: skip
"""Packages that people know by another name, and those that go together."""


def python_examples(page: str = "README.md") -> list[tuple[str, str]]:
    """Each Python example of a page, and what it prints: the comments behind its prints."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    return [
        (block, "".join(f"{said}\n" for said in re.findall(r"^ *print\(.*\)  # (.*)$", block, re.M)))
        for block in blocks
    ]


def rows() -> list[list[str]]:
    """The cells of each row of the table of dependencies."""
    section = (
        (ROOT / "README.md").read_text(encoding="utf-8").partition("## What it is built on")[2].partition("\n## ")[0]
    )
    return [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| ")
    ][1:]


def test_every_dependency_has_its_row_and_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = set(packages_of(project, *project["optional-dependencies"]))
    named = " ".join(row[0] for row in rows()).lower()
    assert len(packages) > 20 and not {name for name in packages if CALLED.get(name, name).lower() not in named}
    assert all(len(row) == 3 and all(row) for row in rows()), "what it is for, and why this one"


def test_extras_for_servers_have_what_the_command_needs_and_no_window() -> None:
    """Who installs one of them alone has pictures, models and settings; a window's libraries are large."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = set(packages_of(project, "headless"))
    assert needed < set(packages_of(project, "app"))
    for extra in ("notebook", "cluster"):
        found = set(packages_of(project, extra))
        assert needed < found and not found & {"pyside6-essentials", "pyopengl"}, extra


def test_as_many_endings_as_it_says() -> None:
    (row,) = (row for row in rows() if row[0].startswith("cmeel-assimp"))
    assert f" {len(EXTENSIONS)} endings" in row[1]


@pytest.mark.parametrize(("page", "count"), [("README.md", 1), ("docs/queries.md", 9)])
def test_the_examples_print_what_they_say(page: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    """In the order of the page, each with what those before it made."""
    examples, names = python_examples(page), dict[str, object]()
    assert len(examples) == count
    for program, said in examples:
        exec(compile(program, page, "exec"), names)
        assert capsys.readouterr().out == said != ""

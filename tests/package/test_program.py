"""How the program calls itself, and what it says that a person types."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from raygrove import checkout, program
from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_it_starts_itself_from_anywhere(tmp_path: pathlib.Path) -> None:
    (tmp_path / "raygrove.py").write_text("raise SystemExit('another raygrove')\n")
    command = [*program.COMMAND, "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("Raygrove ")


@pytest.mark.parametrize(
    ("started", "typed"),
    [
        ("main.py", "python main.py"),
        ("/usr/bin/raygrove", "raygrove"),
        ("/lib/raygrove/__main__.py", "python -m raygrove"),
        ("/lib/pytest/__main__.py", "python main.py"),
        ("", "python main.py"),
    ],
)
def test_it_says_what_was_typed(monkeypatch: pytest.MonkeyPatch, started: str, typed: str) -> None:
    monkeypatch.setattr(sys, "argv", [started])
    assert program.typed() == typed


def test_without_a_checkout_it_says_what_works_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checkout.find() == ROOT == checkout.demand("This test")
    monkeypatch.setattr(sys, "argv", ["notebook"])
    monkeypatch.setattr(checkout, "find", lambda: None)
    assert program.typed() == "python -m raygrove"
    assert "pip install 'raygrove[exr]'" in program.how_to_install("exr")
    with pytest.raises(SystemExit, match="This test works on a checkout of Raygrove only"):
        checkout.demand("This test")

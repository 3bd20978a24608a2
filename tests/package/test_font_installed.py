"""The set-up installs the window's font where it may, once, and says so in one line."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from raygrove import checkout

ASKED_FOR = "install --no-install-recommends --yes -qq fonts-inter\n"
INSTALLED = "Installed the window's font, fonts-inter.\n"
FAILED = "The window's font, fonts-inter, could not be installed; the desktop's own is used.\n"


def functions() -> str:
    """What of the set-up is tried: `say` and `install_font`."""
    text = (checkout.demand("The set-up") / ".ci/environment").read_text(encoding="utf-8")
    say = next(line for line in text.splitlines() if line.startswith("say()"))
    begin = text.index("install_font() {")
    return f"{say}\n{text[begin : text.index(chr(10) + '}', begin) + 2]}\n"


def run(folder: pathlib.Path, profile: str = "core", user: int = 0, rc: int = 0, has_it: bool = False) -> str:
    """What it says. Programs of the system are stand-ins; what apt-get was told is in the file `asked`."""
    (folder / ".venv").mkdir(exist_ok=True)
    stand_ins = {
        "id": f"echo {user}",
        "sudo": "exit 1",
        "dpkg-query": "echo install ok installed" if has_it else "exit 1",
        "apt-get": f'echo "$*" >>"{folder}/asked"; exit {rc}',
    }
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name, does in stand_ins.items():
        (programs / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    script = f'set -euo pipefail; PATH="{programs}:$PATH"; profile={profile}\n{functions()}install_font\n'
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout + done.stderr


@pytest.mark.parametrize(("rc", "said"), ((0, INSTALLED), (100, FAILED)))
def test_it_is_tried_once_and_is_no_error(tmp_path: pathlib.Path, rc: int, said: str) -> None:
    assert run(tmp_path, rc=rc) == said and (tmp_path / "asked").read_text() == ASKED_FOR
    assert run(tmp_path) == "" and (tmp_path / "asked").read_text() == ASKED_FOR


def test_nobody_is_asked_and_who_works_on_the_project_does_not_wait(tmp_path: pathlib.Path) -> None:
    assert run(tmp_path, user=1000) == run(tmp_path, profile="dev") == run(tmp_path, has_it=True) == ""
    assert not (tmp_path / "asked").exists()

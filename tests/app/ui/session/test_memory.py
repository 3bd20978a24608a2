"""What is remembered from one start to the next."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raygrove.app.ui.session.memory import Memory


def test_a_folder_that_has_gone_is_the_nearest_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, folder = Memory(), tmp_path / "models" / "of today"
    assert memory.folder() == "", "where the program was started"
    folder.mkdir(parents=True)
    memory.set_folder(str(folder / "model.obj"))
    assert memory.folder() == str(folder)
    folder.rmdir()
    assert memory.folder() == str(tmp_path / "models")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert memory.folder() == str(tmp_path / "models")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) == Path.home())
    assert memory.folder() == str(Path.home())


@pytest.mark.parametrize("path", ["/proc/self/fd/0", "/dev/fd/0", "/nowhere/model.obj"])
def test_where_nobody_can_look_for_files_is_not_remembered(tmp_path: Path, path: str) -> None:
    memory = Memory()
    memory.set_folder(str(tmp_path / "model.obj"))
    memory.set_folder(path)
    assert memory.folder() == str(tmp_path)

"""The user's keys are kept as they were, and a file that holds none is put aside."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.user_files import key_bindings


def test_keys_come_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "keys.toml"
    bindings = {"camera.fit": ("Ctrl+J", "Home"), "edit.undo": ()}
    key_bindings.save(bindings, path)
    assert key_bindings.load(path) == bindings
    assert [one.name for one in path.parent.iterdir()] == ["keys.toml"]
    key_bindings.save({}, path)
    assert not path.exists() and key_bindings.load(path) == {}


@pytest.mark.parametrize(
    "text",
    [
        "no TOML",
        "keys = 3",
        "[keys]\na = 'F1'",
        "[keys]\na = [1]",
        "[keys]\na = ['1', '2', '3', '4', '5']",
        "[keys.a]\nb = 1",
    ],
)
def test_a_file_that_holds_none_is_put_aside(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(text)
    with pytest.raises(key_bindings.KeysError, match="cannot be read"):
        key_bindings.load(path)
    assert (tmp_path / "keys.toml.bad").read_text() == text and key_bindings.load(path) == {}

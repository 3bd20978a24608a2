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
    key_bindings.save({"camera.fit": None}, path)
    assert key_bindings.load(path) == {"edit.undo": ()}
    key_bindings.save({"edit.undo": None, "never.had": None}, path)
    assert not path.exists() and key_bindings.load(path) == {}


def test_keys_of_two_programs_are_kept_beside_each_other(tmp_path: Path) -> None:
    """Each knows only what it read at its start."""
    path = tmp_path / "keys.toml"
    for name, keys in {"view.home": ("H",), "edit.undo": ("U",), "of.another.version": ("F9",)}.items():
        key_bindings.save({name: keys}, path)
    assert len(key_bindings.load(path)) == 3
    key_bindings.remove(path)
    assert not path.exists()
    key_bindings.remove(path)


def test_keys_are_not_written_over_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "keys.toml"
    path.write_text("[keys]\na = ['F1']\n")

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(key_bindings, "read_bytes", refuse)
        with pytest.raises(key_bindings.KeysError, match="left as it is"):
            key_bindings.save({"b": ("F2",)}, path)
    assert path.read_text() == "[keys]\na = ['F1']\n"


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

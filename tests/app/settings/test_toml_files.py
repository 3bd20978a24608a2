"""Races, lessons and plans as files: a table, or a sentence for each way they are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from raygrove.app.settings.toml_files import TomlFileError, read_toml


def test_a_file_is_its_table(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('a.b = "ü"\n', encoding="utf-8")
    assert read_toml(tmp_path / "one.toml", "plan", 100) == {"a": {"b": "ü"}}


@pytest.mark.parametrize("text", [b"[fixed", b"\xff\xfe", b"a = " + b"[" * 9000])
def test_what_is_no_toml_is_a_sentence(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "one.toml").write_bytes(text)
    with pytest.raises(TomlFileError, match=r"one\.toml is no TOML: .*\.$"):
        read_toml(tmp_path / "one.toml", "plan", 1 << 20)


def test_what_is_no_file_or_too_large_is_a_sentence_and_makes_nobody_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * 11)
    found = {"pipe.toml": "is no plan: it is not a file", "large.toml": "is no plan: it has more than the 10 bytes",
             "none.toml": ": there is no such file", ".": "is no plan: it is not a file"}  # fmt: skip
    for name, sentence in found.items():
        with pytest.raises(TomlFileError, match=sentence):
            read_toml(tmp_path / name, "plan", 10)

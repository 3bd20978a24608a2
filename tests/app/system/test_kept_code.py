"""Code that is kept from start to start: the same methods, made anew where what is kept is not to be had."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.system import kept_code
from raygrove.app.system.kept_code import KeptCode
from tests.app.told import told_by

ROOT = Path(__file__).resolve().parents[3]

STARTS = """
import dataclasses, json
from raygrove.app.system import starting
starting.begin()
from raygrove.app.settings.settings import Settings, set_option
changed = set_option(Settings(), "render.hierarchy", "ploc")
frozen = False
try:
    changed.render = None
except dataclasses.FrozenInstanceError:
    frozen = True
kept = dataclasses.exec.__self__
print(json.dumps([changed == set_option(Settings(), "render.hierarchy", "ploc"), changed == Settings(), frozen,
                  hash(changed.render) == hash(changed.render), repr(Settings().render)[:14], len(kept._known) > 50]))
"""


def made_by(kept: KeptCode, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A dataclass made with what is kept."""
    monkeypatch.setattr(dataclasses, "exec", kept.run, raising=False)

    @dataclasses.dataclass(frozen=True)
    class Point:
        x: int
        y: int = 2

    monkeypatch.undo()
    return Point


def count_compiled(kept: KeptCode, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the texts that it compiles from now on."""
    names: list[str] = []

    def noted(text: str, name: str, *more: Any) -> Any:
        names.append(name)
        return compile(text, name, *more)

    kept._compile = noted  # type: ignore[assignment]
    return names


def test_what_was_compiled_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "code.kept"
    first = KeptCode(place)
    first_made = made_by(first, monkeypatch)
    first.keep()
    again = KeptCode(place)
    compiled = count_compiled(again, monkeypatch)
    point = made_by(again, monkeypatch)
    assert point.__init__.__annotations__ == first_made.__init__.__annotations__ != {}
    assert compiled == [] and point(1) == point(1, 2) != point(2) and repr(point(1)).endswith("Point(x=1, y=2)")
    written = place.stat().st_mtime_ns
    again.keep()
    assert place.stat().st_mtime_ns == written and list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("content", [b"", b"\x00\xff no code", b"i\x01\x00\x00\x00", None])
def test_a_file_that_is_none_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Any) -> None:
    place = tmp_path / "code.kept"
    place.mkdir() if content is None else place.write_bytes(content)
    kept = KeptCode(place)
    assert made_by(kept, monkeypatch)(3).x == 3
    kept.keep()
    assert content is None or len(KeptCode(place)._known) > 3


def test_what_was_changed_or_is_anothers_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "code.kept"
    first = KeptCode(place)
    made_by(first, monkeypatch)
    first.keep()
    whole, mode = place.read_bytes(), place.stat().st_mode
    assert KeptCode(place)._known and mode & 0o777 == 0o600
    for at in range(0, len(whole), 97):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert not KeptCode(place)._known, at
        place.write_bytes(whole[:at])
        assert not KeptCode(place)._known, at
    place.write_bytes(whole)
    place.chmod(0o620)
    assert not KeptCode(place)._known, "a group could have written it"
    place.chmod(0o600)
    monkeypatch.setattr(kept_code, "user", lambda: os.stat(place).st_uid + 1)
    assert bool(KeptCode(place)._known) == (os.stat(place).st_uid == 0), "another user's, but root's"
    monkeypatch.undo()
    link = tmp_path / "link.kept"
    link.symlink_to(place)
    assert KeptCode(place)._known and not KeptCode(link)._known


def test_a_file_that_nobody_else_can_write_is_made_whatever_the_umask(tmp_path: Path) -> None:
    kept, before = KeptCode(tmp_path / "code.kept"), os.umask(0)
    try:
        kept.code("a = 1", "one")
        kept.keep()
    finally:
        os.umask(before)
    assert (tmp_path / "code.kept").stat().st_mode & 0o777 == 0o600


def test_texts_and_names_tell_code_apart_and_others_compile_as_ever(tmp_path: Path) -> None:
    kept, found = KeptCode(tmp_path / "code.kept"), dict[str, Any]()
    with kept.instead_of_compile():
        for text, name in (("a = 1", "one"), ("a = 2", "one"), (b"a = 3", "one"), ("a = 1", "other")):
            code = compile(text, name, "exec")
            exec(code, found)
            assert code.co_filename == name and found["a"] == int(text[-1:])
        assert eval(compile("a + 1", "sum", "eval"), found) == 2
        assert compile("a + 1", "sum", "exec", dont_inherit=True).co_filename == "sum"
    assert len(kept._used) == 4 and compile.__module__ == "builtins"


def test_a_second_start_has_the_same_settings_by_kept_methods(tmp_path: Path) -> None:
    environment = {"PYTHONPYCACHEPREFIX": str(tmp_path / "compiled")}
    first, second = (told_by(STARTS, tmp_path, ROOT, environment) for _ in range(2))
    assert first == [True, False, True, True, "RenderOptions(", False] and second == [*first[:-1], True]

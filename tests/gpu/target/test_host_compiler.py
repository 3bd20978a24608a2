"""Which compiled library stands for which text: one for each set of flags, libraries and compiler, and none of them for another."""

from __future__ import annotations

import ctypes
import pathlib

import pytest

from gpu.target import host_compiler
from gpu.target.host_compiler import compile_library

TEXT = """
#ifndef NUMBER
#define NUMBER 1
#endif
extern "C" int number() { return NUMBER; }
"""


@pytest.fixture
def made(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The cache's folder, of this test alone."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("RAYGROVE_CACHE", str(folder))
    monkeypatch.delenv("RAYGROVE_HOST_FLAGS", raising=False)
    return folder


def number(library: ctypes.CDLL) -> int:
    return int(library.number())


def test_one_text_and_two_sets_of_flags_are_two_libraries(made: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run under a sanitizer, whose flags are given from outside, must not load what was compiled without it."""
    found = {}
    for flags in ("", "-DNUMBER=2", "-DNUMBER=3", "-DNUMBER=2", ""):
        monkeypatch.setenv("RAYGROVE_HOST_FLAGS", flags)
        found[flags] = number(compile_library(TEXT, "digest", contraction=True))
    assert found == {"": 1, "-DNUMBER=2": 2, "-DNUMBER=3": 3} and len(list(made.glob("*.so"))) == 3


def test_what_else_tells_libraries_apart(made: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def count_after(digest: str = "digest", contraction: bool = True, libraries: tuple[str, ...] = ()) -> int:
        assert number(compile_library(TEXT, digest, contraction, libraries)) == 1
        return len(list(made.glob("*.so")))

    assert [count_after(), count_after()] == [1, 1], "the same is compiled once"
    assert count_after(contraction=False) == 2
    assert count_after(digest="another text") == 3
    assert count_after(libraries=("-lm",)) == 4
    monkeypatch.setattr(host_compiler, "compiler_version", lambda: "a compiler of another version")
    assert [count_after(), count_after()] == [5, 5]
    monkeypatch.undo()
    monkeypatch.setenv("RAYGROVE_CACHE", str(made))
    name, features = host_compiler.processor()
    monkeypatch.setattr(host_compiler, "processor", lambda: (name, features | {"a new instruction"}))
    assert count_after() == 6, "code of this processor's instructions does not run on every other one"

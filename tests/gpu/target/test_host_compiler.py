"""Which compiled library stands for which text: one for each set of flags, libraries and compiler, and none of them for
another."""

from __future__ import annotations

import ctypes
import pathlib
import subprocess
import time

import pytest

from raygrove.gpu.target import host_compiler
from raygrove.gpu.target.base import CompileError, NoDeviceError
from raygrove.gpu.target.host_compiler import compile_library
from raygrove.gpu.target.stopping import Abandoned

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


@pytest.mark.parametrize(
    ("named", "words"),
    [('"', "No closing quotation. Unset CXX"), ("/none/g++ -O1", "is not there"), ("false", "does not run")],
)
def test_a_compiler_that_cannot_be_used_is_named(named: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", named)
    host_compiler.find_compiler.cache_clear()
    host_compiler.compiler_version.cache_clear()
    try:
        with pytest.raises(NoDeviceError, match=words) as caught:
            host_compiler.compiler_version()
        assert ".." not in str(caught.value)
    finally:
        monkeypatch.delenv("CXX")
        host_compiler.find_compiler.cache_clear()
        host_compiler.compiler_version.cache_clear()


def test_a_unit_that_does_not_compile_says_the_first_reason_in_its_sentence(
    made: pathlib.Path,
) -> None:
    with pytest.raises(CompileError) as caught:
        host_compiler.compile_library("int f() { return octopus; }", "digest", False)
    sentence = str(caught.value).partition("\n")[0]
    assert "octopus" in sentence and sentence.endswith("."), "others are put behind it"


def test_a_disk_that_is_full_while_a_unit_is_linked_is_told_with_what_to_do(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "full"
    said = (
        "In function main\nld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status"
    )
    script.write_text(f"#!/bin/sh\ncat > /dev/null\nprintf '{said}' >&2\nexit 1\n")
    script.chmod(0o755)
    with pytest.raises(CompileError) as caught:
        host_compiler._run_compiler([str(script)], "int f();", lambda: None)
    sentence = str(caught.value).partition("\n")[0]
    assert "final link failed: No space left on device. Free some space, or name other places by" in sentence
    assert sentence.endswith("RAYGROVE_CACHE and TMPDIR.")


def test_a_compiler_that_takes_long_is_heard_to_its_end(tmp_path: pathlib.Path) -> None:
    """It is asked several times whether it goes on, and its input comes whole, longer than a pipe holds."""
    script, text, asked, go = tmp_path / "slow", "int f();" * 100_000, list[int](), tmp_path / "go"
    script.write_text(f"#!/bin/sh\nwhile [ ! -e {go} ]; do sleep 0.05; done\ncat > {tmp_path / 'got'}\n")
    script.chmod(0o755)

    def ask() -> None:
        asked.append(1)
        if len(asked) == 3:
            go.touch()

    host_compiler._run_compiler([str(script)], text, ask)
    assert (tmp_path / "got").read_text() == text and len(asked) >= 3


def test_a_compiler_that_nobody_waits_for_is_ended(tmp_path: pathlib.Path) -> None:
    """Soon, and with all its own processes."""
    script, pid = tmp_path / "slow", tmp_path / "pid"
    script.write_text(f"#!/bin/sh\nsleep 61 &\necho $! > {pid}\nwait\n")
    script.chmod(0o755)
    begin = time.monotonic()

    def check() -> None:
        if pid.exists() and pid.read_text().strip():
            raise Abandoned

    with pytest.raises(Abandoned):
        host_compiler._run_compiler([str(script)], "int f();", check)
    assert time.monotonic() - begin < 30.0
    status = pathlib.Path(f"/proc/{pid.read_text().strip()}/stat")
    while status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() - begin < 50.0, "what the compiler started still runs"
        time.sleep(0.01)


def test_a_compiler_that_does_not_take_named_instructions_reads_all(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    text = (
        '#include "gpu/device/intrinsics.cuh"\n#ifndef WHOLE_INTRINSICS\n#error intrinsics of another version\n#endif\n'
        'extern "C" int lowest_bit(unsigned of) { return __builtin_ctz(of); }\n'
    )
    library = host_compiler.compile_library(text, "whole intrinsics", True)
    assert library.lowest_bit(24) == 3
    with pytest.raises(CompileError, match="does not compile|no such thing"):
        host_compiler.compile_library("#error no such thing\n", "broken", True)


@pytest.mark.skipif("clang" in host_compiler.compiler_version().lower(), reason="the parts named are GCC's")
@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("processor", ["haswell", "skylake-avx512"])
def test_named_instructions_suffice_on_other_processors(processor: str, lanes: int) -> None:
    """Else each unit there would be compiled once more, with all of them."""
    headers = ("gpu/target/cuda_on_host.cuh", "gpu/device/lanes.cuh", "gpu/device/eight.cuh")
    text = f"#define RAYS_PER_THREAD {lanes}\n" + "".join(f'#include "{header}"\n' for header in headers)
    compiler = [*host_compiler.find_compiler(), "-std=c++17", f"-march={processor}", "-fsyntax-only"]
    command = [*compiler, f"-I{host_compiler.ROOT}", "-x", "c++", "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[:1000]

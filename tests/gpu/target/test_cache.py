"""The cache of compiled units where its folder is not as it should be, and memory as the target counts it."""

from __future__ import annotations

import os
import pathlib
import resource
import subprocess
import sys
import time

import pytest

from gpu.target import cache, host, host_compiler
from gpu.target.base import Abandoned, CompileError, NoDeviceError

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def places(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> tuple[pathlib.Path, pathlib.Path]:
    """The cache folder and the one for temporary files, both of this test."""
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / "cache", tmp_path / f"raygrove-{os.getuid()}"


def write(path: pathlib.Path) -> None:
    path.write_text("made")


def refuse(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be written into `folder`; a change of mode does not hold an administrator back."""
    make = cache.tempfile.mkstemp

    def mkstemp(suffix: str, dir: pathlib.Path) -> tuple[int, str]:
        if dir == folder:
            raise PermissionError(13, "Permission denied", str(dir))
        return make(suffix=suffix, dir=dir)

    monkeypatch.setattr(cache.tempfile, "mkstemp", mkstemp)


def test_a_cache_that_can_only_be_read_is_read_and_what_it_lacks_is_kept_elsewhere(
    places: tuple[pathlib.Path, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = cache.cached_file("old", ".so", write)
    refuse(places[0], monkeypatch)
    assert cache.cached_file("old", ".so", write) == kept == places[0] / "old.so"
    assert cache.cached_file("new", ".so", write) == places[1] / "new.so"
    assert cache.cached_file("new", ".so", lambda path: pytest.fail("made twice")).read_text() == "made"


def test_a_cache_that_cannot_be_made_is_replaced(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    places[0].write_text("a file in its place")
    assert cache.cache_folder() == places[1]


def test_a_folder_that_others_can_write_is_not_taken(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    places[0].write_text("a file in its place")
    places[1].mkdir()
    places[1].chmod(0o777)
    folder = cache.cache_folder()
    assert folder != places[1] and folder.stat().st_mode & 0o077 == 0
    folder.rmdir()


def test_a_full_disk_is_no_reason_to_write_elsewhere(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    def full(path: pathlib.Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    with pytest.raises(OSError, match="No space left"):
        cache.cached_file("new", ".so", full)
    assert not list(places[0].iterdir()), "half a file stayed"


def test_a_damaged_library_is_made_again(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    text = 'extern "C" int seven() { return 7; }'
    assert host_compiler.compile_library(text, "digest", False).seven() == 7
    (library,) = places[0].glob("host-*.so")
    code = f"""
import pathlib, sys
sys.path.insert(0, {str(ROOT)!r})
from gpu.target.host_compiler import compile_library
print(compile_library({text!r}, "digest", False).seven())
"""
    library.unlink()
    library.write_bytes(b"")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "7", done.stderr


@pytest.mark.parametrize(("named", "words"), [('"', "No closing quotation. Unset CXX"), ("/none/g++ -O1", "is not there"), ("false", "does not run")])
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


def test_a_unit_that_does_not_compile_says_the_first_reason_in_its_sentence(places: tuple[pathlib.Path, pathlib.Path]) -> None:
    with pytest.raises(CompileError) as caught:
        host_compiler.compile_library("int f() { return octopus; }", "digest", False)
    assert "octopus" in str(caught.value).partition("\n")[0]


def test_memory_that_is_left_is_that_of_this_process() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from gpu.target.host import available_memory; print(available_memory())"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, preexec_fn=limit)
    assert 0 < int(done.stdout) < 1 << 30
    assert host.available_memory() > int(done.stdout)


def test_a_compiler_that_takes_long_is_heard_to_its_end(tmp_path: pathlib.Path) -> None:
    """It is asked several times whether it goes on, and its input comes whole, longer than a pipe holds."""
    script, text, asked = tmp_path / "slow", "int f();" * 100_000, list[int]()
    script.write_text(f"#!/bin/sh\nsleep 0.4\ncat > {tmp_path / 'got'}\n")
    script.chmod(0o755)
    host_compiler._run_compiler([str(script)], text, lambda: asked.append(1))
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
    assert time.monotonic() - begin < 5.0
    status = pathlib.Path(f"/proc/{pid.read_text().strip()}/stat")
    while status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() - begin < 10.0, "what the compiler started still runs"
        time.sleep(0.01)

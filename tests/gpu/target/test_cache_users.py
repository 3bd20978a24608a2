"""What else is kept in the cache of compiled code: programs, and what NVIDIA's sort was built to. And the sentence of a
full disk."""

from __future__ import annotations

import os
import pathlib
import subprocess
from typing import Any

import pytest

from raygrove.gpu.target import cache, host_compiler, private_folders, remarks
from raygrove.gpu.target.base import CompileError
from raygrove.gpu.target.cuda_sort import LibrarySorter


@pytest.fixture(autouse=True)
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The cache folder of this test."""
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(private_folders.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(remarks, "_said", {})
    return tmp_path / "cache"


def test_a_sealed_program_runs() -> None:
    def make(path: pathlib.Path) -> None:
        command = [*host_compiler.find_compiler(), "-x", "c++", "-", "-o", str(path)]
        subprocess.run(command, input="int main() { return 7; }", text=True, check=True)

    program = cache.cached_file("program", "", make)
    assert program.stat().st_mode & 0o777 == 0o700
    assert subprocess.run([str(program)], check=False).returncode == 7


class Library:
    """Stands in for cuda.compute: an algorithm is its number."""

    refuses = False

    def serialize(self, made: int) -> bytes:
        return b"built %d" % made

    def deserialize(self, written: bytes) -> int:
        if self.refuses:
            raise RuntimeError("of another build")
        return int(written.removeprefix(b"built "))


def sorter(**changed: Any) -> LibrarySorter:
    made = object.__new__(LibrarySorter)
    made._library, made._flavour = Library(), "sm_90"
    for name, value in changed.items():
        setattr(made._library, name, value)
    return made


def never() -> int:
    pytest.fail("built twice")


def test_what_the_sort_was_built_to_is_kept_and_checked(folder: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    kind = ("sort", "<u4", None)
    assert sorter()._load(kind, lambda: 1) == 1 and sorter()._load(kind, never) == 1
    (kept,) = folder.glob("sort-*.cccl")
    os.truncate(kept, kept.stat().st_size - 1)
    assert sorter()._load(kind, lambda: 2) == 2 and sorter()._load(kind, never) == 2
    kept.chmod(0o666)
    assert sorter()._load(kind, lambda: 3) == 3 and sorter()._load(kind, never) == 3
    assert [str(kept) in record.getMessage() for record in caplog.records] == [True, True]
    assert sorter(refuses=True)._load(kind, lambda: 4) == 4, "of another build of the library"
    assert sorter()._load(kind, never) == 4 and len(caplog.records) == 2


def test_a_sort_that_cannot_be_kept_sorts_and_says_so(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.os, "fsync", full)
    assert sorter()._load(("scan", "<i4", "<i4"), lambda: 1) == 1
    (record,) = caplog.records
    assert (
        "cannot be kept" in record.getMessage()
        and str(folder) in record.getMessage()
        and "No space left" in record.getMessage()
    )


def test_a_compiler_without_room_says_what_to_do(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "full"
    script.write_text("#!/bin/sh\necho 'ld: final link failed: No space left on device' >&2\nexit 1\n")
    script.chmod(0o755)
    with pytest.raises(CompileError) as caught:
        host_compiler._run_compiler([str(script)], "int f();", lambda: None)
    assert (
        "No space left on device. Free some space" in str(caught.value)
        and "RAYGROVE_CACHE" in str(caught.value).partition("\n")[0]
    )

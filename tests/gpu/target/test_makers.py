"""Programs that need the same compiled file at once: one makes it."""

from __future__ import annotations

import errno
import os
import pathlib
import subprocess
import sys

import pytest

from raygrove.gpu.target import cache, makers

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A cache folder of this test."""
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write(path: pathlib.Path) -> None:
    path.write_text("made")


def never(path: pathlib.Path) -> None:
    pytest.fail("made twice")


MAKER = """
import pathlib, sys, time
from raygrove.gpu.target.cache import cached_bytes, cached_file
folder, me = pathlib.Path(sys.argv[1]), sys.argv[2]
def make(path=None):
    (folder / f"made-by-{me}").touch()
    others = [name for name in sys.argv[3:] if not (folder / f"started-{name}").exists()]
    while others and time.monotonic() < until:
        time.sleep(0.01)
        others = [name for name in others if not (folder / f"started-{name}").exists()]
    time.sleep(0.2)
    return path.write_text(me) if path else me.encode()
until = time.monotonic() + 120
(folder / f"started-{me}").touch()
KEPT
"""


@pytest.mark.parametrize("kept", ["cached_file('key', '.so', make)", "cached_bytes('key', '.cubin', make)"])
def test_of_programs_that_start_together_one_makes_a_file(
    kept: str, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Who makes it does so until all others are there."""
    names = ("1", "2", "3")
    command = [sys.executable, "-c", MAKER.replace("KEPT", kept), str(tmp_path)]
    makers = [subprocess.Popen([*command, name, *names], cwd=ROOT) for name in names]
    assert [maker.wait(180) for maker in makers] == [0, 0, 0]
    assert len(list(tmp_path.glob("started-*"))) == 3 and len(list(tmp_path.glob("made-by-*"))) == 1
    assert [path.name.partition("-")[0] for path in folder.iterdir()] == ["key"], "no lock is left"


def test_who_waits_for_a_maker_can_be_told_to_stop_and_is_not_kept_for_ever(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    def outer(path: pathlib.Path) -> None:
        with pytest.raises(KeyboardInterrupt):
            cache.cached_file("key", ".so", never, stop)
        monkeypatch.setattr(makers, "PATIENCE_S", 0.1)
        assert cache.contents_of(cache.cached_file("key", ".so", write)) == b"made"
        path.write_text("made later")

    assert cache.contents_of(cache.cached_file("key", ".so", outer)) == b"made later"


def test_where_nothing_can_be_locked_everyone_makes_its_own(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(file: int) -> bool:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(makers, "try_lock", no_locks)

    def outer(path: pathlib.Path) -> None:
        cache.cached_file("key", ".so", write)
        write(path)

    assert cache.contents_of(cache.cached_file("key", ".so", outer)) == b"made"

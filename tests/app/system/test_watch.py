"""The watcher tells once of a file that was written and has come to rest, and of nothing else."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from raygrove.app.system.watch import Signature, Watcher, signature

INTERVAL = 0.02
CLOCK = itertools.count(1)


class Heard:
    """Counts the news, and how often the watcher looks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = self.looks = 0
        self.watcher = Watcher(self._add, INTERVAL)
        monkeypatch.setattr("raygrove.app.system.watch.signature", self._look)

    def _look(self, names: Sequence[str]) -> Signature:
        self.looks += 1
        return signature(names)

    def _add(self) -> None:
        self.count += 1

    def wait_for(self, count: int) -> None:
        """So much news, and no more at five looks, the first of which may have begun before."""
        self._until(lambda: self.count >= count)
        looks = self.looks
        self._until(lambda: self.looks > looks + 5)
        assert self.count == count

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < deadline, "it never came"
            time.sleep(INTERVAL)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    made = Heard(monkeypatch)
    yield made
    made.watcher.stop()


def write(path: Path, text: str) -> None:
    """Write a file at a time of its own, however coarse the file system's clock is."""
    path.write_text(text)
    stamp = 1_700_000_000_000_000_000 + next(CLOCK) * 1_000_000_000
    os.utime(path, ns=(stamp, stamp))


def test_each_writing_is_told_once(tmp_path: Path, heard: Heard) -> None:
    path = tmp_path / "a.obj"
    write(path, "one")
    heard.watcher.watch([str(path)])
    heard.wait_for(0)
    write(path, "two")
    heard.wait_for(1)
    write(tmp_path / "a.mtl", "a material")
    heard.wait_for(2)
    write(tmp_path / "b.obj", "not watched")
    heard.wait_for(2)


@pytest.mark.parametrize("looks", [1, 2, 9])
def test_a_file_that_grows_is_told_of_once_when_it_rests(monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    """Another size at each of so many looks, as of a file that another program writes slowly."""
    sizes = iter([1, *range(2, looks + 2)])
    told: list[int] = []
    seen: list[int] = []
    rested = threading.Event()

    def look(names: object) -> tuple[tuple[str, int, int], ...]:
        seen.append(next(sizes, looks + 1))
        if len(seen) > looks + 8:
            rested.set()
        return (("a.obj", 7, seen[-1]),)

    monkeypatch.setattr("raygrove.app.system.watch.signature", look)
    watcher = Watcher(lambda: told.append(len(seen)), 0.001)
    watcher.watch(["a.obj"])
    assert rested.wait(60.0)
    watcher.stop()
    assert told == [looks + 2], "at the second look that finds its last size"


def test_a_file_that_is_gone_is_news_when_it_is_back(tmp_path: Path, heard: Heard) -> None:
    path = tmp_path / "a.obj"
    write(path, "one")
    heard.watcher.watch([str(path)])
    heard.wait_for(0)
    path.unlink()
    heard.wait_for(0)
    path.write_text("")
    heard.wait_for(0)
    write(path, "again")
    heard.wait_for(1)


def test_a_new_file_of_a_sequence_is_news(tmp_path: Path, heard: Heard) -> None:
    for number in range(3):
        write(tmp_path / f"f_{number}.obj", "v")
    heard.watcher.watch([str(tmp_path / "f_*.obj")])
    heard.wait_for(0)
    write(tmp_path / "f_3.obj", "v")
    heard.wait_for(1)


def test_what_is_watched_no_more_is_not_told(tmp_path: Path, heard: Heard) -> None:
    path, other = tmp_path / "a.obj", tmp_path / "b.obj"
    write(path, "one")
    write(other, "one")
    heard.watcher.watch([str(path)])
    heard.wait_for(0)
    heard.watcher.watch([str(other)])
    heard.wait_for(0)
    write(path, "two")
    heard.wait_for(0)
    heard.watcher.watch(())
    write(other, "two")
    time.sleep(5 * INTERVAL)
    assert heard.count == 0


def test_nothing_to_watch_needs_no_thread(heard: Heard) -> None:
    before = threading.active_count()
    heard.watcher.watch(())
    assert threading.active_count() == before
    assert signature(["nowhere/at/all.obj"]) == () and signature(["no?such*.obj"]) == ()

"""Values are read at once and written beside the window's thread, in order, and all of them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings

from raygrove.app.settings import kept_files
from raygrove.app.ui.session.kept_values import KeptValues

SET_AND_END = """
from raygrove.app.ui.session.kept_values import KeptValues
values = KeptValues()
for number in range(50):
    values.set("last", str(number))
    values.change("all", lambda stored, number=number: [*(stored or []), str(number)])
"""
SAY = """
from raygrove.app.ui.session.kept_values import KeptValues
print(KeptValues().value("last"), len(KeptValues().value("all")))
"""
COUNT = 50


def _with(value: Any) -> Callable[[Any], list[Any]]:
    """The list that was kept, and the value behind it."""
    return lambda stored: [*(stored or []), value]


@pytest.fixture
def values(own_folders: Path) -> Iterator[KeptValues]:
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(own_folders))
    made = KeptValues()
    yield made
    made.flush()


def test_a_slow_disk_holds_nobody_up_and_nothing_is_lost(values: KeptValues, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, writers = threading.Event(), set()

    @contextmanager
    def slow(path: Path) -> Iterator[None]:
        writers.add(threading.current_thread().name)
        assert opened.wait(60)
        yield

    monkeypatch.setattr(kept_files, "locked", slow)
    for number in range(COUNT):
        values.set("number", number)
        values.change("all", _with(number))
    assert values.value("number") == COUNT - 1 and values.value("all") == list(range(COUNT))
    assert not Path(values.file).exists(), "the disk has not answered yet"
    opened.set()
    values.flush()
    assert writers == {"kept values"}
    again = KeptValues()
    assert again.value("number") == COUNT - 1 and again.value("all") == list(range(COUNT))
    values.remove("all")
    assert values.value("all") is None and KeptValues().value("all") is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_change_that_fails_keeps_nobody_waiting(values: KeptValues) -> None:
    """It is told as any thread's error is, and the next change is written."""
    told: list[str] = []

    def failing(stored: Any) -> list[str]:
        if threading.current_thread().name == "kept values":
            raise RuntimeError("no such luck")
        return ["here"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, "excepthook", lambda caught: told.append(str(caught.exc_value)))
        values.change("all", failing)
        values.flush()
        values.set("number", 7)
        values.flush()
    assert told == ["no such luck"] and KeptValues().value("number") == 7


def test_what_another_window_stored_is_kept_and_known_after_writing(values: KeptValues, own_folders: Path) -> None:
    other = QSettings(values.file, QSettings.Format.IniFormat)  # another file to Qt's cache, the same on the disk
    other.setValue("all", ["theirs"])
    other.sync()
    values.change("all", _with("ours"))
    assert values.value("all") == ["ours"]
    values.flush()
    assert values.value("all") == ["theirs", "ours"]


def test_a_program_that_ends_at_once_has_written_all(own_folders: Path) -> None:
    run: Any = {"check": True, "timeout": 60, "capture_output": True, "text": True}
    subprocess.run([sys.executable, "-c", SET_AND_END], **run)
    assert subprocess.run([sys.executable, "-c", SAY], **run).stdout.split() == ["49", "50"]


def test_a_folder_that_cannot_be_written_is_no_error(values: KeptValues) -> None:
    Path(values.file).parent.mkdir(parents=True, exist_ok=True)
    Path(values.file).mkdir()
    values.set("number", 3)
    begin = time.monotonic()
    values.flush()
    assert time.monotonic() - begin < kept_files.WAIT_S

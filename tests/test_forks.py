"""Tests in forks: each begins with what was prepared, and whatever becomes of one is told of it alone."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[1]

HOOKS = """
import pathlib, pytest
from tests.forks import Nursery

PREPARED, nursery = [], []
NOTES = pathlib.Path(__file__).with_name("notes")

def prepare():
    PREPARED.append("once")
    return lambda: NOTES.open("a").write("after each\\n")

@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    nursery.append(Nursery(session.items, prepare))

def pytest_runtest_protocol(item, nextitem):
    if "here" not in item.name:
        nursery[0].run(item, nextitem)
        return True

def pytest_sessionfinish():
    if nursery:
        nursery.pop().end()

@pytest.fixture
def prepared():
    return PREPARED
"""

SESSION = """
import os, signal, time, warnings
import pytest

BEGAN = os.getpid()

@pytest.mark.parametrize("turn", range(2))
def test_no_other_is_seen(prepared, turn):
    assert prepared == ["once"] and os.getpid() != BEGAN
    prepared.append("changed")

def test_it_fails():
    print("what it printed")
    assert [1, 2] == [1, 3]

def test_it_crashes():
    os.kill(os.getpid(), signal.SIGSEGV)

def test_it_warns():
    warnings.warn("hear me")

@pytest.mark.timeout(1)
def test_it_hangs():
    time.sleep(100)

def test_it_ends_the_process():
    os._exit(3)

def test_here(prepared):
    assert prepared == [] and os.getpid() == BEGAN
"""


def test_what_is_told_of_each(tmp_path: pathlib.Path) -> None:
    for name, text in (("pytest.ini", "[pytest]\n"), ("conftest.py", HOOKS), ("test_planted.py", SESSION)):
        (tmp_path / name).write_text(text)
    options = ["-c", str(tmp_path / "pytest.ini"), "-p", "no:xvfb", "-p", "no:cacheprovider", "-n", "1", "-rA"]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PROCESS_S)
    assert "4 failed, 4 passed, 1 warning" in ended.stdout.splitlines()[-1], ended.stdout + ended.stderr
    for words in (
        "At index 1 diff: 2 != 3",
        "what it printed",
        "the test's process ended by SIGSEGV",
        "the test's process ended by exit code 3",
        "Failed: Timeout",
        "UserWarning: hear me",
    ):
        assert words in ended.stdout, words
    assert (tmp_path / "notes").read_text() == 7 * "after each\n"

"""What takes the longest begins first, and in one process; what was collected is looked at no more."""

from __future__ import annotations

import gc
import pathlib
import subprocess
import sys

from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[1]

SESSION = """
import os, pathlib, pytest

@pytest.fixture(autouse=True)
def noted(request):
    with open(pathlib.Path(__file__).with_name("begun"), "a") as file:
        print(os.getpid(), request.node.name, file=file)

@pytest.mark.parametrize("number", range(40))
def test_short(number): pass

@pytest.mark.first
@pytest.mark.parametrize("number", range(3))
def test_long(number): pass
"""


def test_those_that_take_long_are_the_first_of_one_process(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_planted.py").write_text(SESSION)
    options = ["-p", "tests.order", "-c", str(tmp_path / "pytest.ini"), "-p", "no:xvfb", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, "-n", "2", "--dist", "worksteal", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PROCESS_S)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    begun: dict[str, list[str]] = {}
    for line in (tmp_path / "begun").read_text().splitlines():
        process, name = line.split()
        begun.setdefault(process, []).append(name)
    orders = [names for names in begun.values() if any(name.startswith("test_long") for name in names)]
    assert len(begun) == 2 and sum(map(len, begun.values())) == 43
    assert [names[:3] for names in orders] == [[f"test_long[{number}]" for number in range(3)]]


def test_what_stays_to_the_end_is_not_looked_at_again() -> None:
    """tests/conftest.py; the garbage collector is at work on what tests make."""
    assert gc.isenabled() and gc.get_freeze_count() > 10_000

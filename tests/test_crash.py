"""A kernel that crashes takes its worker with it: `make test` names the test, and the rest goes on."""

from __future__ import annotations

import pathlib
import shlex
import subprocess

from raygrove.gpu.target.base import UnitSource
from raygrove.testing import make_target
from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[1]

SESSION = """
import time

import pytest
from raygrove.gpu.target.base import UnitSource
from raygrove.gpu.target.host import HostTarget

@pytest.mark.parametrize("number", range(12))
def test_a_kernel(number):
    target = HostTarget()
    if number > 0:
        time.sleep(0.1)  # or the other worker asks for tests in the moment of the crash, which ends pytest-xdist
    else:
        unit = target.unit(UnitSource("tests/gpu/target/crash.cu"))
        target.launch(unit, "crash", 1, values=target.zeros(1, "i4", "test"))
    target.close()
"""


def test_the_rest_of_the_tests_goes_on(tmp_path: pathlib.Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_planted.py").write_text(SESSION)
    arguments = f"-c {tmp_path}/pytest.ini -p no:xvfb -p no:cacheprovider {tmp_path}"
    shown = subprocess.run(
        ["make", "--dry-run", "test", f"ARGS={arguments}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    with make_target("host") as target:
        target.unit(UnitSource("tests/gpu/target/crash.cu"))  # so that the worker crashes at once
    (line,) = (line for line in shown.stdout.splitlines() if "pytest" in line)
    ended = subprocess.run(shlex.split(line), cwd=ROOT, capture_output=True, text=True, timeout=PROCESS_S)
    assert "crashed while running 'test_planted.py::test_a_kernel[0]'" in ended.stdout, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[-1].strip("= ").startswith("1 failed, 11 passed"), ended.stdout
    assert ended.returncode == 1

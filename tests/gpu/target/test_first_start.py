"""What a start with an empty cache compiles beside its imports, and that nothing of it outlives the program."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from raygrove.gpu.target import first_start, host_compiler
from raygrove.gpu.target.host_runtime import has_runtime
from tests.waiting import EVENT_S, PROCESS_S

ROOT = Path(__file__).resolve().parents[3]

STARTS = """
import pathlib, sys, time
from raygrove.app.system import starting
starting.compile_first("cpu", True)
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
"""


def test_the_runtime_and_the_headers_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    host_compiler._prelude.cache_clear()  # which knows another folder's
    begun, end = first_start.begin("cpu", True), time.monotonic() + EVENT_S
    assert begun is not None and begun.is_needed
    while not (has_runtime() and list((tmp_path / "cache").glob("prelude-*"))):
        assert time.monotonic() < end
        time.sleep(0.05)
    again = first_start.begin("cpu", True)
    assert again is not None and not again.is_needed
    begun.end()
    host_compiler._prelude.cache_clear()


def test_a_program_that_ends_early_leaves_no_compiler(tmp_path: Path) -> None:
    compiler, pids = tmp_path / "slow", tmp_path / "pids"
    compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo 1 && exit\necho $$ > {pids}\nexec sleep 61\n')
    compiler.chmod(0o755)
    environment = {**os.environ, "RAYGROVE_CACHE": str(tmp_path / "cache"), "CXX": str(compiler)}
    command = [sys.executable, "-c", STARTS, str(pids)]
    subprocess.run(command, env=environment, cwd=ROOT, timeout=PROCESS_S, check=True)
    pid = int(pids.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)

"""What a start with an empty cache compiles beside its imports, and that nothing of it outlives the program."""

from __future__ import annotations

import os
import signal
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
while len(list(pathlib.Path(sys.argv[1]).iterdir())) < 2:
    time.sleep(0.01)
"""
"""Ends as soon as both compilers run."""

SLOW = """#!/bin/sh
[ "$1" = --version ] && echo 1 && exit
: > {pids}/$$
exec sleep {seconds}
"""
"""A compiler that tells its process by a file's name, and takes longer than anybody waits for its end."""


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
    pids.mkdir()
    compiler.write_text(SLOW.format(pids=pids, seconds=int(2 * EVENT_S)))
    compiler.chmod(0o755)
    environment = {**os.environ, "RAYGROVE_CACHE": str(tmp_path / "cache"), "CXX": str(compiler)}
    command = [sys.executable, "-c", STARTS, str(pids)]
    try:
        subprocess.run(command, env=environment, cwd=ROOT, timeout=PROCESS_S, check=True)
        end = time.monotonic() + EVENT_S
        while left := [name for name in os.listdir(pids) if runs(int(name))]:
            assert time.monotonic() < end, f"compilers outlive the program: {left}"
            time.sleep(0.05)
    finally:
        for name in filter(lambda name: runs(int(name)), os.listdir(pids)):
            os.kill(int(name), signal.SIGKILL)


def runs(process: int) -> bool:
    """Whether a process is there and has not ended: one that nobody has waited for yet still has a number."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False

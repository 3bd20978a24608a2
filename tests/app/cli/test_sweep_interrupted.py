"""Ctrl+C as a terminal sends it, to all processes of its session: a sweep says one sentence, leaves none of its own
processes and nothing half, and goes on from there."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from raygrove.bench.store import cluster
from raygrove.bench.store.folder import Store
from tests.campaign.kills import descendants
from tests.waiting import EVENT_S, PROCESS_S

SEEDS = 40
PLAN = f"""
[fixed]
measure = "render"
size = "48x36"
frames = "0:2"
configuration = "lbvh"
device = "cpu"
threads = 1
scene = "walker"
demo.triangles = 4000
[axes]
seed = {list(range(SEEDS))}
"""
SAID = re.compile(rb"Done: (\d+) jobs?; the same command goes on from there\.\nerror: interrupted\.\n")


def is_alive(process: int) -> bool:
    """Whether a process has not ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def until(is_there: Callable[[], bool], seconds: float = PROCESS_S) -> None:
    """Wait for that."""
    begin = time.monotonic()
    while not is_there():
        assert time.monotonic() - begin < seconds
        time.sleep(0.02)


@contextlib.contextmanager
def sweep(folder: Path, engine: str) -> Iterator[subprocess.Popen[bytes]]:
    """A sweep in a session of its own, as one is that a terminal starts."""
    (folder / "plan.toml").write_text(PLAN)
    words = [sys.executable, "-P", "-m", "raygrove", "sweep", "plan.toml", "--store", "store", "--jobs", engine]
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def results(folder: Path) -> dict[str, tuple[int, int]]:
    """Which file each result is, and when it was written."""
    with contextlib.suppress(FileNotFoundError):
        return {
            path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in (folder / "store").glob("*/*.json")
        }
    return {}


def interrupted(folder: Path, engine: str, *, is_starting: bool) -> int:
    """Press Ctrl+C once there is a result more, or as soon as workers begin; how many jobs it says were done."""
    before = results(folder)
    with sweep(folder, engine) as process:
        until(lambda: bool(descendants(process.pid)) if is_starting else results(folder).keys() > before.keys())
        its_own = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=PROCESS_S)[1]
        assert process.returncode == 130
        match = re.fullmatch(rb"(?:\d+ done, up to .*\n)*" + SAID.pattern, said)
        assert match is not None, said.decode()
        until(lambda: not any(map(is_alive, its_own)), EVENT_S)
    store = Store(folder / "store")
    assert all(record["status"] == "done" for record in store.records())
    after = results(folder)
    assert {name: after.get(name) for name in before} == before, "a finished job was done again"
    return int(match[1])


@pytest.mark.parametrize("engine", ["local:2", "dask:2"])
def test_workers_here_end_with_the_sweep(engine: str, tmp_path: Path) -> None:
    if engine.startswith("dask"):
        pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")
    assert interrupted(tmp_path, engine, is_starting=True) == 0 and not results(tmp_path)
    done = interrupted(tmp_path, engine, is_starting=False)
    interrupted(tmp_path, engine, is_starting=False)
    assert max(done, 2) <= len(results(tmp_path)) < SEEDS  # what was done as it ended may not have been heard of


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler with a worker, as somebody starts them elsewhere; the processes, too."""
    pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    host, port = address.split(":")
    words = (["scheduler", "--host", host, "--port", port], ["worker", f"tcp://{address}", "--nthreads", "1"])
    with contextlib.ExitStack() as stack:
        processes = []
        for name, *more in words:
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *more, "--no-dashboard"]
            process = stack.enter_context(subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL))
            stack.callback(process.terminate)
            processes.append(process)
        yield address, processes


def test_workers_of_a_cluster_are_left_and_their_jobs_taken_back(
    tmp_path: Path, scheduler: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, processes = scheduler
    interrupted(tmp_path, f"dask://{address}", is_starting=False)
    assert [process.poll() for process in processes] == [None, None]
    with pytest.importorskip("distributed").Client(f"tcp://{address}", set_as_default=False) as client:
        until(lambda: not client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)), EVENT_S)
    interrupted(tmp_path, f"dask://{address}", is_starting=False)
    assert 2 <= len(results(tmp_path)) < SEEDS


def test_ctrl_c_waits_for_a_cluster_that_starts_and_is_not_for_its_processes() -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=time.sleep, args=(600.0,)) for _ in range(2)]
    reached = False
    try:
        with pytest.raises(KeyboardInterrupt), cluster._undisturbed():
            for worker in workers:  # Dask starts them in threads of its own
                starter = threading.Thread(target=worker.start)
                starter.start()
                starter.join()
            os.kill(os.getpid(), signal.SIGINT)
            reached = True
        assert reached and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        for worker in workers:
            blocked = re.search(r"SigBlk:\s*(\w+)", Path(f"/proc/{worker.pid}/status").read_text())
            assert blocked is not None and int(blocked[1], 16) & 1 << signal.SIGINT - 1
    finally:
        for worker in workers:
            worker.kill()

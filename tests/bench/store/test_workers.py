"""Worker processes that are killed, refuse, fail or hang: no result is lost, none is made twice."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from raygrove.bench.store.folder import Store, StoreError
from raygrove.bench.store.jobs import Job
from raygrove.bench.store.workers import MOST_DEATHS, Lane, SweepError, Workers
from tests.waiting import EVENT_S

WORKER = """
import json, os, sys, time
from raygrove.bench.store.folder import Store
store = Store(sys.argv[1])
print(json.dumps({"version": "1", "sources": sys.argv[2]}), flush=True)
try:
    for line in sys.stdin:
        job = json.loads(line)["job"]
        with open(sys.argv[3], "a") as log:
            log.write(f"{os.getpid()} {job['number']}\\n")
        if "waits" in job:
            print(json.dumps({"waits": True}), flush=True)
            time.sleep(job["waits"])
            print(json.dumps({"waits": False}), flush=True)
        time.sleep(job.get("sleep", 0.0))
        if job.get("ends"):
            print("out of luck", file=sys.stderr, flush=True)
            os.kill(os.getpid(), job["ends"])
        if job.get("refused"):
            print(json.dumps({"status": "refused", "sentence": "not here"}), flush=True)
            continue
        if job.get("fatal"):
            print(json.dumps({"fatal": "No space left on device."}), flush=True)
            continue
        store.put({"job": job, "status": "done", "square": job["number"] ** 2})
        print(json.dumps({"status": "done", "seconds": 0.5}), flush=True)
finally:
    with open(sys.argv[3], "a") as log:
        log.write(f"{os.getpid()} -1\\n")
"""
"""A worker that squares numbers, and says in a log which jobs it began."""


class Setting:
    """A store, a log, and workers for them."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.store, self.log = Store.made(folder / "store"), folder / "log"
        self.told: list[tuple[int, str, str]] = []

    def workers(self, lanes: int = 1, sources: str = "s", most_seconds: float = 0.0) -> Workers:
        command = [sys.executable, "-c", WORKER, str(self.store.folder), sources, str(self.log)]
        return Workers(self.store, command, [Lane(str(one)) for one in range(lanes)], self._tell, most_seconds)

    def _tell(self, job: Job, answer: Mapping[str, Any]) -> None:
        self.told.append((job.what["number"], answer["status"], answer.get("sentence", "")))

    def begun(self) -> list[tuple[int, int]]:
        """(process, number) of each job that a worker began."""
        return [(process, number) for process, number in self._logged() if number >= 0]

    def leavings(self) -> int:
        """How many workers have ended in order."""
        return sum(number < 0 for _, number in self._logged())

    def _logged(self) -> list[tuple[int, int]]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(int(one), int(other)) for one, other in map(str.split, lines)]

    def squares(self) -> dict[int, int]:
        return {one["job"]["number"]: one["square"] for one in self.store.records()}


def jobs(count: int, **what: object) -> list[Job]:
    return [Job({"number": n, "version": "1", "sources": "s", "measure": "frame", **what}) for n in range(count)]


@pytest.fixture
def setting(tmp_path: pathlib.Path) -> Setting:
    return Setting(tmp_path)


@pytest.mark.parametrize("lanes", [1, 2])
def test_every_job_is_done_once_and_never_again(setting: Setting, lanes: int) -> None:
    progress = setting.workers(lanes).run(iter(jobs(12)))
    assert (progress.done, progress.finished, progress.seconds) == (12, 12, 6.0)
    assert setting.squares() == {n: n * n for n in range(12)} and len(setting.begun()) == 12
    assert setting.workers(lanes).run(iter(jobs(12))).finished == 0
    assert setting.workers(lanes).run(iter(jobs(14))).finished == 2 and len(setting.begun()) == 14


@pytest.mark.each_value
def test_a_job_that_kills_its_workers_is_a_result_and_the_rest_goes_on(setting: Setting) -> None:
    some = [*jobs(2), *jobs(3, ends=int(signal.SIGSEGV))[2:], *jobs(5)[3:]]
    progress = setting.workers().run(iter(some))
    assert (progress.done, progress.crashed) == (4, 1)
    found = setting.store.get(some[2].sha)
    assert found["status"] == "crashed" and "was killed by SIGSEGV" in found["sentence"]
    assert found["words"] == "out of luck\n"
    assert [number for _, number in setting.begun()].count(2) == MOST_DEATHS
    assert [status for number, status, _ in setting.told if number == 2] == ["again", "again", "crashed"]
    assert setting.workers().run(iter(some)).finished == 0


def test_a_job_that_takes_too_long_is_ended(setting: Setting) -> None:
    some = [*jobs(1, sleep=30.0), *jobs(2)[1:]]
    progress = setting.workers(most_seconds=0.1).run(iter(some))
    assert (progress.done, progress.crashed) == (1, 1)
    assert "took more than 0.1 s" in setting.store.get(some[0].sha)["sentence"]


def test_waiting_for_a_device_is_said_once_and_no_part_of_a_limit(setting: Setting) -> None:
    some = [*jobs(2, waits=4.0), *jobs(3, waits=0.1, sleep=60.0)[2:]]
    progress = setting.workers(most_seconds=2.0).run(iter(some))
    assert (progress.done, progress.crashed) == (2, 1), "what waits is not ended, what works too long afterwards is"
    assert [number for number, status, _ in setting.told if status == "waits"] == [0]


def test_a_worker_of_another_version_is_refused(setting: Setting) -> None:
    with pytest.raises(SweepError, match="a worker's sources are other, and the jobs' s"):
        setting.workers(sources="other").run(iter(jobs(3)))
    assert setting.begun() == []


def test_a_worker_that_does_not_start_is_said_with_its_last_words(setting: Setting) -> None:
    workers = Workers(setting.store, [sys.executable, "-c", "raise SystemExit('no driver')"], [Lane("0")])
    with pytest.raises(SweepError, match="ended with exit code 1: no driver"):
        workers.run(iter(jobs(3)))


@pytest.mark.parametrize("killed", [2, 3])
def test_a_worker_that_is_killed_while_it_starts_is_started_again(setting: Setting, killed: int) -> None:
    """Three times in a row are no accident."""
    count = setting.store.folder.with_name("starts")
    code = (
        f"""
import os, sys
with open({str(count)!r}, "a") as file:
    file.write("x")
if os.path.getsize({str(count)!r}) <= {killed}:
    os.kill(os.getpid(), 9)
sys.argv[1:] = {[str(setting.store.folder), "s", str(setting.log)]!r}
"""
        + WORKER
    )
    workers = Workers(setting.store, [sys.executable, "-c", code], [Lane("0")])
    if killed < MOST_DEATHS:
        assert workers.run(iter(jobs(3))).done == 3 and len(setting.begun()) == 3
    else:
        with pytest.raises(SweepError, match="was killed by SIGKILL"):
            workers.run(iter(jobs(3)))


def test_what_no_job_can_do_ends_the_sweep(setting: Setting) -> None:
    with pytest.raises(SweepError, match="No space left on device"):
        setting.workers().run(iter([*jobs(2), *jobs(3, fatal=True)[2:], *jobs(99)[3:]]))
    assert set(setting.squares()) == {0, 1}


def test_a_job_that_is_refused_has_no_result(setting: Setting) -> None:
    some = [*jobs(1, refused=True), *jobs(2)[1:]]
    assert setting.workers().run(iter(some)).refused == 1
    assert not setting.store.has(some[0].sha) and setting.told[0] == (0, "refused", "not here")


def test_a_store_that_goes_away_ends_the_sweep(setting: Setting) -> None:
    def going() -> Iterator[Job]:
        yield from jobs(2)
        setting.store.folder.rename(setting.store.folder.with_name("unplugged"))
        yield from jobs(3, ends=int(signal.SIGKILL))[2:]

    with pytest.raises(StoreError, match="not there any more"):
        setting.workers().run(going())
    assert not setting.store.folder.exists()


def test_killed_workers_lose_nothing_and_repeat_nothing(setting: Setting) -> None:
    """kill -9 at random moments, while two workers work; no job three times, which would be its crash."""
    stop = threading.Event()
    killed: dict[int, int] = {}  # processes, and what they were at
    draw = random.Random(5)

    def kill() -> None:
        while len(killed) < 5 and not stop.wait(draw.uniform(0.02, 0.25)):
            process, number = (setting.begun() or [(0, 0)])[-1]
            if process and process not in killed and list(killed.values()).count(number) < 2:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    killed[process] = number

    killer = threading.Thread(target=kill)
    killer.start()
    progress = setting.workers(2).run(iter(jobs(60, sleep=0.02)))
    stop.set()
    killer.join()
    assert killed and progress.done <= 60 and progress.crashed == 0
    assert setting.squares() == {n: n * n for n in range(60)}
    repeated = len(setting.begun()) - 60
    assert repeated <= len(killed)  # a job is begun again only where its worker was killed


def sweep_process(setting: Setting, count: int) -> subprocess.Popen[bytes]:
    """A client of its own: the same workers over the same jobs."""
    code = f"""
import json, sys
from raygrove.bench.store.folder import Store
from raygrove.bench.store.jobs import Job
from raygrove.bench.store.workers import Lane, Workers
whats = json.loads(sys.stdin.readline())
Workers(Store({str(setting.store.folder)!r}), {command(setting)!r}, [Lane("0")]).run(Job(one) for one in whats)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, start_new_session=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps([dict(job.what) for job in jobs(count, sleep=0.02)]).encode() + b"\n")
    process.stdin.flush()
    return process


def command(setting: Setting) -> Sequence[str]:
    return [sys.executable, "-c", WORKER, str(setting.store.folder), "s", str(setting.log)]


def test_a_killed_client_leaves_a_store_to_go_on_from(setting: Setting) -> None:
    for turn, enough in enumerate((3, 9)):
        with sweep_process(setting, 30) as client:
            until(lambda enough=enough: len(list(setting.store.hashes())) >= enough)  # type: ignore[misc]
            client.kill()
        # its worker leaves with it, once the job is done
        until(lambda turn=turn: setting.leavings() > turn)  # type: ignore[misc]
    there = setting.squares()
    assert all(square == n * n for n, square in there.items())
    before = len(setting.begun())
    progress = setting.workers().run(iter(jobs(30, sleep=0.02)))
    assert progress.done == 30 - len(there) == len(setting.begun()) - before
    assert setting.squares() == {n: n * n for n in range(30)}


def test_two_sweeps_share_a_store(setting: Setting) -> None:
    with sweep_process(setting, 40) as other:
        setting.workers().run(iter(jobs(40, sleep=0.02)[::-1]))
        assert other.wait(EVENT_S) == 0
    assert setting.squares() == {n: n * n for n in range(40)}
    assert len(setting.begun()) <= 42  # each leaves out what the other has done


def until(is_so: Any) -> None:
    begin = time.monotonic()
    while not is_so():
        assert time.monotonic() - begin < EVENT_S
        time.sleep(0.01)


def test_half_a_line_is_no_answer(setting: Setting) -> None:
    """What a worker says while it is killed may be cut anywhere, also where it still reads as JSON."""
    program = (
        "import json, os, sys; print(json.dumps({'version': '1', 'sources': 's'}), flush=True); sys.stdin.readline(); "
        'os.write(1, b\'{"status": "done"}\'); os.kill(os.getpid(), 9)'
    )
    workers = Workers(setting.store, [sys.executable, "-ISc", program], [Lane("0")], setting._tell)
    progress = workers.run(iter(jobs(1)))
    assert (progress.done, progress.crashed) == (0, 1) and len(setting.told) == MOST_DEATHS
    assert "SIGKILL" in setting.told[-1][2]

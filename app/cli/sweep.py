"""`sweep`: the jobs of a plan, done once each: results and pictures in a store, which the next run goes on from."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from raygrove.app.cli.sweep_plan import Jobs
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError
from raygrove.app.settings.toml_files import TomlFileError, read_toml
from raygrove.app.system import machine
from raygrove.bench.store.cluster import Cluster, is_cluster
from raygrove.bench.store.folder import STATUSES, Store, StoreError
from raygrove.bench.store.jobs import Job, described, digest_of_sources
from raygrove.bench.store.plans import PlanError, Shard, plan_of
from raygrove.bench.store.workers import WAITS, Lane, Progress, Told, Workers

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

WORKER = (sys.executable, "-P", "-m", "raygrove.app.cli.job_worker")
LONGEST = 1 << 24
"""Bytes of a plan, at most."""
TOLD_EVERY_S = 5.0
LOOKED_AT = 50
"""Results of the store by which a dry run says how long the rest takes."""


def run(names: argparse.Namespace, words: Words) -> int:
    """Do what has no result yet; returns the exit code: 1 where jobs failed, crashed or were refused."""
    if len(names.files) != 1 or names.store is None:
        raise UsageError("name a plan and a folder for results: sweep plan.toml --store results/ (docs/sweeps.md).")
    jobs = jobs_of(names)
    if names.dry_run:
        return dry_run(names, jobs, words)
    store = Store.made(names.store)
    done, told = do_jobs(names, jobs, store, words)
    if names.json:
        print(json.dumps(told, indent=2))
    return EXIT_FAILURE if done.failed + done.crashed + done.refused else 0


class JobList(Protocol):
    """Jobs that are made one after another, and the kinds of devices that they are for."""

    @property
    def devices(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Job]: ...


def do_jobs(names: argparse.Namespace, jobs: JobList, store: Store, words: Words) -> tuple[Progress, dict[str, Any]]:
    """Do what has no result yet, by the engine and the shard that were asked for; what came of it, also as plain
    values."""
    shard = Shard(*(names.shard or (1, 1)))
    for status in names.again or ():
        forget(store, jobs, shard, status)
    reporter = _Reporter(words)
    skipped = 0
    done = Progress()
    begin = time.perf_counter()
    try:
        for kind in jobs.devices:
            mine = Mine(jobs, shard, kind, store)
            reporter.of(mine, lanes_of(names.jobs, kind))
            workers = _engine(names, store, kind, reporter.told)
            try:
                workers.run(iter(mine))
            finally:
                done.add(workers.progress)
                skipped += mine.skipped
    except KeyboardInterrupt:
        words.say(f"Done: {_jobs(done.finished)}; the same command goes on from there.")
        raise
    seconds = time.perf_counter() - begin
    counts = ", ".join(f"{getattr(done, one):,} {one}" for one in (*STATUSES, "refused"))
    words.say(f"{_jobs(done.finished + done.refused)} in {seconds:.1f} s, {skipped:,} had their results: {counts}.")
    busy = {lane: round(value, 3) for lane, value in sorted(done.busy.items())}
    return done, {**vars(done), "busy": busy, "skipped": skipped, "wall_seconds": round(seconds, 3)}


def _engine(names: argparse.Namespace, store: Store, kind: str, told: Told) -> Workers | Cluster:
    """What does the jobs for a kind of device."""
    if is_cluster(names.jobs):
        if names.most_seconds:
            raise UsageError("--most-seconds is for workers here; a cluster's are ended by who runs it.")
        # here, as it takes half of the start of a sweep that finds all its jobs done
        from raygrove.app.cli.job_worker import do_order

        return Cluster(store, names.jobs, do_order, told, lanes_of(names.jobs, kind))
    worker = [*WORKER, str(store.folder.absolute())]
    return Workers(store, worker, lanes_of(names.jobs, kind), told, names.most_seconds or 0.0)


def jobs_of(names: argparse.Namespace) -> Jobs:
    """The jobs of the plan that was named. Raises UsageError."""
    path = Path(names.files[0])
    try:
        plan = plan_of(read_toml(path, "plan", LONGEST), path)
    except (TomlFileError, PlanError) as error:
        raise UsageError(str(error)) from error
    auto = "cuda" if gpus() else "cpu"
    return Jobs(plan, path, digest_of_sources(), auto, names)


class Mine:
    """The jobs of a part of the plan on a kind of device that have no result yet, one after another; how many were left
    out is counted, and the hashes of the first of them are in `found`."""

    def __init__(self, jobs: JobList, shard: Shard, kind: str, store: Store | None) -> None:
        self._jobs, self._shard, self._kind, self._store = jobs, shard, kind, store
        self.skipped = 0
        self.found: list[str] = []

    @property
    def planned(self) -> int:
        """How many jobs the part has at most."""
        return -(-len(self._jobs) // self._shard.count)

    def __iter__(self) -> Iterator[Job]:
        for index, job in enumerate(self._jobs):
            if not self._shard.takes(index) or job.what["device"] != self._kind:
                continue
            if self._store is not None and self._store.has(job.sha):
                self.skipped += 1
                if self.skipped <= LOOKED_AT:
                    self.found.append(job.sha)
                continue
            yield job


def dry_run(names: argparse.Namespace, jobs: JobList, words: Words) -> int:
    """How many jobs there are, how many have results, and how long the rest takes by those that there are."""
    shard = Shard(*(names.shard or (1, 1)))
    is_there = Path(names.store).is_dir() and any(Path(names.store).iterdir())
    store = Store(names.store) if is_there else None
    waiting = skipped = 0
    took: list[float] = []
    for kind in jobs.devices:
        mine = Mine(jobs, shard, kind, store)
        for job in mine:
            waiting += 1
            if words.is_verbose:
                words.detail(described(job.what))
        skipped += mine.skipped
        took += [] if store is None else _seconds_of(store, mine.found)
    lanes = max(len(lanes_of(names.jobs, kind)) for kind in jobs.devices)
    estimate = statistics.mean(took) * waiting / lanes if took else None
    told = "nothing tells yet how long one takes" if estimate is None else f"about {_time(estimate)}"
    found = {"jobs": waiting + skipped, "have_results": skipped, "to_do": waiting, "estimated_seconds": estimate}
    if names.json:
        print(json.dumps(found, indent=2))
    else:
        print(f"{_jobs(waiting + skipped)}, {skipped:,} with results, {waiting:,} to do: {told}.")
    return 0


def _seconds_of(store: Store, hashes: Sequence[str]) -> list[float]:
    """What jobs took; a damaged result tells nothing."""
    took: list[float] = []
    for sha in hashes:
        with contextlib.suppress(StoreError, FileNotFoundError):
            took.append(float(store.get(sha).get("seconds", 0.0)))
    return took


def forget(store: Store, jobs: JobList, shard: Shard, status: str) -> None:
    """Take results of one status away, or damaged ones."""
    if status not in (*STATUSES, "damaged"):
        raise UsageError(f"--again {status}: results are {', '.join(STATUSES)} or damaged.")
    for index, job in enumerate(jobs):
        if not shard.takes(index) or not store.has(job.sha):
            continue
        try:
            found = store.get(job.sha)["status"]
        except StoreError:
            found = "damaged"
        if found == status:
            store.forget(job.sha)


def gpus() -> list[str]:
    """The GPUs for workers, as CUDA_VISIBLE_DEVICES names them."""
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if seen is not None:
        return [one.strip() for one in seen.split(",") if one.strip() not in ("", "-1")]
    return [str(number) for number in range(len(machine.nvidia_gpus()))]


def lanes_of(engine: str | None, kind: str) -> list[Lane]:
    """A worker for each GPU; for the CPU one, or so many as `local:N` says. Raises UsageError."""
    if engine is not None and "://" in engine and is_cluster(engine):
        return [Lane(engine)]
    match = re.fullmatch(r"(?:local|dask)(?::(\d{1,3}))?", engine or "local")
    if match is None or match[1] == "0":
        raise UsageError(f"--jobs {engine}: write local, local:4 for four workers on the CPU, dask or dask:4 for them "
                         "by a cluster of Dask here, dask://127.0.0.1:PORT, or tls://HOST:PORT.")  # fmt: skip
    if kind == "cuda":
        found = [Lane(f"cuda:{one}", {"CUDA_VISIBLE_DEVICES": one}) for one in gpus()]
        return found or [Lane("cuda")]
    return [Lane(f"cpu {number + 1}") for number in range(int(match[1] or 1))]


class _Reporter:
    """Says now and then how far a sweep is."""

    def __init__(self, words: Words) -> None:
        self._words, self._last, self._begin = words, time.monotonic(), time.monotonic()
        self._mine: Mine | None = None
        self._finished = 0

    def of(self, mine: Mine, lanes: list[Lane]) -> None:
        """Reports are of these jobs now."""
        self._mine, self._finished = mine, 0
        self._begin = time.monotonic()
        self._words.detail(f"{len(lanes)} worker{'s' if len(lanes) > 1 else ''}: "
                           f"{', '.join(lane.name for lane in lanes)}.")  # fmt: skip

    def told(self, job: Job, answer: Mapping[str, Any]) -> None:
        """A worker has said what came of a job."""
        status, sentence = answer["status"], answer.get("sentence", "")
        if status == WAITS:
            self._words.say(f"{described(job.what)} waits: {sentence}.")
            return
        if status != "done":
            again = "a worker ended, and the job is done again" if status == "again" else status
            self._words.warn(f"{described(job.what)}: {again}: {sentence}")
        else:
            self._words.detail(f"{described(job.what)}: {answer['seconds']:.2f} s.")
        self._finished += status != "again"
        now = time.monotonic()
        if now - self._last > TOLD_EVERY_S and self._mine is not None:
            self._last = now
            left = max(0, self._mine.planned - self._mine.skipped - self._finished)
            each = (now - self._begin) / max(1, self._finished)
            self._words.say(f"{self._finished:,} done, up to {left:,} to do: about {_time(left * each)} left.")


def _jobs(count: int) -> str:
    return f"{count:,} job{'s' * (count != 1)}"


def _time(seconds: float) -> str:
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    parts = [(hours, "h"), (rest // 60, "min"), (rest % 60, "s")]
    said = [f"{value} {unit}" for value, unit in parts if value]
    return " ".join(said[:2]) if said else f"{seconds:.1f} s"

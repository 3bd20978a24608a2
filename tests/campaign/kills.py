"""Sweeps whose processes are killed at random: `python -m tests.campaign.kills [--count 50] [--engines local,dask]`.

A plan of small pictures is drawn undisturbed first. Then it is swept again and again while, at moments of chance, a
worker, the client or (with Dask) the scheduler gets SIGKILL, and the same command goes on. Each time the client
has ended every result there is must be whole, none that was there when it began may be gone or written anew, and every
picture must be the undisturbed one, byte for byte. Anything else is a finding, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import hashlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from raygrove.bench.store.folder import CRASHED, Store, StoreError
from raygrove.bench.store.jobs import digest_of_sources
from tests.campaign.kept import keep_found, parsed

PLAN = """
[fixed]
measure = "render"
size = "24x18"
frames = "0:2"
configuration = "lbvh"
device = "cpu"
threads = 1
demo.triangles = 120
[axes]
scene = ["walker", "cloth"]
seed = {seeds}
"""
SEEDS = 60
SWEEP = (sys.executable, "-m", "raygrove", "sweep")
SOONEST_S, LATEST_S = 0.3, 8.0
"""How long it takes from the start of a sweep, or from a kill, to the next one."""
STALLED_S = 360.0
"""How long no result may come of a sweep that is not disturbed: longer than the 5 minutes after which Dask gives up a
worker that says nothing, and the 20 s after which a sweep then ends. How long all of it takes depends on what else the
machine does, and tells nothing."""
AFTER_A_RESULT = 0.7
"""The share of kills that wait for the sweep's next result first: the others may meet it while it starts."""
ENGINES = {"local": ("worker", "worker", "client"), "dask": ("worker", "worker", "client", "scheduler")}
"""Whom SIGKILL may meet; workers oftener, as they only are there once a sweep has begun."""


@dataclasses.dataclass(frozen=True)
class Kept:
    """A result or a picture as it lies there: what it holds, and which file it is."""

    digest: str
    inode: int
    changed: int


def kept(store: Store) -> dict[str, Kept]:
    """All results by their places."""
    found = {}
    for sha in store.hashes():
        path = store.path_of(sha)
        about = path.stat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        found[path.name] = Kept(digest, about.st_ino, about.st_mtime_ns)
    return found


def pictures(store: Store) -> dict[str, str]:
    """Digests of the pictures of results, by job and name."""
    found = {}
    for record in store.records():
        for row in record.get("rows", ()):
            path = store.pictures_of(record["sha"]) / row["file"]
            found[f"{record['sha']}/{row['file']}"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def faults(store: Store, before: Mapping[str, Kept], undisturbed: Mapping[str, str]) -> list[str]:
    """What is wrong with a store after a kill."""
    damaged: list[str] = []
    try:
        now, drawn = kept(store), pictures(store)
        list(store.records(damaged))
    except (OSError, StoreError) as error:
        return [str(error)]
    found = [*damaged, *(f"{name} is gone" for name in before.keys() - now.keys())]
    found += [f"{name} was written anew" for name in before.keys() & now.keys() if before[name] != now[name]]
    return found + [f"{name} is another picture" for name, digest in drawn.items() if undisturbed.get(name) != digest]


def descendants(process: int) -> list[int]:
    """The processes that a process started, and those that they did."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
    return found


class Campaign:
    """Sweeps of one plan by one engine, disturbed by chance."""

    def __init__(self, folder: Path, engine: str, chance: random.Random, seeds: int = SEEDS) -> None:
        self.folder, self.engine, self.chance = folder, engine, chance
        self.plan = folder / "plan.toml"
        self.plan.write_text(PLAN.format(seeds=list(range(seeds))))
        self.jobs, self.rounds, self.crashed = 2 * seeds, 0, 0
        self.kills: collections.Counter[str] = collections.Counter()
        self.findings: list[str] = []
        self.undisturbed: dict[str, str] = {}
        self.sources = digest_of_sources()

    def run(self, count: int) -> None:
        """So many kills, over as many whole sweeps as that takes."""
        with self._started(Store.made(self.folder / "undisturbed"), "local:2") as client:
            self._await(client, Store(self.folder / "undisturbed"))
        self.undisturbed = pictures(Store(self.folder / "undisturbed"))
        if len(self.undisturbed) != 2 * self.jobs:
            self.findings.append(f"undisturbed, there are {len(self.undisturbed)} pictures and not {2 * self.jobs}")
        while sum(self.kills.values()) < count and not self.findings:
            self.rounds += 1
            self._round(Store.made(self.folder / f"round{self.rounds}"), count)

    def _round(self, store: Store, count: int) -> None:
        """One store, until all of its jobs have results."""
        with contextlib.ExitStack() as stack:
            cluster = stack.enter_context(_Cluster(self.folder)) if self.engine == "dask" else None
            while len(kept(store)) < self.jobs and not self.findings:
                before = kept(store)
                if cluster is not None:
                    cluster.revive()
                with self._started(store, "local:2" if cluster is None else cluster.engine) as client:
                    while client.poll() is None and sum(self.kills.values()) < count:
                        self._disturb(client, cluster, store)
                    self._await(client, store)
                time.sleep(0.2)  # a worker may still be writing its last result
                if digest_of_sources() != self.sources:  # jobs and pictures have other names since
                    self.findings.append(
                        "the sources were changed amid the campaign: leave them alone, and begin again"
                    )
                    break
                self.findings += faults(store, before, self.undisturbed)
        self.crashed += sum(record["status"] == CRASHED for record in store.records())

    def _disturb(self, client: subprocess.Popen[bytes], cluster: _Cluster | None, store: Store) -> None:
        if self.chance.random() < AFTER_A_RESULT:
            self._await(client, store, is_enough_one=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            client.wait(self.chance.uniform(SOONEST_S, LATEST_S))
            return
        whom = self.chance.choice(ENGINES[self.engine])
        workers = descendants(client.pid) if cluster is None else cluster.workers()
        process = {"client": client.pid, "worker": self.chance.choice(workers) if workers else 0}.get(
            whom, 0 if cluster is None else cluster.scheduler.pid
        )
        if process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                self.kills[whom] += 1

    def _await(self, client: subprocess.Popen[bytes], store: Store, *, is_enough_one: bool = False) -> None:
        """Wait for its end, or for its next result."""
        first = found = sum(1 for _ in store.hashes())
        last = time.monotonic()
        while client.poll() is None and not (is_enough_one and found > first):
            time.sleep(0.1)
            if (now := sum(1 for _ in store.hashes())) > found:
                found, last = now, time.monotonic()
            if time.monotonic() - last > STALLED_S:
                words = (self.folder / "words").read_text(errors="replace").splitlines()[-3:]
                self.findings.append(f"a sweep gives nothing for {STALLED_S:g} s: {' '.join(words)}")
                client.kill()
                client.wait()

    @contextlib.contextmanager
    def _started(self, store: Store, engine: str) -> Iterator[subprocess.Popen[bytes]]:
        words = [*SWEEP, str(self.plan), "--store", str(store.folder), "--jobs", engine, "--quiet"]
        with open(self.folder / "words", "ab") as said, subprocess.Popen(words, stderr=said) as client:
            try:
                yield client
            finally:
                client.kill()


class _Cluster:
    """A scheduler of Dask and its worker, on loopback; what was killed is started again. Their logs are in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> _Cluster:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.engine = f"dask://127.0.0.1:{self.port}"
        self.scheduler = self._scheduler()
        self.worker = self._worker()
        return self

    def __exit__(self, *error: object) -> None:
        for process in (self.worker, self.scheduler):
            for one in descendants(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
            process.kill()
            process.wait()

    def revive(self) -> None:
        """Start what has ended."""
        if self.scheduler.poll() is not None:
            self.scheduler = self._scheduler()
        if self.worker.poll() is not None:
            self.worker = self._worker()

    def workers(self) -> list[int]:
        """The processes that do jobs; the nanny that started them is none of them."""
        return [one for one in descendants(self.worker.pid) if b"spawn_main" in _command_line(one)]

    def _scheduler(self) -> subprocess.Popen[bytes]:
        return self._dask("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def _worker(self) -> subprocess.Popen[bytes]:
        return self._dask("worker", f"tcp://127.0.0.1:{self.port}", "--nthreads", "1", "--no-dashboard")

    def _dask(self, *words: str) -> subprocess.Popen[bytes]:
        with open(self.folder / f"{words[0]}.log", "ab") as log:
            return subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
                                    stderr=log, stdout=log)  # fmt: skip


def _command_line(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def main(arguments: list[str] | None = None) -> int:
    """Kill so many, print what became of it; 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50, help="kills for each engine (50)")
    parser.add_argument("--engines", default="local", help="local, dask or local,dask (local)")
    parser.add_argument("--seed", type=int, default=1, help="another seed kills at other moments (1)")
    names = parsed(parser, arguments)
    engines, lines = list[dict[str, Any]](), list[str]()
    for engine in re.split(",", names.engines):
        begun = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="raygrove-kills-"))
        campaign = Campaign(folder, engine, random.Random(names.seed))
        campaign.run(names.count)
        said = ", ".join(f"{count} {whom}" for whom, count in sorted(campaign.kills.items()))
        count, seconds = sum(campaign.kills.values()), time.monotonic() - begun
        told = [f"{engine}: {count} kills ({said}) in {campaign.rounds} sweeps of {campaign.jobs} jobs, "
                f"{campaign.crashed} crashed, {len(campaign.findings)} findings, {seconds:.0f} s",
                *(f"  {finding}" for finding in campaign.findings)]  # fmt: skip
        print(*told, sep="\n", flush=True)
        lines += told
        engines.append({"engine": engine, "kills": count, "by": dict(campaign.kills), "sweeps": campaign.rounds,
                        "findings": list(campaign.findings), "seconds": seconds})  # fmt: skip
        if campaign.findings:
            print(f"  what was said, and the stores: {folder}", flush=True)
        else:
            shutil.rmtree(folder)
    keep_found(names.out, {"results": engines}, lines, seed=names.seed)
    return int(any(one["findings"] for one in engines))


if __name__ == "__main__":
    sys.exit(main())

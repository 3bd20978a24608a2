"""Jobs on a cluster of Dask over loopback, and what is refused."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli.job_worker import do_order
from raygrove.app.cli.sweep_plan import Jobs
from raygrove.bench.store import cluster
from raygrove.bench.store.cluster import Cluster, address_of, is_cluster
from raygrove.bench.store.folder import Store
from raygrove.bench.store.jobs import Job, digest_of_sources
from raygrove.bench.store.plans import plan_of
from raygrove.bench.store.workers import Lane, SweepError


@pytest.mark.parametrize(
    ("engine", "address"),
    [
        ("dask://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("dask://localhost:1", "tcp://localhost:1"),
        ("dask://[::1]:8786", "tcp://[::1]:8786"),
        ("tls://node7:8786", "tls://node7:8786"),
    ],
)
def test_addresses_of_this_machine_and_safe_ones_are_taken(engine: str, address: str) -> None:
    assert is_cluster(engine) and address_of(engine) == address


@pytest.mark.parametrize(
    "engine", ["dask://10.0.0.1:8786", "dask://node7:8786", "dask://127.0.0.1.example:1", "dask://0.0.0.0:8786"]
)
def test_a_cluster_elsewhere_needs_tls(engine: str) -> None:
    with pytest.raises(SweepError, match="Dask runs whatever code it is sent"):
        address_of(engine)


@pytest.mark.parametrize("engine", ["dask://", "dask://127.0.0.1", "tls://a/b:1", "dask://a:b:c"])
def test_what_is_no_address_is_a_sentence(engine: str) -> None:
    with pytest.raises(SweepError, match="is no address"):
        address_of(engine)
    assert not is_cluster("local:4") and not is_cluster(None) and not is_cluster("dask:x")
    assert is_cluster("dask") and is_cluster("dask:4")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A cluster of one worker process, as --jobs names it."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")
    dask = pytest.importorskip("dask")
    one_death = {"distributed.scheduler.allowed-failures": 0}  # three more take a worker's start each
    with (
        dask.config.set(one_death),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1", silence_logs=50
        ) as cluster,
    ):
        yield cluster.scheduler_address.replace("tcp://", "dask://")


def square(order: dict[str, Any]) -> dict[str, Any]:
    """What a worker of these tests does."""
    job = order["job"]
    if job.get("ends"):
        time.sleep(1.5)  # Dask gives a worker up that ends while it starts
        os.kill(os.getpid(), signal.SIGKILL)
    if job.get("fatal"):
        return {"fatal": "No space left on device."}
    Store(order["store"]).put({"job": job, "status": "done", "square": job["number"] ** 2})
    return {"status": "done", "seconds": 0.5}


def jobs(count: int, **what: object) -> list[Job]:
    return [Job({"number": n, "version": "1", "sources": "s", "measure": "frame", **what}) for n in range(count)]


def test_jobs_are_done_once_and_those_that_end_workers_are_results(tmp_path: Path, scheduler: str) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    store = Store.made(tmp_path / "store")
    told: list[str] = []
    some = [*jobs(20), *jobs(21, ends=True)[20:]]
    cluster = Cluster(store, scheduler, square, lambda job, answer: told.append(answer["status"]))
    progress = cluster.run(iter(some))
    assert (progress.done, progress.crashed, progress.seconds) == (20, 1, 10.0) and sorted(told)[0] == "crashed"
    assert {one["job"]["number"]: one.get("square") for one in store.records()} == {
        **{n: n * n for n in range(20)}, 20: None,
    }  # fmt: skip
    assert store.get(some[20].sha)["status"] == "crashed"
    assert Cluster(store, scheduler, square).run(iter(some)).finished == 0
    with pytest.raises(SweepError, match="No space left"):
        Cluster(store, scheduler, square).run(iter(jobs(30, fatal=True)))


def test_a_cluster_measures_what_a_plan_says(tmp_path: Path, scheduler: str) -> None:
    fixed = {"measure": "build", "scene": "walker", "configuration": "lbvh", "size": "16x12", "repeat": 6,
             "warmup": 0, "demo": {"triangles": 120}}  # fmt: skip
    names = argparse.Namespace(allow_outside=None)
    store = Store.made(tmp_path / "store")
    for sources in (digest_of_sources(), "other"):
        made = Jobs(plan_of({"fixed": fixed}), tmp_path / "plan.toml", sources, "cpu", names)
        if sources == "other":
            with pytest.raises(SweepError, match="give all machines one version"):
                Cluster(store, scheduler, do_order).run(iter(made))
            continue
        assert Cluster(store, scheduler, do_order).run(iter(made)).done == 1
    (found,) = store.records()
    assert found["rows"][0]["build_ms"] > 0.0 and found["context"]["device"]


def waiting(order: dict[str, Any]) -> dict[str, Any]:
    """A worker whose device is somebody else's for a moment."""
    cluster.said_to_cluster(True)
    cluster.said_to_cluster(False)
    return square(order)


def test_a_sweep_hears_once_that_its_jobs_wait(tmp_path: Path, scheduler: str) -> None:
    pytest.importorskip("cloudpickle").register_pickle_by_value(sys.modules[__name__])
    told: list[tuple[int, str]] = []

    def tell(job: Job, answer: Mapping[str, Any]) -> None:
        assert job.sha in {one.sha for one in jobs(12)}
        told.append((job.what["number"], answer["status"]))

    done = Cluster(Store.made(tmp_path / "store"), scheduler, waiting, tell).run(iter(jobs(12)))
    assert done.done == 12 and [status for _, status in told].count("waits") == 1
    done = Cluster(Store.made(tmp_path / "other"), scheduler, square, tell).run(iter(jobs(12)))
    assert done.done == 12 and [status for _, status in told].count("waits") == 1


def whereabouts(order: dict[str, Any]) -> dict[str, Any]:
    """What a worker sees of devices."""
    Store(order["store"]).put({"job": order["job"], "status": "done", "seen": os.environ.get("CUDA_VISIBLE_DEVICES")})
    time.sleep(0.2)
    return {"status": "done", "seconds": 0.2}


def test_a_cluster_of_ones_own_has_a_worker_for_each_device(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")
    pytest.importorskip("cloudpickle").register_pickle_by_value(sys.modules[__name__])
    store = Store.made(tmp_path / "store")
    lanes = [Lane(f"cuda:{one}", {"CUDA_VISIBLE_DEVICES": one}) for one in ("3", "5")]
    progress = Cluster(store, "dask", whereabouts, lanes=lanes).run(iter(jobs(8)))
    assert progress.done == 8 and {one["seen"] for one in store.records()} == {"3", "5"}
    assert set(progress.busy) == {"cuda:3", "cuda:5"} and sum(progress.busy.values()) >= 8 * 0.2


def test_a_cluster_of_ones_own_that_does_not_start_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def fails(**options: Any) -> None:
        asked.update(options)
        raise RuntimeError("Nanny failed to start.")

    failing = types.SimpleNamespace(Nanny=object, Scheduler=object, SpecCluster=fails)
    monkeypatch.setitem(sys.modules, "distributed", failing)
    monkeypatch.setattr(cluster, "_closed_errors", tuple)
    with pytest.raises(SweepError, match=r"did not start \(Nanny failed to start\): start the same sweep again"):
        Cluster(Store.made(tmp_path), "dask", square, lanes=[Lane("cpu")]).run(iter(jobs(1)))
    assert asked["scheduler"]["options"]["dashboard_address"] == "127.0.0.1:0", "another sweep has Dask's own port"


def test_a_scheduler_that_ends_is_a_sentence(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")
    pytest.importorskip("cloudpickle").register_pickle_by_value(sys.modules[__name__])
    store = Store.made(tmp_path / "store")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1", silence_logs=50
    ) as cluster:

        def endless() -> Iterator[Job]:
            yield from jobs(4)
            cluster.close()
            yield from jobs(1000)[4:]

        engine = cluster.scheduler_address.replace("tcp://", "dask://")
        with pytest.raises(SweepError, match=r"is gone|have all ended"):
            Cluster(store, engine, square).run(endless())
    assert len(list(store.hashes())) < 1000


def test_a_scheduler_that_is_not_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")

    monkeypatch.setattr(cluster, "START_S", 0.3)
    with pytest.raises(SweepError, match="no scheduler answers"):
        Cluster(Store.made(tmp_path), "dask://127.0.0.1:9", square).run(iter(jobs(1)))
    with pytest.raises(SweepError, match="needs certificates, and there are none"):
        Cluster(Store(tmp_path), "tls://127.0.0.1:9", square).run(iter(jobs(1)))


def test_without_dask_a_sentence_says_how_to_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SweepError, match="pip install 'raygrove\\[cluster\\]'"):
        Cluster(Store.made(tmp_path), "dask://127.0.0.1:9", square).run(iter(jobs(1)))


class Watched:
    """Stands in for Dask's client, and for the clock: what the scheduler says of its workers, a look a second, the last
    one for ever."""

    def __init__(self, *looks: dict[str, tuple[int, float]] | OSError) -> None:
        self.looks, self.scheduler, self.now = list(looks), self, 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    identity = "what is asked for"

    def sync(self, what: object, **named: object) -> dict[str, Any]:
        assert what == self.identity and named == {"n_workers": -1, "callback_timeout": cluster.START_S}
        self.now += 1.0
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(look, OSError):
            raise look
        about = {"nthreads": 1}
        return {"workers": {name: {**about, "name": name, "last_seen": seen,
                                   "metrics": {"task_counts": {"executing": count}}}
                            for name, (count, seen) in look.items()}}  # fmt: skip


class Lost:
    """Stands in for a job's future: its data was lost, and comes after so many looks, or never."""

    status = "pending"

    def __init__(self, after: int) -> None:
        self.after = after

    def result(self, timeout: float) -> dict[str, Any]:
        self.after -= 1
        if self.after:
            raise TimeoutError
        return {"status": "done"}


IDLE = [{"a": (0, float(turn))} for turn in range(200)]


@pytest.mark.parametrize(
    ("looks", "after", "words"),
    [
        ([{}], 0, "have all ended"), (IDLE, 0, "have jobs to do and do none"),
        ([OSError("closed")], 0, "is gone"), ([TimeoutError("no answer")], 0, "is gone"),
        ([{"a": (1, 1.0)}], 30, ""), ([{"a": (0, 1.0)}], 30, ""), ([{"a": (0, 1.0), "b": (1, 2.0)}], 30, ""),
        (IDLE[:3], 6, ""),
    ],
    ids=["no workers", "idle ones", "no scheduler", "a silent scheduler", "at work", "too busy to say", "one of two",
         "soon"],
)  # fmt: skip
def test_nothing_is_waited_for_longer_than_somebody_works(
    looks: list[Any], after: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result that was lost with its worker, or a job that the scheduler forgot, ends the sweep by a sentence."""
    monkeypatch.setattr(cluster, "LOOK_S", 0.001)
    made, client, future = Cluster(Store.made(tmp_path), "dask://127.0.0.1:9", square), Watched(*looks), Lost(after)
    monkeypatch.setattr(cluster, "time", client)
    if not words:
        assert made._answer(client, future) == {"status": "done"}
        return
    for wait in (lambda: made._answer(client, future), lambda: made._finished(client)):
        with pytest.raises(SweepError, match=words):
            wait()


@pytest.mark.parametrize(
    ("looks", "words"),
    [([{}], "has no workers"), ([{}, OSError("Timed out trying to connect")], "is gone"),
     ([TimeoutError("no answer")], "is gone"), ([{}, {"a": (0, 1.0)}], "")],
    ids=["none comes", "killed", "stopped", "one comes"],
)  # fmt: skip
def test_workers_are_counted_without_waiting_for_ever(
    looks: list[Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, client = Cluster(Store.made(tmp_path), "dask://127.0.0.1:9", square), Watched(*looks)
    monkeypatch.setattr(cluster, "time", client)
    if not words:
        made._count(client)
        assert made._workers == 1
        return
    with pytest.raises(SweepError, match=words):
        made._count(client)


def test_a_scheduler_that_stops_once_it_is_connected_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that gets no processor takes what it is sent and says nothing, as one that was stopped."""
    pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--no-dashboard", "--port"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([*words, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    made = Cluster(Store.made(tmp_path), f"dask://127.0.0.1:{port}", square)
    try:
        with made._client() as client:
            monkeypatch.setattr(cluster, "START_S", 1.0)
            process.send_signal(signal.SIGSTOP)
            with pytest.raises(SweepError, match="is gone"):
                made._count(client)
            process.send_signal(signal.SIGCONT)
    finally:
        process.kill()
        process.wait()


def test_a_job_that_ran_out_of_time_by_itself_is_not_waited_for(tmp_path: Path) -> None:
    future = Lost(0)
    future.status = "error"
    with pytest.raises(SweepError, match="a worker cannot do jobs"):
        Cluster(Store.made(tmp_path), "dask://127.0.0.1:9", square)._answer(Watched({}), future)


def test_who_has_no_raygrove_is_told_in_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster")

    def unknown(timeout: float) -> None:
        raise RuntimeError(
            "Error during deserialization of the task graph. This frequently\noccurs if the Scheduler ..."
        )

    made, future = Cluster(Store.made(tmp_path), "dask://127.0.0.1:9", square), types.SimpleNamespace(result=unknown)
    with pytest.raises(SweepError) as told:
        made._take(object(), jobs(1)[0], future, is_alone=False)
    assert str(told.value) == (
        "sweep: scheduler or workers cannot do jobs (RuntimeError: Error during deserialization of the task graph): "
        "give all machines this version of Raygrove."
    )


def test_a_scheduler_that_closes_amid_a_question_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = pytest.importorskip("distributed.comm", reason="Dask is not installed").CommClosedError
    made, taken_back = Cluster(Store.made(tmp_path), "dask://127.0.0.1:9", square), list[object]()

    def ask(client: object) -> None:
        raise closed("in <TCP (closed)>: Stream is closed")

    def take_back(jobs: object) -> None:
        taken_back.append(jobs)
        raise pytest.importorskip("distributed.client").ClosedClientError("Client is closed.")

    client = types.SimpleNamespace(cancel=take_back, subscribe_topic=lambda topic, handler: None)
    monkeypatch.setattr(made, "_client", lambda: contextlib.nullcontext(client))
    monkeypatch.setattr(made, "_count", ask)
    with pytest.raises(SweepError, match="the scheduler at .* is gone"):
        made.run(iter(()))
    assert taken_back == [[]]

    def lost(timeout: float) -> None:
        raise closed("in <TCP (closed) ConnectionPool.gather>: Stream is closed")

    future = types.SimpleNamespace(result=lost)
    with pytest.raises(SweepError, match="the scheduler at .* is gone"), made._scheduler_gone_said():
        made._take(client, jobs(1)[0], future, is_alone=False)

"""The same jobs on a cluster of Dask: its workers see the store and the scenes under the same names, and keep results
themselves, as workers here do.

Dask runs whatever code it is sent. So an address off this machine is taken with TLS and client certificates alone,
those of Dask's own configuration.
"""

from __future__ import annotations

import contextlib
import contextvars
import ipaddress
import logging
import os
import queue
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .folder import Store
from .jobs import Job
from .workers import AGAIN, WAITING, Lane, Progress, SweepError, Told, crashed

START_S = 20.0
"""What a scheduler is given to answer."""
COME_S = 60.0
"""What workers are given to come: those of other hosts are started while this process waits."""
AHEAD = 2
"""Jobs for each worker that are sent before it asks, so that none waits for this process."""
LOOK_S = 1.0
"""How often it is seen whether there still are workers, while nothing is done."""
COUNT_S = 0.1
"""How often workers are counted until there are enough."""
CERTIFICATES = (
    "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and "
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY to the files of your certificates"
)
Do = Callable[[dict[str, Any]], dict[str, Any]]
"""What a worker does: `job`, `files` and `store` to the answer that workers here give."""


OWN = re.compile(r"dask(?::(\d{1,3}))?")
"""What --jobs calls a cluster of this machine alone, which ends with the sweep."""


def is_cluster(engine: str | None) -> bool:
    """Whether --jobs names a cluster."""
    return bool(engine) and (re.match(r"(dask|tls)://", engine or "") or OWN.fullmatch(engine or "")) is not None


def address_of(engine: str) -> str:
    """The scheduler's address as Dask takes it. Raises SweepError for one off this machine without TLS."""
    kind, _, place = engine.partition("://")
    match = re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[^:/\[\]]+):(\d{1,5})", place)
    if match is None:
        raise SweepError(f"{engine} is no address", "write dask://127.0.0.1:8786, or tls://HOST:8786")
    if kind == "tls":
        return engine
    host = match[1].strip("[]")
    with contextlib.suppress(ValueError):
        if host == "localhost" or ipaddress.ip_address(host).is_loopback:
            return f"tcp://{place}"
    raise SweepError(f"{engine} is not on this machine, and Dask runs whatever code it is sent there",
                     f"write tls://{place} (docs/sweeps.md)")  # fmt: skip


_order: contextvars.ContextVar[Mapping[str, Any]] = contextvars.ContextVar("order")


def said_to_cluster(is_waiting: bool) -> None:
    """On a worker: tell who gave the job at hand that it waits for its device."""
    from distributed import get_worker

    if is_waiting:
        order = _order.get()
        get_worker().log_event(order["topic"], {"job": order["job"]})


def done_there(do: Do, order: dict[str, Any]) -> dict[str, Any]:
    """A job, done by a worker of the cluster; the answer says for how long which worker was busy."""
    from distributed import get_worker

    begin = time.monotonic()
    _order.set(order)
    answer = do(order)
    return {**answer, "busy": {str(get_worker().name): time.monotonic() - begin}}


class Cluster:
    """Workers of a scheduler: of the one at the address `engine`, or, where that is dask or dask:N, of one that is
    started here on loopback with a worker for each of `lanes`. `do` is a function of a module that workers have,
    too."""

    def __init__(
        self, store: Store, engine: str, do: Do, told: Told = lambda job, answer: None, lanes: Sequence[Lane] = ()
    ) -> None:
        self._store, self._do, self._told = store, do, told
        self._lanes = tuple(lanes) if OWN.fullmatch(engine) else ()
        self._address = engine if self._lanes else address_of(engine)
        self.progress = Progress()
        self._topic, self._has_waited = f"raygrove-{os.urandom(8).hex()}", False
        self._workers, self._looked = 1, 0.0
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run(self, jobs: Iterator[Job]) -> Progress:
        """Have all jobs done that have no result. Raises SweepError, StoreError; whatever is raised, jobs that were not
        begun are taken back."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what concerns the sweep is said in a sentence
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._scheduler_gone_said())
            if self._lanes:
                self._address = stack.enter_context(_own_cluster(self._lanes))
            client = stack.enter_context(self._client())
            client.subscribe_topic(self._topic, self._hear_of_waiting)
            sent: dict[Any, Job] = {}
            suspects: list[Job] = []
            try:
                self._count(client)
                self._send_ahead(client, jobs, sent)
                while sent:
                    job = sent.pop(future := self._finished(client))
                    if not self._take(client, job, future, is_alone=False):
                        suspects.append(job)
                    self._send_ahead(client, jobs, sent)
                for job in suspects:
                    self._send(client, job, sent)
                    self._take(client, sent.pop(future := self._finished(client)), future, is_alone=True)
            finally:
                with contextlib.suppress(*_closed_errors()):  # a client that Dask has closed has nothing to take back
                    client.cancel(list(sent))
        return self.progress

    @contextlib.contextmanager
    def _scheduler_gone_said(self) -> Iterator[None]:
        """Make a sentence of a connection to the scheduler that closes, whatever was being asked."""
        comm_closed = _closed_errors()
        try:
            yield
        except comm_closed as error:
            raise SweepError(f"the scheduler at {self._address} is gone", AGAIN) from error

    def _send_ahead(self, client: Any, jobs: Iterator[Job], sent: dict[Any, Job]) -> None:
        """Send so many that no worker waits, those that came meanwhile among them."""
        now = time.monotonic()
        if now - self._looked > LOOK_S:
            self._workers, self._looked = max(1, len(self._there(client))), now
        while len(sent) < AHEAD * self._workers and (job := self._next(jobs)) is not None:
            self._send(client, job, sent)

    def _next(self, jobs: Iterator[Job]) -> Job | None:
        return next((one for one in jobs if not self._store.has(one.sha)), None)

    def _finished(self, client: Any) -> Any:
        """The next job that is done. Raises SweepError where workers stay away, or idle."""
        return self._awaited(client, lambda seconds: self._done.get(timeout=seconds))

    def _answer(self, client: Any, future: Any) -> Mapping[str, Any]:
        """What came of a job that is done: its worker keeps that, and where it has ended meanwhile Dask has the job
        done again. Raises what the job did, and SweepError as `_finished`."""

        def asked(seconds: float) -> Any:
            try:
                return future.result(timeout=seconds)
            except TimeoutError:
                if future.status == "error":  # of the job's own
                    raise SweepError("a worker cannot do jobs (TimeoutError)", AGAIN) from None
                raise queue.Empty from None

        answer: Mapping[str, Any] = self._awaited(client, asked)
        return answer

    def _awaited(self, client: Any, ask: Callable[[float], Any]) -> Any:
        """What `ask` gives, which raises queue.Empty once it has waited for so many seconds. Nothing is waited for
        longer than START_S while no worker is at work: what was lost on the way never comes."""
        begin, heard = time.monotonic(), dict[str, float]()
        while True:
            try:
                return ask(LOOK_S)
            except queue.Empty:
                workers = self._there(client)
                if any(map(_is_at_work, workers.values())):
                    begin, heard = time.monotonic(), {}
                # Who has said nothing since may be at work: its process is too busy to say so.
                if any(heard.setdefault(name, one["last_seen"]) == one["last_seen"] for name, one in workers.items()):
                    begin = time.monotonic()
                if time.monotonic() - begin > START_S:
                    words = "have jobs to do and do none" if workers else "have all ended"
                    raise SweepError(f"the workers of {self._address} {words}", AGAIN) from None

    def _there(self, client: Any) -> Mapping[str, Mapping[str, Any]]:
        """What the scheduler knows of each worker, by its address. Raises SweepError where it is gone, or does not
        answer."""
        try:
            found = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=START_S)
        except OSError as error:  # also where it does not answer in time
            raise SweepError(f"the scheduler at {self._address} is gone", AGAIN) from error
        workers: Mapping[str, Mapping[str, Any]] = found["workers"]
        return workers

    def _client(self) -> Any:
        try:
            from distributed import Client
            from distributed.security import Security
        except ModuleNotFoundError as error:
            raise SweepError("Dask is not installed", "install it: pip install 'raygrove[cluster]'") from error
        security = None
        if self._address.startswith("tls://"):
            security = Security(require_encryption=True)
            if not (security.tls_ca_file and security.tls_client_cert and security.tls_client_key):
                raise SweepError(f"{self._address} needs certificates, and there are none", CERTIFICATES)
        try:
            return Client(self._address, security=security, timeout=START_S, set_as_default=False)
        except OSError as error:  # also where it does not answer in time
            raise SweepError(f"no scheduler answers at {self._address}", "start one: dask scheduler") from error

    def _count(self, client: Any) -> None:
        """Wait for workers. Raises SweepError where there are none, or such as do several jobs at a time."""
        begin = time.monotonic()
        # Dask's own wait_for_workers waits without an end for a scheduler that took the connection and says no more.
        while len(workers := self._there(client)) < max(1, len(self._lanes)):
            if time.monotonic() - begin > COME_S:  # one that ended is being started again
                remedy = f"start one for each device: dask worker {self._address} --nthreads 1"
                raise SweepError(f"the scheduler at {self._address} has no workers", remedy)
            time.sleep(COUNT_S)
        many = next((one["name"] for one in workers.values() if one["nthreads"] != 1), None)
        if many is not None:
            raise SweepError(f"the worker {many} has several threads, and a device does one job at a time",
                             "start workers with --nthreads 1")  # fmt: skip
        self._workers, self._looked = len(workers), time.monotonic()

    def _send(self, client: Any, job: Job, sent: dict[Any, Job]) -> None:
        order = {"job": dict(job.what), "files": list(job.files), "store": str(self._store.folder.absolute()),
                 "topic": self._topic}  # fmt: skip
        future = client.submit(done_there, self._do, order, pure=False, retries=0)
        sent[future] = job
        future.add_done_callback(self._done.put)

    def _hear_of_waiting(self, event: tuple[float, dict[str, Any]]) -> None:
        """Say once that a job waits for its device; called by Dask's thread."""
        if not self._has_waited:
            self._has_waited = True
            self._told(Job(event[1]["job"]), WAITING)

    def _take(self, client: Any, job: Job, future: Any, *, is_alone: bool) -> bool:
        """Count what came of a job. False where it was with a worker that ended again and again: Dask blames all that
        the worker was to do, so that only the next try, alone, tells which job it was."""
        from distributed import CancelledError, KilledWorker

        passed_on: tuple[type[Exception], ...] = (SweepError, *_closed_errors())
        try:
            answer = self._answer(client, future)
        except KilledWorker as error:
            if not is_alone:
                return False
            answer = crashed(self._store, job, f"was {error.last_worker.address}", "")
        except CancelledError as error:
            raise SweepError(f"the scheduler at {self._address} is gone", AGAIN) from error
        except passed_on:
            raise
        except Exception as error:
            why = re.split(r"\.\s", str(error), maxsplit=1)[0].rstrip(".")  # Dask goes on for a paragraph
            raise SweepError(f"scheduler or workers cannot do jobs ({type(error).__name__}: {why})",
                             "give all machines this version of Raygrove") from error  # fmt: skip
        if "fatal" in answer:
            raise SweepError(str(answer["fatal"]).rstrip("."), AGAIN)
        self.progress.take(answer)
        self._told(job, answer)
        return True


def _closed_errors() -> tuple[type[Exception], ...]:
    """What Dask raises where a connection or its client closes; nothing where it is not installed, which is said
    elsewhere."""
    try:
        from distributed import client, comm
    except ModuleNotFoundError:
        return ()
    return (comm.CommClosedError, client.ClosedClientError)


def _is_at_work(worker: Mapping[str, Any]) -> bool:
    """Whether a worker was at a job when it last said what it does."""
    counts = worker.get("metrics", {}).get("task_counts", {})
    return any(counts.get(state) for state in ("executing", "long-running"))


@contextlib.contextmanager
def _own_cluster(lanes: Sequence[Lane]) -> Iterator[str]:
    """The address of a scheduler on loopback, which has a worker for each lane and ends with the block."""
    try:
        from distributed import Nanny, Scheduler, SpecCluster
    except ModuleNotFoundError as error:
        raise SweepError("Dask is not installed", "install it: pip install 'raygrove[cluster]'") from error
    place = {"host": "127.0.0.1"}
    common = {**place, "nthreads": 1, "dashboard": False, "silence_logs": logging.CRITICAL}
    workers = {lane.name: {"cls": Nanny, "options": {**common, "name": lane.name, "env": dict(lane.environment)}}
               for lane in lanes}  # fmt: skip
    # Dask opens a port for its pages even where there are none: any that is free, beside other sweeps.
    ports = {"port": 0, "dashboard": False, "dashboard_address": "127.0.0.1:0"}
    scheduler = {"cls": Scheduler, "options": {**place, **ports}}
    with contextlib.ExitStack() as stack:
        with _undisturbed():
            try:
                cluster = SpecCluster(workers=workers, scheduler=scheduler, silence_logs=logging.CRITICAL)
            except RuntimeError as error:  # a worker that did not come within Dask's time
                why = str(error).rstrip(".")
                raise SweepError(f"Dask's cluster of this machine did not start ({why})", AGAIN) from error
            stack.enter_context(cluster)
        yield str(cluster.scheduler_address)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl+C is heard once the block has ended, and never by threads and processes that begin in it: a terminal sends
    it to workers, too, and Dask that is interrupted while it starts cannot close what it has begun."""
    from multiprocessing import resource_tracker  # here, as a sweep that finds all done has no use for it

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = threading.Event()
    resource_tracker.ensure_running()  # which would let the first process that begins hear it again
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.set())
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # those that begin have it from this thread
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        signal.signal(signal.SIGINT, before)
    if pressed.is_set():
        raise KeyboardInterrupt

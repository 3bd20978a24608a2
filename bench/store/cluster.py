"""The same jobs on a cluster of Dask: its workers see the store and the scenes under the same names, and keep results
themselves, as workers here do.

Dask runs whatever code it is sent. So an address off this machine is taken with TLS and client certificates alone,
those of Dask's own configuration.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import queue
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .folder import Store
from .jobs import Job
from .workers import AGAIN, Progress, SweepError, Told, crashed

START_S = 20.0
"""What a scheduler is given to answer."""
AHEAD = 2
"""Jobs for each worker that are sent before it asks, so that none waits for this process."""
LOOK_S = 1.0
"""How often it is seen whether there still are workers, while nothing is done."""
CERTIFICATES = (
    "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and "
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY to the files of your certificates"
)
Do = Callable[[dict[str, Any]], dict[str, Any]]
"""What a worker does: `job`, `files` and `store` to the answer that workers here give."""


def is_cluster(engine: str | None) -> bool:
    """Whether --jobs names a cluster."""
    return bool(engine) and re.match(r"(dask|tls)://", engine or "") is not None


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


class Cluster:
    """Workers of a scheduler. `do` is a function of a module that workers have, too."""

    def __init__(self, store: Store, engine: str, do: Do, told: Told = lambda job, answer: None) -> None:
        self._store, self._address, self._do, self._told = store, address_of(engine), do, told
        self.progress = Progress()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run(self, jobs: Iterator[Job]) -> Progress:
        """Have all jobs done that have no result. Raises SweepError, StoreError; whatever is raised, jobs that were not
        begun are taken back."""
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what concerns the sweep is said in a sentence
        with self._client() as client:
            sent: dict[Any, Job] = {}
            suspects: list[Job] = []
            try:
                for _ in range(AHEAD * self._count(client)):
                    self._send(client, self._next(jobs), sent)
                while sent:
                    job = sent.pop(future := self._finished(client))
                    if not self._take(job, future, is_alone=False):
                        suspects.append(job)
                    self._send(client, self._next(jobs), sent)
                for job in suspects:
                    self._send(client, job, sent)
                    self._take(sent.pop(future := self._finished(client)), future, is_alone=True)
            finally:
                client.cancel(list(sent))
        return self.progress

    def _next(self, jobs: Iterator[Job]) -> Job | None:
        return next((one for one in jobs if not self._store.has(one.sha)), None)

    def _finished(self, client: Any) -> Any:
        """The next job that is done. Raises SweepError where workers stay away."""
        seen = time.monotonic()
        while True:
            try:
                return self._done.get(timeout=LOOK_S)
            except queue.Empty:
                try:
                    is_there = bool(client.nthreads())
                except OSError as error:
                    raise SweepError(f"the scheduler at {self._address} is gone", AGAIN) from error
                now = time.monotonic()
                seen = now if is_there else seen
                if now - seen > START_S:
                    raise SweepError(f"the workers of {self._address} have all ended", AGAIN) from None

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

    def _count(self, client: Any) -> int:
        try:
            client.wait_for_workers(1, timeout=START_S)  # one that ended is being started again
        except TimeoutError as error:
            remedy = f"start one for each device: dask worker {self._address} --nthreads 1"
            raise SweepError(f"the scheduler at {self._address} has no workers", remedy) from error
        workers = client.scheduler_info(n_workers=-1)["workers"]
        many = next((one["name"] for one in workers.values() if one["nthreads"] != 1), None)
        if many is not None:
            raise SweepError(f"the worker {many} has several threads, and a device does one job at a time",
                             "start workers with --nthreads 1")  # fmt: skip
        return len(workers)

    def _send(self, client: Any, job: Job | None, sent: dict[Any, Job]) -> None:
        if job is None:
            return
        order = {"job": dict(job.what), "files": list(job.files), "store": str(self._store.folder.absolute())}
        future = client.submit(self._do, order, pure=False, retries=0)
        sent[future] = job
        future.add_done_callback(self._done.put)

    def _take(self, job: Job, future: Any, *, is_alone: bool) -> bool:
        """Count what came of a job. False where it was with a worker that ended again and again: Dask blames all that
        the worker was to do, so that only the next try, alone, tells which job it was."""
        from distributed import CancelledError, KilledWorker

        try:
            answer: Mapping[str, Any] = future.result()
        except KilledWorker as error:
            if not is_alone:
                return False
            answer = crashed(self._store, job, f"was {error.last_worker.address}", "")
        except CancelledError as error:
            raise SweepError(f"the scheduler at {self._address} is gone", AGAIN) from error
        except Exception as error:
            raise SweepError(f"a worker cannot do jobs ({type(error).__name__}: {error})",
                             "give all machines this version of Raygrove") from error  # fmt: skip
        if "fatal" in answer:
            raise SweepError(str(answer["fatal"]).rstrip("."), AGAIN)
        self.progress.take(answer)
        self._told(job, answer)
        return True

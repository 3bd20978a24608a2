"""Worker processes: each takes a job at a time on its own device and keeps the result itself, so that neither a worker
nor this process has anything to lose when it is killed.

Lines of JSON go both ways. A worker first says of which version it is; then it is given jobs and says of each what came
of it, and before that where the device is somebody else's as long as `waits` is true, which no limit counts. One that
ends amid a job is started again; a job that ended three of them becomes the result "crashed".
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from raygrove.gpu.errors import Error
from raygrove.gpu.linux import kill_group

from .folder import CRASHED, Store
from .jobs import Job, described, other_version

MOST_DEATHS = 3
"""Workers that a job may end before it counts as the cause."""
AGAIN = "start the same sweep again: it goes on from there"
STOP_S = 2.0
"""What a worker is given to leave, once it is asked to."""
TAIL = 2000
"""Characters of a dead worker's last words that are kept."""


class SweepError(Error):
    """Why a sweep cannot go on: the worker, or the place of its results."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, "sweep", remedy)


@dataclasses.dataclass(frozen=True)
class Lane:
    """A device for one worker, and what its environment says of it."""

    name: str
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Progress:
    """What came of jobs so far. `seconds` is what those took that were done now, all together; `busy` are the seconds
    that each worker's device was at work, by its name."""

    done: int = 0
    failed: int = 0
    crashed: int = 0
    refused: int = 0
    seconds: float = 0.0
    busy: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def finished(self) -> int:
        """Jobs that have a result now and had none."""
        return self.done + self.failed + self.crashed

    def take(self, answer: Mapping[str, Any]) -> None:
        """Count what came of a job."""
        status = answer["status"]
        setattr(self, status, getattr(self, status) + 1)
        self.seconds += float(answer.get("seconds", 0.0))
        self._add_busy(answer.get("busy", {}))

    def add(self, other: Progress) -> None:
        """Count what another one has counted."""
        for name in ("done", "failed", "crashed", "refused", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self._add_busy(other.busy)

    def _add_busy(self, busy: Mapping[str, float]) -> None:
        for lane, seconds in busy.items():
            self.busy[lane] = self.busy.get(lane, 0.0) + seconds


Told = Callable[[Job, Mapping[str, Any]], None]
"""Hears of a job what came of it: `status`, `seconds`, a `sentence` where it is not done. WAITS and "again" are no
end."""
WAITS = "waits"
WAITING = {"status": WAITS, "sentence": "something else measures on this device"}


class Workers:
    """`command` starts a worker, with a lane's environment. `most_seconds` ends a worker that works longer on a job (0:
    never)."""

    def __init__(
        self,
        store: Store,
        command: Sequence[str],
        lanes: Sequence[Lane],
        told: Told = lambda job, answer: None,
        most_seconds: float = 0.0,
    ) -> None:
        self._store, self._command, self._lanes = store, tuple(command), tuple(lanes)
        self._told, self._most_seconds = told, most_seconds
        self._lock, self._is_stopping = threading.Lock(), threading.Event()
        self._deaths: dict[str, int] = {}
        self._has_waited = False
        self._error: BaseException | None = None
        self.progress = Progress()

    def run(self, jobs: Iterator[Job]) -> Progress:
        """Have all jobs done that have no result. Raises SweepError, StoreError, and what making a job raises; whatever
        is raised here, KeyboardInterrupt too, no worker is left behind."""
        threads = [
            threading.Thread(target=self._serve, args=(lane, jobs), name=f"worker {lane.name}", daemon=True)
            for lane in self._lanes
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.1)  # so that Ctrl+C is heard
        finally:
            self._is_stopping.set()
            for thread in threads:
                thread.join()
        if self._error is not None:
            raise self._error
        return self.progress

    def _serve(self, lane: Lane, jobs: Iterator[Job]) -> None:
        """A thread: one worker after another, as long as there are jobs."""
        try:
            with contextlib.ExitStack() as stack:
                worker: _Worker | None = None
                while (job := self._next(jobs)) is not None:
                    while not self._is_stopping.is_set() and not self._store.has(job.sha):
                        if worker is None:
                            self._store.check()
                            worker = self._started(lane, job)
                            stack.callback(worker.close)
                        begin = time.monotonic()
                        answer = worker.asked(job, self._is_stopping, self._most_seconds, self._wait)
                        if answer is None:
                            return
                        answer["busy"] = {lane.name: time.monotonic() - begin}
                        if "died" in answer:
                            worker.close()
                            worker = None
                        if self._judge(job, answer):
                            break
        except BaseException as error:
            self._error = self._error or error
            self._is_stopping.set()

    def _wait(self, job: Job) -> None:
        """Say once that a job waits for its device."""
        with self._lock:
            if not self._has_waited:
                self._has_waited = True
                self._told(job, WAITING)

    def _started(self, lane: Lane, job: Job) -> _Worker:
        """A worker that is ready. One that is killed before it is counts for no job, and is started again."""
        for turn in range(MOST_DEATHS):
            worker = _Worker(self._command, lane)
            try:
                worker.greeted(job, self._is_stopping, is_last=turn == MOST_DEATHS - 1)
                return worker
            except _KilledError:
                worker.close()
            except BaseException:
                worker.close()
                raise
        raise AssertionError("The last one is not forgiven.")

    def _next(self, jobs: Iterator[Job]) -> Job | None:
        with self._lock:
            if self._is_stopping.is_set():
                return None
            return next((job for job in jobs if not self._store.has(job.sha)), None)

    def _judge(self, job: Job, answer: Mapping[str, Any]) -> bool:
        """Whether the job needs no more. Raises SweepError where no job can be done."""
        if "fatal" in answer:
            raise SweepError(str(answer["fatal"]).rstrip("."), AGAIN)
        with self._lock:
            if "died" in answer:
                count = self._deaths[job.sha] = self._deaths.get(job.sha, 0) + 1
                if count < MOST_DEATHS:
                    self._told(job, {"status": "again", "sentence": answer["died"]})
                    return False
                busy = answer["busy"]
                answer = {**crashed(self._store, job, str(answer["died"]), str(answer.get("words", ""))), "busy": busy}
            self.progress.take(answer)
            self._told(job, answer)
            return True


def crashed(store: Store, job: Job, sentence: str, words: str) -> dict[str, Any]:
    """Keep that a job ended its workers; `sentence` says of the last how, `words` are its last ones."""
    said = f"It ended {MOST_DEATHS} workers; the last one {sentence}."
    store.put({"job": dict(job.what), "status": CRASHED, "sentence": said, "words": words})
    return {"status": CRASHED, "sentence": said}


class _KilledError(Exception):
    """A worker was killed before it was ready."""


class _Worker:
    """A process and the talk with it."""

    def __init__(self, command: Sequence[str], lane: Lane) -> None:
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._process = subprocess.Popen(
            [*command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env={**os.environ, **lane.environment},
            start_new_session=True,  # Ctrl+C is for this process, which ends its workers in order
        )
        self._lines: list[bytes] = []
        self._heard = threading.Condition()
        self._is_closed = False
        threading.Thread(target=self._listen, name="worker's words", daemon=True).start()

    def greeted(self, job: Job, is_stopping: threading.Event, *, is_last: bool) -> None:
        """Wait for its first words. Raises SweepError where it does not start, or is another version than made the
        jobs, and _KilledError where somebody killed it, unless it is the last one that is tried."""
        line = self._line(is_stopping, 0.0)
        if line is None:
            return
        if not line:
            if self._process.wait() < 0 and not is_last:
                raise _KilledError
            words = self._last_words().strip().splitlines()
            raise SweepError(f"a worker does not start: it {self._end()}: {words[-1] if words else 'no words'}",
                             "see that this Raygrove runs by itself")  # fmt: skip
        if other := other_version(json.loads(line), job.what):
            raise SweepError(other, "give all machines one version, and leave its files alone while a sweep runs")

    def asked(
        self, job: Job, is_stopping: threading.Event, most_seconds: float, wait: Callable[[Job], None]
    ) -> dict[str, Any] | None:
        """What came of a job: the worker's answer, or `died` and its `words`. None where the sweep ends. `wait` hears
        that it waits for the device."""
        order = {"job": dict(job.what), "files": list(job.files)}
        with contextlib.suppress(BrokenPipeError):
            stdin = _pipe(self._process.stdin)
            stdin.write(json.dumps(order).encode() + b"\n")
            stdin.flush()
        limit = most_seconds
        while line := self._line(is_stopping, limit):
            answer: dict[str, Any] = json.loads(line)
            if WAITS not in answer:
                return answer
            limit = 0.0 if answer[WAITS] else most_seconds
            if answer[WAITS]:
                wait(job)
        if line is None:
            return None
        end = self._end() if self._is_closed else f"took more than {most_seconds:g} s for {described(job.what)}"
        return {"died": end, "words": self._last_words()}

    def close(self) -> None:
        """End it and collect it."""
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_S)
        with contextlib.suppress(ProcessLookupError):
            kill_group(self._process.pid)
        self._process.wait()
        self._words.close()

    def _listen(self) -> None:
        with _pipe(self._process.stdout) as pipe:
            for line in pipe:
                if not line.endswith(b"\n"):
                    break  # the last one, cut where the worker was killed, is no answer
                with self._heard:
                    self._lines.append(line)
                    self._heard.notify()
        with self._heard:
            self._is_closed = True
            self._heard.notify()

    def _line(self, is_stopping: threading.Event, most_seconds: float) -> bytes | None:
        """The next line; nothing where it died or took too long, None where the sweep ends."""
        begin = time.monotonic()
        with self._heard:
            while not self._lines and not self._is_closed:
                if is_stopping.is_set():
                    return None
                if most_seconds and time.monotonic() - begin > most_seconds:
                    return b""
                self._heard.wait(0.05)
            return self._lines.pop(0) if self._lines else b""

    def _end(self) -> str:
        code = self._process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def _last_words(self) -> str:
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - TAIL))
        return self._words.read().decode(errors="replace")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise AssertionError("Workers are started with pipes.")
    return pipe

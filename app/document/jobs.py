"""Work in the background, with progress and cancel. A job's outcome is delivered on the owner's thread, by
`Mailroom.poll`."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from raygrove.app.problems.problem import Problem
from raygrove.app.problems.problems import problem_of
from raygrove.app.scene_io.errors import ImportCancelled


class Cancelled(Exception):  # noqa: N818
    """Raised inside a job's work when someone cancelled it."""


class Mailroom:
    """Calls posted by any thread, made by the thread that polls. `wake` is called after each post, on the poster's
    thread."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.wake: Callable[[], None] = lambda: None

    def post(self, call: Callable[[], None]) -> None:
        """Ask the owner's thread to make a call."""
        self._calls.put(call)
        self.wake()

    def has_more_than(self, count: int) -> bool:
        """Whether so many calls wait, and another one."""
        return self._calls.qsize() > count

    def poll(self, most: int | None = None) -> int:
        """Make the calls that wait, all or `most` of them; returns how many."""
        count = 0
        while count != most:
            try:
                call = self._calls.get_nowait()
            except queue.Empty:
                break
            call()
            count += 1
        return count


class Job:
    """One piece of work on a thread of its own. `progress` is 0 to 1, or None where nobody knows. Whoever ends one that
    `is_kept` before its end loses work."""

    is_kept = False

    def __init__(self, title: str) -> None:
        self.title = title
        self.progress: float | None = None
        self.message = ""
        self.result: Any = None
        self.problem: Problem | None = None
        self.error: Exception | None = None
        self.cancel_event = threading.Event()
        self._done = threading.Event()

    @property
    def is_done(self) -> bool:
        """Whether it has ended, one way or another."""
        return self._done.is_set()

    @property
    def is_cancelled(self) -> bool:
        """Whether someone asked it to stop."""
        return self.cancel_event.is_set()

    def cancel(self) -> None:
        """Ask it to stop; it does at its next `report`."""
        self.cancel_event.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for its end; True when it has ended. Its outcome is delivered by the mailroom all the same."""
        return self._done.wait(timeout)

    def report(self, progress: float | None = None, message: str = "") -> None:
        """Called by the work: say how far it is. Raises Cancelled where someone asked to stop."""
        self.check()
        self.progress = progress
        self.message = message or self.message

    def check(self) -> None:
        """Called by the work where it has nothing to say: raises Cancelled where someone asked to stop."""
        if self.is_cancelled:
            raise Cancelled(self.title)

    def run(self, work: Callable[[Job], Any]) -> None:
        """Do the work here, keeping its result or problem."""
        try:
            self.result = work(self)
        except (Cancelled, ImportCancelled):
            self.cancel_event.set()
        except Exception as error:  # whatever it is becomes a sentence, and the window lives
            self.error, self.problem = error, problem_of(error)
        finally:
            self._done.set()

    def start(self, work: Callable[[Job], Any], mailroom: Mailroom, finished: Callable[[Job], None]) -> None:
        """Run on a daemon thread; `finished` is called on the owner's thread."""

        def body() -> None:
            self.run(work)
            mailroom.post(lambda: finished(self))

        threading.Thread(target=body, name=f"job: {self.title}", daemon=True).start()

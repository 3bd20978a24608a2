"""Launches that end before their end, because nobody wants what they give any more."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """Raised after `stop` behind a launch within `Stoppable.stoppable`, or behind its replay, where no `stoppable`
    stands: what was launched within is worth nothing. `is_build` says which of the two kinds of launches it was."""

    def __init__(self, is_build: bool) -> None:
        super().__init__()
        self.is_build = is_build


class Abandoned(Exception):  # noqa: N818 - nothing went wrong
    """Raised where `Target.check` says that what is being prepared is not wanted any more."""


class NotCompiled(Exception):  # noqa: N818 - nothing went wrong
    """Raised where `Target.check` says that nothing is to be compiled now: a unit is not in the cache."""


class Stoppable:
    """What a target whose launches cannot be stopped does: nothing."""

    can_stop = False
    """Whether `stop` ends anything early."""

    def stop(self, builds: bool = False) -> None:
        """Leave out what is still to be done of launches within `stoppable`, from now on and until `go_on`; of those
        that build a structure only where `builds` is so. Any thread may call it."""

    def go_on(self) -> None:
        """Do again what is launched."""

    def be_patient(self, seconds: float) -> None:
        """Rays that may be stopped are from now on given so long, 0: as long as they take; then they are stopped, until
        `go_on`."""

    @contextlib.contextmanager
    def stoppable(self, builds: bool = False) -> Iterator[None]:
        """What is launched within, and `builds` a structure or does not, may be left out. Raises Stopped where that was
        so, in replays, too: behind the launch, so that nobody reads what it has not written."""
        yield


class Deadline:
    """Sets the first flag so many seconds after it was begun, unless it is ended before."""

    def __init__(self, flags: np.ndarray) -> None:
        self._flags, self._lock, self._turn = flags, threading.Lock(), 0
        self._timer: threading.Timer | None = None

    def begin(self, seconds: float) -> None:
        """From now on."""
        self._timer = threading.Timer(seconds, self._run_out, (self._turn,))
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """It sets nothing any more."""
        if self._timer is not None:
            with self._lock:
                self._turn += 1
            self._timer.cancel()
            self._timer = None

    def _run_out(self, turn: int) -> None:
        with self._lock:
            if turn == self._turn:
                self._flags[0] = 1


class StopFlag:
    """What the host's launches look at: `at` is its place while they may be stopped, None while they may not. `run`
    does a step or records it, `has_begun` says whether rays that may be stopped are launched or recorded just now."""

    def __init__(self) -> None:
        self._flags = np.zeros(2, np.int32)  # of rays, of builds
        first = self._flags.ctypes.data
        self._places = [ctypes.c_void_p(first + number * self._flags.itemsize) for number in range(2)]
        self._watched: int | None = None
        self._deadline = Deadline(self._flags)
        self.at = ctypes.c_void_p(None)
        self.has_begun = False
        self.patience_s = 0.0

    def set(self, value: bool, builds: bool) -> None:
        """Stop, or go on; with `builds` those, too."""
        self._flags[: 1 + builds] = value

    @contextlib.contextmanager
    def watched(self, run: Callable[..., Any], builds: bool) -> Iterator[None]:
        """See Stoppable.stoppable."""
        run(self._begin, int(builds))
        self.has_begun = not builds
        try:
            yield
        except BaseException:
            self.leave()
            raise
        finally:
            self.has_begun = False
        run(self._end)

    def look(self) -> None:
        """Behind a launch: raise Stopped where it may have been left out."""
        watched = self._watched
        if watched is not None and self._flags[watched]:
            self.leave()
            raise Stopped(is_build=bool(watched))

    def leave(self) -> None:
        """From now on nothing may be stopped."""
        self._watched, self.at = None, ctypes.c_void_p(None)
        self._deadline.end()

    def _begin(self, number: int) -> None:
        self._watched, self.at = number, self._places[number]
        if self.patience_s > 0.0 and number == 0:
            self._deadline.begin(self.patience_s)

    def _end(self) -> None:
        self.look()
        self.leave()

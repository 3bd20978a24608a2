"""Launches that end before their end, because nobody wants what they give any more."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """Raised at the end of `Stoppable.stoppable` after `stop`: what was launched there is worth nothing."""


class Abandoned(Exception):  # noqa: N818 - nothing went wrong
    """Raised where `Target.check` says that what is being prepared is not wanted any more."""


class NotCompiled(Exception):  # noqa: N818 - nothing went wrong
    """Raised where `Target.check` says that nothing is to be compiled now: a unit is not in the cache."""


class Stoppable:
    """What a target whose launches cannot be stopped does: nothing."""

    can_stop = False
    """Whether `stop` ends anything early."""

    def stop(self) -> None:
        """Leave out what is still to be done of launches within `stoppable`, from now on and until `go_on`. Any thread
        may call it."""

    def go_on(self) -> None:
        """Do again what is launched."""

    @contextlib.contextmanager
    def stoppable(self) -> Iterator[None]:
        """What is launched within may be left out. Raises Stopped at its end where that was so, in replays, too."""
        yield


class StopFlag:
    """What the host's launches look at: `at` is its place while they may be stopped, None while they may not. `run`
    does a step or records it, `has_begun` says whether steps within are launched or recorded just now."""

    def __init__(self) -> None:
        self._flag = np.zeros(1, np.int32)
        self._place = ctypes.c_void_p(self._flag.ctypes.data)
        self.at = ctypes.c_void_p(None)
        self.has_begun = False

    def set(self, value: bool) -> None:
        """Stop, or go on."""
        self._flag[0] = value

    @contextlib.contextmanager
    def watched(self, run: Callable[..., Any]) -> Iterator[None]:
        """See Stoppable.stoppable."""
        run(self._begin)
        self.has_begun = True
        try:
            yield
        except BaseException:
            self.at = ctypes.c_void_p(None)
            raise
        finally:
            self.has_begun = False
        run(self._end)

    def _begin(self) -> None:
        self.at = self._place

    def _end(self) -> None:
        self.at = ctypes.c_void_p(None)
        if self._flag[0]:
            raise Stopped

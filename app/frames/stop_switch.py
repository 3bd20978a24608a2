"""Stops a picture that nobody wants any more, where it may be stopped, from whichever thread."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from raygrove.gpu.target.stopping import Stoppable


class StopSwitch:
    """Turned before or while a frame is drawn; a target that draws what may be stopped is told at once, or when it
    begins."""

    def __init__(self) -> None:
        self._is_stopped = self._stops_builds = False
        self._target: Stoppable | None = None

    def stop(self, builds: bool = False) -> None:
        """Nobody wants what is drawn, nor, with `builds`, its structure. Any thread may call it."""
        self._stops_builds |= builds
        self._is_stopped = True
        if (target := self._target) is not None:
            target.stop(builds)

    @property
    def is_turned(self) -> bool:
        """Whether nobody wants what is drawn."""
        return self._is_stopped

    def go_on(self) -> None:
        """Something else is drawn next."""
        self._is_stopped = self._stops_builds = False

    @contextlib.contextmanager
    def watching(self, target: Stoppable | None, patience_s: float = 0.0) -> Iterator[None]:
        """What `target` draws within may be stopped (Stoppable.stoppable), None: nothing may; what it has not drawn
        after `patience_s` is."""
        self._target = target
        if target is not None:
            target.be_patient(patience_s)
        if target is not None and self._is_stopped:
            target.stop(self._stops_builds)
        try:
            yield
        finally:
            self._target = None
            if target is not None:
                target.be_patient(0.0)
                target.go_on()

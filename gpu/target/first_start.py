"""What every first picture on a CPU needs compiled, begun as soon as a program starts whose cache is empty, beside its
imports: the host's runtime, and the headers of units."""

from __future__ import annotations

import atexit
import contextlib
import threading

from ..linux import has_graphics_card
from .host_compiler import make_headers
from .host_runtime import has_runtime, make_runtime
from .stopping import Abandoned

_LEAVE_S = 2.0
"""How long the end of the program waits until the compilers have ended."""


class FirstStart:
    """Compiles them, on two threads. Their compilers end with the program."""

    def __init__(self, contraction: bool) -> None:
        self._contraction, self._is_over = contraction, threading.Event()
        jobs = (self._make_runtime, self._make_headers) if not has_runtime() else ()
        self._threads = [threading.Thread(target=job, name="first start", daemon=True) for job in jobs]
        for thread in self._threads:
            thread.start()
        if jobs:
            atexit.register(self.end)

    @property
    def is_needed(self) -> bool:
        """Whether the cache had not all of it."""
        return bool(self._threads)

    def end(self) -> None:
        """End what is still being compiled."""
        self._is_over.set()
        for thread in self._threads:
            thread.join(_LEAVE_S)

    def _make_runtime(self) -> None:
        with contextlib.suppress(Exception):  # whoever needs it meets the reason
            make_runtime(self._check)

    def _make_headers(self) -> None:
        with contextlib.suppress(Exception):
            make_headers(self._contraction, self._check)

    def _check(self) -> None:
        if self._is_over.is_set():
            raise Abandoned


def begin(device: str, contraction: bool) -> FirstStart | None:
    """Begin it, where pictures of `render.device` are drawn by the CPU."""
    return FirstStart(contraction) if device == "cpu" or not has_graphics_card() else None

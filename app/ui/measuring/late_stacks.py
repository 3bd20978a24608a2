"""What a thread does while it is late: another thread looks where it stands.

It looks with Python's lock, so that it sees a call of foreign code once that gives way. Python's own watchdog
(faulthandler) needs no lock, and ended the program where it met a thread that was running.
"""

from __future__ import annotations

import sys
import threading
import time
import types

LOOK_S = 0.01
MOST_LINES = 12


class LateStacks:
    """Armed again and again by the thread that made it; where it is not for `after_s` seconds, its stack is kept."""

    def __init__(self, after_s: float) -> None:
        self._after_s, self._thread = after_s, threading.get_ident()
        self._due: float | None = None
        self._found: list[str] = []
        self._is_over = threading.Event()
        threading.Thread(target=self._watch, name="late stacks", daemon=True).start()

    def arm(self) -> None:
        """In time: count anew."""
        self._found = []
        self._due = time.perf_counter() + self._after_s

    def take(self) -> list[str]:
        """Where the thread stood when it was late, the innermost call first; nothing where it was not. Counts no more
        until it is armed."""
        self._due = None
        return self._found

    def close(self) -> None:
        """Watch no more."""
        self._due = None
        self._is_over.set()

    def _watch(self) -> None:
        while not self._is_over.wait(LOOK_S):
            due = self._due
            if due is None or self._found or time.perf_counter() < due:
                continue
            found = stack_of(sys._current_frames().get(self._thread))
            if self._due == due:  # else it has gone on
                self._found = found


def stack_of(frame: types.FrameType | None) -> list[str]:
    """The calls that a frame is in, without the folders of their files."""
    lines: list[str] = []
    while frame is not None and len(lines) < MOST_LINES:
        name = frame.f_code.co_filename.rpartition("/")[2]
        lines.append(f"{name}, line {frame.f_lineno} in {frame.f_code.co_qualname}")
        frame = frame.f_back
    return lines

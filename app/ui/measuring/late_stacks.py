"""What a thread does while it is late: Python's own watchdog writes down where it stands, without Python's lock."""

from __future__ import annotations

import faulthandler
import tempfile
import threading

MOST_LINES = 12


class LateStacks:
    """Armed again and again by the thread that made it; where it is not for `after_s` seconds, its stack is kept. One
    at a time in a process."""

    def __init__(self, after_s: float) -> None:
        self._after_s, self._thread = after_s, threading.get_ident()
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - open to the end of the watch

    def arm(self) -> None:
        """In time: count anew."""
        faulthandler.dump_traceback_later(self._after_s, file=self._file)

    def take(self) -> list[str]:
        """Where the thread stood when it was late, the innermost call first; nothing where it was not."""
        faulthandler.cancel_dump_traceback_later()
        self._file.seek(0)
        text = self._file.read()
        self._file.seek(0)
        self._file.truncate()
        return stack_of(text, self._thread)

    def close(self) -> None:
        """Watch no more."""
        faulthandler.cancel_dump_traceback_later()
        self._file.close()


def stack_of(text: str, thread: int) -> list[str]:
    """The calls of a thread in what the watchdog wrote, without their folders."""
    lines, is_its = [], False
    for line in text.splitlines():
        if line.startswith(("Thread 0x", "Current thread 0x")):
            is_its = int(line.partition("0x")[2].split()[0], 16) == thread
        elif is_its and line.startswith("  File "):
            path, _, place = line.removeprefix("  File ").partition(", ")
            name = path.strip('"').rpartition("/")[2]
            lines.append(f"{name}, {place}")
    return lines[:MOST_LINES]

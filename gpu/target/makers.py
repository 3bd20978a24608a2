"""One maker a file: programs that start at the same time compile a unit once between them.

Who makes a file locks another one beside it, named after its key. The system unlocks what a program that ends had
locked, so a lock whose owner was killed is taken by the next. A program waits as long as the owner lives, up to a
limit; where a file system knows no locks, everyone makes its own, which is as right and takes longer.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import time
from collections.abc import Callable, Iterator

from ..linux import try_lock

LOCK = ".lock-"

PATIENCE_S = 60.0
"""Longer than a unit takes: an owner that was stopped is not waited for any longer."""

_CHECK_S = 0.02


@contextlib.contextmanager
def only_maker(lock: pathlib.Path, check: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold `lock`, a file that is there meanwhile. What `check` raises ends the waiting."""
    until = time.monotonic() + PATIENCE_S
    held = _taken(lock)
    while held is None and time.monotonic() < until:
        check()
        time.sleep(_CHECK_S)
        held = _taken(lock)
    try:
        yield
    finally:
        if held is not None and held >= 0:
            with contextlib.suppress(OSError):
                lock.unlink()  # before it is let go: who opened it meanwhile sees that it is no longer there
            os.close(held)


def _taken(lock: pathlib.Path) -> int | None:
    """The locked file; None where another one has it, -1 where nothing can be locked."""
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return -1
    try:
        if try_lock(file):
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), lock.lstat()):
                    return file
    except OSError:
        os.close(file)
        return -1
    os.close(file)
    return None

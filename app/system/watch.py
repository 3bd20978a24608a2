"""Watches the files of a scene: tells when one was written anew and has come to rest.

Looks at times and sizes, on a thread of its own, so that a slow disk holds nobody up.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence

from raygrove.app.scene_io import SceneError
from raygrove.app.scene_io.files import expand

INTERVAL_S = 0.5
BESIDE = (".mtl", ".bin")
"""Endings of files of the same name that a model is read with."""

Signature = tuple[tuple[str, int, int], ...]


class Watcher:
    """See the module. `changed` is called on the watcher's thread."""

    def __init__(self, changed: Callable[[], None], interval: float = INTERVAL_S) -> None:
        self._changed, self._interval = changed, interval
        self._names: tuple[str, ...] = ()
        self._known: Signature = ()
        self._last: Signature = ()
        self._mail = threading.Condition()
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    def watch(self, names: Sequence[str]) -> None:
        """Watch these files (paths, globs, numbered patterns) from now on, in place of others; none: nothing. What is
        watched already goes on being watched, so that nothing is missed between two calls."""
        with self._mail:
            if tuple(names) == self._names:
                return
            self._names = tuple(names)
            self._known = self._last = ()
            if names and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()
            self._mail.notify()

    def stop(self) -> None:
        """End the thread."""
        with self._mail:
            self._is_stopping = True
            self._mail.notify()

    def _run(self) -> None:
        while True:
            with self._mail:
                self._mail.wait_for(lambda: bool(self._names) or self._is_stopping)
                if self._is_stopping:
                    return
                names = self._names
            found = signature(names)
            with self._mail:
                is_news = names == self._names and self._is_news(found)
            if is_news:
                self._changed()
            with self._mail:
                self._mail.wait_for(lambda: self._is_stopping or self._names != names, self._interval)  # noqa: B023

    def _is_news(self, found: Signature) -> bool:
        """Whether files differ from those that are known, and from one look to the next no more. A file that is gone is
        no news until it is back."""
        has_settled, self._last = found == self._last, found
        if not self._known:
            self._known = found
        if not found or found == self._known or not has_settled:
            return False
        self._known = found
        return True


def signature(names: Sequence[str]) -> Signature:
    """Path, time and size of every file that is meant, those beside it included; () where one that was named is not
    there, or empty."""
    try:
        paths = expand(names)
    except SceneError:
        return ()
    entries = []
    for path in paths:
        for place in (path, *(os.path.splitext(path)[0] + ending for ending in BESIDE)):
            try:
                status = os.stat(place)
            except (OSError, ValueError):
                if place == path:
                    return ()
                continue
            if place == path and status.st_size == 0:
                return ()
            entries.append((place, status.st_mtime_ns, status.st_size))
    return tuple(entries)

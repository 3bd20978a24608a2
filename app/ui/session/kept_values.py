"""Values that are kept from one start to the next, in the file that QSettings has for this program.

They are read at once and written by a thread beside the window's: a file that is written whole is waited for until it
is on the disk, which may take as long as several pictures. One thread writes for all, in the order in which values were
set, and the interpreter waits for it where the program ends.
"""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings

from raygrove.app.settings import kept_files

Change = Callable[[QSettings], None]


class Writer:
    """Changes files of settings one after the other, in a thread that lives as long as there is something to do. Who
    holds `changed` finds the values of a file as they are wanted, and may want others."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._left: collections.deque[tuple[KeptValues, Change]] = collections.deque()
        self._is_writing = False

    def do(self, values: KeptValues, change: Change) -> None:
        """Change the file of these values later, after what was asked for before."""
        with self.changed:
            self._left.append((values, change))
            if not self._is_writing:
                self._is_writing = True
                threading.Thread(target=self._write, name="kept values").start()

    def flush(self) -> None:
        """Wait until everything that was asked for is on the disk."""
        with self.changed:
            self.changed.wait_for(lambda: not self._is_writing)

    def _write(self) -> None:
        try:
            while (found := self._next()) is not None:
                values, changes = found
                stored = _written(values.file, changes)
                with self.changed:
                    if not any(values is waiting for waiting, _ in self._left):
                        values.stored = stored
        except BaseException:  # nobody may wait for a thread that has ended; what is left is written with what comes
            with self.changed:
                self._is_writing = False
                self.changed.notify_all()
            raise

    def _next(self) -> tuple[KeptValues, list[Change]] | None:
        """The changes that are next, all of one file; None where nothing is left: the thread ends."""
        with self.changed:
            if not self._left:
                self._is_writing = False
                self.changed.notify_all()
                return None
            values, changes = self._left[0][0], []
            while self._left and self._left[0][0] is values:
                changes.append(self._left.popleft()[1])
            return values, changes


WRITER = Writer()


def _written(file: str, changes: list[Change]) -> dict[str, Any]:
    """Make the changes, after reading what another window has stored meanwhile, and write the file once. All values
    that it has then."""
    with _kept_from_others(file):
        settings = QSettings(file, QSettings.Format.NativeFormat)
        settings.sync()
        for change in changes:
            change(settings)
        settings.sync()
    return _all_of(settings)


def _all_of(settings: QSettings) -> dict[str, Any]:
    return {key: settings.value(key) for key in settings.allKeys()}


@contextlib.contextmanager
def _kept_from_others(file: str) -> Iterator[None]:
    """Let no other window store anything meanwhile. A folder that cannot be locked is written as it is."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(kept_files.locked(Path(file)))
        yield


class KeptValues:
    """The values of a `file`: `stored` by their names, as they were last read and as they were set since."""

    def __init__(self) -> None:
        WRITER.flush()
        settings = QSettings("raygrove", "raygrove")
        self.file, self.stored = settings.fileName(), _all_of(settings)

    def value(self, key: str, default: Any = None) -> Any:
        """What was kept under a name, else `default`."""
        return self.stored.get(key, default)

    def set(self, key: str, value: Any) -> None:
        """Keep a value."""
        self.change(key, lambda stored: value)

    def change(self, key: str, changed: Callable[[Any], Any]) -> None:
        """Keep what `changed` makes of a value, None where there is none; in the file of the one that another window
        may have stored there meanwhile."""
        with WRITER.changed:
            self.stored[key] = changed(self.stored.get(key))
            WRITER.do(self, lambda settings: settings.setValue(key, changed(settings.value(key))))

    def remove(self, key: str) -> None:
        """Keep nothing under a name any more."""
        with WRITER.changed:
            self.stored.pop(key, None)
            WRITER.do(self, lambda settings: settings.remove(key))

    def flush(self) -> None:
        """Wait until everything is on the disk."""
        WRITER.flush()

"""What the window remembers from one start to the next: its place, its docks, the files opened last."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QMargins, QSize
from PySide6.QtWidgets import QMainWindow

from raygrove.app.settings.workspaces import FIRST
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.session.kept_values import KeptValues

MOST_RECENT = 10
LAYOUT_VERSION = 2


class Memory:
    """Kept values with the words of this program. One that is not what it should be counts as absent. `began` is what
    the settings began with when the program did, for windows that follow each other in it."""

    def __init__(self, began: dict[str, str] | None = None) -> None:
        self._values = KeptValues()
        self._began = {} if began is None else began

    def flush(self) -> None:
        """Wait until everything is on the disk."""
        self._values.flush()

    def recent(self) -> list[str]:
        """The files and sequences opened last, newest first, as texts of recent_files.py; those that are gone are left
        out."""
        return _there(self._values.value("recent"))[:MOST_RECENT]

    def add_recent(self, paths: Sequence[str]) -> None:
        """Remember the files of a scene that was opened."""
        newest = recent_files.entry_of(paths)

        def changed(stored: Any) -> list[str]:
            return [newest, *(path for path in _there(stored) if path != newest)][:MOST_RECENT]

        self._values.change("recent", changed)

    def clear_recent(self) -> None:
        """Forget the files."""
        self._values.set("recent", [])

    def folder(self) -> str:
        """Where files were opened last: that folder, or the nearest one above it that is still there and can be listed;
        "" where the program was started, and the home where nobody can look there."""
        stored = self._values.value("folder", "")
        place = Path(stored) if isinstance(stored, str) and stored else None
        for folder in (place, *place.parents[:-1]) if place is not None else ():
            if _can_be_listed(folder):
                return str(folder)
        return "" if _can_be_listed(Path()) else str(Path.home())

    def set_folder(self, path: str) -> None:
        """Remember the folder of a file, unless nobody can look for others there."""
        folder = Path(os.path.abspath(path)).parent
        if _can_be_listed(folder):
            self._values.set("folder", str(folder))

    def chosen(self, name: str, first: str) -> str:
        """What was chosen in the window for a setting that is remembered, where the settings began as they do now, with
        `first`; else an empty text: what the settings say has changed since then, and is the later word."""
        stored, first = self._values.value(name, []), self._began.setdefault(name, first)
        return stored[1] if isinstance(stored, list) and len(stored) == 2 and stored[0] == first else ""

    def keep_chosen(self, name: str, value: str, first: str) -> None:
        """Remember what was chosen where the settings began with `first`."""
        self._values.set(name, [self._began.get(name, first), value])

    def is_presenter(self, first: bool) -> bool:
        """Whether everything is to be larger."""
        chosen = self.chosen("presenter", str(first))
        return chosen == str(True) if chosen else first

    def keep_presenter(self, is_larger: bool, first: bool) -> None:
        """Remember that."""
        self.keep_chosen("presenter", str(is_larger), str(first))

    def took_tour(self) -> bool:
        """Whether the tour was taken to its last step."""
        return self._values.value("tour", "") == "taken"

    def keep_tour(self) -> None:
        """Remember that."""
        self._values.set("tour", "taken")

    def is_silenced(self, topic: str) -> bool:
        """Whether the user does not want to read about this again."""
        return topic in _listed(self._values.value("silenced"))

    def silence(self, topic: str) -> None:
        """Do not tell the user about this again."""
        self._values.change("silenced", lambda stored: [*_listed(stored), topic])

    def hear_all(self) -> None:
        """Tell the user everything again."""
        self._values.remove("silenced")

    def save_window(self, window: QMainWindow, workspace: str) -> None:
        """Remember where a window and its docks are."""
        self._values.set("geometry", window.saveGeometry())
        self.save_docks(window, workspace)

    def save_docks(self, window: QMainWindow, workspace: str) -> None:
        """Remember where the docks are in a workspace."""
        self._values.set(_docks_of(workspace), window.saveState(LAYOUT_VERSION))

    def restore_window(self, window: QMainWindow) -> None:
        """Put a window where it was; nothing where that is not known."""
        stored = self._values.value("geometry")
        if isinstance(stored, QByteArray):
            window.restoreGeometry(stored)

    def lines(self) -> tuple[int, int] | None:
        """How high the menu bar and the status bar were; None where nobody knows."""
        numbers = _numbers(self._values.value("lines"), 2)
        return (numbers[0], numbers[1]) if numbers else None

    def keep_lines(self, menus: int, status: int) -> None:
        """Remember that."""
        self._values.set("lines", [menus, status])

    def around_picture(self, size: QSize) -> QMargins | None:
        """What was around the picture in a window of this size between its menus and its status bar; None where nobody
        knows."""
        numbers = _numbers(self._values.value("around"), 6)
        return QMargins(*numbers[2:]) if numbers[:2] == [size.width(), size.height()] else None

    def keep_around_picture(self, size: QSize, around: QMargins) -> None:
        """Remember that."""
        sides = around.left(), around.top(), around.right(), around.bottom()
        self._values.set("around", [size.width(), size.height(), *sides])

    def restore_docks(self, window: QMainWindow, workspace: str) -> bool:
        """Put the docks where they were in a workspace; whether that is known."""
        stored = self._values.value(_docks_of(workspace))
        return isinstance(stored, QByteArray) and window.restoreState(stored, LAYOUT_VERSION)

    def forget_docks(self, workspace: str) -> None:
        """Forget where the docks were in a workspace."""
        self._values.remove(_docks_of(workspace))
        if workspace == FIRST:
            self._values.remove("large")

    def opened_in_large(self) -> list[str] | None:
        """The panels that stand there because the window is large; None: it has not been large yet."""
        stored = self._values.value("large")
        return None if stored is None else [name for name in str(stored).split(",") if name]

    def keep_opened_in_large(self, names: Sequence[str]) -> None:
        """Remember these."""
        self._values.set("large", ",".join(names))


def _can_be_listed(folder: Path) -> bool:
    """Whether a dialog can show what is in a folder. What a shell hands over by /dev/fd lies among the open files of a
    process, which change with each look."""
    try:
        real = folder.resolve(strict=True)
    except OSError:
        return False
    return os.access(real, os.R_OK | os.X_OK) and real.is_dir() and not real.is_relative_to("/proc")


def _listed(stored: Any) -> list[Any]:
    """A list as it was stored: QSettings reads one of a single text as that text."""
    return stored if isinstance(stored, list) else [] if stored is None else [stored]


def _numbers(stored: Any, count: int) -> list[int]:
    """So many numbers of pixels as they were stored, which may be texts by now; none where they are anything else."""
    texts = [str(one) for one in _listed(stored)]
    is_known = len(texts) == count and all(text.isdecimal() and len(text) < 6 for text in texts)
    return [int(text) for text in texts] if is_known else []


def _there(stored: Any) -> list[str]:
    """Of stored texts of recent_files.py those whose files are there."""
    return [path for path in _listed(stored) if isinstance(path, str) and recent_files.is_there(path)]


def _docks_of(workspace: str) -> str:
    return "docks" if workspace == FIRST else f"docks.{workspace}"  # as it was called before there were others

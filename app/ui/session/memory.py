"""What the window remembers from one start to the next: its place, its docks, the files opened last."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings
from PySide6.QtWidgets import QMainWindow

from raygrove.app.settings import kept_files
from raygrove.app.ui.session import recent_files

MOST_RECENT = 10
LAYOUT_VERSION = 1


class Memory:
    """QSettings with the words of this program. A value that is not what it should be counts as absent."""

    def __init__(self) -> None:
        self._settings = QSettings("raygrove", "raygrove")

    def recent(self) -> list[str]:
        """The files and sequences opened last, newest first, as texts of recent_files.py; those that are gone are left
        out."""
        stored = self._settings.value("recent", [])
        paths = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return [path for path in paths if isinstance(path, str) and recent_files.is_there(path)][:MOST_RECENT]

    def add_recent(self, paths: Sequence[str]) -> None:
        """Remember the files of a scene that was opened."""
        newest = recent_files.entry_of(paths)
        with self._kept_from_others():
            others = [path for path in self.recent() if path != newest]
            self._settings.setValue("recent", [newest, *others][:MOST_RECENT])

    @contextlib.contextmanager
    def _kept_from_others(self) -> Iterator[None]:
        """Read what another window has stored meanwhile, and store before it can again. A folder that cannot be
        locked is written as it is: what is remembered is a convenience."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                stack.enter_context(kept_files.locked(Path(self._settings.fileName())))
            self._settings.sync()
            yield
            self._settings.sync()

    def clear_recent(self) -> None:
        """Forget the files."""
        self._settings.setValue("recent", [])

    def folder(self) -> str:
        """Where files were opened last."""
        stored = self._settings.value("folder", "")
        return stored if isinstance(stored, str) and os.path.isdir(stored) else ""

    def set_folder(self, path: str) -> None:
        """Remember the folder of a file."""
        self._settings.setValue("folder", os.path.dirname(os.path.abspath(path)))

    def theme(self, first: str) -> str:
        """The theme that was chosen in the window, where the settings began as they do now, with `first`; else an empty
        text: what the settings say has changed since then, and is the later word."""
        stored = self._settings.value("theme", [])
        return stored[1] if isinstance(stored, list) and len(stored) == 2 and stored[0] == first else ""

    def keep_theme(self, theme: str, first: str) -> None:
        """Remember a theme that was chosen where the settings began with `first`."""
        self._settings.setValue("theme", [first, theme])

    def is_presenter(self, first: bool) -> bool:
        """Whether everything is to be larger: what was chosen in the window, where the settings began as they do now,
        with `first`; else what they say."""
        stored = self._settings.value("presenter", [])
        if isinstance(stored, list) and len(stored) == 2 and stored[0] == str(first):
            return bool(stored[1] == str(True))
        return first

    def keep_presenter(self, is_larger: bool, first: bool) -> None:
        """Remember that."""
        self._settings.setValue("presenter", [str(first), str(is_larger)])

    def took_tour(self) -> bool:
        """Whether the tour was taken to its last step."""
        return self._settings.value("tour", "") == "taken"

    def keep_tour(self) -> None:
        """Remember that."""
        self._settings.setValue("tour", "taken")

    def is_silenced(self, topic: str) -> bool:
        """Whether the user does not want to read about this again."""
        stored = self._settings.value("silenced", [])
        return topic in (stored if isinstance(stored, list) else [stored])

    def silence(self, topic: str) -> None:
        """Do not tell the user about this again."""
        with self._kept_from_others():
            stored = self._settings.value("silenced", [])
            self._settings.setValue("silenced", [*(stored if isinstance(stored, list) else [stored]), topic])

    def hear_all(self) -> None:
        """Tell the user everything again."""
        self._settings.remove("silenced")

    def save_window(self, window: QMainWindow) -> None:
        """Remember where a window and its docks are."""
        self._settings.setValue("geometry", window.saveGeometry())
        self._settings.setValue("docks", window.saveState(LAYOUT_VERSION))

    def restore_window(self, window: QMainWindow) -> None:
        """Put a window and its docks where they were; nothing where that is not known."""
        for name, restore in (
            ("geometry", window.restoreGeometry),
            ("docks", lambda state: window.restoreState(state, LAYOUT_VERSION)),
        ):
            stored = self._settings.value(name)
            if isinstance(stored, QByteArray):
                restore(stored)

    def forget_window(self) -> None:
        """Forget where the docks were."""
        self._settings.remove("docks")

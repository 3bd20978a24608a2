"""Preview pictures of the built-in scenes: those that come with the program until the engine has drawn them here, in
processes of their own, one after another, which also compiles what the scenes need. Kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QProcess, Signal
from PySide6.QtGui import QPixmap
from shiboken6 import isValid

from raygrove.program import COMMAND

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "assets" / "previews"
SIZE = (360, 192)
TIMES = {"explode": 0.9, "walker": 1.0, "orbit": 0.5, "metal": 0.5, "glass": 0.5, "cloth": 1.0}
RECURSIVE = ("metal", "glass")
"""Scenes that only recursive rays show as they are meant."""


def cache_folder() -> Path:
    """Where previews are kept."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("raygrove", appauthor=False)) / "previews"


SOURCES = (("app/scene_io/demos", "*.py"), ("gpu/shade", "*.*"))
"""The files that previews are made by."""


def preview_key() -> str:
    """Changes with the code that makes and draws the scenes, so that an old preview is not taken for a new one."""
    digest = hashlib.sha256(repr(SIZE).encode())
    for folder, pattern in SOURCES:
        for path in sorted((ROOT / folder).glob(pattern)):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def drawing_of(name: str) -> list[str]:
    """The arguments of `render` that draw a scene's preview, but for where it goes."""
    size, ray_type = f"{SIZE[0]}x{SIZE[1]}", "whitted" if name in RECURSIVE else "smooth"
    drawn = ["render", "--demo", name, "--device", "cpu", "--size", size, "--samples", "4"]
    return [*drawn, "--time", str(TIMES.get(name, 0.0)), "--ray-type", ray_type, "--quiet"]


class Previews(QObject):
    """`ready` carries a scene's name and its picture; what cannot be drawn is left out."""

    ready = Signal(str, QPixmap)

    def __init__(self, folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._key = ""
        self._waiting: list[str] = []
        self._process: QProcess | None = None
        self._ending: list[QProcess] = []
        self._drawn = ("", Path())
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self._end)

    def ask(self, names: Iterable[str]) -> None:
        """Give the previews that are kept, or else come with the program, at once, and draw those that are not kept."""
        self._folder = self._folder or cache_folder()
        self._key = self._key or preview_key()
        for name in names:
            kept, shipped = self.path_of(name), SHIPPED / f"{name}.png"
            pixmap = QPixmap(str(kept)) if kept.exists() else QPixmap()
            if pixmap.isNull() and name not in self._waiting:
                self._waiting.append(name)
            if pixmap.isNull() and shipped.exists():
                pixmap = QPixmap(str(shipped))
            if not pixmap.isNull():
                self.ready.emit(name, pixmap)
        self._next()

    def stop(self) -> None:
        """Draw no more: the page is left."""
        self._waiting.clear()
        process, self._process = self._process, None
        if process is not None:
            # Its end is not waited for: that takes longer than a window may stand still.
            process.finished.disconnect()
            partial = self._drawn[1]
            process.finished.connect(lambda *_: self._forget(process, partial))
            self._ending.append(process)
            process.kill()

    def _end(self) -> None:
        """The program ends, and its processes before it."""
        self.stop()
        for process in list(self._ending):
            if isValid(process):
                process.waitForFinished(1000)

    def _forget(self, process: QProcess, partial: Path) -> None:
        partial.unlink(missing_ok=True)  # it may have been written until the process had ended
        self._ending = [one for one in self._ending if one is not process]
        if isValid(process):  # at the program's end the window may have taken it along
            process.deleteLater()

    def path_of(self, name: str) -> Path:
        """Where a preview is kept."""
        assert self._folder is not None
        return self._folder / f"{name}-{self._key}.png"

    def _next(self) -> None:
        if self._process is not None or not self._waiting:
            return
        name = self._waiting.pop(0)
        path = self.path_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{name}-{os.getpid()}.png")
        process = QProcess(self)
        process.finished.connect(self._finished)
        self._process, self._drawn = process, (name, partial)
        process.start(COMMAND[0], [*COMMAND[1:], *drawing_of(name), "--out", str(partial)])

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        (name, partial), process, self._process = self._drawn, self._process, None
        if process is not None:
            process.deleteLater()
        if code == 0 and partial.exists():
            os.replace(partial, self.path_of(name))
            pixmap = QPixmap(str(self.path_of(name)))
            if not pixmap.isNull():
                self.ready.emit(name, pixmap)
        self._next()

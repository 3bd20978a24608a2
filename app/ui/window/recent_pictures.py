"""Small pictures of the files that were opened last, for the first page. Each is what the window showed of the scene
some moments after it was opened; they are kept in the user's cache, in a folder that nobody else can read, and
forgotten with the list."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QImage, QPixmap

from raygrove.app.document.state import SceneReference
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.window.previews import cache_folder

SIZE = QSize(64, 36)
RATIO = 2
"""Pixels of the kept pictures for each of the page's."""

DELAY_MS = 1500


class RecentPictures(QObject):
    """See the module. `picture` gives what the window shows."""

    def __init__(self, session: Session, picture: Callable[[], QImage | None], parent: QObject) -> None:
        super().__init__(parent)
        self._document, self._memory, self._picture = session.document, session.memory, picture
        self._folder: Path | None = None
        self._heard: SceneReference | None = None
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._keep)
        session.loop.frame_arrived.connect(self._hear)

    @property
    def folder(self) -> Path:
        """Where they are kept."""
        self._folder = self._folder or cache_folder().parent / "recent"
        return self._folder

    def path_of(self, entry: str) -> Path:
        """Where the picture of an entry of the list is kept."""
        return self.folder / f"{hashlib.sha256(os.fsencode(entry)).hexdigest()[:32]}.png"

    def of(self, entry: str) -> QPixmap:
        """The picture of an entry; an empty one where there is none."""
        path = self.path_of(entry)
        return QPixmap(str(path)) if path.is_file() else QPixmap()

    def forget(self) -> None:
        """Remove all of them."""
        for path in self.folder.glob("*.png"):
            path.unlink(missing_ok=True)

    def _hear(self, frame: FinishedFrame) -> None:
        reference = self._document.state.scene
        if reference.kind == "files" and frame.request.scene is self._document.scene and reference != self._heard:
            self._heard = reference
            self._timer.start()

    def _keep(self) -> None:
        """Keep what is seen now, and of the others those that are still in the list."""
        image, reference = self._picture(), self._document.state.scene
        if image is None or image.isNull() or reference != self._heard:
            return
        path = self.path_of(recent_files.entry_of(reference.names))
        partial = path.with_name(f".{path.stem}-{os.getpid()}.png")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if small(image).save(str(partial)):
                os.replace(partial, path)
            known = {path, *map(self.path_of, self._memory.recent())}
            for other in self.folder.glob("*.png"):
                if other not in known and not other.name.startswith("."):
                    other.unlink(missing_ok=True)
        except OSError:  # a convenience: the row has an empty plate
            partial.unlink(missing_ok=True)


def small(image: QImage) -> QImage:
    """The middle of a picture, of the size that is kept."""
    size = SIZE * RATIO
    wide = image.scaled(size, Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation)
    area = QRect((wide.width() - size.width()) // 2, (wide.height() - size.height()) // 2, size.width(), size.height())
    return wide.copy(area).convertToFormat(QImage.Format.Format_RGB32)

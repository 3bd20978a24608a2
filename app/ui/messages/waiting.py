"""What the render thread prepares, as a strip with Cancel: shown once it has taken a while, and only where no job has
the strip."""

from __future__ import annotations

import re

from PySide6.QtCore import QObject, QTimer, Signal

from raygrove.app.ui.session.session import Session

PATIENCE_MS = 300
COUNTED = re.compile(r": ([\d,]+) of ([\d,]+)$")
"""How far it is, where a sentence ends so."""


class Waiting(QObject):
    """Follows what the frame loop of a session says that it prepares: a structure whose kernels are compiled, a scene,
    a target. The old picture stays meanwhile; another choice, or Cancel, ends the compiler. `changed`: the strip is to
    be shown, or no more."""

    changed = Signal()

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.sentence = ""
        self._timer = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._timer.timeout.connect(self.changed)

    @property
    def is_long(self) -> bool:
        """Whether something has been prepared for long enough that it should be said."""
        return bool(self.sentence) and not self._timer.isActive()

    @property
    def fraction(self) -> float | None:
        """How far it is, from 0 to 1; None where the sentence does not say."""
        found = COUNTED.search(self.sentence)
        done, of = (int(number.replace(",", "")) for number in found.groups()) if found else (0, 0)
        return min(done / of, 1.0) if of > 0 else None

    def hear(self, sentence: str) -> None:
        """Something is being prepared; an empty sentence: no more."""
        was_silent, self.sentence = not self.sentence, sentence
        if sentence and was_silent:
            self._timer.start()
        elif sentence and self.is_long:
            self.changed.emit()  # how far it is
        elif not sentence:
            self._timer.stop()
            self.changed.emit()

    def go_back(self) -> None:
        """Take back the choice that is being prepared: to the settings of the picture that is shown, or to no scene
        where there is none."""
        document, frame = self._session.document, self._session.loop.last_frame
        if not self.is_long or document.scene is None:
            return
        if frame is None or frame.request.scene is not document.scene:
            document.close_scene()
        else:
            document.change("settings", frame.request.state.settings)
        document.end_merge()

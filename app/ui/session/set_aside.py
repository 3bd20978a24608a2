"""Sets the state aside while the program runs, with the window's panels, and opens what a crash has left of the last
one."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from raygrove.app.document import saved_state
from raygrove.app.document.state import State
from raygrove.app.ui.session.notices import Way
from raygrove.app.ui.session.session import Session
from raygrove.app.user_files import running_state

INTERVAL_MS = 4000
MOST_ATTEMPTS = 1
"""How often a state is opened by itself: one that ended the program twice is only offered."""


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("SetAside", text)


class SetAside(QObject):
    """See the module; `keep_layout` remembers where panels are. Texts are made and written beside the window's thread:
    the first need the options of all structures, and nobody waits for a disk."""

    def __init__(self, session: Session, parent: QObject, keep_layout: Callable[[], None] = lambda: None) -> None:
        super().__init__(parent)
        self._session, self._keep_layout = session, keep_layout
        self._saved: State | None = None
        self._attempts = 0
        self._writer: threading.Thread | None = None
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.save)
        self._timer.start()

    def save(self) -> None:
        """Set aside what is open now, if it is another than before."""
        state = self._session.document.state
        if self._session.document.scene is None or state.scene.kind == "none":
            return
        self._keep_layout()
        if state is self._saved or (self._writer is not None and self._writer.is_alive()):
            return
        self._saved = state
        self._writer = threading.Thread(target=self._write, args=(state, self._attempts), name="set aside", daemon=True)
        self._writer.start()

    def _write(self, state: State, attempts: int) -> None:
        try:
            running_state.save(saved_state.texts_of(state), attempts)
        except (OSError, ValueError):  # a disk that is full is said where someone saves
            return

    def open_left(self) -> bool:
        """Open what a program left that ended without closing, and say so; where it has done so twice, offer it.
        Whether it is being opened."""
        found = running_state.left()
        if found is None:
            return False
        running_state.forget(found)
        if found.attempts > MOST_ATTEMPTS:
            way = Way("open_left", tr("Open it"), lambda: self._open(found))
            sentence = tr("Raygrove has ended twice without closing, with the same scene. It was not opened again.")
            self._session.notices.show("warning", sentence, topic="left", ways=(way,))
            return False
        self._open(found)
        drop = Way("drop_left", tr("Close the scene"), self._drop)
        sentence = tr("Raygrove has ended without closing. What was open then is opened again.")
        self._session.notices.show("information", sentence, topic="left", ways=(drop,))
        return True

    def _open(self, found: running_state.LeftState) -> None:
        self._attempts = found.attempts + 1
        self._session.document.open_saved(found.texts, tr("the last scene"))

    def _drop(self) -> None:
        document = self._session.document
        for job in list(document.jobs):
            document.cancel(job)
        document.close_scene()
        self._session.notices.clear("left")

    def end(self) -> None:
        """The program ends as it should."""
        self._timer.stop()
        if self._writer is not None:
            self._writer.join()
        running_state.remove()

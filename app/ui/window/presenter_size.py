"""Presenter size: everything in the window 1.5 times as large, pictures as sharp as the screen.

Qt scales a whole program at its start alone, so that it takes effect at the next one. What was chosen in the window is
remembered as the theme is.
"""

from __future__ import annotations

import os

from PySide6.QtCore import QObject

from raygrove.app.document.state import State
from raygrove.app.ui.session.session import Session

PRESENTER_KEY = "settings.window.presenter"
VARIABLE, FACTOR = "QT_SCALE_FACTOR", 1.5


def presenter_size(is_larger: bool) -> None:
    """Scale what Qt is going to show, on top of what the user's environment says. Before Qt starts."""
    if not is_larger:
        return
    try:
        before = float(os.environ.get(VARIABLE, "1"))
    except ValueError:  # Qt takes no heed of it, either
        before = 1.0
    os.environ[VARIABLE] = f"{FACTOR * before:g}"


class PresenterSize(QObject):
    """Remembers the choice of a session whose settings began with `first`, and says when it counts."""

    def __init__(self, session: Session, first: bool, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._first = session, first
        session.document.observe(self._changed)

    def _changed(self, before: State, after: State) -> None:
        if before.settings.window.presenter == after.settings.window.presenter:
            return
        self._session.memory.keep_presenter(after.settings.window.presenter, self._first)
        sentence = self.tr("The presenter size takes effect at the next start.")
        self._session.notices.show("information", sentence, topic="presenter")

"""What is being drawn, or prepared beside it, in the status bar."""

from __future__ import annotations

from PySide6.QtCore import QTimer

from raygrove.app.ui.plain_text import Label

DELAY_MS = 150
"""What is over sooner is not said: nobody could read it, and each text lays out and paints the status bar while the
picture is waited for."""


class BusyLabel(Label):
    """Shows a sentence that stands for a while, and what follows it, until an empty one takes it back."""

    def __init__(self) -> None:
        super().__init__()
        self._next = ""
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(lambda: self.setText(self._next))

    def say(self, sentence: str) -> None:
        """Show this from now on."""
        self._next = sentence
        if not sentence:
            self._timer.stop()
        if not sentence or self.text():
            if self.text() != sentence:
                self.setText(sentence)
        elif not self._timer.isActive():
            self._timer.start()

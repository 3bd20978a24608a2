"""What runs in the background, on the strip over the picture: the newest job, or what the render thread prepares and a
picture waits for; its Cancel ends both. What nobody waits for, and what finds the strip taken, is for the status bar:
each sentence stands in one place."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from raygrove.app.frames.switching import OPTIMIZING
from raygrove.app.ui.messages.banner import ProgressStrip
from raygrove.app.ui.messages.waiting import Waiting
from raygrove.app.ui.session.session import Session

INTERVAL_MS = 100


class Running(QObject):
    """See the module. `strip` is to be laid on the picture; `has_ended`: nothing runs any more; `beside` carries what
    the status bar is to say, an empty sentence: nothing more."""

    has_ended = Signal()
    beside = Signal(str)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._document, self._last = session.document, ""
        self.strip, self.waiting = ProgressStrip(), Waiting(session, self)
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.show)
        self.strip.cancelled.connect(self.cancel)
        self.waiting.changed.connect(self.show)
        session.loop.busy.connect(self.hear)
        session.document.on_jobs.append(self.show)

    def hear(self, sentence: str) -> None:
        """What the render thread prepares now; an empty sentence: nothing more. Of kernels that are optimized beside
        what is waited for it ends nothing else."""
        is_waited_for = not (sentence or self._last).startswith(OPTIMIZING)
        self._last = sentence
        if is_waited_for:
            self.waiting.hear(sentence)
        self.beside.emit("" if is_waited_for and not self._document.jobs else sentence)

    def show(self) -> None:
        """Show how far it is."""
        jobs = self._document.jobs
        if not jobs:
            self._timer.stop()
            if self.waiting.is_long:
                self.strip.show_progress(self.waiting.sentence, self.waiting.fraction)
                self.beside.emit("")  # where it may have stood while a job had the strip
            else:
                self.strip.hide()
            self.has_ended.emit()
            return
        job = jobs[-1]
        self.strip.show_progress(f"{job.title} {job.message}".strip(), job.progress)
        if not self._timer.isActive():
            self._timer.start()

    def cancel(self) -> None:
        """End all that runs."""
        if not self._document.jobs:
            self.waiting.go_back()
        for job in list(self._document.jobs):
            self._document.cancel(job)
        self.strip.hide()

    def stop(self) -> None:
        """End all that runs, and show nothing more."""
        self._timer.stop()
        self.cancel()

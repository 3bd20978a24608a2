"""What runs in the background, on the strip over the picture: the newest job, or what the render thread prepares; its
Cancel ends both."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from raygrove.app.ui.messages.banner import ProgressStrip
from raygrove.app.ui.messages.waiting import Waiting
from raygrove.app.ui.session.session import Session

INTERVAL_MS = 100


class Running(QObject):
    """See the module. `strip` is to be laid on the picture; `has_ended`: nothing runs any more."""

    has_ended = Signal()

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._document = session.document
        self.strip, self.waiting = ProgressStrip(), Waiting(session, self)
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.show)
        self.strip.cancelled.connect(self.cancel)
        self.waiting.changed.connect(self.show)
        session.loop.busy.connect(self.waiting.hear)
        session.document.on_jobs.append(self.show)

    def show(self) -> None:
        """Show how far it is."""
        jobs = self._document.jobs
        if not jobs:
            self._timer.stop()
            if self.waiting.is_long:
                self.strip.show_progress(self.waiting.sentence, None)
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

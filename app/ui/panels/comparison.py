"""How the SAH cost of the structure stands to that of binned SAH, where someone asks: a job builds that once at the
instant of the newest figures, beside the pictures."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.ui.panels.stats_panel import StatsPanel
from raygrove.app.ui.session.session import Session
from raygrove.gpu.brief import percent

if TYPE_CHECKING:
    from raygrove.app.frames.reference_cost import Comparison


def tr(text: str) -> str:
    """A text in the user's language."""
    return QCoreApplication.translate("Comparison", text)


class Comparer(QObject):
    """See the module. Shows what it finds in the statistics, until the structure is another one."""

    def __init__(self, session: Session, panel: StatsPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._panel = session, panel
        self._job: Job | None = None
        panel.compare_wanted.connect(self.compare)
        session.document.observe(self._changed)

    def compare(self) -> None:
        """Build the reference at the instant of the figures, in the background."""
        document, figures = self._session.document, self._session.figures
        sample, scene = figures.pinned or figures.history.newest, document.scene
        structure = sample.view.structure if sample is not None and sample.view is not None else None
        if sample is None or structure is None or scene is None or structure.sah_cost is None:
            sentence = tr("There is no SAH cost to compare: this structure has none, or it is not known yet.")
            self._session.notices.tell(sentence)
            return
        if self._job is not None and self._job in document.jobs:
            document.cancel(self._job)
        from raygrove.app.frames.reference_cost import Comparison, reference_cost  # with an engine of its own

        cost, state = structure.sah_cost, document.state
        time = structure.measured_time if structure.measured_time is not None else sample.frame.request.moment.time

        def finished(job: Job) -> None:
            if job is self._job:
                self._show(Comparison(cost, job.result, time))

        title = tr("Building binned SAH to compare with")
        self._job = document.start_job(title, lambda job: reference_cost(job, state, scene, time), finished)

    def _show(self, found: Comparison) -> None:
        self._panel.compare(sentence_of(found), details_of(found))
        self._session.notices.tell(f"{tr('SAH cost')}: {sentence_of(found)}")

    def _changed(self, before: State, after: State) -> None:
        if _structure_of(before) != _structure_of(after):
            self._job = None  # what is being found out is of another structure
            if self._panel.compared != ("", ""):
                self._panel.compare("")


def sentence_of(found: Comparison) -> str:
    """How a cost stands to the reference's: "12 % above binned SAH"."""
    share = percent(abs(found.share))
    if share == percent(0.0):
        return tr("as binned SAH")
    text = tr("{share} above binned SAH") if found.share > 0.0 else tr("{share} below binned SAH")
    return text.format(share=share)


def details_of(found: Comparison) -> str:
    """Both costs, and the instant that they are of."""
    text = tr("At {time:.3f} s the structure has an SAH cost of {cost:.2f}, binned SAH one of {reference:.2f}.")
    return text.format(**dataclasses.asdict(found))


def _structure_of(state: State) -> object:
    """What the structure depends on, apart from the instant."""
    settings = state.settings
    render = (settings.render.hierarchy, settings.render.optimiser, settings.render.layout)
    return (state.scene, state.hidden, render, settings.hierarchy, settings.optimiser, settings.statistics, state.views)

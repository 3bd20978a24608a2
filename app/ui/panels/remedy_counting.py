"""What the remedies of findings save, counted by itself: one after the other once a picture was counted and stands,
while the panel is seen and nothing plays, is dragged or is made beside it. The next picture that is asked for ends the
one that is being built, which is begun anew when the findings are still of the picture that stands; it waits where the
rays are being counted by then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from raygrove.app.frames.frame_requests import drawn_alike
from raygrove.app.ui.panels.finding_card import FindingCard
from raygrove.app.ui.panels.hot_panel import HotPanel
from raygrove.app.ui.session.session import Session

if TYPE_CHECKING:
    from raygrove.gpu.analysis.hot_findings import HotFinding

WAIT_MS = 200
"""From the findings to the first remedy, and from one to the next: whoever drags meanwhile has waited for none."""


class RemedyCounting(QObject):
    """See the module."""

    def __init__(self, session: Session, panel: HotPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._panel = session, panel
        self._is_asked = False
        self._timer = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._timer.timeout.connect(self._count)
        panel.findings_shown.connect(self._timer.start)
        panel.seen.connect(lambda is_seen: self._timer.start() if is_seen else self._timer.stop())

    def _next(self) -> FindingCard | None:
        """The first remedy of the picture that stands that is still to be counted."""
        cards = self._panel.cards if self._panel.isVisible() and not self._panel.is_old else []
        return next((card for card in cards if card.is_open), None)

    @property
    def _is_free(self) -> bool:
        """Whether a picture stands, and nobody waits for another."""
        loop, document = self._session.loop, self._session.document
        frame = loop.last_frame
        if self._is_asked or frame is None or document.jobs or loop.is_dragging:
            return False
        request, state = frame.request, document.state
        is_of_now = loop.shows_scene and drawn_alike(request.state.settings, state.settings)
        return is_of_now and not (request.is_moving or state.timeline.is_playing or state.settings.update.always)

    def _count(self) -> None:
        card, found = self._next(), self._panel.found
        if card is None or found is None:
            return
        if not self._is_free:
            self._timer.start()
            return
        finding = card.finding
        card.show_building()
        self._is_asked = True
        self._session.loop.ask(
            "remedy", lambda maker: maker.gain_of(found, finding), lambda after: self._take(finding, after)
        )

    def _take(self, before: HotFinding, after: HotFinding | str | None) -> None:
        self._is_asked = False
        self._panel.take_gain(before, after)
        self._timer.start()

"""Hot spots that follow the pictures: while the panel is seen and *Live* is on, a picture that arrives is counted as
soon as the share of the time that counting may take allows it. Hidden or off, nothing is counted or kept."""

from __future__ import annotations

import collections
import dataclasses
import functools
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.settings.hot_options import HotOptions
from raygrove.app.settings.settings import WindowOptions
from raygrove.app.ui.panels.hot_panel import HotPanel
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.steady import INTERVAL_S
from raygrove.gpu.brief import brief, percent
from raygrove.gpu.scene import Scene

if TYPE_CHECKING:
    from raygrove.app.frames.live_hot_spots import LiveList

LIVE = "settings.hot_spots.live"
WINDOW_S = 2.0
"""What it costs is said of so many seconds."""


def pause_s(ms: float, share: float) -> float:
    """Seconds from the end of a count to the next one's beginning, so that counting takes this share of the time at
    most; lists that change more often than INTERVAL_S cannot be read."""
    return max(INTERVAL_S - ms / 1000.0, ms / 1000.0 * (1.0 / share - 1.0), 0.0)


def picture_of(frame: FinishedFrame) -> object:
    """What the counts of a picture follow from: more samples of the same one tell nothing new."""
    request, settings = frame.request, frame.request.state.settings
    seen = dataclasses.replace(settings, hot_spots=HotOptions(), window=WindowOptions())
    state, moment = request.state, request.moment
    return (id(request.scene), seen, state.views, state.hidden, moment.time, moment.clip, frame.drawn)


class LiveCounting(QObject):
    """See the module."""

    def __init__(self, session: Session, panel: HotPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._panel = session, panel
        self._counted: object = None
        self._asked: object = None
        self._is_due, self._is_kept = False, False
        self._not_before = 0.0
        self._taken: collections.deque[tuple[float, float]] = collections.deque()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._count)
        panel.live_wanted.connect(lambda is_on: session.document.change(LIVE, is_on))
        panel.asked_anew.connect(self._ask_anew)
        panel.seen.connect(lambda is_seen: self._ask_anew() if is_seen else self._end())
        session.loop.frame_arrived.connect(self._take_frame)
        session.document.observe(self._changed)
        session.document.on_scene.append(self._open)
        panel.show_live(self._is_on)

    @property
    def _is_on(self) -> bool:
        return self._session.document.state.settings.hot_spots.live

    @property
    def is_counting(self) -> bool:
        """Whether pictures that arrive are counted."""
        return self._is_on and self._panel.isVisible() and self._session.document.scene is not None

    def _take_frame(self, frame: FinishedFrame) -> None:
        if self.is_counting and picture_of(frame) != self._counted:
            self._is_due = True
            self._plan()

    def _plan(self) -> None:
        if self._is_due and self._asked is None and not self._timer.isActive():
            self._timer.start(max(0, round((self._not_before - time.monotonic()) * 1000.0)))

    def _ask_anew(self) -> None:
        """Other rays or lines are wanted, or the panel is seen again: also of a picture that was counted."""
        self._counted = None
        if self.is_counting and self._session.loop.shows_scene:
            self._is_due = True
            self._plan()

    def _count(self) -> None:
        frame = self._session.loop.last_frame
        if not self.is_counting or frame is None:
            return
        self._is_due, self._is_kept, self._counted, self._asked = False, True, picture_of(frame), (token := object())
        rays, kind, by = *self._panel.asked, self._panel.listed
        take = functools.partial(self._take, token)
        self._session.loop.ask("hot_spots", lambda maker: maker.live_hot_spots(rays, kind, by), take)

    def _take(self, token: object, found: LiveList | str | None) -> None:
        if token is not self._asked:
            return  # it was ended meanwhile
        self._asked = None
        if found is None or isinstance(found, str):
            self._not_before = time.monotonic() + INTERVAL_S
            self._panel.take_live(found, "")
        elif found.list.by == self._panel.listed:
            now, share = time.monotonic(), self._session.document.state.settings.hot_spots.share
            self._not_before = now + pause_s(found.ms, share)
            self._taken.append((now, found.ms))
            said = (self._said(now, found.ms, share), self._said_of_nodes(found.list.by))
            self._panel.take_live(found.list, "\n".join(filter(None, said)))
        self._plan()

    def _said(self, now: float, ms: float, most: float) -> str:
        """What counting costs, of the last seconds."""
        while self._taken[0][0] < now - WINDOW_S and len(self._taken) > 1:
            self._taken.popleft()
        if len(self._taken) < 3:
            text = self.tr("Live: {ms} ms per picture, at most {most} of the time.")
            return text.format(ms=_whole(ms), most=percent(most))
        seconds = now - self._taken[0][0]
        spent = sum(one for _, one in list(self._taken)[1:]) / 1000.0
        text = self.tr("Live: {rate:.1f} pictures per second, {ms} ms each: {share} of the time, at most {most}.")
        figures = {"share": percent(spent / seconds), "most": percent(most)}
        return text.format(rate=(len(self._taken) - 1) / seconds, ms=_whole(ms), **figures)

    def _said_of_nodes(self, by: str) -> str:
        """Why a node's number is another place of the scene in another picture, where it is."""
        document = self._session.document
        if by != "node" or document.state.settings.update.mode == "refit" or document.span.frame_count < 2:
            return ""
        return self.tr("Each rebuild numbers the nodes anew: list by object, material or triangle to follow one.")

    def _end(self) -> None:
        """Nobody looks: what counts is given back."""
        self._timer.stop()
        self._taken.clear()
        self._asked, self._counted, self._is_due = None, None, False
        if self._is_kept:
            self._is_kept = False
            self._session.loop.ask("live_end", lambda maker: maker.end_live(), lambda answer: None)

    def _changed(self, before: State, after: State) -> None:
        old, new = before.settings.hot_spots, after.settings.hot_spots
        if old.live != new.live:
            self._panel.show_live(new.live)
            if new.live:
                self._ask_anew()
            else:
                self._end()
        elif old.share != new.share:
            self._not_before = 0.0

    def _open(self, scene: Scene | None) -> None:
        self._end()
        if self.is_counting:
            self._panel.hint.setText(self.tr("Counting …"))


def _whole(ms: float) -> str:
    return brief(ms, 2)

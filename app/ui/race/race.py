"""The race of a window: its pictures, its ranking, and what is asked of who draws. Nothing of it is there, and nothing
is asked, before someone goes to its workspace."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject, QTimer
from PySide6.QtWidgets import QFileDialog, QWidget

from raygrove.app.document.jobs import Job
from raygrove.app.document.scene_trees import note_on_contestant
from raygrove.app.document.state import State
from raygrove.app.edits.objects import ObjectsError
from raygrove.app.frames.contestants import as_drawn
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.chosen_configuration import spelling_of
from raygrove.app.settings.file import load_user_settings
from raygrove.app.settings.race_options import EDITED, RACE, RaceOptions, contestants_of, edited_place, pair_of
from raygrove.app.settings.ray_options import are_shown
from raygrove.app.settings.titles import structure_title
from raygrove.app.ui.picture.measured_marks import MeasuredMarks
from raygrove.app.ui.race.naming import policy_title
from raygrove.app.ui.race.pictures import RacePicture
from raygrove.app.ui.race.ranking_panel import RankingPanel, figure
from raygrove.app.ui.session import ray_choice
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.rays_choice import SensorPlaces
from raygrove.gpu.analysis.live_race import LiveRace
from raygrove.gpu.analysis.race import LETTERS
from raygrove.gpu.brief import filled
from raygrove.gpu.settings import OptionError

if TYPE_CHECKING:
    from raygrove.app.frames.race_hits import ComparedHits, StepDifference
    from raygrove.app.ui.race.race_view import RaceView

KEY = "settings.race"
SECONDS_BETWEEN = 0.2
"""From one change of the figures to the next."""
PROOF_S, PROOF_SHARE = 2.0, 10.0
"""Hits are compared every so many seconds at most, and take at most one of so many parts of the time."""
ROOM = 1.05
LONGEST = 3.0
"""The scale of the bars ends at the slowest, but not beyond so many times the fastest."""


def tr(text: str) -> str:
    """A text in the user's language."""
    return QCoreApplication.translate("Race", text)


class Race(QObject):
    """See the module. `panel` is the ranking, there from the start, as its dock is; `view` is made by `begin`."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._document = session, session.document
        self.panel = RankingPanel()
        self.view: RaceView | None = None
        self.is_on = False
        self._live = LiveRace(())
        self._key: object = None
        self._seen = -1
        self._shown_at = self._proved_at = self._asked_at = 0.0
        self._proof_s = 0.0
        self._compared: tuple[int, int] | None = None
        self._is_asked = self._marks = self._asks_rays = self._is_moving = False
        self._late = QTimer(self, singleShot=True, interval=round(1000 * SECONDS_BETWEEN))
        self._late.timeout.connect(self._show_last)
        self.ray_marks: list[MeasuredMarks] = []
        self.panel.show_wanted.connect(self._show_hits)

    # -- coming and going -----------------------------------------------------------------------------------------
    def begin(self, made: Callable[[RacePicture, int], object]) -> RaceView:
        """The workspace is shown: its view, which lets `made` have each new picture."""
        if self.view is None:
            from raygrove.app.ui.race.race_bar import RaceBar  # not at each start
            from raygrove.app.ui.race.race_lines import RaceLines
            from raygrove.app.ui.race.race_view import RaceView

            self._bar = RaceBar(lambda: self._options, lambda: SensorPlaces(*ray_choice.places(self._session)))
            self._lines = RaceLines()
            self.view = RaceView(self._bar, self._lines, functools.partial(self._made, made))
            self._connect(self.view)
            self._document.observe(self._changed)
            self._session.loop.frame_arrived.connect(self._take)
        self.is_on = True
        self._renew()
        if self._document.scene is not None:
            self.view.open_slots()
        return self.view

    def _made(self, made: Callable[[RacePicture, int], object], picture: RacePicture, place: int) -> None:
        """A new picture: over the first contestant's, and the one of two, rays that are measured are drawn."""
        made(picture, place)
        if place == 0:
            self.ray_marks.append(MeasuredMarks(self._document))
            self.ray_marks[-1].lie_on(picture)

    def end(self) -> None:
        """Another workspace is shown: the pictures of all contestants go, and what they were drawn into."""
        self.is_on = False
        self.put_away()

    def put_away(self) -> None:
        """Show nothing, and lend nothing to draw into."""
        if self.view is not None:
            self.view.clear()
            self.view.close_slots()

    def _connect(self, view: RaceView) -> None:
        view.chosen.connect(self._choose)
        view.spelt.connect(self._spell)
        view.removed.connect(self._remove)
        view.split_moved.connect(self._split)
        self._bar.mode_wanted.connect(lambda mode: self._document.change(f"{KEY}.mode", mode))
        self._bar.pair_wanted.connect(lambda pair: self._document.change(f"{KEY}.pair", pair))
        self._bar.lines_wanted.connect(lambda name: self._document.change(f"{KEY}.lines", name))
        self._lines.jumped.connect(self._go_to)
        self._bar.add_wanted.connect(self.add)
        self._bar.report_wanted.connect(self.ask_for_report)
        self._bar.rays.wanted.connect(self._measure)
        self._bar.rays.file_wanted.connect(lambda: ray_choice.ask_for_file(self._session, view))
        self._bar.rays.record_wanted.connect(lambda: ray_choice.ask_to_record(self._session, view))

    @property
    def _options(self) -> RaceOptions:
        return self._document.state.settings.race

    @property
    def live(self) -> LiveRace:
        """What the last frames have shown."""
        return self._live

    # -- who takes part -------------------------------------------------------------------------------------------
    def add(self) -> None:
        """Let the pipeline's configuration take part, and be the one that the pipeline changes."""
        texts = contestants_of(self._options)
        if self._race_by([*texts, spelling_of(self._document.state.settings)]):
            self._document.change(f"settings.{EDITED}", LETTERS[len(texts)])

    def _choose(self, place: int) -> None:
        """Let the pipeline be a contestant's; the one that has it gives it back."""
        is_other = place != edited_place(self._options)
        self._document.change(f"settings.{EDITED}", LETTERS[place] if is_other else "", EDITED)

    def _spell(self, place: int, text: str) -> None:
        texts = list(contestants_of(self._options))
        if text and place < len(texts):
            texts[place] = text
            if self._race_by(texts) and self.view is not None:
                self.view.headers[place].line.hide()

    def _remove(self, place: int) -> None:
        texts = list(contestants_of(self._options))
        if len(texts) > 1:
            left = ", ".join(text for number, text in enumerate(texts) if number != place)
            edited = edited_place(self._options)
            letter = "" if edited in (-1, place) else LETTERS[edited - (edited > place)]
            self._document.change(KEY, dataclasses.replace(self._options, contestants=left, edited=letter))
            self._bar.say("")

    def _measure(self, rays: str) -> None:
        """Measure these rays; what is wrong with them is said below the pictures."""
        mistake = ray_choice.choose(self._session, rays)
        self._bar.say(mistake, is_wrong=bool(mistake))

    def _race_by(self, texts: list[str]) -> bool:
        """Let these race; what is wrong with them is said below the pictures."""
        try:
            self._document.change(f"{KEY}.contestants", ", ".join(texts))
        except OptionError as error:
            self._bar.say(str(error), is_wrong=True)
            return False
        self._bar.say("")
        return True

    def _go_to(self, seconds: float) -> None:
        """A click among the lines: the clip stands there."""
        head = timelines.pause(self._document.state.timeline)
        self._document.move_head(timelines.scrub(head, seconds, self._document.span))

    def _split(self, share: float, is_over: bool) -> None:
        self._document.change(f"{KEY}.split", share, "race.split")
        if is_over:
            self._document.end_merge()

    # -- what happens ---------------------------------------------------------------------------------------------
    def _changed(self, before: State, after: State) -> None:
        if self.is_on and (before.settings != after.settings or before.scene != after.scene):
            self._renew()

    def _renew(self) -> None:
        """Show who races, and forget what was measured where that is another race."""
        state, view = self._document.state, self.view
        drawn = as_drawn(state)
        key = (state.scene, drawn.settings, drawn.views, state.hidden, self._document.span)
        texts = contestants_of(self._options)
        if key != self._key:
            notes = [note_on_contestant(text) for text in texts]
            self._key, self._live, self._marks = key, LiveRace(texts, notes), False
            self.panel.show_hits.setChecked(False)
            self._show_rays(None)
            if view is not None:
                self._lines.begin(self._document.span, len(texts))
        if view is None:
            return
        self._lines.show_quantity(self._options.lines)
        self._bar.show_rays(state.settings.rays.measured)
        view.take(self._options)
        for place, (header, text) in enumerate(zip(view.headers, texts, strict=True)):
            spent = self._live.newest
            layout = spent[place].layout if spent else ""
            header.name(structure_title(text, layout), policy_title(text), text, may_leave=len(texts) > 1)
        self._bar.refresh()
        self._say_mode()
        self._show_figures(is_moving=state.timeline.is_playing)

    def _say_mode(self) -> None:
        """A difference is of the pictures that are there: where the race rests, none comes that would ask for it."""
        is_difference = self._options.mode == "difference"
        if not is_difference:
            self._bar.say("")
        wanted = pair_of(self._options) if is_difference else None
        is_news, self._compared = wanted != self._compared, wanted
        if wanted is not None and is_news and self._live.count and not self._is_asked:
            self._ask_difference()

    def _take(self, frame: FinishedFrame) -> None:
        found = frame.statistics
        is_ours = frame.request.state.settings.window.workspace == RACE
        if not (self.is_on and is_ours and found is not None) or found.frame_id == self._seen:
            return
        if len(found.views) != len(self._live.configurations) or frame.request.scene is not self._document.scene:
            return
        self._seen = found.frame_id
        self._live.take(found.views)
        self._lines.log.take(found.time, found.views, at_rest=not frame.request.is_moving)
        self._lines.news(self._document.state.timeline.time)
        now, self._is_moving = time.perf_counter(), frame.request.is_moving
        # Now and then also at rest: small pictures come faster than their figures are shown, and Qt would hear
        # nothing else. Those of the last one come a little later.
        if now - self._shown_at > SECONDS_BETWEEN or self._live.count < 3:
            self._shown_at = now
            self._late.stop()
            self._show_figures(self._is_moving)
        elif not self._late.isActive():
            self._late.start()
        if self._options.mode == "difference" and not self._is_asked:
            self._ask_difference()
        if now - self._proved_at > max(PROOF_S, PROOF_SHARE * self._proof_s) or self._marks:
            self._prove(now)
        if are_shown(self._document.state.settings.rays) and not self._asks_rays:
            self._asks_rays = True
            self._session.loop.ask("race.rays", lambda maker: maker.measured_ends(), self._show_rays)

    def _show_last(self) -> None:
        if self.is_on:
            self._show_figures(self._is_moving)

    def _show_figures(self, is_moving: bool) -> None:
        self.panel.rays = self._document.state.settings.rays.measured
        self.panel.take(self._live, is_moving)
        if self.view is None or not self._live.count:
            return
        count, texts = len(self._live.configurations), self._live.configurations
        parts = [self._live.parts(place) for place in range(count)]
        sums = [sum(one.values()) for one in parts]
        end = min(max(sums) * ROOM, min(sums) * LONGEST)
        ranked = {one.letter: one.place for one in self.panel.standing}
        for place, header in enumerate(self.view.headers[:count]):
            layout = self._live.newest[place].layout
            header.name(structure_title(texts[place], layout), policy_title(texts[place]), texts[place],
                        may_leave=count > 1)  # fmt: skip
            header.show_costs(parts[place], end, figure(self._live, place), ranked.get(LETTERS[place], ""))

    # -- hits and steps -------------------------------------------------------------------------------------------
    def _prove(self, now: float) -> None:
        live = self._live
        self._proved_at = self._asked_at = now

        def take(found: ComparedHits | None) -> None:
            self._proof_s = time.perf_counter() - self._asked_at
            if found is None or live is not self._live or len(found.proofs) != len(live.configurations):
                return
            live.prove(found.proofs, found.steps)
            if self._marks and self.view is not None:
                self.view.mark(found.masks)
            self._show_figures(self._document.state.timeline.is_playing)

        self._session.loop.ask("ranking", lambda maker: maker.hits_compared(), take)

    def _show_rays(self, ends: np.ndarray | str | None) -> None:
        """Draw them; where they cannot be read there is no race either, which says why."""
        self._asks_rays = False
        shown = None if isinstance(ends, str) or not are_shown(self._document.state.settings.rays) else ends
        for marks in self.ray_marks:
            marks.show_rays(shown)

    def _show_hits(self, is_wanted: bool) -> None:
        """Pause at an instant and outline the rays that differ there."""
        self._marks = is_wanted
        if self.view is None:
            return
        if not is_wanted:
            self.view.mark(())
            return
        head = self._document.state.timeline
        if head.is_playing:
            self._document.change("timeline", timelines.pause(head))
        self._prove(time.perf_counter())

    def _ask_difference(self) -> None:
        first, second = pair_of(self._options)
        self._is_asked = True

        def take(found: StepDifference | None) -> None:
            self._is_asked = False
            if self.view is None or self._options.mode != "difference":
                return
            if pair_of(self._options) != (first, second):  # another was chosen meanwhile
                self._ask_difference()
                return
            self.view.show_difference(found)
            if found is not None:
                self._bar.say(said_of(found, LETTERS[first], LETTERS[second]))

        self._session.loop.ask("difference", lambda maker: maker.step_difference(first, second), take)

    # -- the report -----------------------------------------------------------------------------------------------
    def ask_for_report(self) -> None:
        """Ask for a name, and race the whole clip in the background."""
        parent = self.view if isinstance(self.view, QWidget) else None
        kinds = tr("One page (*.html);;JSON (*.json);;Table (*.csv);;LaTeX (*.tex);;Plot (*.svg *.pdf)")
        path, _ = QFileDialog.getSaveFileName(parent, tr("Save the report of a race"), "race.html", kinds)
        if path:
            self.save_report(path)

    def save_report(self, path: str) -> Job | None:
        """Race the whole clip in the background and write what was found; the animation pauses, as both would use the
        same machine."""
        state, scene = self._document.state, self._document.scene
        if scene is None:
            return None
        if state.timeline.is_playing:
            self._document.change("timeline", timelines.pause(state.timeline))
        from raygrove.app.frames.as_command import race_line

        texts = contestants_of(self._options)
        try:
            command = race_line(state, scene, load_user_settings()[0], texts)
        except ObjectsError:  # the scene of a running program, or an object whose name no command can say
            command = ""

        def done(job: Job) -> None:
            said = tr("Saved {path}. {verdict}").format(path=path, verdict=job.result.verdict)
            self._session.notices.tell(" ".join([said, *job.result.notes]))

        from raygrove.app.frames import race_report  # with the pages and charts of reports

        work = lambda job: race_report.report(job, scene, state, texts, path, command)  # noqa: E731
        return self._document.start_job(tr("Racing the whole clip:"), work, done)


def said_of(found: StepDifference, one: str, other: str) -> str:
    """What the colours of a difference mean."""
    colors = tr("blue: up to {most:,} fewer per ray, brown: more.").format(most=found.most)
    if not found.total:
        return tr("{one} takes as many steps as {other} in all; {colors}").format(one=one, other=other, colors=colors)
    share = tr("{one} takes {total:,} steps {word} than {other}; {colors}")
    word = tr("more") if found.total > 0 else tr("fewer")
    return filled(share, one=one, other=other, total=abs(found.total), word=word, colors=colors)

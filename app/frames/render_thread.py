"""The one thread that owns target, engine and stream. It draws the newest request until there is nothing to add.

`submit` replaces the request that waits (the latest wins). A slow picture at rest is drawn some rows at a time, and the
request that waits is looked at in between. A request whose picture still gains samples is drawn again without being
asked, and with `update.always` every picture is; then the thread sleeps. What has failed is not tried again before
something changes that it may depend on; `retry` tries it all the same. `ask` puts questions to what draws, between
frames. Callbacks are called on the render thread: hand over to your own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from raygrove.app.document.state import State
from raygrove.app.frames.contestants import as_drawn
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.node_boxes import BoxReport
from raygrove.app.frames.pixel_slots import PixelSlot, SlotExchange
from raygrove.app.frames.row_words import RowWords
from raygrove.app.frames.switching import Switching
from raygrove.app.problems.problem import Problem
from raygrove.app.problems.problems import problem_of
from raygrove.gpu.display.sphere_look import SpherePicture
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.region import RegionContents
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import Collisions, FrameStatistics
from raygrove.gpu.target.base import Abandoned, NotCompiled

Question = Callable[[FrameMaker], Any]
"""What is asked of the engine between two frames, on the render thread."""

Answer = Callable[[Any], None]

QUESTION_PANELS = {"steps": "heat", "difference": "ranking", "paid": "hot_spots", "remedy": "hot_spots"}
"""The panels that ask questions of another name; a question that fails is their problem."""

SLOT_PATIENCE = 0.02
"""Seconds to wait for a free slot before looking into the mailbox again."""


@dataclasses.dataclass(frozen=True)
class FrameRequest:
    """What to draw. `exchanges` holds one exchange a view of `state.views`; `is_moving` while the camera moves or the
    animation plays: then the resolution may shrink and a picture has one sample."""

    scene: Scene
    state: State
    moment: Moment
    exchanges: tuple[SlotExchange, ...]
    is_moving: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height asked for, of the first view."""
        return self.exchanges[0].width, self.exchanges[0].height

    def shows_same(self, other: FrameRequest | None) -> bool:
        """Whether both ask for the same picture in the same place; then samples go on adding up."""
        return (
            other is not None
            and self.choice_equals(other)
            and (
                self.state.cameras == other.state.cameras
                and (self.state.hidden, self.state.selection) == (other.state.hidden, other.state.selection)
                and (self.moment.time, self.moment.clip) == (other.moment.time, other.moment.clip)
                and self.is_moving == other.is_moving
                and all(mine is theirs for mine, theirs in zip(self.exchanges, other.exchanges, strict=False))
            )
        )

    def choice_equals(self, other: FrameRequest | None) -> bool:
        """Whether both draw the same scene with the same settings at the same size: what failed for one fails for the
        other."""
        return (
            other is not None
            and self.scene is other.scene
            and self.size == other.size
            and (self.state.settings, self.state.views) == (other.state.settings, other.state.views)
        )

    def is_refused_like(self, other: FrameRequest) -> bool:
        """Whether a structure that refused the other's triangles is given the same ones: the picture's size is nothing
        to it, the instant is."""
        return (
            self.scene is other.scene
            and (self.state.settings, self.state.views, self.state.hidden)
            == (other.state.settings, other.state.views, other.state.hidden)
            and (self.moment.time, self.moment.clip) == (other.moment.time, other.moment.clip)
        )

    def is_paced_like(self, other: FrameRequest) -> bool:
        """Whether a picture of one tells how slow the other is, and is waited for where it is slow: another instant,
        another camera or another light is no other choice, another structure, ray type or size is."""
        mine, theirs = self.state.settings, other.state.settings
        return (
            self.scene is other.scene
            and as_drawn(self.state).views == as_drawn(other.state).views
            and all(getattr(mine, name) == getattr(theirs, name) for name in ("render", "device", "display", "update"))
            and len(self.exchanges) == len(other.exchanges)
            and all(mine is theirs for mine, theirs in zip(self.exchanges, other.exchanges, strict=True))
        )

    def needs_same(self, other: FrameRequest) -> bool:
        """Whether both need the same kernels for the same scene."""
        mine, theirs = self.state.settings, other.state.settings
        return (
            self.scene is other.scene
            and as_drawn(self.state).views == as_drawn(other.state).views
            and all(
                getattr(mine, name) == getattr(theirs, name)
                for name in ("render", "device", "hierarchy", "optimiser", "ray_type")
            )
        )


@dataclasses.dataclass(frozen=True)
class FinishedFrame:
    """A frame that lies in its exchanges as the newest finished slot. `drawn` is the size of the first view's picture,
    `samples` of
    `samples_wanted` are in it. `statistics` are those of the newest frame the target has timed (a frame or two earlier
    on CUDA); `frame_ms` is the render thread's time for the whole frame; `limited_by` names the phase that keeps the
    frame rate down where smaller pictures cannot help, else "". `boxes` and `collisions` say what was drawn over it,
    None for nothing, and `contents` what lies in the region that is selected. `last_update` is the frame that built or
    refitted the structure last. `preparing_ms` of `frame_ms` went into what this picture was the first to need, kernels
    above all; `whole_ms` is what a picture of full size is thought to take, 0 where that is not known. With `spheres`
    the slots hold nothing new: the window draws those itself. `noise` is what a picture at rest has left of it."""

    request: FrameRequest
    frame_id: int
    drawn: tuple[int, int]
    samples: int
    samples_wanted: int
    statistics: FrameStatistics | None
    frame_ms: float
    target_name: str
    device_name: str
    limited_by: str = ""
    boxes: BoxReport | None = None
    collisions: Collisions | None = None
    contents: RegionContents | None = None
    last_update: FrameStatistics | None = None
    preparing_ms: float = 0.0
    whole_ms: float = 0.0
    spheres: SpherePicture | None = None
    noise: float | None = None

    @property
    def device(self) -> str:
        """The device as --device names it: cpu, or cuda:N."""
        return "cpu" if self.target_name == "host" else self.target_name


class RenderThread:
    """See the module. `on_busy(sentence)`: "Preparing ...", ""; `on_rows(sentence)`: how far a slow picture is, ""."""

    def __init__(
        self,
        on_frame: Callable[[FinishedFrame], None],
        on_problem: Callable[[Problem], None],
        on_busy: Callable[[str], None] = lambda sentence: None,
        on_rows: Callable[[str], None] = lambda sentence: None,
        make_maker: Callable[[Callable[[str], None]], FrameMaker] = FrameMaker,
    ) -> None:
        self._on_frame, self._on_problem = on_frame, on_problem
        self._maker = make_maker(on_busy)
        self._maker.check = self._check
        self._mail = threading.Condition()
        self._switching, self._defers, self._is_woken = Switching(on_busy, self._wake), False, False
        self._waiting: FrameRequest | None = None
        self._has_mail = self._is_retry = self._has_skipped = self._is_stopping = False
        self._questions: dict[str, tuple[Question, Answer]] = {}
        self._present: FrameRequest | None = None
        self._failed: tuple[FrameRequest, Exception] | None = None
        self._samples, self._is_complete, self._rows_ms, self._is_kept = 0, True, 0.0, False
        self._words = RowWords(on_rows)
        self._thread = threading.Thread(target=self._run, name="render", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, request: FrameRequest | None) -> None:
        """Draw this next, in place of what waits; None: nothing (the scene was closed). Never waits for a frame."""
        with self._mail:
            self._has_skipped = self._has_mail
            self._waiting, self._has_mail = request, True
            self._mail.notify()

    def retry(self, request: FrameRequest) -> None:
        """Draw this next, although it failed. Never waits for a frame."""
        with self._mail:
            self._waiting, self._has_mail, self._is_retry = request, True, True
            self._mail.notify()

    def ask(self, key: str, question: Question, answer: Answer) -> None:
        """Put `question(maker)` between two frames and call `answer` with what it gives, on the render thread. Never
        waits. A newer question of the same key replaces one that waits; that one is not answered. A question that fails
        is a problem, and its answer None."""
        with self._mail:
            self._questions[key] = (question, answer)
            self._mail.notify()

    def stop(self, timeout: float = 10.0) -> bool:
        """End the thread, giving engine and target back; True when it has ended."""
        with self._mail:
            self._is_stopping = True
            self._mail.notify()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _wake(self) -> None:
        """What was waited for is there."""
        with self._mail:
            self._is_woken = True
            self._mail.notify()

    # -- the thread -----------------------------------------------------------------------------------------------
    def _run(self) -> None:
        while self._await_work():
            self._answer_questions()
            request = self._present
            if request is None or self._is_complete:
                continue
            try:
                self._draw(request)
            except Abandoned:
                self._present = None
                self._maker.close_engine()
            except Exception as error:
                self._fail(request, error)
        self._switching.forget()
        with contextlib.suppress(Exception):  # the process may be ending with a broken device
            self._maker.close()

    def _await_work(self) -> bool:
        """Sleep until there is something to draw; take the mail. False: stop."""
        with self._mail:
            self._mail.wait_for(
                lambda: (
                    self._is_stopping or self._has_mail or self._questions or self._is_woken or not self._is_complete
                )
            )
            if self._is_woken:
                self._is_woken, self._is_complete = False, self._present is None
            if self._has_mail and not self._finishes_first():
                self._take_mail()
            return not self._is_stopping

    def _finishes_first(self) -> bool:
        """Whether the picture that has some of its rows is drawn to its end before the one that waits."""
        present, waiting = self._present, self._waiting
        if not self._is_kept or present is None or waiting is None or self._is_complete:
            return False
        return not self._is_retry and waiting.is_paced_like(present)

    def _check(self) -> None:
        """Called while kernels are compiled: raises Abandoned where another choice waits, or nothing is to be drawn any
        more."""
        with self._mail:
            present, waiting = self._present, self._waiting
            if self._is_stopping or (
                self._has_mail and (waiting is None or (present is not None and not waiting.needs_same(present)))
            ):
                raise Abandoned
        if self._defers:
            raise NotCompiled

    def _answer_questions(self) -> None:
        with self._mail:
            asked, self._questions = list(self._questions.items()), {}
        for key, (question, answer) in asked:
            found = None
            try:
                found = question(self._maker)
            except Abandoned:
                pass  # it is about a picture that goes
            except Exception as error:
                self._on_problem(dataclasses.replace(problem_of(error), panel=QUESTION_PANELS.get(key, key)))
            answer(found)

    def _take_mail(self) -> None:
        request, self._waiting, self._has_mail = self._waiting, None, False
        has_skipped, self._has_skipped = self._has_skipped, False
        self._words.end()
        if self._is_retry:
            self._is_retry, self._failed, self._present = False, None, None
        if request is None:
            self._present, self._is_complete = None, True
            self._switching.forget()
            return
        if self._failed is not None and _fails_again(request, *self._failed):
            # Who plays must hear that nothing comes; of an instant that is refused they have, and they play on behind
            # it.
            if request.state.timeline.is_playing and not isinstance(self._failed[1], HierarchyError):
                self._on_problem(problem_of(self._failed[1]))
            return
        if not request.shows_same(self._present):
            self._samples, self._is_complete, self._rows_ms = 0, False, 0.0
        elif (
            has_skipped
        ):  # what came between was another picture and never drawn: who asks now has heard nothing of this one
            self._is_complete = False
        self._present = request

    def _draw(self, request: FrameRequest) -> None:
        """One frame into a free slot of each view. Without a free slot nothing is drawn and the mail is looked at
        again."""
        wanted, request = request, self._switching.shown(request)
        if request is None:  # kernels are being compiled, and there is nothing to show meanwhile
            self._is_complete = True
            return
        slots = self._take_slots(request)
        if slots is None:
            return
        begin = time.perf_counter()
        is_drawn, self._defers = False, self._maker.compiles_ahead and not self._switching.may_compile(request)
        try:
            outcome = self._maker.draw(request.scene, request.state, request.moment, slots, request.is_moving)
            is_drawn = outcome.is_whole and outcome.spheres is None
        except NotCompiled:
            if not self._switching.compile(wanted, self._maker.target_for(wanted.state)):
                self._maker.close_engine()
            return
        finally:
            self._defers = False
            for exchange, slot in zip(request.exchanges, slots, strict=True):
                exchange.finish(slot, is_drawn)
        self._failed, self._samples = None, outcome.samples
        self._is_kept = outcome.is_kept and not outcome.is_whole
        self._words.hear(request.scene.name, outcome.share, self._rows_ms)
        if not outcome.is_whole:  # the mail is looked at before the other rows
            self._rows_ms += (time.perf_counter() - begin) * 1000.0
            return
        self._is_complete = outcome.samples >= outcome.samples_wanted and not request.state.settings.update.always
        if request is wanted:
            self._switching.has_drawn(request)
        elif not request.is_moving:  # at rest the compilers have the processors
            self._is_complete = True
        statistics = outcome.statistics
        if self._is_complete and not request.is_moving and not self._has_mail and outcome.spheres is None:
            statistics = self._maker.flush()  # the last picture for a while: its own statistics, complete
        elapsed, self._rows_ms = (time.perf_counter() - begin) * 1000.0 + self._rows_ms, 0.0
        self._on_frame(
            FinishedFrame(
                request=request,
                frame_id=outcome.frame_id,
                drawn=slots[0].drawn if outcome.spheres is None else request.size,
                samples=outcome.samples,
                samples_wanted=outcome.samples_wanted,
                statistics=statistics,
                frame_ms=elapsed,
                target_name=outcome.target_name,
                device_name=outcome.device_name,
                limited_by=outcome.limited_by,
                boxes=outcome.boxes,
                collisions=outcome.collisions,
                contents=outcome.contents,
                last_update=outcome.last_update,
                preparing_ms=outcome.preparing_ms,
                whole_ms=outcome.whole_ms,
                spheres=outcome.spheres,
                noise=outcome.noise,
            )
        )

    def _take_slots(self, request: FrameRequest) -> Sequence[PixelSlot] | None:
        """A free slot of every view, or None and none taken."""
        taken: list[PixelSlot] = []
        for exchange in request.exchanges:
            slot = exchange.take_free(SLOT_PATIENCE)
            if slot is None:
                for lender, lent in zip(request.exchanges, taken, strict=False):
                    lender.finish(lent, is_drawn=False)
                self._is_complete = self._is_complete or any(one.is_closed for one in request.exchanges)
                return None
            taken.append(slot)
        return taken

    def _fail(self, request: FrameRequest, error: Exception) -> None:
        """Say it once, drop what may be broken, and wait for another choice. A structure that refuses a scene has
        broken nothing."""
        self._failed, self._is_complete = (request, error), True
        self._words.end()
        if not isinstance(error, HierarchyError):
            with contextlib.suppress(Exception):
                self._maker.close()
        self._on_problem(problem_of(error))


def _fails_again(request: FrameRequest, failed: FrameRequest, error: Exception) -> bool:
    """Whether what made one picture fail holds for another. A structure refuses the triangles of an instant, a device
    or a compiler the choice."""
    return request.is_refused_like(failed) if isinstance(error, HierarchyError) else request.choice_equals(failed)

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
import functools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.pixel_slots import PixelSlot
from raygrove.app.frames.row_words import RowWords
from raygrove.app.frames.stop_switch import StopSwitch
from raygrove.app.frames.switching import Switching
from raygrove.app.problems.problem import Problem
from raygrove.app.problems.problems import problem_of
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.linux import come_after_other_threads
from raygrove.gpu.target.stopping import Abandoned, NotCompiled, Stopped

if TYPE_CHECKING:
    from raygrove.app.frames.maker import FrameMaker
    from raygrove.app.frames.outcome import Outcome
    from raygrove.gpu.stats import FrameStatistics

Question = Callable[["FrameMaker"], Any]
"""What is asked of the engine between two frames, on the render thread."""

Answer = Callable[[Any], None]

QUESTION_PANELS = {"steps": "heat", "difference": "ranking", "paid": "hot_spots", "remedy": "hot_spots"}
"""The panels that ask questions of another name; a question that fails is their problem."""

UNASKED = frozenset({"remedy"})
"""Questions that nobody waits for: they end where a picture is wanted, or something else is asked."""

SLOT_PATIENCE = 0.02
"""Seconds to wait for a free slot before looking into the mailbox again."""

PAINT_PATIENCE = 0.02
"""Seconds that the second sample of a picture waits for the first one to be painted."""


class RenderThread:
    """See the module. `on_busy(sentence)`: "Preparing ...", ""; `on_rows(sentence)`: how far a slow picture is, ""."""

    def __init__(
        self,
        on_frame: Callable[[FinishedFrame], None],
        on_problem: Callable[[Problem], None],
        on_busy: Callable[[str], None] = lambda sentence: None,
        on_rows: Callable[[str], None] = lambda sentence: None,
        make_maker: Callable[[Callable[[str], None]], FrameMaker] | None = None,
    ) -> None:
        self._on_frame, self._on_problem = on_frame, on_problem
        self._on_busy, self._make_maker = on_busy, make_maker or _frame_maker
        self._mail = threading.Condition()
        self._switching, self._defers, self._is_woken = Switching(on_busy, self._wake), False, False
        self._waiting: FrameRequest | None = None
        self._has_mail = self._is_retry = self._has_skipped = self._is_stopping = self._is_drawing = False
        self._is_trying = False  # whether a question is answered for which no picture waits
        self._is_painted, self._asked_at, self._submitted_at = False, 0.0, 0.0
        self._questions: dict[str, tuple[Question, Answer]] = {}
        self._present: FrameRequest | None = None
        self._failed: tuple[FrameRequest, Exception] | None = None
        self._samples, self._is_complete, self._rows_ms, self._is_kept = 0, True, 0.0, False
        self._words, self._switch = RowWords(on_rows), StopSwitch()
        self._thread = threading.Thread(target=self._run, name="render", daemon=True)

    def start(self) -> None:
        """Start the thread, if it does not run yet."""
        if self._thread.ident is None:
            self._thread.start()

    def submit(self, request: FrameRequest | None) -> None:
        """Draw this next, in place of what waits; None: nothing (the scene was closed). Never waits for a frame."""
        with self._mail:
            self._has_skipped, self._submitted_at = self._has_mail, time.perf_counter()
            self._waiting, self._has_mail = request, True
            self._stop_what_is_drawn()
            self._mail.notify()

    def retry(self, request: FrameRequest) -> None:
        """Draw this next, although it failed. Never waits for a frame."""
        with self._mail:
            self._waiting, self._has_mail, self._is_retry = request, True, True
            self._submitted_at = time.perf_counter()
            self._mail.notify()

    def ask(self, key: str, question: Question, answer: Answer) -> None:
        """Put `question(maker)` between two frames and call `answer` with what it gives, on the render thread. Never
        waits. A newer question of the same key replaces one that waits; that one is not answered. A question that fails
        is a problem, and its answer None."""
        with self._mail:
            self._questions[key] = (question, answer)
            self._end_what_is_tried()
            self._mail.notify()

    def has_painted(self) -> None:
        """A picture was painted."""
        with self._mail:
            self._is_painted = True
            self._mail.notify()

    def stop(self, timeout: float = 10.0) -> bool:
        """End the thread, giving engine and target back; True when it has ended."""
        with self._mail:
            self._is_stopping = True
            self._stop_what_is_drawn()
            self._mail.notify()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _stop_what_is_drawn(self) -> None:
        """With the mail at hand: stop a picture that is being drawn, where nobody waits for it any more."""
        waiting, is_wanted = self._waiting, not (self._is_stopping or self._has_mail)
        self._end_what_is_tried()
        if self._is_drawing and not (is_wanted or (waiting is not None and waiting.shows_same(self._present))):
            self._switch.stop(builds=waiting is None or not waiting.has_same_structure(self._present))

    @contextlib.contextmanager
    def _drawing(self) -> Iterator[None]:
        """While a picture is drawn, which may be stopped."""
        with self._mail:
            self._is_drawing = True
            self._switch.go_on()
            self._stop_what_is_drawn()
        try:
            yield
        finally:
            with self._mail:
                self._is_drawing = False

    @contextlib.contextmanager
    def _trying(self) -> Iterator[None]:
        """While something is found out that nobody waits for: the next request or question ends it."""
        with self._mail:
            self._is_trying = True
            self._switch.go_on()
            self._end_what_is_tried()
        try:
            yield
        finally:
            with self._mail:
                self._is_trying = False

    def _end_what_is_tried(self) -> None:
        """With the mail at hand: where anything else is wanted."""
        if self._is_trying and (self._is_stopping or self._has_mail or self._questions):
            self._switch.stop(builds=True)

    def _wake(self) -> None:
        """What was waited for is there."""
        with self._mail:
            self._is_woken = True
            self._mail.notify()

    # -- the thread -----------------------------------------------------------------------------------------------
    @functools.cached_property
    def _maker(self) -> FrameMaker:
        """Made when something is wanted of it: the engine is imported with it."""
        maker = self._make_maker(self._on_busy)
        maker.check, maker.switch = self._check, self._switch
        return maker

    def _run(self) -> None:
        come_after_other_threads()  # the window's thread, which has little to do, has it done at once
        while self._await_work():
            self._answer_questions()
            request = self._present
            if request is None or self._is_complete:
                continue
            try:
                with self._drawing():
                    self._draw(request)
            except Abandoned:
                self._present = None
                self._maker.close_engine()
            except Stopped:
                self._words.end()
            except Exception as error:
                self._fail(request, error)
        self._switching.forget()
        if "_maker" in vars(self):
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
            is_over = self._is_stopping or (self._is_trying and (self._has_mail or self._questions))
            if is_over or (
                self._has_mail and (waiting is None or (present is not None and not waiting.needs_same(present)))
            ):
                raise Abandoned
        if self._defers:
            raise NotCompiled

    def _answer_questions(self) -> None:
        with self._mail:
            asked, self._questions = sorted(self._questions.items(), key=lambda one: one[0] in UNASKED), {}
        for key, (question, answer) in asked:
            found = None
            try:
                with self._trying() if key in UNASKED else contextlib.nullcontext():
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
            self._present, self._failed, self._is_complete = None, None, True
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
            self._asked_at = self._submitted_at
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
        begin, is_drawn = time.perf_counter(), False
        try:
            self._defers, self._maker.asked_at = self._prepare(request), self._asked_at
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
            self._has_drawn(request)
        elif not request.is_moving:  # at rest the compilers have the processors
            self._is_complete = True
        statistics = outcome.statistics
        if self._is_complete and not request.is_moving and not self._has_mail and outcome.spheres is None:
            statistics = self._maker.flush()  # the last picture for a while: its own statistics, complete
        elapsed, self._rows_ms = (time.perf_counter() - begin) * 1000.0 + self._rows_ms, 0.0
        self._hand_over(request, outcome, statistics, elapsed)

    def _hand_over(
        self,
        request: FrameRequest,
        outcome: Outcome,
        statistics: FrameStatistics | None,
        elapsed_ms: float,
    ) -> None:
        """Tell of a picture that is there."""
        self._is_painted = False
        self._on_frame(
            FinishedFrame(
                request=request,
                frame_id=outcome.frame_id,
                drawn=outcome.drawn if outcome.spheres is None else request.size,
                samples=outcome.samples,
                samples_wanted=outcome.samples_wanted,
                statistics=statistics,
                frame_ms=elapsed_ms,
                target_name=outcome.target_name,
                device_name=outcome.device_name,
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
        is_first = outcome.samples <= 1 and not request.state.settings.update.always
        if is_first and not (request.is_moving or self._is_complete):
            self._let_it_be_painted()

    def _let_it_be_painted(self) -> None:
        """Who waits for the first picture of a choice, sees it before a second sample has the processors."""
        with self._mail:
            self._mail.wait_for(
                lambda: self._is_painted or self._has_mail or self._questions or self._is_stopping, PAINT_PATIENCE
            )

    def _prepare(self, request: FrameRequest) -> bool:
        """Before a frame of a request; whether what is missing for it is not to be compiled in place."""
        if not self._maker.compiles_ahead:
            return False
        self._switching.prepare(request, self._maker.target_for(request.state))
        return not self._switching.may_compile(request)

    def _has_drawn(self, request: FrameRequest) -> None:
        """A picture of what was asked for is there."""
        self._switching.has_drawn(request)
        if self._maker.compiles_ahead:
            self._switching.improve(self._maker.target_for(request.state))

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


def _frame_maker(on_busy: Callable[[str], None]) -> FrameMaker:
    """What draws with the engine; both are imported with the first picture, not with the program."""
    from raygrove.app.frames.maker import FrameMaker

    return FrameMaker(on_busy)


def _fails_again(request: FrameRequest, failed: FrameRequest, error: Exception) -> bool:
    """Whether what made one picture fail holds for another. A structure refuses the triangles of an instant, a device
    or a compiler the choice."""
    return request.is_refused_like(failed) if isinstance(error, HierarchyError) else request.choice_equals(failed)

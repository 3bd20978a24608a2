"""From changes to pictures: hands the render thread its requests and the view its finished frames.

The render thread calls back on its own thread; what it says is put down in order and taken here one piece a turn of the
event loop (bell.py): a thread that is faster than the window leaves it its mouse and keyboard. While the animation
plays the next frame is asked for at the end of each painting, before Qt copies it to the screen: the copy needs no
Python, so drawing and copying overlap, and neither thread waits for the other's Python. A view that is hidden is never
painted; there the next frame follows the last at once.

An instant that cannot be drawn pauses the animation, where its time bar shows it. Play goes on behind that instant;
another choice that can be drawn goes on by itself, unless the head was moved meanwhile.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import time
from collections.abc import Callable
from typing import Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.contestants import as_drawn
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.pixel_slots import SlotExchange
from raygrove.app.frames.render_thread import Question, RenderThread
from raygrove.app.playback import timeline as timelines
from raygrove.app.problems.problem import Problem
from raygrove.app.problems.problems import problem_of
from raygrove.app.ui.session.bell import Letters
from raygrove.gpu.display.sphere_look import SphereDrawingError, SpherePicture

REST_MS = 250
SLOW_MS = 2000
"""A picture that comes sooner is not spoken of."""
LONGEST_STEP_S = 0.25
STOP_TIMEOUT_S = 10.0
ARRIVALS = 240
MOST_FRAMES = 8
"""So many frames wait at most; of more the oldest is dropped, as newer pictures than its are there."""


class View(Protocol):
    """What shows pictures: the GL viewport, the painter view or a race. `exchanges` holds one a view of what is drawn,
    none as long as there is no room."""

    painted: SignalInstance
    exchange_changed: SignalInstance
    drawing_failed: SignalInstance
    paint_ms: float

    @property
    def exchanges(self) -> tuple[SlotExchange, ...]: ...
    def use_target(self, target_name: str) -> None: ...
    def refresh(self) -> None: ...
    def show_spheres(self, picture: SpherePicture) -> None: ...
    def clear(self) -> None: ...
    def open_slots(self) -> None: ...
    def close_slots(self) -> bool: ...
    def isVisible(self) -> bool: ...


@dataclasses.dataclass(frozen=True)
class Halt:
    """A picture that could not be drawn: where the playing head then stood, and whether it ran before."""

    head: timelines.Timeline
    was_playing: bool


class FrameLoop(QObject):
    """See the module. `frame_arrived` carries each FinishedFrame, `problem` a Problem, `busy` a sentence while
    something compiles, `drawing` one while a slow picture is drawn; empty sentences take them back."""

    frame_arrived = Signal(object)
    problem = Signal(object)
    busy = Signal(str)
    drawing = Signal(str)

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._view: View | None = None
        self._serial = 0
        self._submitted: FrameRequest | None = None
        self._arrived_serial = 0
        self._is_stopped = False
        self._tick_time = 0.0
        self._arrivals: collections.deque[float] = collections.deque(maxlen=ARRIVALS)
        self.is_dragging = False
        self._is_held = False
        self.last_frame: FinishedFrame | None = None
        self._halt: Halt | None = None
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self.request)
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._slow.timeout.connect(self._say_slow)
        self._said, self._is_slow = "", False  # what others say of the picture that is waited for, and whether it is
        self._slow_words = ""  # called slow, in these words
        for said in (self.busy, self.drawing):
            said.connect(self._hear_said)
        self._letters = Letters(self)
        post = self._letters.post
        self._thread = RenderThread(
            lambda frame: post(self._take_frame, frame, most=MOST_FRAMES),
            lambda problem: post(self._take_problem, problem),
            lambda sentence: post(self.busy.emit, sentence),
            lambda sentence: post(self.drawing.emit, sentence),
        )
        self._forget = document.observe(self._changed)
        document.on_scene.append(self._scene_changed)

    def set_view(self, view: View) -> None:
        """Show pictures in this view from now on."""
        old, self._view = self._view, view
        if view is old:
            return
        view.painted.connect(self._has_painted)
        view.exchange_changed.connect(self.request)
        view.drawing_failed.connect(self._hear_error)
        if old is not None:
            old.painted.disconnect(self._has_painted)
            old.exchange_changed.disconnect(self.request)
            old.drawing_failed.disconnect(self._hear_error)
            self.request()

    def start(self) -> None:
        """Start the render thread."""
        self._thread.start()
        self.request()

    def stop(self) -> bool:
        """End the render thread; True when it has ended, and no slot is being drawn into."""
        self._is_stopped = True
        self._slow.stop()
        self._forget()
        if self._scene_changed in self._document.on_scene:
            self._document.on_scene.remove(self._scene_changed)
        has_ended = self._thread.stop(STOP_TIMEOUT_S)
        return (self._view is None or self._view.close_slots()) and has_ended

    def hold(self, is_held: bool) -> None:
        """Draw nothing while it is held, so that a measurement in another process has the machine."""
        self._is_held = is_held
        self.request()

    def request(self) -> None:
        """Ask for a picture of the present state."""
        self._request(self._submitted)

    def retry(self) -> None:
        """Try once more what could not be drawn; an animation that it paused goes on where it can."""
        self._request(None)

    def _request(self, present: FrameRequest | None) -> None:
        """Ask for a picture where it is another than `present`; None: in any case, also where it has failed."""
        if self._is_stopped:
            return
        scene, exchanges = self._document.scene, self._view.exchanges if self._view is not None else ()
        if scene is None or len(exchanges) != len(as_drawn(self._document.state).views) or self._is_held:
            self._submitted = None
            self._thread.submit(None)
            self._end_slow()
            return
        state = self._document.state
        is_moving = state.timeline.is_playing or self.is_dragging or self._rest.isActive()
        request = FrameRequest(scene, state, self._document.moment(self._serial + 1), exchanges, is_moving)
        if request.shows_same(present):
            # No picture would come of it, and an animation that has just been started would wait for one.
            QTimer.singleShot(0, self._play_on)
            return
        self._serial += 1
        self._submitted = request
        if not self._slow.isActive():
            self._slow.start()
        (self._thread.submit if present is not None else self._thread.retry)(request)

    @property
    def shows_scene(self) -> bool:
        """Whether the newest picture is one of the scene that is open."""
        return self.last_frame is not None and self.last_frame.request.scene is self._document.scene

    @property
    def waits_for_scene(self) -> bool:
        """Whether a scene is open of which there is no picture yet, and one may come."""
        return self._document.scene is not None and not self.shows_scene and self._halt is None

    @property
    def has_halted(self) -> bool:
        """Whether the animation stands because a picture could not be drawn."""
        return self._halt is not None and self._halt.was_playing

    def ask(self, key: str, question: Question, take: Callable[[Any], None]) -> None:
        """Put a question to what draws, between two frames; `take` is called on this thread with the answer
        (RenderThread.ask). Never waits."""
        if not self._is_stopped:
            self._thread.ask(key, question, lambda found: self._letters.post(self._take_answer, take, found))

    def time_every_frame(self, is_wanted: bool) -> None:
        """Whether every frame times its phases from now on, also those that a GPU repeats."""

        def tell(maker: Any) -> None:
            maker.times_every_frame = is_wanted

        self.ask("timing", tell, lambda answer: None)

    def fps(self) -> float:
        """Pictures of what moves that arrived in the last second; what the first of them was waited for counts, or two
        in a row would be many."""
        now = time.perf_counter()
        first = bisect.bisect_right(self._arrivals, now - 1.0)
        count = len(self._arrivals) - first
        if count == 0 or (first == 0 and count < ARRIVALS):
            return float(count)
        first = max(first, 1)
        return (len(self._arrivals) - first) / (self._arrivals[-1] - self._arrivals[first - 1])

    def camera_moved(self) -> None:
        """The camera moves: pictures may be smaller until it rests."""
        self._rest.start()

    # -- what happens ---------------------------------------------------------------------------------------------
    def _changed(self, before: State, after: State) -> None:
        if before.cameras != after.cameras:
            self._rest.start()
        if after.timeline.is_playing and not before.timeline.is_playing:
            self._tick_time = time.perf_counter()
            if self._stands_at_halt():
                QTimer.singleShot(0, self._step_past)
                return
        self.request()

    def _scene_changed(self, scene: object) -> None:
        self._tick_time = time.perf_counter()
        self._halt = None
        if scene is None:
            self.last_frame = None  # or the scene that was closed would stay in memory with it
        self.request()

    def _take_frame(self, frame: FinishedFrame) -> None:
        if self._is_stopped or self._view is None or self._document.scene is None:  # which was closed meanwhile
            return
        self._view.use_target(frame.target_name)
        try:
            self._show(frame)
        except SphereDrawingError as error:  # no picture comes of this frame: it ends no halt, and has no figures
            self._take_error(error)
            return
        self.last_frame = frame
        self._end_slow()
        if frame.request is self._submitted and not frame.request.is_moving and frame.samples < frame.samples_wanted:
            self._slow.start()  # a finer one is being drawn, which may take far longer
        self._arrived_serial = max(self._arrived_serial, frame.request.moment.frame_id)
        if not frame.request.is_moving:
            self._arrivals.clear()  # a pause is no slow picture
        self._arrivals.append(time.perf_counter())
        self.frame_arrived.emit(frame)
        self._go_on()
        if not self._view.isVisible():
            self._play_on()

    def _say_slow(self) -> None:
        """No picture came for a while, and nobody said why: a structure is built over millions of primitives. Where
        somebody did, it is begun anew when that is over (_hear_said)."""
        scene = self._document.scene
        if not self._said and scene is not None and self._halt is None:
            self._is_slow, self._slow_words = True, self.tr("Drawing {name} …").format(name=scene.name)
            self.drawing.emit(self._slow_words)

    def _end_slow(self) -> None:
        if self._is_slow:
            self._is_slow = False
            self.drawing.emit("")
        self._slow.stop()

    def _hear_said(self, sentence: str) -> None:
        """What others say; after it a picture that is still waited for is spoken of again."""
        if self._is_slow and sentence == self._slow_words:
            return
        self._said = sentence
        if not sentence and not self._is_stopped and self._waits and not self._slow.isActive():
            self._slow.start()

    @property
    def _waits(self) -> bool:
        """Whether a picture was asked for that is not there and has not failed."""
        return self._submitted is not None and self._halt is None and self._arrived_serial < self._serial

    def _show(self, frame: FinishedFrame) -> None:
        assert self._view is not None
        if frame.spheres is not None:
            self._view.show_spheres(frame.spheres)
        else:
            self._view.refresh()

    def _go_on(self) -> None:
        """There are pictures again: an animation that waited for one goes on, unless someone has put its head
        elsewhere."""
        halt, self._halt = self._halt, None
        if halt is not None and halt.was_playing and self._document.state.timeline == halt.head:
            self._document.change("timeline", dataclasses.replace(halt.head, is_playing=True))

    def _stands_at_halt(self) -> bool:
        """Whether the playing head stands at the instant that could not be drawn."""
        head = self._document.state.timeline
        return self._halt is not None and (head.time, head.clip) == (self._halt.head.time, self._halt.head.clip)

    def _step_past(self) -> None:
        """Play on from an instant that cannot be drawn: with the next frame. Only this leaves such an instant; a
        painting that comes meanwhile would be a second step."""
        self._document.tick(1.0 / (self._document.span.fps * self._document.state.settings.timeline.speed))

    def _has_painted(self) -> None:
        self._thread.has_painted()
        self._play_on()

    def _play_on(self) -> None:
        """The next frame of the animation, unless one is being drawn."""
        if self._is_stopped or not self._document.state.timeline.is_playing or self._arrived_serial < self._serial:
            return
        if self._stands_at_halt():
            return
        now = time.perf_counter()
        passed = min(now - self._tick_time, LONGEST_STEP_S)
        self._tick_time = now
        self._document.tick(passed)

    def _take_answer(self, take: Callable[[Any], None], found: Any) -> None:
        if not self._is_stopped:
            take(found)

    def _hear_error(self, error: Exception) -> None:
        self._letters.post(self._take_error, error)  # behind the frames that have come

    def _take_error(self, error: Exception) -> None:
        self._take_problem(problem_of(error))

    def _take_problem(self, problem: Problem) -> None:
        if self._is_stopped:
            return
        if not problem.panel:  # a question that failed is no picture that will not come
            self._end_slow()
            self._arrived_serial = self._serial
            self._stand_still()
            if self._view is not None and not self.shows_scene:
                self._view.clear()  # a picture of another scene would be taken for this one's
        self.problem.emit(problem)

    def _stand_still(self) -> None:
        """Pause at what cannot be drawn; who hears of another failure there has still not been answered."""
        head = self._document.state.timeline
        was_waiting = self._halt is not None and self._halt.head == head and self._halt.was_playing
        self._halt = Halt(timelines.pause(head), head.is_playing or was_waiting)
        if head.is_playing:
            self._document.change("timeline", self._halt.head)

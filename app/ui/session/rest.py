"""A window that rests, its picture complete and nothing moving, has what may be chosen next compiled and loaded: at
most one compiler, of the lowest priority, that ends with the next change. On the CPU device alone: on a GPU kernels are
compiled within this process, whose threads they would hold up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from raygrove.app.document.state import State
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.session.session import Session

if TYPE_CHECKING:
    from raygrove.app.frames.next_kernels import NextKernels, StartOnTarget
    from raygrove.gpu.view import ViewSettings

REST_MS = 5000
"""How long nothing has changed in a window that rests."""

END_S = 0.5
"""How long the end of the program waits for that of the compiler."""


class Rest(QObject):
    """See the module. Ends with its owner."""

    def __init__(self, session: Session, owner: QObject) -> None:
        super().__init__(owner)
        self._document, self._loop = session.document, session.loop
        self._job: NextKernels | None = None
        self._done: list[ViewSettings] = []
        self._done_for: tuple[object, ...] = ()
        self._timer = QTimer(self, singleShot=True, interval=REST_MS)
        self._timer.timeout.connect(self.begin)
        self._loop.frame_arrived.connect(self._take)
        self._document.observe(self._changed)
        self._document.on_scene.append(lambda scene: self.stop())
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.end)

    @property
    def job(self) -> NextKernels | None:
        """What compiles now, or did last."""
        return self._job

    def begin(self) -> None:
        """Compile what may be chosen next, where the window rests."""
        frame, state = self._loop.last_frame, self._document.state
        if frame is None or not self._rests(frame, state):
            return
        from raygrove.app.frames.next_kernels import on_target

        self._loop.ask(
            "next kernels", lambda maker: on_target(maker.target_for(state)), lambda make: self._start(make, state)
        )

    def stop(self) -> None:
        """Something is wanted: what it needs comes first."""
        self._timer.stop()
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
            self._done += job.done

    def end(self) -> None:
        """The program ends, and its compiler before it."""
        job = self._job
        self.stop()
        if job is not None:
            job.wait(END_S)

    def _rests(self, frame: FinishedFrame, state: State) -> bool:
        is_complete = not frame.request.is_moving and frame.samples >= frame.samples_wanted
        is_of_now = self._loop.shows_scene and frame.request.state.settings == state.settings
        return state.settings.window.compile_ahead and is_complete and is_of_now and frame.target_name == "host"

    def _start(self, make: StartOnTarget | None, state: State) -> None:
        scene = self._document.scene
        if make is None or scene is None or self._document.state is not state:
            return
        self.stop()
        of = (scene, state.settings.device)
        if of != self._done_for:
            self._done, self._done_for = [], of
        from raygrove.app.frames.next_kernels import likely_choices, other_structures

        choices, others = (
            [choice for choice in found if choice not in self._done]
            for found in (likely_choices(state), other_structures(state))
        )
        if choices or others:
            self._job = make(scene, choices, others)
            self._job.start()

    def _take(self, frame: FinishedFrame) -> None:
        if self._rests(frame, self._document.state):
            self._timer.start()
        else:
            self.stop()

    def _changed(self, before: State, after: State) -> None:
        if before.timeline.is_playing and after.timeline.is_playing and self._job is None:
            return  # sixty times a second
        self.stop()
        self._timer.start()

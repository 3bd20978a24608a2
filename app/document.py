"""The document: the state, its history, the open scene and the jobs. Everything the user does goes through here; no widget does.

One thread owns a document (the window's). Jobs run beside it and hand their outcome over through `mailroom`, which the owner polls:
connect `document.mailroom.wake` to something that calls `document.mailroom.poll` on the owner's thread.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from app import timeline as timelines
from app.history import History
from app.jobs import Job, Mailroom
from app.problem import Problem
from app.settings import Settings
from app.state import SceneReference, State, replaced, value_at
from app.timeline import Span
from gpu.scene import Scene

StateObserver = Callable[[State, State], None]
"""Called with the state before and after each change."""


class Document:
    """See the module."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._state = State(settings=settings or Settings())
        self._scene: Scene | None = None
        self._history: History[State] = History()
        self.mailroom = Mailroom()
        self.jobs: list[Job] = []
        self.on_scene: list[Callable[[Scene | None], None]] = []
        self.on_problem: list[Callable[[Problem], None]] = []
        self.on_jobs: list[Callable[[], None]] = []
        self._observers: list[StateObserver] = []

    # -- the state ------------------------------------------------------------------------------------------------
    @property
    def state(self) -> State:
        """The present state; a frozen value."""
        return self._state

    @property
    def scene(self) -> Scene | None:
        """The open scene."""
        return self._scene

    @property
    def span(self) -> Span:
        """What the open scene offers to the timeline."""
        return timelines.span_of(self._scene, self._state.timeline, self._state.settings.timeline)

    def observe(self, observer: StateObserver) -> Callable[[], None]:
        """Call `observer(before, after)` after each change; returns a function that ends it."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def change(self, path: str, value: Any, merge_key: str | None = None) -> None:
        """Set what stands at a dotted path of the state ("settings.render.hierarchy", "cameras.0", "settings.hierarchy.lbvh.morton_bits").

        Changes with the same merge key, one after another, are one step of undo (a drag). Raises OptionError where the option does
        not take the value, KeyError where the path leads nowhere."""
        ...

    def tick(self, seconds: float) -> None:
        """Let the animation run on by `seconds` of wall-clock time. The running head is no step of the history."""
        ...

    # -- history --------------------------------------------------------------------------------------------------
    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to make again."""
        return self._history.can_redo

    def undo(self) -> None:
        """Take back the last step; the playing head and the open scene stay."""
        ...

    def redo(self) -> None:
        """Make the step again that was taken back."""
        ...

    # -- scenes ---------------------------------------------------------------------------------------------------
    def open_files(self, paths: Sequence[str]) -> Job:
        """Open files as one scene (several are its key frames) in the background. The open scene stays until the new one is read, and on failure."""
        raise NotImplementedError

    def open_demo(self, name: str) -> Job:
        """Open a built-in scene in the background, made with `settings.demo`."""
        raise NotImplementedError

    def reopen(self) -> Job | None:
        """Read the scene again (the file changed, or the demo's options did); the cameras and the head stay."""
        raise NotImplementedError

    # -- jobs -----------------------------------------------------------------------------------------------------
    def start_job(self, title: str, work: Callable[[Job], Any], finished: Callable[[Job], None]) -> Job:
        """Run `work(job)` in the background; `finished(job)` is called on the owner's thread unless it failed or was cancelled.
        A failure goes to `on_problem`."""
        raise NotImplementedError

    # -- settings -------------------------------------------------------------------------------------------------
    def save_settings(self) -> None:
        """Write the settings to the user's file, atomically."""
        raise NotImplementedError

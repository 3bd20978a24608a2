"""The document: the state, its history, the open scene and the jobs. Everything the user does goes through here.

One thread owns a document (the window's). Jobs run beside it and hand their outcome over through `mailroom`, which the
owner polls: connect `document.mailroom.wake` to something that calls `document.mailroom.poll` on the owner's thread.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from raygrove.app.camera import scene_nodes
from raygrove.app.document import camera_follow, opening, race_follow, saved_state, scene_trees
from raygrove.app.document.changes import changed
from raygrove.app.document.history import History
from raygrove.app.document.jobs import Job, Mailroom
from raygrove.app.document.kept_settings import KeptSettings
from raygrove.app.document.state import Bookmark, SceneReference, State
from raygrove.app.edits import objects
from raygrove.app.playback import timeline as timelines
from raygrove.app.playback.timeline import Span
from raygrove.app.problems.problem import Problem
from raygrove.app.scene_io import is_picture
from raygrove.app.settings import file as settings_file
from raygrove.app.settings.settings import Settings
from raygrove.app.user_files import bookmarks
from raygrove.gpu.scene import Moment, Scene

Again = Callable[[], Job | None]
StateObserver = Callable[[State, State], None]
"""Called with the state before and after each change."""

UNRECORDED = ("timeline", "selection")
"""Fields whose changes are no steps of the history by themselves: nobody wants to undo a pause. `move_head` makes steps
of the timeline's."""

CANCEL_PATIENCE_S = 0.25
"""A cancelled job that has not ended by then is given up."""


class Document:
    """See the module. `observers`, `on_scene`, `on_problem` and `on_jobs` are lists of callbacks, called on the owner's
    thread."""

    def __init__(self, settings: Settings | None = None, overrides: Mapping[str, Any] | None = None) -> None:
        self._state = State(settings=settings or Settings())
        self._kept = KeptSettings(self._state.settings, overrides or {})
        self._scene: Scene | None = None
        self._history: History[State] = History()
        self._opening: Job | None = None
        self._open_again: Again = lambda: None
        self._span = Span()
        self._span_key: tuple[Scene | None, int, float] = (None, 0, 0.0)
        self.observers: list[StateObserver] = []
        self.mailroom = Mailroom()
        self._tried_names = ("", "")
        self.jobs: list[Job] = []
        self.on_scene: list[Callable[[Scene | None], None]] = []
        self.on_problem: list[Callable[[Problem], None]] = []
        self.on_jobs: list[Callable[[], None]] = []
        self._trusted: dict[SceneReference, dict[str, bool]] = {}

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
        """What the open scene offers to the timeline. Kept, because finding all keys takes longer than a tick may."""
        key = (self._scene, self._state.timeline.clip, self._state.settings.timeline.fps)
        if key != self._span_key:
            self._span_key = key
            self._span = timelines.span_of(self._scene, self._state.timeline, self._state.settings.timeline)
        return self._span

    def moment(self, frame_id: int = 0) -> Moment:
        """The instant at the playing head."""
        return timelines.moment(self._state.timeline, frame_id)

    def observe(self, observer: StateObserver) -> Callable[[], None]:
        """Call `observer(before, after)` after each change; returns a function that ends it, once or again."""
        self.observers.append(observer)
        return lambda: self.observers.remove(observer) if observer in self.observers else None

    def change(self, path: str, value: Any, merge_key: str | None = None) -> None:
        """Set what stands at a dotted path of the state ("settings.render.hierarchy", "cameras.0",
        "settings.hierarchy.lbvh.morton_bits").

        Changes with the same merge key, one after another, are one step of undo (a drag). Raises OptionError where the
        option does not take the value or is unknown, KeyError or IndexError where the path leads nowhere, TypeError for
        a value of another kind."""
        before = self._state
        after = race_follow.followed(before, changed(before, path, value))
        after = camera_follow.followed(before, after, self._scene)
        if after == before:
            return
        if path.partition(".")[0] not in UNRECORDED:
            self._history.record(before, merge_key)
        self._set(after)

    def begin_with(self, path: str, value: Any) -> None:
        """Set what stands at a path as if it had been so from the start: no step of undo. Raises as `change` does."""
        self._set(changed(self._state, path, value))

    def move_head(self, head: timelines.Timeline, merge_key: str | None = None) -> None:
        """Put the playing head elsewhere, on another clip or the other way round, as a step of undo: what a person
        does, not what playing does."""
        before = self._state
        if head != before.timeline:
            self._history.record(before, merge_key, "timeline")
            self._set(dataclasses.replace(before, timeline=head))

    def toggle_play(self) -> None:
        """Play, or pause."""
        head = self.state.timeline
        playing = (
            timelines.pause(head) if head.is_playing else timelines.play(head, self.span, self.state.settings.timeline)
        )
        self.change("timeline", playing)

    def end_merge(self) -> None:
        """The next change is a step of its own, whatever its merge key: a drag has ended."""
        self._history.end_merge()

    def tick(self, seconds: float) -> None:
        """Let the animation run on by `seconds` of wall-clock time. The running head is no step of the history."""
        head = timelines.advance(self._state.timeline, seconds, self.span, self._state.settings.timeline)
        if head != self._state.timeline:
            self._set(dataclasses.replace(self._state, timeline=head))

    def _set(self, state: State) -> None:
        if self._scene is not None and (self._scene.cameras and len(state.cameras) > 1):
            moved = scene_nodes.followed(state.cameras, self._scene, state.timeline.time, state.timeline.clip)
            state = dataclasses.replace(state, cameras=moved) if moved != state.cameras else state
        before, self._state = self._state, state
        if before.bookmarks != state.bookmarks and before.scene == state.scene:
            self._keep_bookmarks(before.bookmarks)
            state = self._state
        for observer in list(self.observers):
            observer(before, state)
        if before.settings.motion != state.settings.motion and before.scene == state.scene:
            self.reopen()

    # -- history --------------------------------------------------------------------------------------------------
    @property
    def steps(self) -> History[State]:
        """The steps of undo themselves, for who tries things and takes them back as one (`open_step`)."""
        return self._history

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to take back."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to make again."""
        return self._history.can_redo

    def undo(self) -> None:
        """Take back the last step; the playing head, unless the step moved it, and the open scene stay."""
        self._restore(*self._history.undo(self._state))

    def redo(self) -> None:
        """Make the step again that was taken back."""
        self._restore(*self._history.redo(self._state))

    def _restore(self, state: State, scope: str) -> None:
        head = timelines.pause(state.timeline) if scope == "timeline" else self._state.timeline
        kept = dataclasses.replace(state, scene=self._state.scene, timeline=head, selection=self._state.selection)
        if kept != self._state:
            self._set(kept)

    # -- scenes ---------------------------------------------------------------------------------------------------
    def open_files(self, paths: Sequence[str]) -> Job:
        """Open files as one scene (several are its key frames) in the background; a picture that was saved with its
        state opens that. The open scene stays until the new one is read, and on failure."""
        return self.open_picture(paths[0]) if is_picture(paths) else self._open(SceneReference("files", tuple(paths)))

    def open_picture(self, path: str, as_given: Callable[[Settings], Settings] = lambda settings: settings) -> Job:
        """Restore what a saved picture shows: its scene, settings (as `as_given` makes them), cameras and instant."""
        own = self._state.settings
        is_trusted = "allow_outside" in self._trusted.get(SceneReference("files", (path,)), {})

        def work(job: Job) -> tuple[State, Scene]:
            saved, remarks = opening.open_picture(path, own, job, is_trusted=is_trusted)
            state = dataclasses.replace(saved, settings=as_given(saved.settings))
            scene = opening.open_scene(state.scene, state.settings, job)
            return state, dataclasses.replace(scene, remarks=remarks + scene.remarks)

        return self._start_opening(os.path.basename(path), work, lambda result: self.set_state(*result), lambda: None)

    def open_saved(self, texts: Mapping[str, str], title: str) -> Job:
        """Restore a state from the entries that pictures carry: its scene, settings, cameras and instant."""
        own = self._state.settings

        def work(job: Job) -> tuple[State, Scene]:
            state = saved_state.state_of(texts, title, own)
            return state, opening.open_scene(state.scene, state.settings, job)

        return self._start_opening(title, work, lambda result: self.set_state(*result), lambda: None)

    def open_demo(self, name: str) -> Job:
        """Open a built-in scene in the background, made with `settings.demo`."""
        return self._open(SceneReference("demo", (name,)))

    def reopen(self) -> Job | None:
        """Read the scene again (the file changed, or the demo's options did); cameras, head and history stay. What is
        being opened is begun again in its place, as it was asked for later. None where no scene is open."""
        if self._opening in self.jobs:
            return self._open_again()
        if self._state.scene.kind == "none":
            return None
        return self._open(self._state.scene, keep_view=True)

    def open_trusted(self, setting: str, paths: Sequence[str] = ()) -> Job:
        """Open files, or the open scene again, with `setting` of `import` on, for these alone in this program."""
        reference = SceneReference("files", tuple(paths)) if paths else self._state.scene
        self._trusted.setdefault(reference, {})[setting] = True
        return self.open_picture(paths[0]) if is_picture(paths) else self._open(reference, keep_view=not paths)

    def close_scene(self) -> None:
        """Back to no scene."""
        self._scene = None
        self._history = History()
        none = State(
            settings=scene_trees.left_behind(self._state.settings), views=self._state.views, cameras=self._state.cameras
        )
        self._set(none)
        self._tell_scene()

    def set_scene(self, reference: SceneReference, scene: Scene, *, keep_view: bool = False) -> None:
        """Show a scene that has been read. Where the view is kept, a scene that was still and now moves begins to
        play."""
        was_still = self._scene is not None and self.span.duration <= 0.0
        starts = keep_view and was_still and self._state.settings.timeline.autoplay
        self._scene = scene
        state = scene_trees.state_on(self._state, reference)
        if not keep_view:
            self._history = History()
            scene_trees.forget_others(state)
            state = dataclasses.replace(
                opening.first_look(state, scene),
                bookmarks=self._kept_bookmarks(reference),
                hidden=self._first_hidden(scene),
            )
        else:
            state = opening.same_look(state, scene)
        span = timelines.span_of(scene, state.timeline, state.settings.timeline)
        head = timelines.scrub(state.timeline, state.timeline.time, span)
        head = dataclasses.replace(head, is_playing=span.duration > 0.0 and (head.is_playing or starts))
        self._set(dataclasses.replace(state, timeline=head))
        self._tell_scene()

    def follow(self, reference: SceneReference, scene: Scene, at: float) -> None:
        """Show what a running program has come to, with the head at `at` seconds: cameras, what is hidden and the
        history stay."""
        self._scene = scene
        state = opening.same_look(dataclasses.replace(self._state, scene=reference), scene)
        span = timelines.span_of(scene, state.timeline, state.settings.timeline)
        head = timelines.scrub(state.timeline, at, span)
        self._set(dataclasses.replace(state, timeline=dataclasses.replace(head, is_playing=state.timeline.is_playing)))
        self._tell_scene()

    def _first_hidden(self, scene: Scene) -> tuple[int, ...]:
        """What the settings leave out. Names that no object has are told once: they were meant for one scene, and the
        next may have none of them."""
        start = self._state.settings.start
        is_news, self._tried_names = self._tried_names != (start.hide, start.isolate), (start.hide, start.isolate)
        try:
            return objects.hidden_of(scene, start.hide, start.isolate)
        except objects.ObjectsError as error:
            if is_news:
                reason = f"What start.hide and start.isolate name is not here: {error}"
                self.report(Problem("Nothing is hidden", reason))
            return ()

    def _kept_bookmarks(self, reference: SceneReference) -> tuple[Bookmark, ...]:
        try:
            return bookmarks.load(reference)
        except bookmarks.BookmarksError as error:
            self.report(Problem("The bookmarks cannot be read", str(error), panel="camera"))
            return ()

    def _keep_bookmarks(self, before: tuple[Bookmark, ...]) -> None:
        try:
            kept = bookmarks.save(self._state.scene, self._state.bookmarks, before=before)
            self._state = dataclasses.replace(self._state, bookmarks=kept)
        except (OSError, bookmarks.BookmarksError) as error:
            reason = str(error) if isinstance(error, ValueError) else f"{bookmarks.file_of_user()}: {error.strerror}."
            self.report(Problem("The bookmarks cannot be saved", reason, panel="camera"))

    def set_state(self, state: State, scene: Scene) -> None:
        """Show a scene as a restored state has it, paused at its instant. The user's own bookmarks of the scene
        stay."""
        own = self._kept_bookmarks(state.scene)
        names = {bookmark.name for bookmark in own}
        marks = (*own, *(bookmark for bookmark in state.bookmarks if bookmark.name not in names))
        self._scene, self._history = scene, History()
        self._set(dataclasses.replace(saved_state.fitted(state, scene), bookmarks=marks))
        self._tell_scene()

    def _tell_scene(self) -> None:
        for observer in list(self.on_scene):
            observer(self._scene)

    def _open(self, reference: SceneReference, *, keep_view: bool = False) -> Job:
        settings = scene_trees.state_on(self._state, reference).settings
        trusted: dict[str, Any] = {**self._trusted.get(reference, {})}
        settings = dataclasses.replace(settings, importer=dataclasses.replace(settings.importer, **trusted))

        show = partial(self.set_scene, reference, keep_view=keep_view)
        again = partial(self._open, reference, keep_view=keep_view)
        return self._start_opening(reference.title, partial(opening.open_scene, reference, settings), show, again)

    def _start_opening(self, title: str, work: Callable[[Job], Any], show: Callable[[Any], None], again: Again) -> Job:
        """Only the newest opening counts: one that is still running is cancelled. `again` begins it with settings that
        changed; a picture brings its own."""
        if self._opening is not None:
            self._opening.cancel()

        def finished(job: Job) -> None:
            if job is self._opening:
                self._opening = None
                show(job.result)

        self._opening, self._open_again = self.start_job(f"Opening {title}", work, finished), again
        return self._opening

    # -- jobs -----------------------------------------------------------------------------------------------------
    def start_job(self, title: str, work: Callable[[Job], Any], finished: Callable[[Job], None]) -> Job:
        """Run `work(job)` in the background; `finished(job)` is called on the owner's thread unless it failed or was
        cancelled. A failure goes to `on_problem`."""
        job = Job(title)
        self.jobs.append(job)

        def ended(job: Job) -> None:
            if job not in self.jobs:  # it was given up
                return
            self.jobs.remove(job)
            if job.problem is not None:
                self.report(job.problem)
            elif not job.is_cancelled:
                finished(job)
            self._tell_jobs()

        job.start(work, self.mailroom, ended)
        self._tell_jobs()
        return job

    def cancel(self, job: Job) -> None:
        """Cancel a job. One that does not hear it soon is given up: nobody waits for it, and its outcome counts no
        more."""
        job.cancel()

        def give_up() -> None:
            if job in self.jobs and not job.is_done:
                self.jobs.remove(job)
                self._tell_jobs()

        timer = threading.Timer(CANCEL_PATIENCE_S, lambda: self.mailroom.post(give_up))
        timer.daemon = True
        timer.start()

    def report(self, problem: Problem) -> None:
        """Tell whoever shows problems."""
        for observer in list(self.on_problem):
            observer(problem)

    def _tell_jobs(self) -> None:
        for observer in list(self.on_jobs):
            observer()

    # -- settings -------------------------------------------------------------------------------------------------
    def save_settings(self) -> str:
        """Write the settings to the user's file, atomically; what only the command line said is left out, and what was
        not changed here stays as the file has it. Returns a sentence for a person, an empty one where it failed, which
        is reported as a problem."""
        try:
            return self._kept.save(self._state.settings)
        except OSError as error:
            self.report(
                Problem("The settings cannot be saved", f"{settings_file.user_file()}: {error.strerror}.", exit_code=1)
            )
            return ""

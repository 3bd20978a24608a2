"""`view`: the window."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from raygrove.app.cli.cameras import looked_through
from raygrove.app.cli.common import (
    camera_from,
    check_attributes,
    clip_from,
    hidden_from,
    reference_from,
    settings_from,
    settings_of_flags,
)
from raygrove.app.document.document import Document
from raygrove.app.playback import timeline as timelines
from raygrove.app.problems.problem import Problem
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError, problem_of
from raygrove.app.scene_io import is_picture
from raygrove.app.settings.chosen_configuration import as_set, with_contestants
from raygrove.app.settings.file import overridden
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.system import interrupts, starting
from raygrove.app.system.display_check import display_problem
from raygrove.app.user_files.bookmarks import BookmarksError
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target import remarks

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Open the window with what was asked for; returns the exit code when it is closed. Ctrl+C closes it, whenever it
    comes."""
    with interrupts.noted():
        return _run(names, words)


def _run(names: argparse.Namespace, words: Words) -> int:
    if names.json:
        raise UsageError("the window has no --json; render, bench, info and doctor have.")
    if names.frames:
        raise UsageError("the window plays all frames; --frames is for render and bench.")
    problem = display_problem()
    if problem:
        words.error(problem)
        return EXIT_FAILURE
    settings = _with_race(names, settings_from(names, words))
    names.remarks = [*names.remarks, *remarks.sentences()]
    document = Document(settings, overridden(names.user_settings, settings))
    starting.load_binding()
    if names.live:
        return _follow(document, names)
    reference = reference_from(names, document.state.settings)
    if reference.kind != "none":
        starting.compile_first(settings.render.device, settings.device.contraction)
    first_look, opened = _FirstLook(names, document), _Opened(document)
    document.on_scene.append(first_look)
    if reference.kind == "demo":
        document.open_demo(reference.names[0])
    elif is_picture(reference.names):
        document.open_picture(
            reference.names[0], lambda settings: _with_race(names, settings_of_flags(names, settings))
        )
    elif reference.kind == "files":
        document.open_files(reference.names)
    application = importlib.import_module("raygrove.app.ui.window.application")
    interrupts.check()
    code: int = application.run(document, names)
    if opened.problem is not None:
        words.error(opened.problem.sentence)
        return code or opened.problem.exit_code
    return code


def _with_race(names: argparse.Namespace, settings: Settings) -> Settings:
    """The workspace Race with who --contestants names; what they do not say is as the settings have it, as in `race`.
    Raises UsageError."""
    if not names.contestants:
        return with_contestants(settings) if settings.window.workspace == "race" else settings
    try:
        texts = [as_set(settings, one) for one in names.contestants]
        settings = set_option(settings, "race.contestants", ",".join(texts))
    except OptionError as error:
        raise UsageError(f"--contestants: {str(error).rstrip('.')}.") from error
    return set_option(settings, "window.workspace", "race")


def _follow(document: Document, names: argparse.Namespace) -> int:
    """The window on what a running program shows."""
    from raygrove.app.live.following import LiveScene, ended_when
    from raygrove.app.live.ring import LiveError, LiveRing  # not at each start

    memory, _, word = names.live.partition(":")
    if not (memory.isdecimal() and word.isdecimal()):
        raise UsageError("--live is what raygrove.Viewer starts the window with; open a file instead.")
    try:
        live = LiveScene(document, LiveRing.attach(int(memory)))
    except LiveError as error:
        raise UsageError(str(error)) from error
    application = importlib.import_module("raygrove.app.ui.window.application")
    interrupts.check()
    code: int = application.run(document, names, Live(live.poll, ended_when(int(word))))
    return code


class Live(NamedTuple):
    """What a window follows: `poll` shows what is new, `has_ended` says whether there is nothing to follow any more."""

    poll: Callable[[], None]
    has_ended: Callable[[], bool]


class _Opened:
    """Whether what the command line named was opened: where it was not, and nothing else after it, the command fails as
    `render` would. The window stays open with the sentence all the same, for whoever sits before it."""

    def __init__(self, document: Document) -> None:
        self.problem: Problem | None = None
        document.on_scene.append(self._hear_scene)
        document.on_problem.append(self._hear_problem)
        self._document, self._has_shown = document, False

    def _hear_scene(self, scene: Scene | None) -> None:
        if scene is not None:
            self._has_shown, self.problem = True, None

    def _hear_problem(self, problem: Problem) -> None:
        if not self._has_shown and self._document.scene is None:
            self.problem = problem


class _FirstLook:
    """Puts the first scene's camera and head where the flags say, once."""

    def __init__(self, names: argparse.Namespace, document: Document) -> None:
        self._names, self._document, self._is_done = names, document, False

    def __call__(self, scene: Scene | None) -> None:
        if scene is None or self._is_done:
            return
        self._is_done = True
        state = self._document.state
        camera = state.cameras[0]
        try:
            clip_from(state.settings, scene)
            camera = camera_from(self._names, camera, scene)
            check_attributes(state.settings, scene)
        except UsageError as error:
            self._document.report(problem_of(error))
        self._look_through(scene)
        if camera != state.cameras[0]:
            self._document.change("cameras.0", camera)
        if (self._names.hide is not None or self._names.isolate is not None) and is_picture(self._names.files):
            self._hide(scene)
        if self._names.time is not None:
            self._document.change(
                "timeline", timelines.scrub(timelines.pause(state.timeline), self._names.time, self._document.span)
            )

    def _hide(self, scene: Scene) -> None:
        """A picture brings its own hidden objects; flags are stronger."""
        try:
            self._document.change("hidden", hidden_from(self._document.state.settings, scene))
        except UsageError as error:
            self._document.report(problem_of(error))

    def _look_through(self, scene: Scene) -> None:
        """The camera that --camera names."""
        state = self._document.state
        try:
            wanted = looked_through(self._names, state, scene)
        except (UsageError, BookmarksError) as error:
            self._document.report(problem_of(error))
            return
        if wanted != state:
            self._document.change("cameras", wanted.cameras)
            self._document.change("views", wanted.views)

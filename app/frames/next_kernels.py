"""What may be chosen next, compiled before it is: one unit at a time, by a compiler of the lowest priority, until it is
cancelled; and loaded.

The present choice comes first, so that it can be refitted, too; then ray types on its structure, and structures under
its ray type, the usual ones of each. What the cache has of them, and of all other structures, is loaded before.
What cannot be drawn of a scene, or not be compiled, is left to whoever chooses it: who then meets the reason.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator, Sequence

from raygrove.app.document.state import State
from raygrove.app.frames.views import other_choice, view_settings, while_looking
from raygrove.app.settings import option_tables
from raygrove.gpu.planned_units import planned_units
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.planning import AheadCompiler, load_ahead
from raygrove.gpu.target.stopping import Abandoned
from raygrove.gpu.view import ViewSettings

RAY_TYPES = ("smooth", "steps", "ao", "path", "whitted")
STRUCTURES = ("hploc", "lbvh", "binned_sah", "two_level", "sbvh", "ploc")
"""Those that are chosen most, in the order in which they are prepared."""


def likely_choices(state: State) -> Iterator[ViewSettings]:
    """What may be chosen next of the first view, refitted and rebuilt, whatever the policy."""
    settings, now = state.settings, view_settings(state)
    now = dataclasses.replace(now, update=dataclasses.replace(now.update, mode="auto"))
    now = while_looking(now, settings.display.filter_samples)
    yield now
    for ray_type in RAY_TYPES:
        if ray_type != now.ray_type:
            found = other_choice(settings, now, now.hierarchy, ray_type)
            yield while_looking(found, settings.display.filter_samples)
    for hierarchy in STRUCTURES:
        if hierarchy != now.hierarchy:
            yield other_choice(settings, now, hierarchy, now.ray_type)


def other_structures(state: State) -> Iterator[ViewSettings]:
    """All that may be chosen of the first view and are not among the likely ones."""
    settings, now = state.settings, view_settings(state)
    for hierarchy in sorted(option_tables.builders()):
        if hierarchy not in (now.hierarchy, *STRUCTURES):
            yield other_choice(settings, now, hierarchy, now.ray_type)


class NextKernels:
    """Compiles what some choices need of a scene, and loads it; of `others` it loads what is there. `done` are those
    of both that need nothing more so far, or cannot be prepared."""

    def __init__(
        self, target: Target, scene: Scene, choices: Sequence[ViewSettings], others: Sequence[ViewSettings] = ()
    ) -> None:
        self._target, self._scene, self._choices, self._others = target, scene, tuple(choices), tuple(others)
        self._ahead = AheadCompiler(target, is_idle=True)
        self._is_cancelled = False
        self.done: list[ViewSettings] = []
        self.compiled = 0
        self._thread = threading.Thread(target=self._run, name="next kernels", daemon=True)

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    def cancel(self) -> None:
        """End it, its compiler with it. Never waits."""
        self._is_cancelled = True

    def wait(self, seconds: float) -> bool:
        """Wait for its end; whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        """What is there first, which takes a fraction of a second."""
        with contextlib.suppress(Abandoned):
            missing = [choice for choice in self._choices if not self._try(self._load, choice)]
            for choice in self._others:
                self._try(lambda one: self._load(one) or True, choice)
            for choice in missing:
                self._try(self._compile, choice)

    def _try(self, step: Callable[[ViewSettings], bool], choice: ViewSettings) -> bool:
        """Take a step for a choice; whether nothing more is to be done for it. Raises Abandoned."""
        self._check()
        try:
            is_done = step(choice)
        except Abandoned:
            raise
        except Exception:
            is_done = True  # whoever chooses it meets the reason
        if is_done:
            self.done.append(choice)
        return is_done

    def _load(self, choice: ViewSettings) -> bool:
        """Load what the cache has of a choice; whether that is all."""
        is_whole = True
        for source in planned_units(self._target, self._scene, [choice]):
            self._check()
            is_whole &= load_ahead(self._target, source)
        return is_whole

    def _compile(self, choice: ViewSettings) -> bool:
        """Compile what the cache lacks of a choice, and load it."""
        for source in planned_units(self._target, self._scene, [choice]):
            self._check()
            if not self._ahead.is_ready(source):
                self._ahead.compile(source, self._check)
                self.compiled += 1
            load_ahead(self._target, source)
        return True

    def _check(self) -> None:
        if self._is_cancelled:
            raise Abandoned


StartOnTarget = Callable[[Scene, Sequence[ViewSettings], Sequence[ViewSettings]], NextKernels]
"""Makes it for a scene, choices and others, on the target that is known by then."""


def on_target(target: Target | None) -> StartOnTarget | None:
    """What makes it on a target; None where there is none."""
    return None if target is None else functools.partial(NextKernels, target)

"""What may be chosen next, compiled before it is: one unit at a time, by a compiler of the lowest priority, until it is
cancelled.

The present choice comes first, so that it can be refitted, too; then ray types on its structure, and structures under
its ray type, the usual ones of each. What cannot be drawn of a scene, or not be compiled, is left to whoever chooses
it: who then meets the reason.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator, Sequence

from raygrove.app.document.state import State
from raygrove.app.frames.views import other_choice, view_settings, while_looking
from raygrove.gpu.planned_units import planned_units
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.planning import AheadCompiler
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


class NextKernels:
    """Compiles what some choices need of a scene. `done` are those of them that need nothing more so far,
    or cannot be prepared."""

    def __init__(self, target: Target, scene: Scene, choices: Sequence[ViewSettings]) -> None:
        self._target, self._scene, self._choices = target, scene, tuple(choices)
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
        for choice in self._choices:
            if self._is_cancelled:
                return
            try:
                self._prepare(choice)
            except Abandoned:
                return
            except Exception:
                pass  # whoever chooses it meets the reason
            self.done.append(choice)

    def _prepare(self, choice: ViewSettings) -> None:
        for source in planned_units(self._target, self._scene, [choice]):
            self._check()
            if not self._ahead.is_ready(source):
                self._ahead.compile(source, self._check)
                self.compiled += 1

    def _check(self) -> None:
        if self._is_cancelled:
            raise Abandoned


StartOnTarget = Callable[[Scene, Sequence[ViewSettings]], NextKernels]
"""Makes it for a scene and choices, on the target that is known by then."""


def on_target(target: Target | None) -> StartOnTarget | None:
    """What makes it on a target; None where there is none."""
    return None if target is None else functools.partial(NextKernels, target)

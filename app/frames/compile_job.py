"""Kernels compiled beside everything else, into the cache: on threads of their own, several at a time.

What a choice needs is planned first (gpu/planned_units.py), so that it is known how many units there are. What goes
wrong is not told here: whoever then draws the choice compiles in place, and meets the same error, or asks for it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from raygrove.app.document.state import State
from raygrove.app.frames.views import view_settings
from raygrove.gpu.linux import processors
from raygrove.gpu.planned_units import planned_units
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.target.planning import AheadCompiler, expected_work
from raygrove.gpu.target.stopping import Abandoned
from raygrove.gpu.view import ViewSettings

if TYPE_CHECKING:
    from raygrove.app.frames.maker import FrameMaker


def compile_units(
    ahead: AheadCompiler,
    units: Sequence[UnitSource],
    on_progress: Callable[[int, int], None],
    check: Callable[[], None] = lambda: None,
    on_tried: Callable[[UnitSource], None] = lambda source: None,
) -> int:
    """Compile those of the units that the cache lacks, as many at a time as there are processors and the long ones
    first, so that none is left for one processor alone, and say after each how many of how many are there; how many
    there were. Where one fails, those that were not begun are left out; `on_tried` hears of each that was. Raises
    CompileError, and what `check` raises while they are compiled."""
    missing = sorted((source for source in units if not ahead.is_ready(source)), key=expected_work, reverse=True)
    if not missing:
        return 0
    on_progress(0, len(missing))
    done, counting = 0, threading.Lock()

    def compile_one(source: UnitSource) -> None:
        nonlocal done
        try:
            ahead.compile(source, check)
        finally:
            on_tried(source)
        with counting:
            done += 1
            on_progress(done, len(missing))

    pool = ThreadPoolExecutor(min(processors(), len(missing)), "compile")
    try:
        for finished in [pool.submit(compile_one, source) for source in missing]:
            finished.result()
    finally:
        pool.shutdown(cancel_futures=True)
    return len(missing)


def make_ready(maker: FrameMaker, state: State) -> None:
    """Before a scene is there: have what draws imported and the target made. What fails here fails again with the
    picture, which says why."""
    with contextlib.suppress(Exception):
        maker.target_for(state)
        view_settings(state)


def scene_job(
    target: Target,
    scene: Scene,
    shown: Sequence[ViewSettings],
    on_progress: Callable[[int, int], None],
    on_end: Callable[[], None],
    *,
    is_quick: bool,
) -> CompileJob:
    """What compiles all that pictures of a scene by some settings need on a target; `is_quick` for a first picture."""
    ahead = AheadCompiler(target, is_quick=is_quick)
    return CompileJob(ahead, lambda: planned_units(target, scene, shown), on_progress, on_end)


class CompileJob:
    """Compiles what `plan` finds, on its threads; `on_progress(done, of)` and `on_end()` are called there, too. Once it
    is done, `tried` are the units that were compiled or failed: not all, where one failed, and `failure` says why."""

    def __init__(
        self,
        ahead: AheadCompiler,
        plan: Callable[[], Sequence[UnitSource]],
        on_progress: Callable[[int, int], None],
        on_end: Callable[[], None],
    ) -> None:
        self._ahead, self._plan = ahead, plan
        self._on_progress, self._on_end = on_progress, on_end
        self._is_cancelled = self._is_done = False
        self.tried: set[UnitSource] = set()
        self.failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="compile", daemon=True)

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    def cancel(self) -> None:
        """End it, compilers and all; it says nothing any more. Never waits."""
        self._is_cancelled = True

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self._is_done

    def _run(self) -> None:
        try:
            compile_units(self._ahead, self._plan(), self._say, self._check, self.tried.add)
        except Exception as error:  # what cannot be planned or compiled here is for whoever draws to meet
            self.failure = error
        self._is_done = True
        if not self._is_cancelled:
            self._on_end()

    def _check(self) -> None:
        if self._is_cancelled:
            raise Abandoned

    def _say(self, done: int, of: int) -> None:
        if not self._is_cancelled:
            self._on_progress(done, of)

"""From one choice to another: pictures go on as they were chosen before, while what the new choice needs is compiled.

A choice is tried first without compiling anything. Where a unit is missing in the cache, all that it needs is compiled
beside the drawing (compile_job.py), and the choice that was drawn last stands in for it: with the camera, the instant
and everything else of the request. Nothing stands in where nothing of this scene has been drawn yet: then a CPU's
kernels for a single picture are compiled in haste, and anew once it is there (gpu/target/quick_units.py). Pictures that
are compared, of a race or side by side, are drawn by none of those: they wait for all of their kernels as they stay.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raygrove.app.document.state import State
from raygrove.app.frames.contestants import as_drawn, is_raced
from raygrove.app.frames.views import view_settings, while_looking
from raygrove.app.settings import option_tables
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.target.remarks import remark
from raygrove.gpu.target.stopping import NotCompiled

if TYPE_CHECKING:
    from raygrove.app.frames.compile_job import CompileJob

COMPILING, OPTIMIZING = "Compiling", "Optimizing"
"""What is said begins so while kernels are compiled that a picture waits for, and while those of the picture that is
shown are compiled anew, which nobody waits for."""

IN_HASTE = "Some kernels stay as they were compiled in haste for the first picture, and may be slower"

CHOSEN = ("render", "device", "hierarchy", "optimiser", "ray_type")
"""The groups of settings that decide about kernels."""


class Switching:
    """See the module. Used by the render thread alone; `on_busy(sentence)` and `wake()` are called on other threads,
    too."""

    def __init__(self, on_busy: Callable[[str], None], wake: Callable[[], None]) -> None:
        self._on_busy, self._wake = on_busy, wake
        self._drawn: Any = None
        self._wanted: Any = None
        self._job: CompileJob | None = None
        self._better: CompileJob | None = None
        self._bettered: set[UnitSource] = set()
        self._has_told = False

    def shown(self, request: Any) -> Any:
        """What to draw of a request now: itself, or with what was chosen before; None: nothing until `wake`."""
        if self._job is None or not request.needs_same(self._wanted):
            self.drop()
            return request
        return request if self._job.is_done else self._stand_in(request)

    def may_compile(self, request: Any) -> bool:
        """Whether what is missing for drawing a request is compiled in place: it is that of the pictures before, or
        what could be compiled ahead was."""
        if self._job is not None:
            return True
        return self._drawn is not None and bool(request.needs_same(self._drawn))

    def compile(self, request: Any, target: Target) -> bool:
        """Compile beside the drawing what a request needs; whether something stands in for it."""
        state = as_drawn(request.state)
        looking = 0 if is_raced(state) else state.settings.display.filter_samples
        shown = [while_looking(view_settings(state, index), looking) for index in range(len(state.views))]
        what = self._title(state)

        def say(done: int, of: int) -> None:
            self._on_busy(f"{COMPILING} {what}, first use only: {done} of {of}")

        def end() -> None:
            self._on_busy("")
            self._wake()

        from raygrove.app.frames.compile_job import scene_job  # when something is compiled for the first time

        stands_in = self._stand_in(request) is not None
        is_first = self._drawn is None or self._drawn.scene is not request.scene
        is_quick = is_first and target.quick is not None and target.quick.takes
        self._wanted, self._job = request, scene_job(target, request.scene, shown, say, end, is_quick=is_quick)
        self._job.start()
        return stands_in

    def prepare(self, request: Any, target: Target) -> None:
        """Before a frame of a request: see to it that a target takes units that were compiled in haste where it may,
        and leaves those for which better ones are there. Raises NotCompiled where pictures that are compared would be
        drawn by such units for the first time."""
        if target.quick is None:
            return
        is_compared = _compares(as_drawn(request.state))
        target.quick.takes = not (target.options.checks or is_compared)
        if self._better is not None and self._better.is_done:
            self._bettered |= self._better.tried
            self._tell(self._better.failure)
            self._better = None
            target.quick.exchange()
        if is_compared and target.quick.sources:
            if not self.may_compile(request):
                raise NotCompiled
            if self._job is not None:
                target.quick.exchange()

    def improve(self, target: Target) -> None:
        """Compile beside the drawing what a picture was drawn by in haste, as it stays. Each unit is tried once; those
        that were left out where another failed come next."""
        units = () if target.quick is None else tuple(set(target.quick.sources) - self._bettered)
        if not units or self._better is not None:
            return
        from raygrove.app.frames.compile_job import CompileJob
        from raygrove.gpu.target.planning import AheadCompiler

        def say(done: int, of: int) -> None:
            self._on_busy(f"{OPTIMIZING} kernels, first use only: {done} of {of}")

        def end() -> None:
            self._on_busy("")
            self._wake()

        self._better = CompileJob(AheadCompiler(target), lambda: units, say, end)
        self._better.start()

    def has_drawn(self, request: Any) -> None:
        """Pictures of this choice can be drawn."""
        self._drawn = request
        if self._job is not None and self._job.is_done:
            self._job = self._wanted = None

    def drop(self) -> None:
        """Another choice is wanted, or none."""
        if self._job is not None:
            self._job.cancel()
            self._job = self._wanted = None
            self._on_busy("")

    def forget(self) -> None:
        """Nothing stands in for anything any more."""
        self.drop()
        self._drawn = None
        if self._better is not None:
            self._better.cancel()
            self._better, self._bettered = None, set()
            self._on_busy("")

    def _tell(self, failure: Exception | None) -> None:
        """Say once why kernels stay as they were compiled in haste: nobody else meets that error."""
        if failure is not None and not self._has_told:
            self._has_told = True
            reason = str(failure).partition("\n")[0].rstrip(".")
            remark(f"{IN_HASTE}: one did not compile as it should stay. {reason}.")

    def _stand_in(self, request: Any) -> Any:
        drawn = self._drawn
        if drawn is None or drawn.scene is not request.scene or len(drawn.exchanges) != len(request.exchanges):
            return None
        before = {name: getattr(drawn.state.settings, name) for name in (*CHOSEN, "race", "window")}
        settings = dataclasses.replace(request.state.settings, **before)
        return dataclasses.replace(
            request, state=dataclasses.replace(request.state, settings=settings, views=drawn.state.views)
        )

    def _title(self, state: State) -> str:
        """What was chosen, in people's words: the ray type where that is another, else the structure."""
        rays, render = state.ray_type_of(), state.settings.render
        if self._drawn is not None and rays != self._drawn.state.ray_type_of():
            return _title_of(option_tables.ray_type(rays), rays)
        name = state.views[0].hierarchy or render.hierarchy
        return _title_of(option_tables.builder(name), name)


def _compares(state: State) -> bool:
    """Whether pictures, or what they cost, are compared: of `as_drawn`."""
    return len(state.views) > 1 or is_raced(state)


def _title_of(kind: Any, name: str) -> str:
    return str(getattr(kind, "title", name)).partition(" (")[0]

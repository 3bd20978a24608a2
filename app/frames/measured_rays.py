"""The rays that settings choose to be measured over a scene: read or made when they are first asked for, kept until
another choice or another scene, and traced through the structures of pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from raygrove.app.frames.race_hits import ComparedHits
from raygrove.app.settings.ray_options import RayOptions, measures_others
from raygrove.gpu.analysis.hit_proof import compared
from raygrove.gpu.analysis.racing import oracle_of
from raygrove.gpu.analysis.traced_rays import RowRays, TracedRays, in_rows
from raygrove.gpu.analysis.workload import Rays, Workload
from raygrove.gpu.engine import View
from raygrove.gpu.errors import Error
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target

SHOWN = 160
"""Rays that are drawn over a picture, at most."""


class MeasuredRays:
    """See the module. `choose` costs a look at a file's date; the others raise Error where the rays cannot be read or
    made, the same one until others are chosen or the file is another: a damaged one is not read again for every
    frame."""

    def __init__(self) -> None:
        self._options, self._moment = RayOptions(), Moment()
        self._stamp: tuple[int, int, int] | None = None
        self._scene: Scene | None = None
        self._made: Workload | Error | None = None
        self._now: tuple[Workload, float, int, Rays] | None = None
        self._traced: TracedRays | None = None
        self._taught: set[Any] = set()  # histories of updates that learnt from these rays

    def choose(self, options: RayOptions, scene: Scene, moment: Moment) -> None:
        """What is measured from now on, and at which instant. Others let go of those before, and so does a file that
        was written anew."""
        stamp = _stamp_of(options.measured) if measures_others(options) else None
        if (options.measured, stamp) != (self._options.measured, self._stamp) or scene is not self._scene:
            self._made = self._now = self._traced = None
            self._end_lessons()
        self._options, self._stamp, self._scene, self._moment = options, stamp, scene, moment

    def workload(self) -> Workload | None:
        """What is measured; None: the picture's rays."""
        text, scene = self._options.measured, self._scene
        if scene is None or not measures_others(self._options):
            return None
        if self._made is None:
            try:
                self._made = workload_of(text, scene)
            except Error as error:
                self._made = error
        if isinstance(self._made, Error):
            raise self._made.with_traceback(None)  # or it would grow with each frame
        return self._made

    def now(self) -> Rays | None:
        """Those of the instant; None: the picture's."""
        found, moment = self.workload(), self._moment
        if found is None:
            return None
        if self._now is None or self._now[:3] != (found, moment.time, moment.clip):
            self._now = (found, moment.time, moment.clip, found.at(moment))
        return self._now[3]

    def in_rows(self, target: Target) -> RowRays | None:
        """The same on a target, as kernels that count take them."""
        found = self.now()
        return None if found is None else in_rows(target, found)

    # -- through the structures of pictures that were drawn -----------------------------------------------------------
    def trace(self, engine: Any, view: View) -> tuple[float, int] | None:
        """Milliseconds through a view's structure, and how many rays; None: the picture's are measured. Its update
        policy learns from them in the picture's place."""
        rays = self.now()
        if rays is None:
            return None
        ms = _trace(self._on(engine, rays), engine, view)
        history = engine.drawn_slot(view).history
        history.learn_given(ms, len(rays))
        self._taught.add(history)
        return ms, len(rays)

    def compared(self, engine: Any, views: Sequence[View]) -> ComparedHits | None:
        """What all find, beside brute force's hits, where it takes part, else the first one's."""
        rays = self.now()
        if rays is None:
            return None
        against, traced, found = oracle_of([view.settings.hierarchy for view in views]), self._on(engine, rays), []
        for view in views:
            _trace(traced, engine, view)
            prim_id, t = traced.hits()
            found.append((t[None], prim_id[None]))
        from raygrove.gpu.analysis.ray_racing import slack_of  # not at each start: it knows all rivals

        slack = slack_of(rays)
        proofs = tuple(compared(*one, *found[against], slack=slack)[0] for one in found)
        return ComparedHits(proofs, (), against)

    def ends(self, engine: Any, view: View) -> np.ndarray | None:
        """(L, 2, 3) float64: where some of the rays begin and where they end at what they hit, NaN of those that hit
        nothing; None: the picture's are measured."""
        found = self.workload()
        if found is None:
            return None
        some = np.unique(np.linspace(0, len(found) - 1, SHOWN).astype(np.int64))
        traced = TracedRays(engine.target, found.taken(some).at(self._moment))
        _trace(traced, engine, view)
        t = np.where(np.isfinite(traced.hits()[1]), traced.hits()[1], np.nan).astype(np.float64)[:, None]
        return np.stack([traced.rays.origins, traced.rays.origins + t * traced.rays.directions], axis=1)

    def forget(self) -> None:
        """The engine goes: let go of what lies on its target, and of rays that are read or made anew for another one;
        what is wrong with them stays so."""
        self._now = self._traced = None
        self._taught.clear()
        if not isinstance(self._made, Error):
            self._made = None

    def leave(self) -> None:
        """Nothing is drawn any more: let go of the scene, too."""
        self.forget()
        self._scene = self._made = None

    def _end_lessons(self) -> None:
        for history in self._taught:
            history.learn_pictures()
        self._taught.clear()

    def _on(self, engine: Any, rays: Rays) -> TracedRays:
        traced = self._traced
        if traced is None or traced.target is not engine.target or not traced.takes(rays):
            traced = self._traced = TracedRays(engine.target, rays)
        traced.move(rays)
        return traced


def _stamp_of(text: str) -> tuple[int, int, int] | None:
    """Which file it is and when it was written; None where there is none, as of sensors."""
    try:
        found = os.stat(text)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _trace(traced: TracedRays, engine: Any, view: View) -> float:
    slot = engine.drawn_slot(view)
    slot.bring_up_to_date()
    return traced.trace(slot.hierarchy.traversal(), slot.context.surface, view.name)

"""What is asked of the engine about where rays spend their steps and for whom they wait, between two frames.

Asked in the thread that draws; each question waits for the target. Answers are sentences where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from raygrove.app.frames.live_hot_spots import LiveHotSpots, LiveList
from raygrove.app.frames.measured_rays import MeasuredRays
from raygrove.app.frames.stop_switch import StopSwitch
from raygrove.gpu.analysis.divergence import HEIGHT, WIDTH, Divergence
from raygrove.gpu.analysis.hot_findings import HotFinding
from raygrove.gpu.analysis.hot_frames import (
    divergence_of,
    hot_spots_of,
    measured_remedy,
    nodes_of_pixel,
    paid_of,
    with_findings,
)
from raygrove.gpu.analysis.hot_spots import HotSpots
from raygrove.gpu.analysis.hot_words import GIVEN
from raygrove.gpu.engine import View
from raygrove.gpu.errors import Error
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.stopping import Abandoned, Stopped


class OfViews:
    """What questions are about: the engine, and the views of the newest picture."""

    _target: Target | None
    _engine: Any
    _views: Sequence[View]
    _measured = MeasuredRays()
    _live: LiveHotSpots | None = None
    switch = StopSwitch()

    def _shown(self, view: int) -> View | None:
        return self._views[view] if self._engine is not None and view < len(self._views) else None

    def _forget_rays(self) -> None:
        """The engine goes: let go of what lies on its target for rays that are measured or counted."""
        self._measured.forget()
        self._live = None


class HotQuestions(OfViews):
    """Questions of a FrameMaker. The answer is None before the first picture, and where there is no such view."""

    def hot_spots(self, rays: str, kind: str, view: int = 0) -> HotSpots | str | None:
        """Where the rays of the newest picture, or those that are measured in its place, spend their steps, and what
        that means."""
        shown = self._shown(view)
        if shown is None:
            return None
        try:
            given = self._measured.in_rows(self._engine.target)
            found = hot_spots_of(self._engine, shown, rays, kind, given)
            return with_findings(self._engine, shown, found, given)
        except Error as error:
            return str(error)

    def live_hot_spots(self, rays: str, kind: str, by: str, view: int = 0) -> LiveList | str | None:
        """The dearest lines of the newest picture, by node, depth, object, material or triangle. What counts them is
        kept until `end_live`."""
        shown = self._shown(view)
        if shown is None:
            return None
        self._live = self._live or LiveHotSpots()
        try:
            return self._live.read(self._engine, shown, rays, kind, by, self._measured.in_rows(self._engine.target))
        except Error as error:
            return str(error)

    def end_live(self) -> None:
        """Nobody looks at hot spots picture after picture any more: what counted them is given back."""
        self._live = None

    def divergence(self, view: int = 0) -> Divergence | str | None:
        """For whom the warps of the newest picture wait, or those of the rays that are measured in its place."""
        shown = self._shown(view)
        if shown is None:
            return None
        try:
            return divergence_of(self._engine, shown, self._measured.in_rows(self._engine.target))
        except Error as error:
            return str(error)

    def paid(
        self, found: HotSpots, nodes: Sequence[int], primitives: Sequence[int], view: int = 0
    ) -> np.ndarray | None:
        """What each pixel paid at nodes or for primitives; None of rays that belong to no pixel."""
        shown = self._shown(view)
        return None if shown is None or found.rays == GIVEN else paid_of(self._engine, shown, found, nodes, primitives)

    def nodes_of_pixel(self, across: float, down: float, view: int = 0) -> np.ndarray | None:
        """The rows of the table that the primary ray at a place entered."""
        shown = self._shown(view)
        if shown is None:
            return None
        return nodes_of_pixel(self._engine, shown, across * shown.pixels.width, down * shown.pixels.height)

    def longest_ray(self, column: int, row: int, view: int = 0) -> tuple[float, float] | None:
        """The place of the newest picture, from 0 to 1 of its width and height, whose primary ray takes most steps
        (nodes and primitives) in a tile of a warp."""
        shown = self._shown(view)
        if shown is None:
            return None
        found = self._engine.buffers(shown, shaded=False)
        steps = found["steps"].astype(np.int64) + found["tests"]
        left, top = column * WIDTH, row * HEIGHT
        tile = steps[top : top + HEIGHT, left : left + WIDTH]
        if not tile.size:
            return None
        down, across = np.unravel_index(int(tile.argmax()), tile.shape)
        return (left + int(across) + 0.5) / steps.shape[1], (top + int(down) + 0.5) / steps.shape[0]

    def measured_ends(self, view: int = 0) -> np.ndarray | str | None:
        """Where some of the rays that are measured begin and end (MeasuredRays.ends), or why they cannot be read or
        made; None of the picture's."""
        shown = self._shown(view)
        try:
            return None if shown is None else self._measured.ends(self._engine, shown)
        except Error as error:
            return str(error)

    def gain_of(self, found: HotSpots, finding: HotFinding, view: int = 0) -> HotFinding | str | None:
        """A finding with what its remedy gains: it is built and measured beside the picture. As it was, without a gain,
        where that was ended because a picture is wanted."""
        shown = self._shown(view)
        if shown is None:
            return None
        try:
            given = self._measured.in_rows(self._engine.target) if found.rays == GIVEN else None
            with self.switch.watching(self._engine.target):
                return measured_remedy(self._engine, shown, found, finding, given)
        except (Abandoned, Stopped):
            return finding
        except Error as error:
            return str(error)

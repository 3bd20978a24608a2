"""A race in the window, on the render thread: every instant is drawn by one contestant after the other, in an order
that rotates by one place from instant to instant. The clock waits for the last: there is no next instant before."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from raygrove.app.frames.measured_rays import MeasuredRays
from raygrove.gpu.analysis.racing import WARM_FRAMES, turns
from raygrove.gpu.engine import View
from raygrove.gpu.scene import Moment
from raygrove.gpu.stats import FrameStatistics

AT_REST = 48
"""Frames of an instant that stays, until the race rests: enough for an interval."""
PATIENCE = 8
"""Instants for which another size must be wanted before all are drawn in it: costs of two sizes are not comparable."""
MUCH_SMALLER = 0.6
"""A size that is wanted so much smaller is taken at once."""
MOST_WAITING = 64
STEADY = 0.125
"""Part of the range by which its ends may be off before it follows: colours that change all the time cannot be read."""


class RaceTurns:
    """See the module. What frames have taken arrives in `hear`, on a GPU some frames later."""

    def __init__(self) -> None:
        self._number = self._warmed = self._against = 0
        self._choice: object = None
        self._scale = 0.0
        self._places: collections.OrderedDict[int, tuple[int, int]] = collections.OrderedDict()
        self._found: dict[int, dict[int, FrameStatistics]] = {}
        self._counts: dict[int, int] = {}
        self._newest: FrameStatistics | None = None
        self.of_pictures: FrameStatistics | None = None
        self._traced: dict[int, tuple[float, int] | None] = {}  # by frame: what rays of a set took, and their number
        self._early: dict[int, FrameStatistics] = {}
        self._range: tuple[int, int] | None = None

    def settled(self, wanted: float) -> float:
        """The scale of all pictures, where `wanted` is what the last frames ask for."""
        self._against = 0 if wanted == self._scale else self._against + 1
        if not self._scale or self._against >= PATIENCE or wanted <= MUCH_SMALLER * self._scale:
            self._scale, self._against = wanted, 0
        return self._scale

    def with_one_range(self, views: Sequence[View], choice: object) -> Sequence[View]:
        """Heat maps that are fitted to each picture have one range in a race, which fits all contestants' pictures of
        the newest instant: on ranges of their own a dear picture looks like a cheap one."""
        if choice != self._choice:
            self._range = None
            return views
        newest = self.of_pictures
        counted = [one.steps for one in newest.views if one.steps is not None] if newest is not None else []
        is_fitted = all(getattr(view.settings.ray_type_options, "automatic", False) for view in views)
        if not is_fitted or len(counted) != len(views):
            return views
        ends, unit = [one.fitted() for one in counted], counted[0].unit
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        kept = self._range
        if kept is None or max(abs(low - kept[0]), abs(high - kept[1])) > STEADY * (kept[1] - kept[0]):
            kept = self._range = (low, high)
        ends_said = {
            name: end if unit == 1.0 else end * unit for name, end in zip(("minimum", "maximum"), kept, strict=True)
        }
        return [_with_range(view, ends_said) for view in views]

    def draw(
        self,
        engine: Any,
        views: Sequence[View],
        moment: Moment,
        choice: object,
        first_id: int,
        measured: MeasuredRays | None = None,
    ) -> FrameStatistics | None:
        """Draw an instant by all, frames numbered from `first_id`. The statistics are those of the newest instant that
        all have finished, as one frame with a view each; None as long as the first ones of a choice warm up. Rays that
        are `measured` in the pictures' place are traced through each structure once its picture is drawn, and it is
        they that count; `of_pictures` has the figures without them."""
        if choice != self._choice:
            self._choice, self._warmed, self._newest, self.of_pictures = choice, 0, None, None
            for kept in (self._places, self._found, self._traced, self._early):
                kept.clear()
        self._number, self._warmed = self._number + 1, self._warmed + 1
        is_of_rays = measured is not None and measured.workload() is not None
        for count, place in enumerate(turns(len(views), self._number)):
            frame_id = first_id + count
            if self._warmed > WARM_FRAMES:
                self._places[frame_id] = (first_id, place)
                self._counts[first_id] = len(views)
                if is_of_rays:
                    self._traced[frame_id] = None
            engine.render_frame(dataclasses.replace(moment, frame_id=frame_id), [views[place]])
            found = measured.trace(engine, views[place]) if measured is not None and is_of_rays else None
            if found is not None:
                self._take_trace(frame_id, found)
        while len(self._places) > MOST_WAITING:
            frame_id, (turn, _) = self._places.popitem(last=False)
            self._found.pop(turn, None)
            self._traced.pop(frame_id, None)
            self._early.pop(frame_id, None)
        return self._newest

    def _take_trace(self, frame_id: int, found: tuple[float, int]) -> None:
        if frame_id in self._traced:
            self._traced[frame_id] = found
            early = self._early.pop(frame_id, None)
            if early is not None:
                self.hear(early)

    def hear(self, statistics: FrameStatistics) -> None:
        """A frame has finished; where its rays are still to come, it is heard of then."""
        if self._traced.get(statistics.frame_id, (0.0, 0)) is None:
            self._early[statistics.frame_id] = statistics
            return
        turn, place = self._places.pop(statistics.frame_id, (0, 0))
        if not turn:
            return
        found = self._found.setdefault(turn, {})
        found[place] = statistics
        if len(found) < self._counts[turn]:
            return
        del self._found[turn], self._counts[turn]
        frames = [found[place] for place in sorted(found)]
        with_rays = [of_rays(one, self._traced.pop(one.frame_id, None)) for one in frames]
        whole = together(frames, turn)
        if not whole.is_behind:
            self.of_pictures, self._newest = whole, together(with_rays, turn)


def of_rays(statistics: FrameStatistics, traced: tuple[float, int] | None) -> FrameStatistics:
    """A frame's figures with those of rays of a set, milliseconds and number, in the place of its picture's rays."""
    if traced is None:
        return statistics
    ms, count = traced
    views = tuple(
        dataclasses.replace(
            view, trace_ms=ms, shade_ms=0.0, rays=count, mrays_per_s=count / max(ms, 1e-9) / 1e3, rays_by_kind={}
        )
        for view in statistics.views
    )
    return dataclasses.replace(statistics, views=views)


def _with_range(view: View, ends: Mapping[str, float]) -> View:
    options: Any = view.settings.ray_type_options
    chosen = dataclasses.replace(options, automatic=False, **ends)
    return dataclasses.replace(view, settings=dataclasses.replace(view.settings, ray_type_options=chosen))


def together(frames: Sequence[FrameStatistics], number: int) -> FrameStatistics:
    """The frames of all contestants at one instant as one frame."""
    return dataclasses.replace(
        frames[0],
        frame_id=number,
        animate_ms=sum(one.animate_ms for one in frames),
        frame_ms=sum(one.frame_ms for one in frames),
        host_ms=sum(one.host_ms for one in frames),
        launches=sum(one.launches for one in frames),
        views=tuple(view for one in frames for view in one.views),
        bytes=frames[-1].bytes,
    )

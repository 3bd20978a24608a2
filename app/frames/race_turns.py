"""A race in the window, on the render thread: every instant is drawn by one contestant after the other, in an order
that rotates by one place from instant to instant. The clock waits for the last: there is no next instant before."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

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

    def settled(self, wanted: float) -> float:
        """The scale of all pictures, where `wanted` is what the last frames ask for."""
        self._against = 0 if wanted == self._scale else self._against + 1
        if not self._scale or self._against >= PATIENCE or wanted <= MUCH_SMALLER * self._scale:
            self._scale, self._against = wanted, 0
        return self._scale

    def draw(
        self, engine: Any, views: Sequence[View], moment: Moment, choice: object, first_id: int
    ) -> FrameStatistics | None:
        """Draw an instant by all, frames numbered from `first_id`. The statistics are those of the newest instant that
        all have finished, as one frame with a view each; None as long as the first ones of a choice warm up."""
        if choice != self._choice:
            self._choice, self._warmed, self._newest = choice, 0, None
            self._places.clear()
            self._found.clear()
        self._number, self._warmed = self._number + 1, self._warmed + 1
        for count, place in enumerate(turns(len(views), self._number)):
            frame_id = first_id + count
            if self._warmed > WARM_FRAMES:
                self._places[frame_id] = (first_id, place)
                self._counts[first_id] = len(views)
            engine.render_frame(dataclasses.replace(moment, frame_id=frame_id), [views[place]])
        while len(self._places) > MOST_WAITING:
            _, (turn, _) = self._places.popitem(last=False)
            self._found.pop(turn, None)
        return self._newest

    def hear(self, statistics: FrameStatistics) -> None:
        """A frame has finished."""
        turn, place = self._places.pop(statistics.frame_id, (0, 0))
        if not turn:
            return
        found = self._found.setdefault(turn, {})
        found[place] = statistics
        if len(found) < self._counts[turn]:
            return
        del self._found[turn], self._counts[turn]
        whole = together([found[place] for place in sorted(found)], turn)
        if not whole.is_behind:
            self._newest = whole


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

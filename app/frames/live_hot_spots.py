"""Hot spots picture after picture: what counts them is kept from one to the next."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Hashable
from typing import Any

from raygrove.gpu.analysis.frame_counter import FrameCounter
from raygrove.gpu.analysis.hot_lists import HotList, HotLists
from raygrove.gpu.analysis.traced_rays import RowRays
from raygrove.gpu.engine import View


@dataclasses.dataclass(frozen=True)
class LiveList:
    """The dearest lines of a picture, and the milliseconds that counting and reading them kept it from the next; what
    was compiled for that is left out, since it is not compiled again."""

    list: HotList
    ms: float


class LiveHotSpots:
    """See the module."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._kept: tuple[Hashable, FrameCounter, HotLists] | None = None

    def read(self, engine: Any, view: View, rays: str, kind: str, by: str, given: RowRays | None) -> LiveList:
        """Count what a view shows, or rays that are given in its place. Waits; not in a frame. Raises Error for rays
        that are not cast, and lines that there are not."""
        begin, compiled = self._clock(), engine.target.compile_ms
        key = (id(engine), view.name, view.settings.statistics, rays, kind)
        if self._kept is None or self._kept[0] != key:
            counter = FrameCounter(engine, view, rays, kind)
            self._kept = key, counter, HotLists(engine, view, counter)
        _, counter, lists = self._kept
        counter.count(given)
        found = lists.read(by)
        return LiveList(found, (self._clock() - begin) * 1000.0 - (engine.target.compile_ms - compiled))

"""The dearest lines of what a view's rays do, for who looks at them picture after picture: counted by a FrameCounter
that is kept, and read a list at a time."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..engine import Engine
from ..view import View
from .frame_counter import FrameCounter
from .hot_frames import spots_read
from .hot_spots import Spot
from .tree_levels import spelling

MOST_LINES = 200


@dataclasses.dataclass(frozen=True)
class HotList:
    """The dearest first, those that cost anything; by depth from the root down. `rays` and `kind` are those that were
    counted, `ray_count` of them, with `visits` of nodes and `tests` of primitives in all, which cost `cost`. The
    `number` of a node is what events call it (TreeNode.id), so that the tree's browser finds it; all else is as Spot
    has it."""

    by: str
    spots: tuple[Spot, ...]
    rays: str
    kind: str
    ray_count: int
    visits: int
    tests: int
    cost: float
    configuration: str


class HotLists:
    """Lists of what `counter` counted last in pictures of its view. Who makes one keeps it as long as the counter."""

    def __init__(self, engine: Engine, view: View, counter: FrameCounter) -> None:
        self._engine, self._view, self._counter = engine, view, counter

    def read(self, by: str = "node", count: int = MOST_LINES) -> HotList:
        """At most so many lines by node, depth, object, material or triangle. Waits; not in a frame. Error where the
        tree is another than the one that was counted, and for what there is not."""
        found = spots_read(self._engine, self._view, self._counter)
        spots = found.top(count, by)
        if by == "node":
            ids = found.table.event_ids
            assert ids is not None, "it was counted by them"
            spots = tuple(_named(spot, int(ids[spot.number])) for spot in spots)
        visits, tests = int(found.visits.sum()), int(np.sum(found.counts.nodes["tests"]))
        sums = (found.counts.rays, visits, tests, found.total_cost)
        return HotList(by, spots, found.rays, found.kind, *sums, spelling(self._counter.hierarchy))


def _named(spot: Spot, event_id: int) -> Spot:
    called = event_id if event_id >= 0 else f"~{~event_id}"
    return dataclasses.replace(spot, number=event_id, name=f"{spot.name.split()[0]} {called}")

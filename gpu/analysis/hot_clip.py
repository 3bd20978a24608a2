"""Hot spots of several frames together: what is counted is added up, and shares are of the cost of all frames."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ..errors import Error
from .hot_spots import HotSpots, Spot
from .hot_words import BY

OF_CLIPS = tuple(one for one in BY if one != "node")
"""What lines can be of several frames. Nodes cannot: each build makes others."""
COUNTED = ("visits", "box_tests", "box_hits", "tests", "hits")


class FrameCost(NamedTuple):
    """What a frame took in all: rays, and their visits, primitives tested and cost."""

    frame: int
    rays: int
    visits: int
    tests: int
    cost: float


class ClipSpots:
    """See the module: `add` frame after frame, then `top`. Error where lines `by` that cannot be."""

    def __init__(self, by: str) -> None:
        if by not in OF_CLIPS:
            raise Error(f"hot spots of several frames are listed by {', '.join(OF_CLIPS)}, not by {by!r}: nodes are "
                        "others after each build", "hot spots", "choose one of them, or a single frame")  # fmt: skip
        self.by = by
        self.frames: list[FrameCost] = []
        self._spots: dict[int, list[tuple[float, Spot]]] = {}
        self._triangles = np.zeros((3, 0))

    def add(self, frame: int, found: HotSpots) -> None:
        """One more frame of the same scene."""
        cost = found.total_cost
        sums = (found.counts.rays, int(found.visits.sum()), int(found.tests.sum()))
        self.frames.append(FrameCost(frame, *sums, cost))
        if self.by == "triangle":
            counts = found.counts
            rows = np.stack([found.triangle_share * cost, counts.primitive_tests, counts.primitive_hits])
            self._triangles = self._triangles + rows if self._triangles.size else rows
            return
        for spot in found.top(1 << 30, self.by):
            self._spots.setdefault(spot.number, []).append((cost, spot))

    @property
    def dearest(self) -> tuple[int, float, float]:
        """The frame whose rays cost most: its place among those that were added, what a ray cost there, and the mean
        of all frames."""
        each = [one.cost / max(one.rays, 1) for one in self.frames]
        place = max(range(len(each)), key=each.__getitem__)
        return place, each[place], sum(each) / len(each)

    @property
    def cost(self) -> float:
        """Of all frames."""
        return sum(one.cost for one in self.frames)

    def top(self, count: int = 20) -> tuple[Spot, ...]:
        """The dearest first, those that cost anything; by depth from the root down."""
        if self.by == "triangle":
            costs, tests, hits = self._triangles
            order = np.argsort(-costs, kind="stable")[:count].tolist()
            return tuple(
                Spot(one, f"triangle {one}", float(costs[one] / self.cost), tests=int(tests[one]), hits=int(hits[one]),
                     size=1)
                for one in order
                if costs[one] > 0.0
            )  # fmt: skip
        lines = [self._together(of) for of in self._spots.values()]
        lines.sort(key=lambda one: one.number if self.by == "depth" else -one.share)
        return tuple(lines[:count])

    def _together(self, of: list[tuple[float, Spot]]) -> Spot:
        spots = [spot for _, spot in of]
        counted = [name for name in COUNTED if getattr(spots[0], name) is not None]
        told: dict[str, Any] = {name: sum(getattr(one, name) for one in spots) for name in counted}
        visits, missed = told.get("visits", 0), spots[0].missed
        if missed is not None:
            missed = sum((one.missed or 0.0) * (one.visits or 0) for one in spots) / max(visits, 1)
        share = sum(cost * spot.share for cost, spot in of) / max(self.cost, 1e-300)
        return dataclasses.replace(spots[-1], share=share, missed=missed, **told)

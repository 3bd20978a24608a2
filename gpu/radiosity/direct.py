"""The sum over all pairs of points on a target, and bounces of light by it or by any other sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..target.base import Array, Target, UnitSource
from .point_set import PointSet

SOURCES = 128
"""Points that send in a tile of the sum: 6 KiB of a block's shared memory."""

Sum = Callable[[Array, Array], None]
"""Takes what points send (N, 4) and writes what they gather (N, 4): launches only."""


def gather_from_all(target: Target, points: PointSet, sent: Array, gathered: Array, to: PointSet | None = None) -> None:
    """Write what each point of `to`, all where that is None, gathers from all `points`: irradiance over pi from `sent`,
    radiance times area. Both are (N, 4) float32. N times N pairs. Launches only."""
    receivers = points if to is None else to
    if not receivers.count:
        return
    target.launch(
        target.unit(UnitSource("gpu/radiosity/direct.cu", rays_per_thread=0)),
        "gather_from_all",
        -(-receivers.count // target.lane_count),
        to_places=receivers.places,
        to_normals=receivers.normals,
        count=receivers.count,
        places=points.places,
        normals=points.normals,
        sent=sent,
        source_count=points.count,
        gathered=gathered,
    )


class Bounces:
    """Light that goes from point to point: each `add` is one more bounce of it, by a sum over pairs.

    `radiance` (N, 4) float32 is what points look like by now, `gathered` what arrived at them, irradiance over pi.
    `direct` is what arrives from what is no point: lights."""

    def __init__(self, target: Target, points: PointSet, direct: Array | None = None) -> None:
        self._target, self._points, self._direct = target, points, direct
        rows = (points.count, 4)
        self.radiance, self.sent, self.gathered = (target.zeros(rows, np.float32, "radiosity") for _ in range(3))

    def begin(self) -> None:
        """Forget all bounces: points show what they emit, and what lights give them. Launches only."""
        self._target.fill(self.gathered, 0)
        self._send()

    def add(self, gather: Sum) -> None:
        """One bounce more. Launches only."""
        gather(self.sent, self.gathered)
        self._send()

    def _send(self) -> None:
        points = self._points
        if not points.count:
            return
        self._target.launch(
            self._target.unit(UnitSource("gpu/radiosity/bounce.cu")),
            "send_light",
            points.count,
            places=points.places,
            reflectance=points.reflectance,
            emission=points.emission,
            gathered=self.gathered,
            direct=self._direct,
            count=points.count,
            radiance=self.radiance,
            sent=self.sent,
        )

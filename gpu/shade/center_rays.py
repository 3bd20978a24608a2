"""The rays of a finished picture through its pixels' centres, cast once more for what is drawn over it, so that lines
rest while samples add up."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..camera import Camera
from ..clip import HalfSpace
from ..target.base import Array, Target
from ..trace.trace import VIEW_FRAME, CameraRays, HitBuffer, Tracer, see_through

Keep = Callable[[CameraRays, HitBuffer, Array], None]
"""Launches that write what is to be kept of the hits of these rays."""


class CenterRays:
    """See the module. They are traced only where the camera, the picture's size or what is shown is another than
    before; what is kept of their hits, a value a ray, stays until then. `frame` is the picture's view, for kernels."""

    def __init__(self, target: Target, dtype: Any) -> None:
        self._target, self._dtype = target, dtype
        self.frame = target.zeros(VIEW_FRAME.itemsize, np.uint8, "display")
        self._values: Array | None = None
        self._seen: object = None

    def kept(
        self,
        tracer: Tracer,
        camera: Camera,
        size: tuple[int, int],
        clip: HalfSpace | None,
        shown: Hashable,
        keep: Keep,
    ) -> Array:
        """What `keep` has written of the hits of what is `shown`. Launches only."""
        target, (width, height), frame = self._target, size, np.zeros((), VIEW_FRAME)
        see_through(frame, camera, width, height, clip)
        frame["jitter"] = 0.5
        seen = (frame.tobytes(), size, shown)
        if self._values is None or self._seen != seen:
            self._seen = None  # until the launches are made
            rays = CameraRays(self.frame, width, height)
            if self._values is None or len(self._values) != rays.padded_count:
                self._values = target.empty(rays.padded_count, self._dtype, "display")
            target.write(self.frame, frame.reshape(1).view(np.uint8))
            keep(rays, tracer.trace(rays), self._values)
            self._seen = seen
        return self._values

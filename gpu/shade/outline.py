"""An object marked in a finished picture: tinted, with a line round what is seen of it. On request, after the frame, on both targets."""

from __future__ import annotations

import numpy as np

from ..camera import Camera
from ..clip import HalfSpace
from ..hierarchy.base import ObjectRange
from ..target.base import Array, Target, UnitSource
from ..trace.trace import TILE_SIDE, VIEW_FRAME, CameraRays, Tracer, see_through


class OutlinePainter:
    """Marks one object of a view. It traces the picture's rays once more, through the pixels' centres, so that the line rests while samples add up;
    and only where the camera, the scene or the object is another than before. Nothing of it is there while nothing is selected."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._frame = target.zeros(VIEW_FRAME.itemsize, np.uint8, "display")
        self._marks: Array | None = None
        self._marked: object = None

    def paint(
        self, image: Array, tracer: Tracer, camera: Camera, size: tuple[int, int], clip: HalfSpace | None, thing: ObjectRange, version: int
    ) -> None:
        """Mark `thing` in `image`, a picture of that size; `version` is that of the surface. Launches only."""
        target, (width, height), frame = self._target, size, np.zeros((), VIEW_FRAME)
        see_through(frame, camera, width, height, clip)
        frame["jitter"] = 0.5
        rays = CameraRays(self._frame, width, height)
        unit = target.unit(UnitSource("gpu/shade/outline.cu", rays_per_thread=0))
        seen = (frame.tobytes(), size, version, thing.first, thing.count)
        if self._marks is None or self._marked != seen:
            self._marked = None  # until the launches are made
            if self._marks is None or len(self._marks) != rays.padded_count:
                self._marks = target.empty(rays.padded_count, np.uint8, "display")
            target.write(self._frame, frame.reshape(1).view(np.uint8))
            hits = tracer.trace(rays)
            packs = rays.padded_count // target.lane_count
            target.launch(unit, "mark_object", packs, self._frame, rays.padded_count, hits.prim_id, thing.first, thing.count, self._marks)
            self._marked = seen
        target.launch(unit, "draw_outline", -(-width // TILE_SIDE) * height, self._frame, self._marks, image)

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
    nothing of it is there while nothing is selected."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._frame = target.zeros(VIEW_FRAME.itemsize, np.uint8, "display")

    def paint(self, image: Array, tracer: Tracer, camera: Camera, size: tuple[int, int], clip: HalfSpace | None, thing: ObjectRange) -> None:
        """Mark `thing` in `image`, a picture of that size. Launches only."""
        target, (width, height), frame = self._target, size, np.zeros((), VIEW_FRAME)
        see_through(frame, camera, width, height, clip)
        frame["jitter"] = 0.5
        target.write(self._frame, frame.reshape(1).view(np.uint8))
        rays = CameraRays(self._frame, width, height)
        hits = tracer.trace(rays)
        marks = target.scratch("outline.marks", rays.padded_count, np.uint8)
        unit, packs = target.unit(UnitSource("gpu/shade/outline.cu", rays_per_thread=0)), rays.padded_count // target.lane_count
        target.launch(unit, "mark_object", packs, self._frame, rays.padded_count, hits.prim_id, thing.first, thing.count, marks)
        target.launch(unit, "draw_outline", -(-width // TILE_SIDE) * height, self._frame, marks, image)

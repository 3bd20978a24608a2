"""An object marked in a finished picture: tinted, with a line round what is seen of it. On request, after the frame, on
both targets."""

from __future__ import annotations

import numpy as np

from ..camera import Camera
from ..clip import HalfSpace
from ..hierarchy.base import ObjectRange
from ..target.base import Array, Target, UnitSource
from ..trace.trace import TILE_SIDE, CameraRays, HitBuffer, Tracer
from .center_rays import CenterRays


class OutlinePainter:
    """Marks one object of a view. Its rays are traced once more, and only where the camera, the scene or the object is
    another than before. Nothing of it is there while nothing is selected."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._rays = CenterRays(target, np.uint8)

    def paint(
        self,
        image: Array,
        tracer: Tracer,
        camera: Camera,
        size: tuple[int, int],
        clip: HalfSpace | None,
        thing: ObjectRange,
        version: int,
    ) -> None:
        """Mark `thing` in `image`, a picture of that size; `version` is that of the surface. Launches only."""
        target, (width, height), frame = self._target, size, self._rays.frame
        unit = target.unit(UnitSource("gpu/shade/outline.cu", rays_per_thread=0))

        def keep(rays: CameraRays, hits: HitBuffer, marks: Array) -> None:
            target.launch(
                unit,
                "mark_object",
                rays.padded_count // target.lane_count,
                frame=frame,
                ray_count=rays.padded_count,
                prim_id=hits.prim_id,
                first_prim=thing.first,
                prim_count=thing.count,
                marks=marks,
            )

        marks = self._rays.kept(tracer, camera, size, clip, (version, thing.first, thing.count), keep)
        target.launch(unit, "draw_outline", -(-width // TILE_SIDE) * height, frame=frame, marks=marks, image=image)

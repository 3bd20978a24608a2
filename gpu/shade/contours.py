"""Silhouettes and halos over a finished picture, whatever ray type drew it. On request, after the frame, on both
targets."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..camera import Camera, Vector
from ..clip import HalfSpace
from ..contours import ContourOptions
from ..rows import Row
from ..target.base import Array, Target, UnitSource
from ..trace.trace import TILE_SIDE, CameraRays, HitBuffer, Tracer
from . import srgb
from .center_rays import CenterRays


@dataclasses.dataclass(frozen=True)
class ContourRow(Row):
    """The options as kernels read them: pixels (0: none), depths in scene units, and the colour in bytes."""

    line_width: int
    line_step: float
    halo_radius: int
    halo_depth: float
    strength: float
    color: Vector


class ContourPainter:
    """Draws the contours of one view. Its rays are traced once more, and only where the camera or the scene is another
    than before."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._rays = CenterRays(target, np.float32)
        self._row = target.zeros(ContourRow.floats(), np.float32, "display")

    def paint(
        self,
        image: Array,
        tracer: Tracer,
        camera: Camera,
        size: tuple[int, int],
        clip: HalfSpace | None,
        options: ContourOptions,
        diagonal: float,
        version: int,
    ) -> None:
        """Draw into `image`, a picture of that size; `diagonal` is the scene's in its units, `version` that of the
        surface. Launches only."""
        target, (width, height) = self._target, size
        unit = target.unit(UnitSource("gpu/shade/contours.cu", rays_per_thread=0))

        def keep(rays: CameraRays, hits: HitBuffer, nearness: Array) -> None:
            target.launch(
                unit,
                "keep_nearness",
                rays.padded_count // target.lane_count,
                frame=self._rays.frame,
                ray_count=rays.padded_count,
                prim_id=hits.prim_id,
                t=hits.t,
                nearness=nearness,
            )

        nearness = self._rays.kept(tracer, camera, size, clip, version, keep)
        target.write(self._row, np.array(row_of(options, diagonal).numbers(), np.float32))
        target.launch(
            unit,
            "draw_contours",
            -(-width // TILE_SIDE) * height,
            frame=self._rays.frame,
            options=self._row,
            nearness=nearness,
            image=image,
        )


def row_of(options: ContourOptions, diagonal: float) -> ContourRow:
    """The options for a scene of that diagonal."""
    red, green, blue = (255.0 * srgb.encode(np.array(options.color))).tolist()
    return ContourRow(
        options.width if options.silhouettes else 0,
        options.step * diagonal,
        options.radius if options.halos else 0,
        options.depth * diagonal,
        options.strength,
        (red, green, blue),
    )

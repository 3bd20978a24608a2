"""Marked in a finished picture: an object, or primitives that are listed; tinted, with a line round what is seen of
them. On request, after the frame, on both targets."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..camera import Camera
from ..clip import HalfSpace
from ..hierarchy.base import ObjectRange
from ..target.base import Array, Target, UnitSource
from ..trace.trace import TILE_SIDE, CameraRays, HitBuffer, Tracer
from .center_rays import CenterRays


@dataclasses.dataclass(frozen=True)
class OutlineLook:
    """The sRGB bytes of line and tint, and how much of what is marked the tint covers, 0 to 1."""

    color: tuple[int, int, int]
    tint: float


SELECTED = OutlineLook((255, 158, 30), 44.0 / 255.0)


class OutlinePainter:
    """Marks one object of a view, or some primitives. Its rays are traced once more, and only where the camera, the
    scene or what is marked is another than before. Nothing of it is there while nothing is marked."""

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
        marked: ObjectRange | Array,
        version: Hashable,
        look: OutlineLook = SELECTED,
    ) -> None:
        """Mark an object, or primitives, (P,) uint32 for those of the scene by their numbers, not 0 where marked, in
        `image`, a picture of that size; `version` is that of the surface and of the array. Launches only."""
        target, (width, height), frame = self._target, size, self._rays.frame
        unit = target.unit(UnitSource("gpu/shade/outline.cu", rays_per_thread=0))
        is_object = isinstance(marked, ObjectRange)
        kernel = "mark_object" if is_object else "mark_primitives"
        given: dict[str, Any] = {"is_marked": marked}
        if isinstance(marked, ObjectRange):
            given = {"first_prim": marked.first, "prim_count": marked.count}

        def keep(rays: CameraRays, hits: HitBuffer, marks: Array) -> None:
            target.launch(
                unit,
                kernel,
                rays.padded_count // target.lane_count,
                frame=frame,
                ray_count=rays.padded_count,
                prim_id=hits.prim_id,
                marks=marks,
                **given,
            )

        shown = (version, *given.values()) if is_object else version
        marks = self._rays.kept(tracer, camera, size, clip, shown, keep)
        red, green, blue = look.color
        target.launch(
            unit,
            "draw_outline",
            -(-width // TILE_SIDE) * height,
            frame=frame,
            marks=marks,
            color=red + 256 * green + 65536 * blue,
            tint=round(255.0 * look.tint),
            image=image,
        )

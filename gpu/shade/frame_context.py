"""What one frame of one view is drawn by: everything that changes from frame to frame, in one frozen value."""

from __future__ import annotations

import dataclasses

from ..animate.animate import Surface
from ..camera import Camera
from ..target.base import Array
from ..trace.primary import PrimaryCaster
from ..trace.trace import CameraRays, HitBuffer, Tracer


@dataclasses.dataclass(frozen=True, eq=False)
class FrameContext:
    """What an integrator is given. `width` and `height` are the picture's in pixels, `diagonal` that of the scene's box
    at all times in scene units, `sample_index` counts from 0. The frame draws `rows` rows of the picture from
    `first_row` on, a multiple of 8: `rays` and `sums` are those of these rows alone.

    `frame` is a VIEW_FRAME on the target; `sums` (3 * R,) float32 are the planes of red, green and blue in ray order,
    where the sample is added. `primary` gives the primary hits; None: the structure's tracer."""

    camera: Camera
    surface: Surface
    diagonal: float
    width: int
    height: int
    sample_index: int
    first_row: int
    rows: int
    frame: Array
    sums: Array
    primary: PrimaryCaster | None = None

    @property
    def rays(self) -> CameraRays:
        """The primary rays of the rows that are drawn."""
        return CameraRays(self.frame, self.width, self.rows)

    def compile_primary(self, tracer: Tracer) -> None:
        """Compile what gives the primary hits."""
        (self.primary or tracer).compile(self.rays)

    def primary_hits(self, tracer: Tracer) -> HitBuffer:
        """The closest hits of the primary rays. Launches only."""
        return (self.primary or tracer).cast(self.rays)

"""The rays of a picture, kind by kind, as its ray type casts them: heard while the ray type draws the picture once
more, so that nothing is kept and nobody makes them a second time.

Heard is what goes through the tracer as rays: primary rays, and what ray types cast as wavefronts (ambient occlusion,
diffuse rays, paths and their rays to lights) or to lights from primary hits. Not heard are rays that a kernel makes and
traces on the way: recursive ray tracing's behind the primary ones, and rays to lights through surfaces with holes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..settings import fields_of
from ..shade.gather import Gather
from ..target.base import Array, Target
from ..trace.trace import TRACE_BLOCK, BufferRays, CameraRays, HitBuffer, QueueRays, RaySource, Tracer
from ..view_slot import ViewSlot

PRIMARY, SHADOW, OCCLUSION, BOUNCE, ALL = "primary", "shadow", "occlusion", "bounce", "all"
_PIXEL_ROW = 8


class CastRays(NamedTuple):
    """Rays that were cast together: what they are called (primary, shadow, occlusion, bounce 1 ...), whether their
    closest or any hit was asked for, and where they lie. `pixels` int32 in the order of the rays: which pixel, as a
    place in ray order, each belongs to; None: its own."""

    name: str
    kind: str
    source: RaySource
    pixels: Array | None


Hear = Callable[[Tracer, CastRays], None]


class ListeningTracer(Tracer):
    """Traces as ever, and hands over the rays."""

    def __init__(self, target: Target, traced: Tracer, gather: str | None, hear: Hear) -> None:
        super().__init__(target, traced.traversal)
        self._gather, self._hear = gather, hear
        self._closest, self.has_heard = 0, False

    def trace(self, rays: RaySource, kind: str = "closest", scratch: str = "trace") -> HitBuffer:
        found, self.has_heard = super().trace(rays, kind, scratch), True
        asked = "any" if kind == "any" else "closest"
        name = self._name(rays, asked)
        pixels = rays.rows[_PIXEL_ROW].view(np.int32) if isinstance(rays, QueueRays) else None
        self._hear(self, CastRays(name, asked, rays, pixels))
        return found

    def trace_shadows(
        self,
        rays: CameraRays,
        hits: HitBuffer,
        positions: Array,
        triangles: Array,
        lights: Array,
        light_count: int,
        ray_count: Array,
    ) -> Array:
        target, places = self.target, rays.padded_count
        unit, view = self.unit("gpu/analysis/shadow_rays.cu", rays)
        rows = target.scratch("analysis.shadow_rays", (8, places), np.float32)
        for light in range(light_count):
            packs = self.packs(rays)
            given = {"positions": positions, "triangles": triangles, "lights": lights, "light": light}
            found = {"prim_id": hits.prim_id, "u": hits.u, "v": hits.v}
            target.launch(unit, "make_shadow_rays", packs, input=view, pack_count=packs, **found, **given, rows=rows,
                          stride=places, block=TRACE_BLOCK)  # fmt: skip
            self._hear(self, CastRays(SHADOW, "any", BufferRays(rows, places), None))
        return super().trace_shadows(rays, hits, positions, triangles, lights, light_count, ray_count)

    def _name(self, rays: RaySource, kind: str) -> str:
        if isinstance(rays, CameraRays):
            return PRIMARY
        if self._gather is not None:
            return OCCLUSION if kind == "any" else f"{BOUNCE} 1"
        if kind == "any":
            return SHADOW
        self._closest += 1
        return f"{BOUNCE} {self._closest}"


def cast_rays(slot: ViewSlot, hear: Hear, through: Tracer | None = None) -> None:
    """Draw the first sample of the picture that a view shows once more, beside it, and hear all rays; `through` another
    structure than the view's, where one is given. Waits for nothing but kernels that have to be compiled; not in a
    frame."""
    context, target = slot.context, slot.target
    assert context is not None, "a view that was drawn has one"
    made = type(slot.ray_type)(target, slot.materials)
    options = by_wavefront(slot.options)
    first = slot.film.first_rays()
    sums = target.zeros(3 * first.padded_count, np.float32, "analysis")
    context = dataclasses.replace(
        context, frame=first.frame, sums=sums, sample_index=0, first_row=0, rows=slot.film.height, primary=None
    )
    tracer = ListeningTracer(target, through or slot.tracer(), made.kind if isinstance(made, Gather) else None, hear)
    made.takes_other_kernels(options)
    made.reserve(options, context)
    made.prepare(options, context)
    made.render(tracer, context)
    if not tracer.has_heard:  # a kernel makes and traces all of them on the way
        hear(tracer, CastRays(PRIMARY, "closest", first, None))


def by_wavefront(options: Any) -> Any:
    """Options with which a ray type that can draw as a wavefront does."""
    has_it = any(one.name == "strategy" and "wavefront" in one.info.choices for one in fields_of(options))
    return dataclasses.replace(options, strategy="wavefront") if has_it else options

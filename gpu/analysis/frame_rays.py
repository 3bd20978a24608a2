"""The rays of a picture, kind by kind, as its ray type casts them: heard while the ray type draws the picture once
more, so that nothing is kept and nobody makes them a second time.

Heard is what goes through the tracer as rays: primary rays, and what ray types cast as wavefronts (ambient occlusion,
diffuse rays, paths and their rays to lights) or to lights from primary hits. Not heard are rays that a kernel makes and
traces on the way: recursive ray tracing's behind the primary ones, and rays to lights through surfaces with holes.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ..hierarchy.base import Traversal
from ..settings import fields_of
from ..shade.base import RayType
from ..shade.frame_context import FrameContext
from ..shade.gather import Gather
from ..target.base import Array, Target
from ..trace.trace import TRACE_BLOCK, VIEW_FRAME, BufferRays, CameraRays, HitBuffer, QueueRays, RaySource, Tracer
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


class AllCast(Exception):  # noqa: N818 - nothing went wrong
    """Raised behind the last rays that anybody hears: what a ray type does with them is for a picture that nobody
    sees."""


class ListeningTracer(Tracer):
    """Traces as ever, and hands over the rays: all are heard. It raises AllCast after cast number `last`, counted from
    1; 0: never."""

    def __init__(self, target: Target, traversal: Traversal, gather: str | None, hear: Hear, last: int = 0) -> None:
        super().__init__(target, traversal)
        self._gather, self._hear, self._last = gather, hear, last
        self._closest = 0
        self.casts = self.heard = 0
        """How often rays were cast, and which of these casts was the last that was heard."""

    @property
    def is_last(self) -> bool:
        """Whether nothing is to be cast behind this cast: nobody asks what it hit."""
        return self.casts == self._last

    def trace(self, rays: RaySource, kind: str = "closest", scratch: str = "trace") -> HitBuffer:
        self.casts += 1
        asked = "any" if kind == "any" else "closest"
        name = self._name(rays, asked)
        pixels = rays.rows[_PIXEL_ROW].view(np.int32) if isinstance(rays, QueueRays) else None
        found = self.take(CastRays(name, asked, rays, pixels), kind, scratch)
        if self.is_last:
            raise AllCast
        return super().trace(rays, kind, scratch) if found is None else found

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
        self.casts += 1
        geometry = {"positions": positions, "triangles": triangles, "lights": lights}
        self.take_shadows(rays, hits, geometry, light_count)
        if self.is_last:
            raise AllCast
        return super().trace_shadows(rays, hits, positions, triangles, lights, light_count, ray_count)

    def take(self, cast: CastRays, kind: str, scratch: str) -> HitBuffer | None:
        """Rays that are cast, for the tracer's `kind`; what they hit, where that is known."""
        self.heard = self.casts
        self._hear(self, cast)
        return None

    def take_shadows(self, rays: CameraRays, hits: HitBuffer, geometry: dict[str, Array], light_count: int) -> None:
        """Rays from hits to all lights."""
        self.heard = self.casts
        target, places, packs = self.target, rays.padded_count, self.packs(rays)
        unit, view = self.unit("gpu/analysis/shadow_rays.cu", rays)
        rows = target.scratch("analysis.shadow_rays", (8, places), np.float32)
        found = {"prim_id": hits.prim_id, "u": hits.u, "v": hits.v}
        for light in range(light_count):
            target.launch(unit, "make_shadow_rays", packs, input=view, pack_count=packs, **found, **geometry,
                          light=light, rows=rows, stride=places, block=TRACE_BLOCK)  # fmt: skip
            self._hear(self, CastRays(SHADOW, "any", BufferRays(rows, places), None))

    def _name(self, rays: RaySource, kind: str) -> str:
        if isinstance(rays, CameraRays):
            return PRIMARY
        if self._gather is not None:
            return OCCLUSION if kind == "any" else f"{BOUNCE} 1"
        if kind == "any":
            return SHADOW
        self._closest += 1
        return f"{BOUNCE} {self._closest}"


class PictureRays:
    """Casts the rays of the first sample of the picture that a view shows, beside it, as often as it is asked to: by
    the view's ray type, which draws that sample once more. From the second time on it draws only as far as rays are
    heard."""

    def __init__(self, slot: ViewSlot) -> None:
        self._slot, self._target = slot, slot.target
        self._made: RayType = type(slot.ray_type)(slot.target, slot.materials)
        self._frame = slot.target.empty(VIEW_FRAME.itemsize, np.uint8, "analysis")
        self._sums: Array = None
        self._made_sums = 0
        self._lasts: dict[Hashable, int] = {}
        self._context: FrameContext | None = None
        self._key: Hashable = None

    def prepare(self) -> None:
        """The host's part: write what the launches read of the view's last picture."""
        slot, made = self._slot, self._made
        assert slot.context is not None, "a view that was drawn has one"
        if type(slot.ray_type) is not type(made):
            made = self._made = type(slot.ray_type)(slot.target, slot.materials)
        first = slot.film.first_rays(self._frame)
        if self._sums is None or len(self._sums) != 3 * first.padded_count:
            self._sums = self._target.zeros(3 * first.padded_count, np.float32, "analysis")
            self._made_sums += 1  # launches that were captured before write to what is gone
        self._context = context = dataclasses.replace(
            slot.context, frame=first.frame, sums=self._sums, sample_index=0, first_row=0, rows=slot.film.height,
            primary=None,
        )  # fmt: skip
        options = by_wavefront(slot.options)
        made.takes_other_kernels(options)
        made.reserve(options, context)
        made.prepare(options, context)
        counts = (context.surface.light_count, slot.materials.generation)
        size = (first.width, first.height, self._made_sums)
        self._key = (slot.shape, slot.parts, type(made), options, made.shape, counts, *size)

    @property
    def shape(self) -> Hashable:
        """What decides the launches, beside the structure that rays go through. After `prepare`."""
        return self._key, self._lasts.get(self._key, 0)

    def cast(self, tracer_of: Callable[[str | None, int], ListeningTracer]) -> None:
        """`tracer_of` makes what hears the rays, by the kind of a gathering ray type and the last cast. Waits for
        nothing but kernels that have to be compiled."""
        context, made = self._context, self._made
        assert context is not None, "prepare comes first"
        tracer = tracer_of(made.kind if isinstance(made, Gather) else None, self._lasts.get(self._key, 0))
        with contextlib.suppress(AllCast):
            made.render(tracer, context)
            self._lasts[self._key] = tracer.heard
        if not tracer.casts:  # a kernel makes and traces all of them on the way
            tracer.casts = 1
            with self._target.phase("trace.primary"):
                tracer.take(CastRays(PRIMARY, "closest", context.rays, None), "closest", "trace")


def cast_rays(slot: ViewSlot, hear: Hear) -> None:
    """Hear all rays of the picture that a view shows, once. Waits for nothing but kernels that have to be compiled; not
    in a frame."""
    rays, traversal = PictureRays(slot), slot.tracer().traversal
    rays.prepare()
    rays.cast(lambda gather, last: ListeningTracer(slot.target, traversal, gather, hear, last))


def by_wavefront(options: Any) -> Any:
    """Options with which a ray type that can draw as a wavefront does."""
    has_it = any(one.name == "strategy" and "wavefront" in one.info.choices for one in fields_of(options))
    return dataclasses.replace(options, strategy="wavefront") if has_it else options

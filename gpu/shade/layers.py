"""Transparent layers: dense spheres, and anything else, seen through.

Idea: Each surface that a ray goes through covers a share of what lies behind it. The nearest hits, each behind the one
before, are laid over one another front to back, lit from the eye. A k-buffer finds several of them by one traversal: it
keeps the nearest that the ray has met, in order, and shortens the ray to the last of them. One by one, each is found by
a traversal of its own that begins behind the hit before. Both give the same picture.

Paper: Porter and Duff, Compositing Digital Images (1984), for the operator over; the k-buffer after Bavoil et al.,
Multi-Fragment Effects on the GPU Using the k-Buffer (2007), which a tree fills here, so that no layer is lost; peeling
depths one by one after Everitt, Interactive Order-Independent Transparency (2001), by rays in place of passes.

Cost: A ray a pixel for every eight layers (four of glyphs) by the buffer, for every layer one by one, as long as
anything shines through. Where tiles give the first hits, rays begin there, and those that hit nothing are not traced.

Limits: What lies behind the last layer is not seen: the background shines through in its place. Of surfaces in the very
same place one is seen. Nothing is refracted and nothing casts a shadow: path tracing and recursive rays do both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..settings import option
from ..target.base import Target, Unit
from ..trace.trace import TRACE_BLOCK, Tracer
from .base import PictureOptions, PictureRow, RayType
from .frame_context import FrameContext
from .materials import Materials
from .ray_counts import RayCounts

REGISTERS = 96
"""Of a thread: shading and a traversal in one loop spill with fewer."""

BUFFER_REGISTERS = 128
"""Of a thread that keeps as many hits as a k-buffer does, too: four numbers each."""

MOST_AT_ONCE, MOST_AT_ONCE_OF_GLYPHS = 8, 4
"""Hits that a k-buffer keeps; fewer where the tests of glyphs need the registers. More layers take further rounds, each
behind the layers before."""

GATHERING = ("auto", "k_buffer", "one_by_one")
FASTER = {"cuda": "k_buffer", "host": "k_buffer"}
"""What auto is on each kind of target."""


@dataclasses.dataclass(frozen=True)
class LayersOptions(PictureOptions):
    """Options of transparent layers."""

    layers: int = option(
        8, "Surfaces at most that are seen through one another, the nearest ones; behind the last of them the "
        "background shines through.",
        minimum=1, maximum=256,
    )  # fmt: skip
    opacity: float = option(
        0.5, "Share that each surface covers, times the alpha of its material; 1 leaves what materials have.",
        minimum=0.0, maximum=1.0,
    )  # fmt: skip
    ambient: float = option(0.1, "Share of the light that reaches surfaces seen edge on.", minimum=0.0, maximum=1.0)
    gathering: str = option(
        "auto",
        "How a ray's layers are found: k_buffer keeps the nearest eight of one traversal in order (four where there "
        "are glyphs) and goes on behind them, one_by_one begins a traversal behind each; the picture is the same.",
        choices=GATHERING,
    )


@dataclasses.dataclass(frozen=True)
class LayersRow(PictureRow):
    """The options as kernels read them."""

    layers: int
    opacity: float
    ambient: float


class Layers(RayType):
    """Front to back, by a k-buffer or a traversal a layer."""

    name = "layers"
    title = "Transparent layers"
    Options = LayersOptions

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._counts = RayCounts(target, ("layers",))
        self._at_once = 0

    @property
    def shape(self) -> Hashable:
        return self._at_once

    def ray_counts(self) -> RayCounts | None:
        return self._counts

    def takes_other_kernels(self, options: Any) -> bool:
        chosen = FASTER[self.target.kind] if options.gathering == "auto" else options.gathering
        before, self._at_once = self._at_once, 0
        if chosen == "k_buffer":
            self._at_once = hits_at_once(options.layers, self.materials.has_glyphs)
        return before != self._at_once

    def parameters(self, options: Any, context: FrameContext) -> LayersRow:
        colors = options.background_below, options.background_above
        return LayersRow(*colors, options.layers, options.opacity, options.ambient)

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        if context.primary is not None:
            context.compile_primary(tracer)
        self._traced(tracer, context)

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        distances = None
        if context.primary is not None:
            with self.target.phase("trace.primary"):
                distances = context.primary_hits(tracer).t
        with self.target.phase("trace.layers"):
            self._counts.begin()
            unit, view = self._traced(tracer, context)
            packs = tracer.packs(context.rays)
            self.target.launch(
                unit,
                "trace_layers_at_once" if self._at_once else "trace_layers",
                packs,
                input=view,
                surface=self._surface_view(context.surface),
                options=self._parameters,
                pack_count=packs,
                t=distances,
                sums=context.sums,
                ray_counts=self._counts.array,
                block=TRACE_BLOCK,
            )

    def _traced(self, tracer: Tracer, context: FrameContext) -> tuple[Unit, np.ndarray]:
        constants = (*self.materials.constants, ("HAS_PRIMARY_HITS", context.primary is not None))
        if not self._at_once:
            return tracer.unit("gpu/shade/layers.cu", context.rays, constants=constants, registers=REGISTERS)
        constants = (*constants, ("HITS_AT_ONCE", self._at_once))
        path = "gpu/shade/layers_buffer.cu"
        return tracer.unit(path, context.rays, constants=constants, registers=BUFFER_REGISTERS)


def hits_at_once(layers: int, has_glyphs: bool) -> int:
    """Places of the k-buffer for so many layers, a power of two: few layers take few, and few units are compiled."""
    return min(MOST_AT_ONCE_OF_GLYPHS if has_glyphs else MOST_AT_ONCE, 1 << (layers - 1).bit_length())

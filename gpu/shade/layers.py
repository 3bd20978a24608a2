"""Transparent layers: dense spheres, and anything else, seen through.

Idea: Each surface that a ray goes through covers a share of what lies behind it. The nearest hits are found one after
another, each traversal beginning behind the hit before, and their colours, lit from the eye, are laid over one another
front to back.

Paper: Porter and Duff, Compositing Digital Images (1984), for the operator over; peeling depths one by one after
Everitt, Interactive Order-Independent Transparency (2001), by rays in place of passes.

Cost: One ray a pixel and layer, as long as anything shines through.

Limits: What lies beyond the last layer is not seen, the background is. Of surfaces in the very same place one is seen.
Nothing is refracted and nothing casts a shadow: path tracing and recursive rays do both.
"""

from __future__ import annotations

import dataclasses
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


@dataclasses.dataclass(frozen=True)
class LayersOptions(PictureOptions):
    """Options of transparent layers."""

    layers: int = option(8, "Surfaces at most that a ray is followed through.", minimum=1, maximum=256)
    opacity: float = option(
        0.5, "Share that each surface covers, times the alpha of its material; 1 leaves what materials have.",
        minimum=0.0, maximum=1.0,
    )  # fmt: skip
    ambient: float = option(0.1, "Share of the light that reaches surfaces seen edge on.", minimum=0.0, maximum=1.0)


@dataclasses.dataclass(frozen=True)
class LayersRow(PictureRow):
    """The options as kernels read them."""

    layers: int
    opacity: float
    ambient: float


class Layers(RayType):
    """Front to back, a traversal a layer."""

    name = "layers"
    title = "Transparent layers"
    Options = LayersOptions

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._counts = RayCounts(target, ("layers",))

    def ray_counts(self) -> RayCounts | None:
        return self._counts

    def parameters(self, options: Any, context: FrameContext) -> LayersRow:
        colors = options.background_below, options.background_above
        return LayersRow(*colors, options.layers, options.opacity, options.ambient)

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        context.compile_primary(tracer)
        self._traced(tracer, context)

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        with self.target.phase("trace.primary"):
            hits = context.primary_hits(tracer)
        with self.target.phase("trace.layers"):
            self._counts.begin()
            unit, view = self._traced(tracer, context)
            packs = tracer.packs(context.rays)
            self.target.launch(
                unit,
                "trace_layers",
                packs,
                input=view,
                surface=self._surface_view(context.surface),
                options=self._parameters,
                pack_count=packs,
                **hits.arrays(),
                sums=context.sums,
                ray_counts=self._counts.array,
                block=TRACE_BLOCK,
            )

    def _traced(self, tracer: Tracer, context: FrameContext) -> tuple[Unit, np.ndarray]:
        return tracer.unit("gpu/shade/layers.cu", context.rays, constants=self.materials.constants, registers=REGISTERS)

"""Paths of light: all that reaches the eye by any number of bounces, noisy at first and exact in the end, as samples
add up.

Idea: From each pixel a path goes from surface to surface, each time to where the material sends light, until it has
been scattered `bounces` times, meets a lamp or the sky, or is ended by chance. At each surface a ray to one of the
lights is added. Light that could have been found in both ways counts in both, each weighed by how likely it was. When
anything moves, the picture begins anew.

Paper: Kajiya, The Rendering Equation (1986); Veach, Robust Monte Carlo Methods for Light Transport Simulation (1997),
for the two ways of finding light; Arvo and Kirk, Particle Transport and Image Synthesis (1990), for ending paths by
chance; microfacets after Walter et al. (2007); wavefronts after Laine, Karras and Aila, Megakernels Considered Harmful
(2013).

Cost: Up to two rays per bounce and pixel, which go to all sides: they visit more nodes than primary rays and share less
of the way. Noise falls with the root of the number of samples. A wavefront keeps some 220 bytes per pixel, the filter
as much again.

Limits: Light that glass or mirrors focus is found by luck alone, or not at all where a lamp is a point (caustics);
`clamp` hides such sparks at the price of some light. Rays to lights go through holes, but the sixteenth surface in a
row hides the light; a hole that the path itself goes through counts as a bounce. Glass in glass is seen as glass in
air.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..settings import option
from ..target.base import Array, Target, Unit, UnitSource
from ..trace.queue import RayQueue
from ..trace.trace import TRACE_BLOCK, HitBuffer, Tracer
from .base import EnvironmentOptions, PictureRow, RayType
from .filter import Filter
from .frame_context import FrameContext
from .gather import RAY_QUEUES, STRATEGIES
from .material_row import MaterialFeatures
from .materials import Materials
from .ray_counts import RayCounts

MOST_BOUNCES = 32
STATE_ROWS, LIGHT_ROWS, LIGHT_ROWS_WITH_HOLES = 6, 5, 6
"""Words that go along with a path and with a ray to a light: the pixel and what path_wavefront.cu says."""
REGISTERS = 128
AUTO = {"host": "megakernel", "cuda": "wavefront"}
"""The strategy that was faster on such a target (docs/performance/paths.md)."""


@dataclasses.dataclass(frozen=True)
class PathOptions(EnvironmentOptions):
    """Options of paths."""

    bounces: int = option(
        3, "How often light may be scattered on its way; 1 is direct light alone.", minimum=1, maximum=MOST_BOUNCES
    )
    roulette_from: int = option(
        3,
        "After so many bounces a path may end by chance, the sooner the less light it brings.",
        minimum=1,
        maximum=MOST_BOUNCES,
    )
    clamp: float = option(
        0.0,
        "Most light that one path may bring after a bounce: hides sparks and takes light away; 0 takes none.",
        minimum=0.0,
        maximum=1e6,
    )
    headlight: float = option(
        0.0, "Strength of a light at the eye; a scene without any light has one of 1.", minimum=0.0, maximum=100.0
    )
    strategy: str = option(
        "auto",
        "One kernel that follows each path to its end, or one wavefront per bounce with queues between; the picture "
        "is the same. auto is what was faster on such a target.",
        choices=STRATEGIES,
    )
    filtered: bool = option(
        False,
        "Smooth the noise over time and neighbours; while nothing moves, the picture goes over to what the "
        "samples show by themselves.",
    )
    filter_samples: int = option(
        0,
        "The filter turns itself off once a picture has so many samples, which then show what they do by themselves; 0 "
        "goes over to that by and by, and never quite.",
        minimum=0,
        maximum=65536,
    )
    queue: str = option(
        "unsorted",
        "Order of the rays in a queue: as their pixels lie, or grouped by the octant of their direction.",
        choices=RAY_QUEUES,
    )


@dataclasses.dataclass(frozen=True)
class PathRow(PictureRow):
    """The options as kernels read them."""

    bounces: int
    roulette_from: int
    clamp: float
    seed: int
    headlight: float


class Path(RayType):
    """See the module."""

    name = "path"
    title = "Path tracing"
    Options = PathOptions
    is_incoherent = True

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        depths = range(1, MOST_BOUNCES + 1)
        self._counts = RayCounts(
            target, (*(f"path {depth}" for depth in depths), *(f"shadow {depth}" for depth in depths))
        )
        self._options = PathOptions()
        self._strategy = AUTO[target.kind]
        self._filter: Filter | None = None
        self._is_filtering = False
        self._frames = 0
        self._versions = (0, 0)

    @property
    def shape(self) -> Hashable:
        options = self._options
        of_wavefront = (options.bounces, options.queue) if self._strategy == "wavefront" else ()
        smoothing = self._filter.generation if self._filter is not None and self._is_filtering else 0
        return (
            self._strategy,
            self._has_holes,
            *of_wavefront,
            smoothing,
            options.environment,
            options.environment_turn,
            self.materials.generation,
        )

    def ray_counts(self) -> RayCounts | None:
        return self._counts

    def parameters(self, options: Any, context: FrameContext) -> PathRow:
        has_light = context.surface.light_count or self.materials.emitter_count or self.materials.environment.is_there
        headlight = options.headlight if has_light else max(options.headlight, 1.0)
        colors = options.background_below, options.background_above
        return PathRow(*colors, options.bounces, options.roulette_from, options.clamp, self._frames, headlight)

    def reserve(self, options: Any, context: FrameContext) -> None:
        if not options.filtered:
            self._filter = None
        self._is_filtering = options.filtered and not self.adds_up(context.sample_index, options)
        if not self._is_filtering:
            return
        self._filter = self._filter or Filter(self.target, self.materials.constants)
        self._filter.reserve(context)

    def prepare(self, options: Any, context: FrameContext) -> None:
        versions = (context.surface.version, self.materials.version)
        if self._filter is not None and self._is_filtering:
            # Pictures that begin anew while things move must not show the same noise, which would look like light.
            self._frames = (self._frames + 1) % (1 << 20)
            if options != self._options or versions[1] != self._versions[1]:
                self._filter.forget()
            self._filter.prepare(versions[0] != self._versions[0], options.filter_samples)
        elif self._filter is None:
            self._frames = 0
        self._versions = versions
        super().prepare(options, context)
        self._options = options
        self._strategy = AUTO[self.target.kind] if options.strategy == "auto" else options.strategy

    def needs_whole_picture(self, options: Any, samples: int) -> bool:
        return not self.adds_up(samples, options)  # the filter looks at neighbours

    def adds_up(self, samples: int, options: Any) -> bool:
        return not options.filtered or 0 < options.filter_samples <= samples

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        context.compile_primary(tracer)
        self._traced_unit(tracer, "gpu/shade/path.cu", context.rays)
        # The strategy may change from frame to frame: both are compiled, a small queue stands for those that a
        # wavefront may need.
        smallest = RayQueue(self.target, "shade.smallest_queue", 1)
        smallest.compile()
        tracer.compile(smallest.rays)
        if self._has_holes:
            self._traced_unit(tracer, "gpu/shade/path_light.cu", smallest.rays)
        else:
            tracer.compile(smallest.rays, "any")
        self._wavefront_unit()
        Filter(self.target, self.materials.constants).compile()

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        sums, sharp = self._filter.sample(context) if self._filter and self._is_filtering else (context.sums, None)
        with self.target.phase("trace.primary"):
            hits = context.primary_hits(tracer)
        with self.target.phase("trace.path"):
            self._counts.begin()
            if self._strategy == "megakernel":
                self._follow(tracer, context, hits, sums, sharp)
            else:
                self._wavefront(tracer, context, hits, sums, sharp)
        if self._filter is not None and self._is_filtering:
            with self.target.phase("shade.filter"):
                self._filter.launch(self._surface_view(context.surface), hits, sums, sharp, context)

    def _scene(self, context: FrameContext, packs: int) -> dict[str, Any]:
        """What every kernel of paths takes, by its names."""
        return {
            "surface": self._surface_view(context.surface),
            "environment": self._environment_view(self._options),
            "options": self._parameters,
            "pack_count": packs,
        }

    def _follow(self, tracer: Tracer, context: FrameContext, hits: HitBuffer, sums: Array, sharp: Array) -> None:
        unit, view = self._traced_unit(tracer, "gpu/shade/path.cu", context.rays)
        packs, sampled = tracer.packs(context.rays), {"sums": sums, "sharp": sharp}
        given = {"input": view, **self._scene(context, packs), **hits.arrays(), "ray_counts": self._counts.array}
        self.target.launch(unit, "trace_paths", packs, **given, **sampled, block=TRACE_BLOCK)

    def _queues(self, context: FrameContext) -> tuple[RayQueue, RayQueue, RayQueue, RayQueue]:
        """Paths that go on and rays to lights, each as they were made and without gaps."""
        places = context.rays.padded_count
        paths = (RayQueue(self.target, f"path.{name}", places, STATE_ROWS) for name in ("made", "queue"))
        rows = LIGHT_ROWS_WITH_HOLES if self._has_holes else LIGHT_ROWS
        lights = (RayQueue(self.target, f"path.light_{name}", places, rows) for name in ("made", "queue"))
        return (*paths, *lights)  # type: ignore[return-value]

    def _wavefront(self, tracer: Tracer, context: FrameContext, hits: HitBuffer, sums: Array, sharp: Array) -> None:
        unit, packs, counts = self._wavefront_unit(), self._packs(context), self._counts.array
        made, paths, made_lights, lights = self._queues(context)
        given = {"frame": context.frame, **self._scene(context, packs), "sums": sums, "sharp": sharp}
        queues: dict[str, Any] = {"onwards": made.view(), "to_lights": made_lights.view()}
        self.target.launch(unit, "begin_paths", packs, **given, **hits.arrays(), **queues)
        for bounce in range(1, self._options.bounces + 1):
            made_lights.move_into(lights, self._options.queue)
            self._collect_light(tracer, context, lights, bounce, sums, sharp)
            made.move_into(paths, self._options.queue)
            hits = tracer.trace(paths.rays, "closest", "queue")
            queues = {"source": paths.view(), "onwards": made.view(), "to_lights": made_lights.view()}
            step = {"bounce": bounce, "ray_counts": counts}
            self.target.launch(unit, "continue_paths", packs, **given, **hits.arrays(), **queues, **step)

    def _collect_light(
        self, tracer: Tracer, context: FrameContext, lights: RayQueue, bounce: int, sums: Array, sharp: Array
    ) -> None:
        counter = {"place": MOST_BOUNCES + bounce - 1, "ray_counts": self._counts.array}
        if self._has_holes:
            traced, view = self._traced_unit(tracer, "gpu/shade/path_light.cu", lights.rays)
            packs, where = tracer.packs(lights.rays), {"plane": context.rays.padded_count, "sums": sums, "sharp": sharp}
            self.target.launch(
                traced,
                "collect_light_through_holes",
                packs,
                input=view,
                surface=self._surface_view(context.surface),
                options=self._parameters,
                pack_count=packs,
                to_lights=lights.view(),
                bounce=bounce - 1,
                **counter,
                **where,
                block=TRACE_BLOCK,
            )
            return
        packs, reached = self._packs(context), tracer.trace(lights.rays, "any", "queue")
        self.target.launch(
            self._wavefront_unit(),
            "collect_light",
            packs,
            to_lights=lights.view(),
            pack_count=packs,
            prim_id=reached.prim_id,
            **counter,
            sums=sums,
            sharp=sharp,
        )

    @property
    def _has_holes(self) -> bool:
        return bool(self.materials.features & MaterialFeatures.ALPHA)

    def _traced_unit(self, tracer: Tracer, path: str, rays: Any) -> tuple[Unit, np.ndarray]:
        return tracer.unit(path, rays, constants=self._constants, registers=REGISTERS)

    @property
    def _constants(self) -> tuple[tuple[str, int], ...]:
        return (("HAS_HOLES", self._has_holes), *self.materials.constants)

    def _wavefront_unit(self) -> Unit:
        return self.target.unit(UnitSource("gpu/shade/path_wavefront.cu", constants=self._constants, rays_per_thread=0))

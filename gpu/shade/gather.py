"""Ray types that send rays out to all sides from each primary hit: ambient occlusion and diffuse rays.

Both are organised in one of two ways, and look the same: `megakernel`, one kernel that makes a hit's rays, traverses
them and adds up what they bring back, or `wavefront`, which fills a queue with one ray of each hit at a time,
without gaps or in bins of alike directions, and has it traced by the same kernel as any rays.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from ..settings import option
from ..target.base import MOST_ITEMS, Array, Target, Unit
from ..trace.queue import RayQueue
from ..trace.trace import TRACE_BLOCK, HitBuffer, Tracer
from .base import PictureOptions, PictureRow, RayType
from .frame_context import FrameContext
from .materials import Materials
from .ray_counts import RayCounts

STRATEGIES = ("auto", "megakernel", "wavefront")
RAY_QUEUES = ("unsorted", "by_octant")


@dataclasses.dataclass(frozen=True)
class GatherOptions(PictureOptions):
    """What these ray types have in common."""

    rays: int = option(4, "Rays from each primary hit in one sample of the picture.", minimum=1, maximum=1024)
    directions: str = option(
        "cosine",
        "How rays leave a surface: by the cosine to its normal, or uniformly over the half sphere as in the thesis.",
        choices=("cosine", "uniform"),
    )
    strategy: str = option(
        "auto",
        "One kernel that traces on the way, or one wavefront of rays after the other through queues; the picture is "
        "the same. auto is what was faster on "
        "such a target.",
        choices=STRATEGIES,
    )
    queue: str = option(
        "by_octant",
        "Order of the rays in a queue: as their pixels lie, or grouped by the octant of their direction.",
        choices=RAY_QUEUES,
    )


@dataclasses.dataclass(frozen=True)
class GatherRow(PictureRow):
    """The options as kernels read them."""

    rays: int
    is_by_cosine: bool
    length: float
    falloff: int


class Gather(RayType):
    """See the module. `kind` names the rays, `hit_kind` what the tracer looks for; a type has `<name>.cu` for the
    megakernel, `<name>_wavefront.cu` for the wavefront."""

    kind: ClassVar[str]
    hit_kind: ClassVar[str]
    strategies: ClassVar[dict[str, str]]
    """What auto is on each kind of target. Where a traversal interleaves rays it is the megakernel: rays need not be
    sorted for it."""
    planes: ClassVar[int]
    dtype: ClassVar[type]
    """Numbers that a pixel's rays add up to."""
    item_is_ray: ClassVar[bool]
    """Whether an item of the megakernel is a ray of a pack's hits, so that one launch takes many of each hit's, or the
    pack itself."""

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._counts = RayCounts(target, (self.kind,))
        self._strategy, self._queue, self._rays = "auto", "by_octant", 1

    @abc.abstractmethod
    def length(self, options: Any, context: FrameContext) -> float:
        """How far the rays reach, in scene units."""

    def falloff(self, options: Any) -> int:
        """The power by which a hit counts less the farther it is, 0 for all of them alike."""
        return 0

    @property
    def shape(self) -> Hashable:
        return (self._strategy, self._queue, self._rays)

    def ray_counts(self) -> RayCounts | None:
        return self._counts

    def parameters(self, options: Any, context: FrameContext) -> GatherRow:
        reach = min(self.length(options, context), float(np.finfo(np.float32).max))
        colors = options.background_below, options.background_above
        return GatherRow(*colors, options.rays, options.directions == "cosine", reach, self.falloff(options))

    def prepare(self, options: Any, context: FrameContext) -> None:
        super().prepare(options, context)
        self._strategy, self._queue, self._rays = options.strategy, options.queue, options.rays

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        context.compile_primary(tracer)
        self._traced(tracer, context)
        # The strategy may change from frame to frame: both are compiled, a small queue stands for the one that a
        # wavefront may need.
        smallest = RayQueue(self.target, "shade.smallest_queue", 1)
        smallest.compile()
        tracer.compile(smallest.rays, self.hit_kind)
        for path in ("gpu/shade/gather.cu", f"gpu/shade/{self.name}_wavefront.cu"):
            self._unit(path)

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        with self.target.phase("trace.primary"):
            hits = context.primary_hits(tracer)
        with self.target.phase(f"trace.{self.kind}"):
            self._counts.begin()
            gather = self._gather if self._strategy_for(tracer) == "megakernel" else self._wavefront
            sums = gather(tracer, context, hits)
        with self.target.phase("shade"):
            self._finish(context, hits, sums)

    def _strategy_for(self, tracer: Tracer) -> str:
        if self._strategy != "auto":
            return self._strategy
        return "megakernel" if tracer.traversal.is_interleaved else self.strategies[self.target.kind]

    def _gather(self, tracer: Tracer, context: FrameContext, hits: HitBuffer) -> Array:
        """All rays of all hits at once where an item is a ray, or as many of each hit's as one launch takes; else a
        launch for each of a hit's rays."""
        unit, view = self._traced(tracer, context)
        packs, sums = tracer.packs(context.rays), self._sums(context)
        given = {
            "input": view,
            "surface": self._surface_view(context.surface),
            "options": self._parameters,
            "prim_id": hits.prim_id,
            "u": hits.u,
            "v": hits.v,
            "sums": sums,
        }
        at_once = max(1, MOST_ITEMS // packs) if self.item_is_ray else 1
        for first in range(0, self._rays, at_once):
            count = min(at_once, self._rays - first)
            which = {"pack_count": packs, "ray_index": first}
            if self.item_is_ray:
                which = {"item_count": packs * count, "first_ray": first, "ray_count": count}
            self.target.launch(unit, f"trace_{self.name}", packs * count, **given, **which, block=TRACE_BLOCK)
        return sums

    def _sums(self, context: FrameContext) -> Array:
        sums = self.target.scratch("shade.gathered", self.planes * context.rays.padded_count, self.dtype)
        self.target.fill(sums, 0)
        return sums

    def _traced(self, tracer: Tracer, context: FrameContext) -> tuple[Unit, np.ndarray]:
        return tracer.unit(f"gpu/shade/{self.name}.cu", context.rays, constants=self.materials.constants)

    def _wavefront(self, tracer: Tracer, context: FrameContext, hits: HitBuffer) -> Array:
        target, packs, places = self.target, self._packs(context), context.rays.padded_count
        emit = self._unit("gpu/shade/gather.cu")
        sums = self._sums(context)
        made, queue = RayQueue(target, "shade.emitted", places), RayQueue(target, "shade.queue", places)
        for ray_index in range(self._rays):
            target.launch(
                emit,
                "emit_wavefront",
                packs,
                surface=self._surface_view(context.surface),
                frame=context.frame,
                options=self._parameters,
                pack_count=packs,
                prim_id=hits.prim_id,
                u=hits.u,
                v=hits.v,
                ray_index=ray_index,
                queue=made.view(),
            )
            made.move_into(queue, self._queue)
            self._collect(context, queue, tracer.trace(queue.rays, self.hit_kind, "queue"), sums)
        return sums

    @abc.abstractmethod
    def _collect(self, context: FrameContext, queue: RayQueue, hits: HitBuffer, sums: Array) -> None:
        """Add up what the rays of a queue have hit."""

    @abc.abstractmethod
    def _finish(self, context: FrameContext, hits: HitBuffer, sums: Array) -> None:
        """Turn the sums into colours."""

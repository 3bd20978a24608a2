"""Ray types that send rays out to all sides from each primary hit: ambient occlusion and diffuse rays.

Both are organised in one of two ways, and look the same: `megakernel`, one kernel that makes a hit's rays, walks them and adds up what they bring
back, or `wavefront`, one wave a ray of each hit, whose rays lie in a queue, without gaps or in bins of alike directions, and are traced by the same
kernel as any rays.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from ..animate.animate import Surface
from ..settings import option
from ..target.base import MOST_ITEMS, Array, Target, Unit
from ..trace.queue import RayQueue
from ..trace.trace import TRACE_BLOCK, HitBuffer, Tracer
from .base import PictureOptions, RayType
from .film import Film
from .materials import Materials
from .ray_counts import RayCounts

ORGANISATIONS = ("auto", "megakernel", "wavefront")
RAY_QUEUES = ("as_they_come", "by_octant")


@dataclasses.dataclass(frozen=True)
class GatherOptions(PictureOptions):
    """What these ray types have in common."""

    rays: int = option(4, "Rays from each primary hit in one sample of the picture.", minimum=1, maximum=1024)
    directions: str = option(
        "cosine",
        "How rays leave a surface: by the cosine to its normal, or uniformly over the half sphere as in the thesis.",
        choices=("cosine", "uniform"),
    )
    organisation: str = option(
        "auto",
        "One kernel that traces on the way, or one wave of rays after the other through queues; the picture is the same. auto is what was faster on "
        "such a target.",
        choices=ORGANISATIONS,
    )
    queue: str = option("by_octant", "Rays of a wave as their pixels lie, or those of one octant of directions together.", choices=RAY_QUEUES)


class Gather(RayType):
    """See the module. `kind` names the rays, `hit_kind` what the tracer looks for; a type has `<name>.cu` for the megakernel, `<name>_waves.cu`
    for waves."""

    kind: ClassVar[str]
    hit_kind: ClassVar[str]
    organisations: ClassVar[dict[str, str]]
    """What auto is on each kind of target. Where rays take turns in a walk it is the megakernel: packs need not be sorted into waves for it."""
    planes: ClassVar[int]
    dtype: ClassVar[type]
    """Numbers that a pixel's rays add up to."""
    item_is_ray: ClassVar[bool]
    """Whether an item of the megakernel is a ray of a pack's hits, so that one launch takes many of each hit's, or the pack itself."""

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._counts = RayCounts(target, (self.kind,))
        self._organisation, self._queue, self._rays = "auto", "by_octant", 1

    @abc.abstractmethod
    def length(self, options: Any) -> float:
        """How far the rays reach, in scene units."""

    def more_parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        """What kernels read behind the common options."""
        return ()

    @property
    def shape(self) -> Hashable:
        return (self._organisation, self._queue, self._rays)

    def ray_counts(self) -> RayCounts | None:
        return self._counts

    def parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        reach = min(self.length(options), float(np.finfo(np.float32).max))
        common = (*options.background_below, *options.background_above, options.rays, options.directions == "cosine", reach)
        return (*common, *self.more_parameters(options, surface))

    def prepare(self, options: Any, surface: Surface) -> None:
        super().prepare(options, surface)
        self._organisation, self._queue, self._rays = options.organisation, options.queue, options.rays

    def compile(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        tracer.compile(film.rays)
        self._traced(tracer, film)
        # The organisation may change from frame to frame: both are compiled, a small queue stands for the one that waves may need.
        smallest = RayQueue(self.target, "shade.smallest_wave", 1)
        smallest.compile()
        tracer.compile(smallest.rays, self.hit_kind)
        for path in ("gpu/shade/gather.cu", f"gpu/shade/{self.name}_waves.cu"):
            self._unit(path)

    def render(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        with self.target.phase("trace.primary"):
            hits = tracer.trace(film.rays)
        with self.target.phase(f"trace.{self.kind}"):
            self._counts.begin()
            gather = self._gather if self._organised(tracer) == "megakernel" else self._waves
            sums = gather(tracer, surface, film, hits)
        with self.target.phase("shade"):
            self._finish(surface, film, hits, sums)

    def _organised(self, tracer: Tracer) -> str:
        if self._organisation != "auto":
            return self._organisation
        return "megakernel" if tracer.traversal.takes_turns else self.organisations[self.target.kind]

    def _gather(self, tracer: Tracer, surface: Surface, film: Film, hits: HitBuffer) -> Array:
        """All rays of all hits at once where an item is a ray, or as many of each hit's as one launch takes; else a launch for each of a hit's
        rays."""
        unit, view = self._traced(tracer, film)
        packs, sums = tracer.packs(film.rays), self._sums(film)
        scene, found = (view, self._surface_view(surface), self._parameters), (hits.prim_id, hits.u, hits.v, sums)
        at_once = max(1, MOST_ITEMS // packs) if self.item_is_ray else 1
        for first in range(0, self._rays, at_once):
            count = min(at_once, self._rays - first)
            which = (packs * count, first, count) if self.item_is_ray else (packs, first)
            self.target.launch(unit, f"trace_{self.name}", packs * count, *scene, *which, *found, block=TRACE_BLOCK)
        return sums

    def _sums(self, film: Film) -> Array:
        sums = self.target.scratch("shade.gathered", self.planes * film.rays.padded_count, self.dtype)
        self.target.fill(sums, 0)
        return sums

    def _traced(self, tracer: Tracer, film: Film) -> tuple[Unit, np.ndarray]:
        return tracer.unit(f"gpu/shade/{self.name}.cu", film.rays)

    def _waves(self, tracer: Tracer, surface: Surface, film: Film, hits: HitBuffer) -> Array:
        target, packs, places = self.target, self._packs(film), film.rays.padded_count
        emit = self._unit("gpu/shade/gather.cu")
        sums = self._sums(film)
        made, queue = RayQueue(target, "shade.wave", places), RayQueue(target, "shade.queue", places)
        for wave in range(self._rays):
            arguments = (self._surface_view(surface), film.frame, self._parameters, packs, hits.prim_id, hits.u, hits.v, wave, made.view())
            target.launch(emit, "emit_wave", packs, *arguments)
            made.move_into(queue, self._queue)
            self._collect(surface, film, queue, tracer.trace(queue.rays, self.hit_kind, "wave"), sums)
        return sums

    @abc.abstractmethod
    def _collect(self, surface: Surface, film: Film, queue: RayQueue, hits: HitBuffer, sums: Array) -> None:
        """Add up what a wave has hit."""

    @abc.abstractmethod
    def _finish(self, surface: Surface, film: Film, hits: HitBuffer, sums: Array) -> None:
        """Turn the sums into colours."""

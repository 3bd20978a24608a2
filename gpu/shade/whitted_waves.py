"""Recursive ray tracing in waves: a queue of rays is traced, shaded and parted into a queue of mirrored and one of refracted rays, and so on.

The tree of rays is gone through depth first, the refracted branch before the mirrored one, as the one kernel does for each pixel: a pixel has one ray
in a queue at most, and its sums are made in the same order. Opaque scenes have a wave a depth; with glass there are 2^(depth + 1) - 1 of
them, whatever the scene needs, since nothing is read back.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..target.base import Array, Target, Unit, UnitSource
from ..trace.queue import RayQueue
from ..trace.trace import TRACE_BLOCK, Tracer
from .film import Film

PAYLOAD = 6
"""Place of the pixel, three of weight, media, number of the pixel."""
KINDS_OF_RAYS = 3
SHADE = UnitSource("gpu/shade/whitted_shade.cu", rays_per_thread=0)
REGISTERS = 96


@dataclasses.dataclass(frozen=True)
class Waves:
    """What decides the launches: how deep rays are followed, samples of each light, and whether it is asked what stands before lights."""

    depth: int
    light_samples: int
    shadows: bool


def walks(tracer: Tracer, rays: Any, is_opaque: bool) -> tuple[Unit, np.ndarray]:
    """The unit that walks a queue's rays, and its by-value struct."""
    return tracer.unit("gpu/shade/whitted_waves.cu", rays, constants=(("IS_OPAQUE", is_opaque),), registers=REGISTERS)


def compile_waves(target: Target, tracer: Tracer, is_opaque: bool) -> None:
    """Compile what waves launch."""
    target.unit(SHADE)
    walks(tracer, RayQueue(target, "whitted.start", 1, PAYLOAD).rays, is_opaque)


class WaveTracer:
    """One sample of a film. Cheap to make in every frame: queues keep their places by name."""

    def __init__(
        self,
        target: Target,
        tracer: Tracer,
        waves: Waves,
        is_opaque: bool,
        film: Film,
        options: Array,
        counts: Array,
        light_count: int,
        surface: np.ndarray,
        environment: np.ndarray,
    ) -> None:
        self.target, self.tracer, self.waves, self.is_opaque, self.film = target, tracer, waves, is_opaque, film
        self.options, self.counts, self.light_count = options, counts, light_count
        self.surface, self.environment = surface, environment
        self.places = film.rays.padded_count
        self.packs = self.places // target.lane_count
        self.unit = target.unit(SHADE)
        self.colors = target.scratch("whitted.colors", 3 * self.places, np.float32)
        self.hits = [target.scratch(f"whitted.{name}", self.places, kind) for name, kind in (("t", "f4"), ("prim", "i4"), ("u", "f4"), ("v", "f4"))]
        self.reflected, self.transmitted, self.expected = (self._queue(name) for name in ("reflected", "transmitted", "expected"))

    def _queue(self, name: str) -> RayQueue:
        return RayQueue(self.target, f"whitted.{name}", self.places, PAYLOAD)

    def trace(self) -> None:
        """Launches only."""
        start, frame = self._queue("start"), self.film.frame
        self.target.launch(self.unit, "begin_waves", self.packs, frame, self.options, self.packs, start.view(), self.colors)
        self._branch(start, 0)
        self.target.launch(self.unit, "finish_waves", self.packs, frame, self.packs, self.colors, self.film.sums)

    def _branch(self, queue: RayQueue, depth: int) -> None:
        unit, view = walks(self.tracer, queue.rays, self.is_opaque)
        packs = self.tracer.packs(queue.rays)
        self.target.launch(unit, "find_surfaces", packs, view, self.surface, packs, *self.hits, block=TRACE_BLOCK)
        for light in range(max(self.light_count, 1)):
            for sample in range(self.waves.light_samples if self.light_count else 1):
                self._shade(queue, depth, light, sample)
        if depth == self.waves.depth:
            return
        mirrored, refracted = self._queue(f"mirrored {depth}"), self._queue(f"refracted {depth}")
        self.reflected.compact_into(mirrored)
        if not self.is_opaque:
            self.transmitted.compact_into(refracted)
            self._branch(refracted, depth + 1)
        self._branch(mirrored, depth + 1)

    def _shade(self, queue: RayQueue, depth: int, light: int, sample: int) -> None:
        made = (self.reflected.view(), self.transmitted.view(), self.expected.view())
        chosen = (self.packs, depth, light, sample, queue.view(), *self.hits, *made, self.counts, self.places, self.colors)
        self.target.launch(self.unit, "shade_wave", self.packs, self.film.frame, self.surface, self.environment, self.options, *chosen)
        if not self.waves.shadows or not self.light_count:
            return
        unit, view = walks(self.tracer, self.expected.rays, self.is_opaque)
        packs = self.tracer.packs(self.expected.rays)
        counter = (KINDS_OF_RAYS * depth, self.counts, self.places, self.colors)
        self.target.launch(unit, "find_light", packs, view, self.surface, packs, self.expected.view(), *counter, block=TRACE_BLOCK)

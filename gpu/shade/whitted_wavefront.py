"""Recursive ray tracing as a wavefront: one queue per depth, which holds mirrored and refracted rays alike.

The queue is traced, shaded light by light, and what goes on from its hits is merged into the queue of the next depth:
so many rounds of launches as depths, whatever the scene shows. The rays of a pixel lie side by side, in an order that
depends on them alone; each adds up what it sees by itself, and the first of them adds that to the pixel. No sum is
shared, so that pictures are repeatable.

A queue has room for RAYS_A_PIXEL rays for each pixel (one where surfaces are opaque: no more can be). What finds no
room is followed to its end at once, by the kernel's own stack (whitted_overflow.cu): the picture has every ray.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..target.base import Array, Target, Unit, UnitSource
from ..trace.queue import RAY_ROWS, QueuePair, RayQueue
from ..trace.trace import TRACE_BLOCK, HitBuffer, Tracer
from .frame_context import FrameContext

RAYS_A_PIXEL = 2
"""Room of a queue where surfaces let light through. A ray has two at most that go on from it, so that no ray of the
first bounce lacks room."""
EXPECTED_PAYLOAD, PAYLOAD = 4, 6
"""Place of the pixel, three of weight; media, number of the pixel."""
KINDS_OF_RAYS = 3
Constants = tuple[tuple[str, int], ...]
"""IS_OPAQUE, then those of the surface."""
REGISTERS, OVERFLOW_REGISTERS = 96, 128


def bytes_a_pixel(is_opaque: bool) -> int:
    """Memory that a wavefront works in, for each of the picture's pixels, whatever the depth."""
    queues = (2 if is_opaque else 3) * (RAY_ROWS + PAYLOAD) + RAY_ROWS + EXPECTED_PAYLOAD
    seen, hits, places, color = 3, 4, 2, 3
    return 4 * ((1 if is_opaque else RAYS_A_PIXEL) * (queues + seen + hits + places) + color)


def _may_overflow(depth: int) -> bool:
    return 2**depth > RAYS_A_PIXEL


@dataclasses.dataclass(frozen=True)
class Wavefront:
    """What decides the launches: how deep rays are followed, samples of each light, and whether it is asked what stands
    before lights."""

    depth: int
    light_samples: int
    shadows: bool

    @property
    def may_overflow(self) -> bool:
        """Whether some scene may have more rays than a queue has room for."""
        return _may_overflow(self.depth)


def _traced_unit(
    tracer: Tracer, kernels: str, rays: Any, constants: Constants, registers: int = REGISTERS
) -> tuple[Unit, np.ndarray]:
    return tracer.unit(f"gpu/shade/whitted_{kernels}.cu", rays, constants=constants, registers=registers)


def _shading(target: Target, constants: Constants) -> Unit:
    return target.unit(UnitSource("gpu/shade/whitted_shade.cu", constants=constants[1:], rays_per_thread=0))


def compile_wavefront(
    target: Target, tracer: Tracer, wavefront: Wavefront, constants: Constants, has_primary_hits: bool
) -> None:
    """Compile what a wavefront launches; `has_primary_hits`: the first hits are given."""
    _shading(target, constants)
    smallest = RayQueue(target, "shade.smallest_queue", 1)
    smallest.compile()
    _traced_unit(tracer, "wavefront", smallest.rays, constants)
    if has_primary_hits:
        _traced_unit(tracer, "primary", smallest.rays, constants)
    if wavefront.may_overflow and not dict(constants)["IS_OPAQUE"]:
        _traced_unit(tracer, "overflow", smallest.rays, constants, OVERFLOW_REGISTERS)


class WavefrontTracer:
    """One sample of a film. Cheap to make in every frame: queues keep their places by name."""

    def __init__(
        self,
        target: Target,
        tracer: Tracer,
        wavefront: Wavefront,
        constants: Constants,
        context: FrameContext,
        options: Array,
        counts: Array,
        light_count: int,
        surface: np.ndarray,
        environment: np.ndarray,
    ) -> None:
        self.target, self.tracer, self.wavefront, self.constants = target, tracer, wavefront, constants
        self.is_opaque = is_opaque = dict(constants)["IS_OPAQUE"]
        self.context, self.light_count = context, light_count
        places = context.rays.padded_count
        capacity = places if is_opaque else RAYS_A_PIXEL * places
        self.queue, self.reflected = (
            RayQueue(target, f"whitted.{name}", capacity, PAYLOAD) for name in ("queue", "reflected")
        )
        self.transmitted = RayQueue(target, "whitted.transmitted", 1 if is_opaque else capacity, PAYLOAD)
        self.expected = RayQueue(target, "whitted.expected", capacity, EXPECTED_PAYLOAD)
        self.pixel_packs, self.packs = places // target.lane_count, self.queue.capacity // target.lane_count
        self.unit = _shading(target, constants)
        self.colors = target.scratch("whitted.colors", 3 * places, np.float32)
        self.seen = target.scratch("whitted.seen", 3 * self.queue.capacity, np.float32)
        self.hits = {
            name: target.scratch(f"whitted.{name}", self.queue.capacity, kind)
            for name, kind in (("t", "f4"), ("prim_id", "i4"), ("u", "f4"), ("v", "f4"))
        }
        self.scene = {"frame": context.frame, "surface": surface, "environment": environment, "options": options}
        self.counted = {"ray_counts": counts}
        self.pixels = {"plane": places, "colors": self.colors}

    def trace(self, primary: HitBuffer | None = None) -> None:
        """Launches only. `primary`: what the camera's rays hit first, in their order; None: it is traced."""
        frame = {"frame": self.context.frame}
        self.target.launch(
            self.unit,
            "begin_wavefront",
            self.pixel_packs,
            **frame,
            options=self.scene["options"],
            pack_count=self.pixel_packs,
            queue=self.queue.view(),
            colors=self.colors,
        )
        for depth in range(self.wavefront.depth + 1):
            self._trace_depth(depth, primary if depth == 0 else None)
            if depth < self.wavefront.depth:
                self._go_on(depth + 1)
            else:
                self._collect()
        sums = {"colors": self.colors, "sums": self.context.sums}
        self.target.launch(
            self.unit, "finish_wavefront", self.pixel_packs, **frame, pack_count=self.pixel_packs, **sums
        )

    def _trace_depth(self, depth: int, primary: HitBuffer | None) -> None:
        if primary is None:
            self._launch_traced("wavefront", "find_surfaces", self.queue, queue=self.queue.view(), **self.hits)
        else:
            given = {f"given_{name}": array for name, array in primary.arrays().items()}
            queue = self.queue.view()
            self._launch_traced("primary", "take_primary_hits", self.queue, queue=queue, **given, **self.hits)
        for light in range(max(self.light_count, 1)):
            for sample in range(self.wavefront.light_samples if self.light_count else 1):
                self._shade(depth, light, sample)

    def _launch_traced(self, kernels: str, kernel: str, traced: RayQueue, **given: Any) -> None:
        unit, view = _traced_unit(self.tracer, kernels, traced.rays, self.constants)
        packs = self.tracer.packs(traced.rays)
        scene = {"input": view, "surface": self.scene["surface"]}
        self.target.launch(unit, kernel, packs, **scene, pack_count=packs, **given, block=TRACE_BLOCK)

    def _shade(self, depth: int, light: int, sample: int) -> None:
        self.target.launch(
            self.unit,
            "shade_wavefront",
            self.packs,
            **self.scene,
            pack_count=self.packs,
            depth=depth,
            l=light,
            i=sample,
            queue=self.queue.view(),
            **self.hits,
            reflected=self.reflected.view(),
            transmitted=self.transmitted.view(),
            expected=self.expected.view(),
            **self.counted,
            **self.pixels,
            seen=self.seen,
        )
        if self.wavefront.shadows and self.light_count:
            given = {"expected": self.expected.view(), "kind": KINDS_OF_RAYS * depth, "seen": self.seen}
            self._launch_traced("wavefront", "find_light", self.expected, **given, **self.counted)

    def _go_on(self, depth: int) -> None:
        """To the rays of `depth`."""
        if self.is_opaque:
            self._collect()
            self.reflected.compact_into(self.queue)
            return
        pair = QueuePair(self.transmitted, self.reflected)
        pair.find_places()
        if _may_overflow(depth):
            self._follow_overflow(depth, pair)
        self._collect()
        pair.merge_into(self.queue)

    def _follow_overflow(self, depth: int, pair: QueuePair) -> None:
        unit, view = _traced_unit(self.tracer, "overflow", self.queue.rays, self.constants, OVERFLOW_REGISTERS)
        packs = self.tracer.packs(self.queue.rays)
        self.target.launch(
            unit,
            "follow_overflow",
            packs,
            input=view,
            **self.scene,
            pack_count=packs,
            depth=depth,
            transmitted=self.transmitted.view(),
            reflected=self.reflected.view(),
            places=pair.places,
            **self.counted,
            seen=self.seen,
            block=TRACE_BLOCK,
        )

    def _collect(self) -> None:
        queue = self.queue.view()
        self.target.launch(self.unit, "collect_colors", self.queue.capacity, queue=queue, seen=self.seen, **self.pixels)

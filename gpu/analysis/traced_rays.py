"""Rays of a set on a target: traced through any structure there, timed by the target's clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable

import numpy as np

from ..animate.animate import Surface
from ..hierarchy.base import Traversal
from ..target.base import Array, Target
from ..trace.arrays import AdmittedRays, ArrayKind, ArrayRays, ArrayTracer, packed
from ..trace.trace import BufferRays, upload_rays
from .workload import Rays

_NUMBERS = itertools.count(1 << 41)
"""Of the frames of the target's clock, apart from those of engines and of the library's trees."""


def timed(target: Target, launch: Callable[[], None]) -> float:
    """Milliseconds of all phases of what is launched; waits."""
    number = next(_NUMBERS)
    target.begin_frame(number)
    try:
        launch()
    finally:
        target.end_frame()
    target.synchronize()
    (timing,) = target.frames_of({number})
    return sum(timing.phases_ms.values())


RowRays = BufferRays
"""Rays on a target as kernels that count take them."""


def in_rows(target: Target, rays: Rays) -> RowRays:
    """Rays on a target as kernels that count take them."""
    return upload_rays(target, rays.origins, rays.directions, rays.t_min, rays.t_max)


class TracedRays:
    """See the module. What a first trace of a kind of traversal compiles is in its time."""

    def __init__(self, target: Target, rays: Rays) -> None:
        self.target, self.rays = target, rays
        arrays = [target.upload(rows, "rays") for rows in (rays.origins, rays.directions)]
        bounds = (rays.t_min, rays.t_max)
        arrays += [target.upload(one, "rays") if isinstance(one, np.ndarray) else None for one in bounds]
        self._kept: tuple[Array | None, ...] = tuple(arrays)
        numbers = [0.0 if isinstance(one, np.ndarray) else one for one in bounds]
        self._rays = packed(ArrayRays, *arrays, 3, 3, *numbers, len(rays), 1)
        self._admitted = packed(AdmittedRays, None, None, None, None, None, None, 0, -1, -1, -1)
        self._t = target.empty((len(rays),), np.float32, "hits")
        self._prim_id = target.empty((len(rays),), np.int32, "hits")
        self._tracers: dict[Hashable, ArrayTracer] = {}

    def takes(self, rays: Rays) -> bool:
        """Whether these are the same rays in other places: as many, bounded alike."""
        ours, theirs = ((one.t_min, one.t_max) for one in (self.rays, rays))
        return len(rays) == len(self.rays) and all(
            one is other or (isinstance(one, float) and one == other) for one, other in zip(ours, theirs, strict=True)
        )

    def move(self, rays: Rays) -> None:
        """These from now on, which it `takes`."""
        if rays is not self.rays:
            self.rays = rays
            for array, values in zip(self._kept, (rays.origins, rays.directions), strict=False):
                self.target.write(array, values)

    def trace(self, traversal: Traversal, surface: Surface, of: Hashable = None) -> float:
        """Trace all to their closest hits; milliseconds. `of`: whose traversal it is, where there are several."""
        tracer = self._tracers.get(of)
        if tracer is None:
            tracer = self._tracers[of] = ArrayTracer(self.target, traversal)
        else:
            tracer.follow(traversal)
        outputs = {**dict.fromkeys(("u", "v", "normal", "instance", "is_hit")), "t": self._t, "prim_id": self._prim_id}

        def launch() -> None:
            with self.target.phase("trace"):
                tracer.trace(ArrayKind(), self._rays, self._admitted, len(self.rays), surface.positions,
                             surface.triangles, outputs)  # fmt: skip

        return timed(self.target, launch)

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """prim_id and t of what was traced last, on the host."""
        return self.target.download(self._prim_id), self.target.download(self._t)

"""One structure over a scene on a target, and rays through it: each act timed by the target's own clock."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np

from ..animate.animate import Animator, Surface
from ..buffers import pixel_directions
from ..camera import Camera
from ..errors import Error
from ..hierarchy.base import Hierarchy, StructureChoice
from ..hierarchy.registry import make_structure
from ..scene import Moment, Scene
from ..target.base import Array, Target
from ..trace.arrays import AdmittedRays, ArrayKind, ArrayRays, ArrayTracer, packed
from ..trace.trace import pixel_order

_NUMBERS = itertools.count(1 << 41)
"""Of the frames of the target's clock, apart from those of engines and of the library's trees."""


@dataclasses.dataclass(frozen=True, eq=False)
class Rays:
    """Rays as plain arrays of the host: origins and directions (N, 3) float32, and what bounds them, (N,) float32 or
    one number for all."""

    origins: np.ndarray
    directions: np.ndarray
    t_min: float | np.ndarray = 0.0
    t_max: float | np.ndarray = float("inf")

    def __len__(self) -> int:
        return len(self.origins)

    def at_most(self, count: int) -> Rays:
        """Not more than so many, neighbours in runs of 64, which go through a structure together."""
        if len(self) <= count:
            return self
        runs, kept = len(self) // 64, max(1, count // 64)
        first = np.linspace(0, runs - 1, kept).astype(np.int64) * 64
        some = (first[:, None] + np.arange(64)).reshape(-1)
        t_min, t_max = (bound[some] if isinstance(bound, np.ndarray) else bound for bound in (self.t_min, self.t_max))
        return Rays(self.origins[some], self.directions[some], t_min, t_max)


def camera_rays(camera: Camera, width: int, height: int) -> Rays:
    """The rays through the centres of a picture's pixels, in the order in which pictures are traced."""
    x, y = pixel_order(width, height)
    inside = (x < width) & (y < height)
    x, y = x[inside], y[inside]
    directions = pixel_directions(camera, width, height)[y, x].astype(np.float32)
    origins: np.ndarray = np.broadcast_to(np.array(camera.eye), directions.shape)
    if camera.orthographic:
        rows = camera.frame(width, height).reshape(4, 4)
        s, t = (x + 0.5) / width - 0.5, (y + 0.5) / height - 0.5
        origins = origins + rows[2, :3] * s[:, None] + rows[3, :3] * t[:, None]
    return Rays(np.ascontiguousarray(origins, np.float32), np.ascontiguousarray(directions))


class Rig:
    """See the module. `show` first, then `build`, `refit` and `trace`, which give milliseconds; all of them wait. A
    first call of each compiles, and its time says nothing."""

    def __init__(self, target: Target, scene: Scene, name: str, choice: StructureChoice, rays: Rays) -> None:
        if not scene.triangle_count:
            raise Error(f"{scene.name} has no triangles, and clips of triangles are what is measured")
        self.target, self.rays = target, rays
        self._animator = Animator(target, scene)
        self.hierarchy: Hierarchy = make_structure(target, name, choice)
        self._surface: Surface | None = None
        self._tracer: ArrayTracer | None = None
        arrays = [target.upload(rows, "rays") for rows in (rays.origins, rays.directions)]
        bounds = (rays.t_min, rays.t_max)
        arrays += [target.upload(one, "rays") if isinstance(one, np.ndarray) else None for one in bounds]
        self._kept: tuple[Array | None, ...] = tuple(arrays)
        numbers = [0.0 if isinstance(one, np.ndarray) else one for one in bounds]
        self._rays = packed(ArrayRays, *arrays, 3, 3, *numbers, len(rays), 1)
        self._admitted = packed(AdmittedRays, None, None, None, None, None, None, 0, -1, -1, -1)
        self._t = target.empty((len(rays),), np.float32, "hits")
        self._prim_id = target.empty((len(rays),), np.int32, "hits")

    def show(self, moment: Moment) -> None:
        """Bring the triangles to an instant."""
        self._surface = self._animator.at(moment)
        self.target.synchronize()

    @property
    def surface(self) -> Surface:
        """As it is now."""
        assert self._surface is not None, "show comes first"
        return self._surface

    def build(self) -> float:
        """A new tree."""
        primitives = self.surface.primitives
        if self.hierarchy.lacks_room(primitives):
            self.hierarchy.make_room(primitives)
        self.hierarchy.prepare(primitives, "rebuild")
        return self._timed(lambda: self.hierarchy.build(primitives))

    def refit(self) -> float:
        """New boxes for the tree there is. Raises CannotRefitError."""
        primitives = self.surface.primitives
        self.hierarchy.prepare(primitives, "refit")
        return self._timed(lambda: self.hierarchy.refit(primitives))

    def trace(self) -> float:
        """All rays, to their closest hits."""
        traversal = self.hierarchy.traversal()
        if self._tracer is None:
            self._tracer = ArrayTracer(self.target, traversal)
        else:
            self._tracer.follow(traversal)
        return self._timed(self._launch_trace)

    def _launch_trace(self) -> None:
        assert self._tracer is not None
        outputs = {**dict.fromkeys(("u", "v", "normal", "instance", "is_hit")), "t": self._t, "prim_id": self._prim_id}
        surface, count = self.surface, len(self.rays)
        with self.target.phase("trace"):
            self._tracer.trace(
                ArrayKind(), self._rays, self._admitted, count, surface.positions, surface.triangles, outputs
            )

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """prim_id and t of what was traced last, on the host."""
        return self.target.download(self._prim_id), self.target.download(self._t)

    def sah_cost(self) -> float | None:
        """Of the tree as it is; None of structures that have none."""
        self.hierarchy.measure()
        self.target.synchronize()
        return self.hierarchy.stats().sah_cost

    def _timed(self, launch: Callable[[], None]) -> float:
        number = next(_NUMBERS)
        self.target.begin_frame(number)
        try:
            launch()
        finally:
            self.target.end_frame()
        self.target.synchronize()
        (timing,) = self.target.frames_of({number})
        return sum(timing.phases_ms.values())

    def close(self) -> None:
        """Give the memory back."""
        self.hierarchy.close()
        self._animator.close()

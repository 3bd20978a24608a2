"""One structure over a scene on a target, and rays through it: each act timed by the target's own clock."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..animate.animate import Animator, Surface
from ..animate.hiding import HiddenObjects
from ..buffers import pixel_directions
from ..camera import Camera
from ..errors import Error
from ..hierarchy.base import Hierarchy, StructureChoice
from ..hierarchy.registry import make_structure
from ..scene import Moment, Scene
from ..target.base import Target
from ..trace.trace import pixel_order
from .traced_rays import TracedRays, timed
from .workload import Rays, Workload


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
    first call of each compiles, and its time says nothing. Objects that are `hidden`, by number, are left out."""

    def __init__(
        self,
        target: Target,
        scene: Scene,
        name: str,
        choice: StructureChoice,
        rays: Workload,
        hidden: Collection[int] = (),
    ) -> None:
        if not scene.triangle_count:
            raise Error(f"{scene.name} has no triangles, and clips of triangles are what is measured")
        self.target, self._workload = target, rays
        self._animator = Animator(target, scene)
        if hidden:
            HiddenObjects(target, self._animator.surface).hide(hidden)
        self.hierarchy: Hierarchy = make_structure(target, name, choice)
        self._surface: Surface | None = None
        self._traced = TracedRays(target, rays.at(Moment()))

    @property
    def rays(self) -> Rays:
        """Those of the instant that is shown."""
        return self._traced.rays

    def show(self, moment: Moment) -> None:
        """Bring the triangles, and rays that move, to an instant."""
        self._surface = self._animator.at(moment)
        self._traced.move(self._workload.at(moment))
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
        return timed(self.target, lambda: self.hierarchy.build(primitives))

    def refit(self) -> float:
        """New boxes for the tree there is. Raises CannotRefitError."""
        primitives = self.surface.primitives
        self.hierarchy.prepare(primitives, "refit")
        return timed(self.target, lambda: self.hierarchy.refit(primitives))

    def trace(self) -> float:
        """All rays, to their closest hits."""
        return self._traced.trace(self.hierarchy.traversal(), self.surface)

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """prim_id and t of what was traced last, on the host."""
        return self._traced.hits()

    def sah_cost(self) -> float | None:
        """Of the tree as it is; None of structures that have none."""
        self.hierarchy.measure()
        self.target.synchronize()
        return self.hierarchy.stats().sah_cost

    def close(self) -> None:
        """Give the memory back."""
        self.hierarchy.close()
        self._animator.close()

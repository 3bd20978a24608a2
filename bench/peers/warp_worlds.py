"""Many worlds by Warp: one mesh whose triangles have the world's number as their group, and rays that begin at the root
of their group's tree (Warp calls it a grouped BVH). Bodies are placed by a kernel of Warp's, as ours are by one."""

# mypy: disable-error-code="valid-type, name-defined"
# Types of Warp's kernels are values, of a module that is imported late.

from __future__ import annotations

from typing import Any

import numpy as np

from raygrove.gpu.analysis.rivals.embree import PeerAbsentError
from raygrove.gpu.analysis.rivals.warp import device_of, module
from raygrove.gpu.target.base import Target

__all__ = ["PeerAbsentError", "WarpWorlds"]


class WarpWorlds:
    """`vertices` (V, 3) and `triangles` (T, 3) of one body, a copy for each of the worlds; each world has a sensor of
    `beams` (B, 3) at `stand` (3,), with rays up to `t_max`. Raises PeerAbsentError without Warp."""

    def __init__(
        self,
        target: Target,
        vertices: np.ndarray,
        triangles: np.ndarray,
        steps: list[np.ndarray],
        beams: np.ndarray,
        stand: tuple[float, float, float],
        t_max: float,
    ) -> None:
        self._warp = warp = module()
        self._device = device = device_of(warp, target)
        worlds, count = len(steps[0]), len(vertices)
        self.version, self.rays = str(warp.__version__), worlds * len(beams)
        corners = triangles[None] + (np.arange(worlds, dtype=np.int32) * count)[:, None, None]
        groups = np.repeat(np.arange(worlds, dtype=np.int32), len(triangles))
        self._kernels = _kernels(warp)
        self._body = warp.array(vertices, dtype=warp.vec3, device=device)
        self._moved = [warp.array(poses.reshape(-1), dtype=warp.float32, device=device) for poses in steps]
        self._beams, self._stand, self._t_max = warp.array(beams, dtype=warp.vec3, device=device), stand, t_max
        self._points = warp.empty(worlds * count, dtype=warp.vec3, device=device)
        self._t = warp.empty(self.rays, dtype=warp.float32, device=device)
        self._prim_id = warp.empty(self.rays, dtype=warp.int32, device=device)
        self._place(0)
        self._mesh = warp.Mesh(
            self._points,
            warp.array(corners.reshape(-1).astype(np.int32), dtype=warp.int32, device=device),
            groups=warp.array(groups, dtype=warp.int32, device=device),
        )

    def update(self, number: int) -> None:
        """Place the bodies and refit."""
        self._place(number)
        self._mesh.refit()

    def trace(self) -> None:
        """Every ray in its own world."""
        self._launch(
            "trace", self.rays, [self._mesh.id, self._beams, len(self._beams), self._warp.vec3(*self._stand),
                                 self._t_max, self._t, self._prim_id],
        )  # fmt: skip

    def step(self, number: int) -> None:
        """One step of a simulator."""
        self.update(number)
        self.trace()

    def synchronize(self) -> None:
        """Wait for the device."""
        self._warp.synchronize_device(self._device)

    def hits(self) -> int:
        """Rays of the last trace that hit."""
        return int((self._prim_id.numpy() >= 0).sum())

    def _place(self, number: int) -> None:
        moved = self._moved[number % len(self._moved)]
        self._launch("place", len(self._points), [self._body, len(self._body), moved, self._points])

    def _launch(self, kernel: str, count: int, inputs: list[Any]) -> None:
        self._warp.launch(self._kernels[kernel], count, inputs=inputs, device=self._device)


def _kernels(warp: Any) -> dict[str, Any]:
    """Warp's kernels, compiled at their first launch."""
    wp = warp

    def raygrove_place_bodies(
        body: wp.array(dtype=wp.vec3),
        count: int,
        poses: wp.array(dtype=wp.float32),
        points: wp.array(dtype=wp.vec3),
    ) -> None:
        corner = wp.tid()
        pose = corner // count * 12
        place = body[corner % count]
        x = poses[pose] * place[0] + poses[pose + 1] * place[1] + poses[pose + 2] * place[2] + poses[pose + 3]
        y = poses[pose + 4] * place[0] + poses[pose + 5] * place[1] + poses[pose + 6] * place[2] + poses[pose + 7]
        z = poses[pose + 8] * place[0] + poses[pose + 9] * place[1] + poses[pose + 10] * place[2] + poses[pose + 11]
        points[corner] = wp.vec3(x, y, z)

    def raygrove_trace_worlds(
        mesh: wp.uint64,
        beams: wp.array(dtype=wp.vec3),
        count: int,
        stand: wp.vec3,
        t_max: float,
        t: wp.array(dtype=wp.float32),
        prim_id: wp.array(dtype=wp.int32),
    ) -> None:
        ray = wp.tid()
        root = wp.mesh_get_group_root(mesh, ray // count)
        hit = wp.mesh_query_ray(mesh, stand, beams[ray % count], t_max, root)
        if hit.result:
            t[ray] = hit.t
            prim_id[ray] = hit.face
        else:
            t[ray] = wp.INF
            prim_id[ray] = -1

    return {"place": wp.kernel(raygrove_place_bodies), "trace": wp.kernel(raygrove_trace_worlds)}

"""Warp (NVIDIA's package `warp-lang`), where it is installed: its meshes, whose trees it builds and refits, and its
closest hits.

It is imported when it is asked for, and its kernels are compiled then: by its own compilers, into its own cache. It
runs in this process, on the memory of the device that it is given: CUDA's, or the CPU's, where it has one thread.
"""

# mypy: disable-error-code="valid-type, name-defined"
# Types of Warp's kernels are values, of a module that is imported late.

from __future__ import annotations

import functools
import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...target.base import Array, Target
from .embree import PeerAbsentError

BUILDERS = ("sah", "median", "lbvh")
"""What Warp builds trees by; it has `lbvh` on a GPU alone."""


def module() -> Any:
    """The package, ready to be used. Raises PeerAbsentError."""
    try:
        is_ours = "warp" not in sys.modules
        found = importlib.import_module("warp")
        if is_ours:  # it would print what devices there are
            found.config.quiet, found.config.log_level = True, getattr(found, "LOG_ERROR", 40)
        found.init()
    except (ImportError, RuntimeError, OSError, AttributeError) as error:
        what = "it is not installed" if isinstance(error, ModuleNotFoundError) else f"it cannot be used: {error}"
        raise PeerAbsentError(f"Warp is not measured: {what}. Install it with: pip install warp-lang") from error
    return found


def device_of(warp: Any, target: Target) -> str:
    """What Warp calls a target's device. Raises PeerAbsentError where it has no such device."""
    name = "cpu" if target.kind == "host" else target.name
    try:
        return str(warp.get_device(name))
    except (RuntimeError, ValueError) as error:
        raise PeerAbsentError(f"Warp is not measured: it sees no {name}: {str(error).rstrip('.')}.") from error


class WarpMesh:
    """Warp's mesh over `points` (V, 3) float32 and `triangles` (T, 3) int32 of a target. All calls wait."""

    def __init__(self, target: Target, points: Array, triangles: Array, builder: str) -> None:
        self._warp = module()
        self.device, self._target = device_of(self._warp, target), target
        self._builder = {"bvh_constructor": builder} if builder else {}
        self.points = self.copied(points, self._warp.vec3)
        self._triangles = self.copied(triangles.reshape(-1), self._warp.int32)
        self.rebuild()

    def copied(self, array: Array, kind: Any) -> Any:
        """An array of Warp's, with the same values."""
        self._target.synchronize()
        made = self._warp.array(array, dtype=kind, device=self.device, copy=True)
        self._warp.synchronize_device(self.device)
        return made

    def move(self, points: Array) -> None:
        """New places for the corners; the tree is as it was."""
        self._target.synchronize()
        given = self._warp.array(points, dtype=self._warp.vec3, device=self.device, copy=False)
        self._warp.copy(self.points, given)
        self._warp.synchronize_device(self.device)

    def rebuild(self) -> float:
        """A new tree, as a new mesh: Warp's meshes cannot build theirs anew. Milliseconds."""
        return self.timed(self._make)

    def refit(self) -> float:
        """New boxes for the tree there is; milliseconds."""
        return self.timed(lambda: self.mesh.refit())

    def _make(self) -> None:
        self.mesh = self._warp.Mesh(self.points, self._triangles, **self._builder)

    def timed(self, call: Callable[[], Any]) -> float:
        """Milliseconds of a call: on a GPU between two events, else by the clock."""
        warp = self._warp
        if self.device == "cpu":
            began = time.perf_counter()
            call()
            return (time.perf_counter() - began) * 1000.0
        with warp.ScopedDevice(self.device):
            first, last = (warp.Event(self.device, enable_timing=True) for _ in range(2))
            warp.record_event(first)
            call()
            warp.record_event(last)
            return float(warp.get_event_elapsed_time(first, last))


class WarpRays:
    """Rays to be traced through meshes again and again: `origins` and `directions` (N, 3), `t_min` and `t_max` (N,) or
    one for all, of the host."""

    def __init__(self, origins: np.ndarray, directions: np.ndarray, t_min: Any, t_max: Any, device: str) -> None:
        self._warp = warp = module()
        self.count, self.device = len(origins), device
        columns = [np.ascontiguousarray(np.broadcast_to(one, self.count), np.float32) for one in (t_min, t_max)]
        rows = [np.ascontiguousarray(one, np.float32) for one in (origins, directions)]
        self._given = [warp.array(one, dtype=warp.vec3, device=device) for one in rows]
        self._given += [warp.array(one, dtype=warp.float32, device=device) for one in columns]
        self._t = warp.empty(self.count, dtype=warp.float32, device=device)
        self._prim_id = warp.empty(self.count, dtype=warp.int32, device=device)
        self._kernel = _closest_hits(warp)

    def trace(self, mesh: WarpMesh) -> float:
        """Find all closest hits; milliseconds."""
        inputs, outputs = [mesh.mesh.id, *self._given], [self._t, self._prim_id]
        return mesh.timed(
            lambda: self._warp.launch(self._kernel, self.count, inputs=inputs, outputs=outputs, device=self.device)
        )

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """t (inf: nothing hit) and prim_id (-1), (N,) each, of the last trace."""
        return self._t.numpy().copy(), self._prim_id.numpy().copy()


@functools.cache
def _closest_hits(warp: Any) -> Any:
    """Warp's kernel. Its rays begin at their origins, so those with a t_min are moved along."""
    wp = warp

    def raygrove_closest_hits(
        mesh: wp.uint64,
        origins: wp.array(dtype=wp.vec3),
        directions: wp.array(dtype=wp.vec3),
        t_mins: wp.array(dtype=wp.float32),
        t_maxs: wp.array(dtype=wp.float32),
        t: wp.array(dtype=wp.float32),
        prim_id: wp.array(dtype=wp.int32),
    ) -> None:
        ray = wp.tid()
        start = origins[ray] + t_mins[ray] * directions[ray]
        hit = wp.mesh_query_ray(mesh, start, directions[ray], t_maxs[ray] - t_mins[ray])
        if hit.result:
            t[ray] = t_mins[ray] + hit.t
            prim_id[ray] = hit.face
        else:
            t[ray] = wp.INF
            prim_id[ray] = -1

    return wp.kernel(raygrove_closest_hits)

"""Rays -> hits, on both targets, compiled against whatever traversal a structure gives.

A ray source is a camera (`CameraRays`), a buffer (`BufferRays`) or a queue that kernels fill (`QueueRays`); a kind is
`closest`, `any` or `steps` (the closest hit; the nodes visited, the primitives and the boxes tested on the way). Rays
are traced in packs of the target's lane count; `steps` goes ray by ray on every target, so that counts mean the same
everywhere.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from ..camera import Camera, CameraRow
from ..clip import ClipRow, HalfSpace
from ..hierarchy.base import Traversal
from ..rows import Float, Int, Struct
from ..target.base import Array, Target, Unit, UnitSource
from ..target.structs import pack
from . import ray_views
from .primary import CasterCapabilities

TRACE_BLOCK = 128
"""Threads of a tracing block on CUDA: 128 with room for 64 registers per thread was the fastest of 64 to 256
(docs/decisions/tracing-on-cuda.md)."""

ONE_RAY_A_THREAD: dict[str, dict[str, int]] = {
    "cuda": {"BufferRays": 0, "CameraRays": 80 * TRACE_BLOCK},
    "host": {},
}
"""Sources whose rays get a thread each, from so many rays a multiprocessor on; others share a grid that strides over
them (40 blocks a multiprocessor), in another order (`in_turn` of ray_sources.cuh). Launch and order belong together: on
an H200 pictures of 1920x1080 gained 3 to 35 % in every scene, those of 1024x768 lost up to 12 % in one of fourteen
views (docs/performance/rays.md). A queue's length is known to the device alone: its places that nobody used would be
blocks."""

MULTIPROCESSOR_REGISTERS = 1 << 16
COUNTING_REGISTERS = 80
"""Room for a traversal that counts its steps on the way."""

TILE_SIDE = 8
TILE_RAYS = 64

KINDS = {
    "closest": ("ClosestHit", "NoNodes", 0),
    "any": ("AnyHit", "NoNodes", 0),
    "steps": ("CountedClosestHit", "CountSteps", 1),
}
"""Kind -> what happens at primitives, at nodes, and the width of a pack (0: the target's own)."""


@dataclasses.dataclass(frozen=True)
class ViewFrame(Struct):
    """What changes from frame to frame in one view; written before the launches (film.py)."""

    camera: Annotated[np.ndarray, f"float[{CameraRow.floats()}]"]
    width: Int
    height: Int
    sample_index: Int
    """The sample being drawn."""
    sample_count: Int
    """How many samples the film holds after it."""
    jitter: Annotated[tuple[float, float], "float[2]"]
    """Where in the pixel this sample lies, centre .5."""
    exposure: Float
    """Factor on linear colours before they are clamped."""
    is_clipped: Int
    clip: Annotated[HalfSpace, f"float[{ClipRow.floats()}]"]
    seed: Int
    """Of everything random in the picture."""
    tone: Int
    """A place in TONES of film.py."""
    first_row: Int
    """Of the rows that are drawn, a multiple of TILE_SIDE: ray 0 belongs to it."""
    rows_ahead: Int
    """Rows from the top that hold one sample more than sample_count."""


VIEW_FRAME = ViewFrame.dtype()


def see_through(frame: np.ndarray, camera: Camera, width: int, height: int, clip: HalfSpace | None = None) -> None:
    """Write into a VIEW_FRAME whose picture it is, and what of the scene is seen."""
    frame["camera"], frame["width"], frame["height"] = camera.frame(width, height), width, height
    frame["is_clipped"], frame["clip"] = int(clip is not None), clip or (0.0, 0.0, 0.0, 0.0)


def rays_of_picture(width: int, height: int) -> int:
    """Rays of a picture, those of the tiles' overhang included."""
    return -(-width // TILE_SIDE) * -(-height // TILE_SIDE) * TILE_RAYS


def pixel_order(width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y of every ray of a picture, int32, in the order of the rays; overhanging rays lie outside the picture."""
    ray = np.arange(rays_of_picture(width, height), dtype=np.int32)
    local, tile, across = ray % TILE_RAYS, ray // TILE_RAYS, -(-width // TILE_SIDE)
    x = (local & 1) | (local >> 1 & 2) | (local >> 2 & 4)
    y = (local >> 1 & 1) | (local >> 2 & 2) | (local >> 3 & 4)
    return x + tile % across * TILE_SIDE, y + tile // across * TILE_SIDE


@dataclasses.dataclass(frozen=True, eq=False)
class CameraRays:
    """Rays of a picture. `frame` is a uint8 array on the target that holds a VIEW_FRAME."""

    frame: Array
    width: int
    height: int

    @property
    def padded_count(self) -> int:
        """Places in ray order, the tiles' overhang included."""
        return rays_of_picture(self.width, self.height)

    @property
    def count(self) -> int:
        """Rays that are traced."""
        return self.width * self.height

    device_type = "CameraRays"

    def view(self) -> np.ndarray:
        """The by-value struct."""
        return pack(ray_views.CameraRays(self.frame))


@dataclasses.dataclass(frozen=True, eq=False)
class BufferRays:
    """Rays of a buffer: `rows` (8, S) float32 on the target: origin, direction, t_min, t_max; S a multiple of 64,
    `count` of them in use."""

    rows: Array
    count: int

    @property
    def padded_count(self) -> int:
        """Places in ray order."""
        return int(self.rows.shape[1])

    device_type = "BufferRays"

    def view(self) -> np.ndarray:
        """The by-value struct."""
        return pack(ray_views.BufferRays(self.rows, self.count, self.padded_count))


@dataclasses.dataclass(frozen=True, eq=False)
class QueueRays:
    """Rays of a queue: `rows` as BufferRays has them, of which the first `length`, an int32 on the target, are in
    use."""

    rows: Array
    length: Array

    @property
    def padded_count(self) -> int:
        """Places in ray order."""
        return int(self.rows.shape[1])

    @property
    def count(self) -> int:
        """The most rays that there may be."""
        return self.padded_count

    device_type = "QueueRays"

    def view(self) -> np.ndarray:
        """The by-value struct."""
        return pack(ray_views.QueueRays(self.rows, self.length, self.padded_count))


RaySource = CameraRays | BufferRays | QueueRays


def upload_rays(
    target: Target, origins: np.ndarray, directions: np.ndarray,
    t_min: np.ndarray | float = 0.0, t_max: np.ndarray | float = np.inf,
) -> BufferRays:  # fmt: skip
    """Rays from the host: origins and directions (N, 3); distances (N,) or one for all. An infinite t_max becomes the
    largest float."""
    rows = rays_in_rows(origins, directions, t_min, t_max)
    return BufferRays(target.upload(rows, "rays"), len(origins))


def rays_in_rows(
    origins: np.ndarray, directions: np.ndarray, t_min: np.ndarray | float = 0.0, t_max: np.ndarray | float = np.inf
) -> np.ndarray:
    """The rows of BufferRays, (8, S) float32; what stands behind the last ray is none."""
    count = len(origins)
    rows = np.zeros((8, max(1, -(-count // TILE_RAYS)) * TILE_RAYS), np.float32)
    rows[0:3, :count], rows[3:6, :count] = np.transpose(origins), np.transpose(directions)
    rows[6, :count] = t_min
    rows[7, :count] = np.minimum(t_max, np.finfo(np.float32).max)
    return rows


@dataclasses.dataclass(frozen=True, eq=False)
class HitBuffer:
    """Hits in the order of the rays: t, u, v float32 and prim_id int32 (-1: nothing hit); for the kind `steps` also
    int32 `steps`, nodes visited,
    `tests`, primitives tested, and `boxes`, boxes tested. The arrays are as long as the padded rays; they are scratch
    memory that the next trace overwrites."""

    t: Array
    prim_id: Array
    u: Array
    v: Array
    steps: Array | None
    ray_count: int
    tests: Array | None = None
    boxes: Array | None = None

    def arrays(self) -> dict[str, Array]:
        """What kernels read hits from, by their names for it."""
        return {"t": self.t, "prim_id": self.prim_id, "u": self.u, "v": self.v}


@dataclasses.dataclass(frozen=True)
class Totals:
    """Hits among a hit buffer's rays, and the sum of their distances in float64."""

    hits: int
    sum_t: float


class Tracer:
    """Traces through one structure. Cheap to make: compiled units are found by what decides them."""

    capabilities = CasterCapabilities(("CameraRays", "BufferRays", "QueueRays"), tuple(KINDS))

    def __init__(self, target: Target, traversal: Traversal) -> None:
        self.target, self.traversal = target, traversal

    @property
    def lanes(self) -> int:
        """The width of a pack: the target's own, or the widest that the traversal makes use of."""
        return min(self.target.lane_count, self.traversal.most_lanes or self.target.lane_count)

    def packs(self, rays: RaySource) -> int:
        """How many packs these rays are: what a unit of `unit` is launched for."""
        return rays.padded_count // self.lanes

    def trace(self, rays: RaySource, kind: str = "closest", scratch: str = "trace") -> HitBuffer:
        """The hits of `rays`; `kind` is closest, any or steps. Launches only; raises KeyError for an unknown kind. Hits
        of another `scratch` name are kept."""
        unit, source_view = self.compile(rays, kind)
        hits = self._hit_buffer(rays, kind, scratch)
        packs = rays.padded_count // (KINDS[kind][2] or self.lanes)
        blocks = self.blocks(rays)
        self.target.launch(
            unit,
            "trace_rays",
            packs,
            input=source_view,
            pack_count=packs,
            in_strides=int(blocks == 0),
            t=hits.t,
            prim_id=hits.prim_id,
            u=hits.u,
            v=hits.v,
            steps=hits.steps,
            block=TRACE_BLOCK,
            blocks=blocks,
        )
        return hits

    def blocks(self, rays: RaySource) -> int:
        """Blocks of single rays with a thread each; 0: a grid that strides over them."""
        least = ONE_RAY_A_THREAD[self.target.kind].get(rays.device_type)
        if least is None or rays.padded_count < least * self.target.processors:
            return 0
        return -(-rays.padded_count // TRACE_BLOCK)

    def cast(self, rays: RaySource, kind: str = "closest", scratch: str = "trace") -> HitBuffer:
        """The same, as every giver of primary hits has it (primary.py)."""
        return self.trace(rays, kind, scratch)

    def trace_shadows(
        self,
        rays: CameraRays,
        hits: HitBuffer,
        positions: Array,
        triangles: Array,
        lights: Array,
        light_count: int,
        ray_count: Array,
    ) -> Array:
        """Rays from the hits of `rays` to every light: int32 in ray order, bit l set where light l does not reach the
        hit. `ray_count`, one uint64, grows by the rays traced."""
        unit, source_view = self.compile_shadows(rays)
        shadowed = self.target.scratch("trace.shadowed", rays.padded_count, np.int32)
        packs = self.packs(rays)
        self.target.launch(
            unit,
            "trace_shadow_rays",
            packs,
            input=source_view,
            pack_count=packs,
            prim_id=hits.prim_id,
            u=hits.u,
            v=hits.v,
            positions=positions,
            triangles=triangles,
            lights=lights,
            light_count=light_count,
            shadowed=shadowed,
            ray_count=ray_count,
            block=TRACE_BLOCK,
        )
        return shadowed

    def compile(self, rays: RaySource, kind: str = "closest") -> tuple[Unit, np.ndarray]:
        """The unit that traces such rays, and its by-value struct."""
        on_primitive, on_node, width = KINDS[kind]
        return self._unit("gpu/trace/trace.cu", rays, width, (("OnPrimitive", on_primitive), ("OnNode", on_node)))

    def compile_shadows(self, rays: CameraRays) -> tuple[Unit, np.ndarray]:
        """The unit that traces shadow rays from the hits of such rays, and its by-value struct."""
        return self.unit("gpu/trace/shadow.cu", rays)

    def unit(
        self,
        path: str,
        rays: RaySource,
        aliases: tuple[tuple[str, str], ...] = (),
        constants: tuple[tuple[str, int | float | bool], ...] = (),
        registers: int = 0,
        width: int = 0,
    ) -> tuple[Unit, np.ndarray]:
        """A kernel file that traces on the way (traversals.cuh), compiled against this structure, and its TraceInput.
        Kernels are launched for `packs(rays)` items (of `width`) in blocks of TRACE_BLOCK, of `registers` or more."""
        least = self.traversal.tree.registers_on_the_way
        return self._unit(path, rays, width, aliases, constants, max(registers, least))

    def _unit(
        self,
        path: str,
        rays: RaySource,
        width: int,
        aliases: tuple[tuple[str, str], ...],
        more_constants: tuple[tuple[str, int | float | bool], ...] = (),
        needed_registers: int = 0,
    ) -> tuple[Unit, np.ndarray]:
        traversal, source = self.traversal, rays.view()
        tree, records = traversal.tree, traversal.records
        view = pack(ray_views.TraceParts(tree.view, records.view, source))
        headers = (
            records.header,
            tree.header,
            "gpu/trace/ray_sources.cuh",
            "gpu/trace/on_primitive.cuh",
        )
        types = (("Tree", tree.type_name), ("Records", records.type_name), ("RaySource", rays.device_type))
        registers = max(
            tree.registers,
            records.registers,
            needed_registers,
            COUNTING_REGISTERS if "CountSteps" in dict(aliases).values() else 0,
        )
        blocks = MULTIPROCESSOR_REGISTERS // (registers * TRACE_BLOCK)
        constants = (
            *tree.constants,
            *more_constants,
            ("TRACE_BLOCK", TRACE_BLOCK),
            ("TRACE_BLOCKS", blocks),
            ("TRACE_INPUT_BYTES", view.dtype.itemsize),
        )
        return self.target.unit(UnitSource(path, headers, (*types, *aliases), constants, width or self.lanes)), view

    def _hit_buffer(self, rays: RaySource, kind: str, scratch: str) -> HitBuffer:
        def array(name: str, dtype: type) -> Array:
            return self.target.scratch(f"{scratch}.{name}", rays.padded_count, dtype)

        steps = self.target.scratch(f"{scratch}.steps", (3, rays.padded_count), np.int32) if kind == "steps" else None
        counts = (None, rays.count) if steps is None else (steps[0], rays.count, steps[1], steps[2])
        return HitBuffer(
            array("t", np.float32), array("prim_id", np.int32), array("u", np.float32), array("v", np.float32), *counts
        )


def totals(target: Target, hits: HitBuffer) -> Totals:
    """Count the hits and add up their distances. Waits: on request, outside a frame. The same hits give the same
    sum."""
    blocks = 64
    partial = target.scratch("trace.partial", (blocks, 2), np.float64)
    unit = target.unit(UnitSource("gpu/trace/totals.cu"))
    target.launch(
        unit,
        "sum_hits",
        len(hits.t),
        t=hits.t,
        prim_id=hits.prim_id,
        ray_count=len(hits.t),
        partial=partial,
        blocks=blocks,
    )
    counted, sum_t = target.download(partial).sum(axis=0)
    return Totals(int(counted), float(sum_t))

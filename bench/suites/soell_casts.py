"""Casts of the thesis' stand-in data set, timed: its spheres in a picture, the arrangements' options, and what a cast
takes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from raygrove.app.scene_io.demos.particles import FOV, PICTURE, make_spheres
from raygrove.gpu.camera import Camera
from raygrove.gpu.glyphs.caster import TileCaster
from raygrove.gpu.glyphs.choosing import Chooser, Situation
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.glyphs.tile_lists import Tiling
from raygrove.gpu.hierarchy.base import Primitives
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import VIEW_FRAME, CameraRays, see_through

from ..measure import median, profiled, timed
from .soell_tables import READINGS, STEP_NAMES, VARIANTS

CAMERA = Camera(eye=(0.0, 0.0, 0.0), look_at=(0.0, 0.0, -1.0), fov=FOV)
WARMUP = 3
STEPS: dict[str, dict[str, Any]] = {
    "plain": {"lists": "none", "local_buffer": False, "box_loops": False},
    "local buffer": {"lists": "none", "local_buffer": True, "box_loops": False},
    "sorted": {"lists": "scatter", "local_buffer": True, "box_loops": False},
    "boxes": {"lists": "scatter", "local_buffer": True, "box_loops": True},
}
assert tuple(STEPS) == STEP_NAMES


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """Spheres on a target and on the host, and the rays of a picture of them."""

    primitives: Primitives
    rays: CameraRays
    centres: np.ndarray
    radii: np.ndarray


def make_view(target: Target, count: int, pixels: int, size: tuple[int, int], reading: str) -> View:
    """The data set: `reading` says at which distance a sphere has its radius in pixels, its own or the middle's."""
    word = "pixels" if reading == READINGS[0] else "world"
    (spheres,) = make_spheres(count, 0, word, pixels * PICTURE / size[1]).spheres
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, CAMERA, *size)
    frame["jitter"] = 0.5
    rays = CameraRays(target.upload(frame.reshape(1).view(np.uint8), "film"), *size)
    return view_of(target, spheres.centres, spheres.radii, rays)


def view_of(target: Target, centres: np.ndarray, radii: np.ndarray, rays: CameraRays) -> View:
    primitives = sphere_primitives(target.upload(centres, "scene"), target.upload(radii, "scene"))
    return View(primitives, rays, centres, radii)


def in_morton_order(target: Target, view: View) -> View:
    """The same spheres by the Morton code of their centres, ten bits an axis, as simulations often write them."""
    centres = view.centres
    cells = np.interp(centres, (centres.min(), centres.max()), (0, 1023)).astype(np.uint64)
    codes = np.zeros(len(cells), np.uint64)
    for bit in range(10):
        for axis in range(3):
            codes |= ((cells[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
    order = np.argsort(codes, kind="stable")
    return view_of(target, centres[order], view.radii[order], view.rays)


def step_options(variant: str, step: str, grid: int = 64, block: tuple[int, int] = (16, 8)) -> GlyphOptions:
    """The options of an arrangement at a step of the thesis' tables."""
    return GlyphOptions(arrangement=VARIANTS[variant], tiles=grid, block_x=block[0], block_y=block[1], **STEPS[step])


def auto_options(target: Target, view: View, situation: Situation) -> GlyphOptions:
    """What `auto` takes, after as many casts as a window would give it frames for that."""
    chooser, caster = Chooser(target, GlyphOptions(), view), TileCaster(target)

    def cast() -> None:
        with target.phase("cast"):
            caster.cast(view.rays)

    while True:
        options, _, next_frame = chooser.choose(situation, True)
        if not chooser.needs_times:
            return options
        caster.draw_by(options)
        caster.make_room(view.primitives)
        ticket = next_frame()
        # What counts is replayed, as frames are: launched one by one, many short kernels wait for a slow host.
        is_replayed = ticket is not None and caster.is_repeatable
        took = timed(target, target.capture(cast) if is_replayed else cast, 1, 0)
        if ticket is not None:
            ticket.took({"trace.primary": took.medians()["cast"]})


def cast_times(target: Target, view: View, options: GlyphOptions, repeat: int) -> dict[str, Any]:
    """`kernel_ms` of the arrangement's kernel alone, `total_ms` with boxes, lists and hits, `graph_ms` the same
    replayed as a graph, as frames do (None where the CPU makes the lists in between): medians."""
    caster = TileCaster(target, options)

    def cast() -> None:
        with target.phase("cast"):
            caster.cast(view.rays)

    for _ in range(2):  # the second time with room for what the first asked for
        caster.make_room(view.primitives)
        cast()
        target.synchronize()
    caster.make_room(view.primitives)
    total = timed(target, cast, repeat, WARMUP)
    graph = timed(target, target.capture(cast), repeat, 1) if caster.is_repeatable else None
    kernels, width, height = profiled(target, cast, repeat, 1).medians(), view.rays.width, view.rays.height
    tiling = Tiling.of(caster.drawn_by, width, height)
    entries = caster.lists.entries if caster.has_lists else view.primitives.count * tiling.count
    name = "splat_spheres" if caster.arrangement == "splat" else "cast_tiles"
    return {
        "arrangement": caster.arrangement,
        "lists": caster.list_order,
        "kernel_ms": kernels[f"launch.{name}"],
        "total_ms": total.medians()["cast"],
        "graph_ms": None if graph is None else median(graph.spans_ms),
        "list_bytes": 4 * caster.lists.capacity,
        "drawn": min(1.0, tiling.pixels * tiling.count / (width * height)),
        "tests": None if entries is None else entries * tiling.pixels,
        "use": None if caster.use is None else dataclasses.asdict(caster.use),
    }

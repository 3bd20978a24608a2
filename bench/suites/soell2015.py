"""The evaluation of Soell's thesis (2015): spheres cast in tiles of the picture, by five arrangements of loops and
threads, with and without a local buffer, lists of the tiles' spheres and pixel boxes.

The tests that chapter 3.1 counts; tables 5.1 to 5.5 (each arrangement step by step, at its best grid and block), 5.6
(the grid), 5.7 and 5.8 (how many spheres, of 3 and of 12 pixels), 5.9 (with the ray's set-up moved out), 5.10 (GLSL,
unsorted, sorted), and one of what the thesis names without a figure: lists by the CPU, tiles in depth, intrinsics,
memory. A time is that of the arrangement's own kernel; boxes, lists and the picture's hits are counted in a column of
their own. The thesis' set of spheres is not published: ours is uniform in the camera's frustum from 1 to 4, seed 2015.
What a radius of 3 pixels means in perspective is not said: here each sphere has it at its own distance, and in rows
marked so one radius in space that has it in the middle.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from raygrove.app.scene_io.demos.particles import FOV, PICTURE, make_spheres
from raygrove.gpu.camera import Camera
from raygrove.gpu.glyphs.caster import TileCaster
from raygrove.gpu.glyphs.choosing import Chooser, Situation
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.glyphs.tile_lists import Tiling
from raygrove.gpu.hierarchy.base import HierarchyError, Primitives
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.target.base import OutOfMemoryError, Target
from raygrove.gpu.trace.trace import VIEW_FRAME, CameraRays, see_through

from ..measure import timed
from .job import SuiteJob
from .published import published_row, published_source
from .report import SuiteReport
from .scenes import SceneChoice, demo
from .soell_glsl import glsl_rows
from .soell_tables import GRIDS, READINGS, SORTED_BEST, STEP_NAMES, VARIANTS, tabulate

SIZE = (1024, 1024)
CAMERA = Camera(eye=(0.0, 0.0, 0.0), look_at=(0.0, 0.0, -1.0), fov=FOV)
WARMUP = 3

WHY = "uniform in the frustum, nearest to farthest as 1 to 4, seed 2015: the published set is not to be had"
CHOICES = tuple(
    SceneChoice(f"{word} spheres of {pixels} px", count, demo("spheres", count), False, WHY)
    for pixels in (3, 12)
    for word, count in (("1K", 1_000), ("10K", 10_000), ("100K", 100_000), ("1M", 1_000_000))
)

BLOCKS = tuple((x, y) for x in (16, 32) for y in (1, 2, 4, 8, 16, 32))
ONE_BLOCK = ((32, 4),)
STEPS: dict[str, dict[str, Any]] = {
    "plain": {"lists": "none", "local_buffer": False, "box_loops": False},
    "local buffer": {"lists": "none", "local_buffer": True, "box_loops": False},
    "sorted": {"lists": "scatter", "local_buffer": True, "box_loops": False},
    "boxes": {"lists": "scatter", "local_buffer": True, "box_loops": True},
}
assert tuple(STEPS) == STEP_NAMES
MOST_UNSORTED = {"cuda": 1_000_000, "host": 10_000}
"""Spheres beyond which tiles without lists are left out: each tile looks at all of them."""

AXES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("as in 5.7", {}),
    ("lists by the CPU", {"lists": "cpu"}),
    ("lists front to back", {"lists": "front_to_back"}),
    ("8 tiles in depth", {"depth_tiles": 8}),
    ("32 tiles in depth", {"depth_tiles": 32}),
    ("no local buffer", {"local_buffer": False}),
    ("rays kept a tile", {"ray_setup": "tile"}),
    ("structs", {"sphere_layout": "structs"}),
    ("structs, read-only cache", {"sphere_layout": "structs", "spheres_in": "read_only"}),
    ("intrinsics", {"intrinsics": "fast"}),
    ("boxes as printed", {"boxes": "printed"}),
)
"""What is changed, one at a time, of variants 2 and 4 with boxes."""
AXES_OF = ("v2", "v4")

OURS: tuple[tuple[str, GlyphOptions], ...] = (
    ("splat", GlyphOptions(arrangement="splat")),
    ("splat, a warp each", GlyphOptions(arrangement="splat", warp_each=True)),
    ("v1, front to back", GlyphOptions(arrangement="pixels_by_pixels", lists="front_to_back", tiles=64, block_x=16)),
)
"""And `auto`, which is given frames to try its candidates in."""


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """Spheres on a target and on the host, and the rays of a picture of them."""

    primitives: Primitives
    rays: CameraRays
    centres: np.ndarray
    radii: np.ndarray


def run(job: SuiteJob) -> SuiteReport:
    """The whole suite."""
    report = SuiteReport("soell2015", __doc__ or "", published_source("soell2015"), job.picture(SIZE), job.repeat)
    for choice in CHOICES:
        if job.scenes and choice.published not in job.scenes:
            continue
        if choice.published_triangles > job.most_triangles:
            report.absent.append(f"{choice.published}: more spheres than the {job.most_triangles:,} asked for.")
            continue
        job.say(choice.published)
        report.scenes.append(
            {
                "published": choice.published,
                "published_triangles": choice.published_triangles,
                "ours": choice.name,
                "triangles": choice.published_triangles,
                "counted": "spheres",
                "relation": choice.relation,
                "why": choice.why,
            }
        )
        try:
            report.rows += list(_measured(job, choice))
            if pixels_of(choice) == 3:
                report.rows += list(glsl_rows(job, choice, 3, job.picture(SIZE)))
        except (OutOfMemoryError, HierarchyError) as error:
            report.absent.append(f"{choice.published}: {error}")
        tabulate(report)
        job.keep(report)
    return report


def pixels_of(choice: SceneChoice) -> int:
    """The radius."""
    return int(choice.published.split()[-2])


def _measured(job: SuiteJob, choice: SceneChoice) -> Iterator[dict[str, Any]]:
    what = {"scene": choice.published, "spheres": choice.published_triangles}
    for reading in READINGS:
        view = make_view(job.target, choice.published_triangles, pixels_of(choice), job.picture(SIZE), reading)
        for variant in VARIANTS:
            options = step_options(variant, SORTED_BEST.get(variant, "sorted"))
            yield {"part": "counts", **what, "reading": reading, "variant": variant, **_cast(job, view, options)}
        for name, options in OURS:
            yield {"part": "counts", **what, "reading": reading, "variant": name, **_cast(job, view, options)}
        found = _cast(
            job, view, _auto(job, view, Situation(choice.published_triangles, pixels_of(choice), view.rays.count))
        )
        yield {"part": "counts", **what, "reading": reading, "variant": "auto", **found}
        if reading == READINGS[0]:
            yield from ({**what, "reading": reading, **row} for row in _varied(job, view, choice.published_triangles))
            ordered = in_morton_order(job.target, view)
            for name, options in (("v4", step_options("v4", "boxes")), *OURS):
                yield {"part": "morton", **what, "variant": name, **_cast(job, ordered, options)}
        if choice is CHOICES[0] and reading == READINGS[0]:
            yield from ({**what, "reading": reading, **row} for row in _swept(job, view))


def step_options(variant: str, step: str, grid: int = 64, block: tuple[int, int] = (16, 8)) -> GlyphOptions:
    """The options of an arrangement at a step of the thesis' tables."""
    return GlyphOptions(arrangement=VARIANTS[variant], tiles=grid, block_x=block[0], block_y=block[1], **STEPS[step])


def _auto(job: SuiteJob, view: View, situation: Situation) -> GlyphOptions:
    """What `auto` takes, after as many casts as a window would give it frames for that."""
    chooser, caster = Chooser(job.target, GlyphOptions()), TileCaster(job.target)

    def cast() -> None:
        with job.target.phase("cast"):
            caster.cast(view.rays)

    while True:
        options, _, next_frame = chooser.choose(situation, True)
        if not chooser.needs_times:
            return options
        caster.draw_by(options)
        caster.make_room(view.primitives)
        ticket, took = next_frame(), timed(job.target, cast, 1, 0)
        if ticket is not None:
            ticket.took({"trace.primary": took.medians()["cast"]})


def _varied(job: SuiteJob, view: View, count: int) -> Iterator[dict[str, Any]]:
    """Tables 5.9 and 5.10, and the axes that the thesis names without measuring them."""
    for variant in VARIANTS:
        plain = step_options(variant, SORTED_BEST.get(variant, "sorted"))
        hoisted = dataclasses.replace(plain, ray_setup="tile", intrinsics="fast")
        yield {"part": "optimised", "variant": variant, **_cast(job, view, hoisted)}
    if count <= MOST_UNSORTED[job.target.kind]:
        unsorted = dataclasses.replace(step_options("v4", "boxes"), lists="none")
        yield {"part": "unsorted", "variant": "v4", **_cast(job, view, unsorted)}
    for variant, (name, changed) in itertools.product(AXES_OF, AXES):
        options = dataclasses.replace(step_options(variant, "boxes"), **changed)
        yield {"part": "axes", "variant": variant, "axis": name, **_cast(job, view, options)}


def _swept(job: SuiteJob, view: View) -> Iterator[dict[str, Any]]:
    """Tables 5.1 to 5.6: all grids, and all blocks on a GPU; on a CPU a block is one thread."""
    blocks = BLOCKS if job.target.kind == "cuda" else ONE_BLOCK
    for variant, step in itertools.product(VARIANTS, STEPS):
        if published_row("soell2015", "steps", step)[variant] is None:
            continue
        for grid, block in itertools.product(GRIDS, blocks):
            found = _cast(job, view, step_options(variant, step, grid, block))
            yield {"part": "steps", "variant": variant, "step": step, "grid": grid, "block": list(block), **found}
        if step == SORTED_BEST.get(variant, "sorted"):
            for grid in GRIDS:
                cut = dataclasses.replace(step_options(variant, step, grid, ONE_BLOCK[0]), tile_rounding="printed")
                yield {"part": "cut", "variant": variant, "grid": grid, **_cast(job, view, cut)}


def make_view(target: Target, count: int, pixels: int, size: tuple[int, int], reading: str) -> View:
    """The data set: `reading` says at which distance a sphere has its radius in pixels, its own or the middle's."""
    word = "pixels" if reading == READINGS[0] else "world"
    (spheres,) = make_spheres(count, 0, word, pixels * PICTURE / size[1]).spheres
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, CAMERA, *size)
    frame["jitter"] = 0.5
    rays = CameraRays(target.upload(frame.reshape(1).view(np.uint8), "film"), *size)
    return _view_of(target, spheres.centres, spheres.radii, rays)


def _view_of(target: Target, centres: np.ndarray, radii: np.ndarray, rays: CameraRays) -> View:
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
    return _view_of(target, centres[order], view.radii[order], view.rays)


def _cast(job: SuiteJob, view: View, options: GlyphOptions) -> dict[str, Any]:
    """`kernel_ms` of the arrangement's kernel alone, `total_ms` with boxes, lists and hits: medians."""
    target, caster = job.target, TileCaster(job.target, options)

    def cast() -> None:
        with target.phase("cast"):
            caster.cast(view.rays)

    for _ in range(2):  # the second time with room for what the first asked for
        caster.make_room(view.primitives)
        cast()
        target.synchronize()
    caster.make_room(view.primitives)
    total, before = timed(target, cast, job.repeat, WARMUP), target.options.profile
    try:
        target.profile_launches(True)
        profiled = timed(target, cast, job.repeat, 1)
    finally:
        target.profile_launches(before)
    kernels, width, height = profiled.medians(), view.rays.width, view.rays.height
    tiling = Tiling.of(caster.drawn_by, width, height)
    entries = caster.lists.entries if caster.has_lists else view.primitives.count * tiling.count
    name = "splat_spheres" if caster.arrangement == "splat" else "cast_tiles"
    return {
        "arrangement": caster.arrangement,
        "lists": caster.list_order,
        "kernel_ms": kernels[f"launch.{name}"],
        "total_ms": total.medians()["cast"],
        "list_bytes": 4 * caster.lists.capacity,
        "drawn": min(1.0, tiling.pixels * tiling.count / (width * height)),
        "tests": None if entries is None else entries * tiling.pixels,
    }

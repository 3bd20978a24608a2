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
from collections.abc import Iterable, Iterator
from typing import Any

from raygrove.app.scene_io.demos.particles import PICTURE, make_spheres
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.glyphs.choosing import Situation
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import OutOfMemoryError

from .job import SuiteJob
from .pictures import Shot, take
from .published import published_row, published_source
from .report import SuiteReport
from .scenes import SceneChoice, demo
from .soell_casts import CAMERA, STEPS, View, auto_options, cast_times, in_morton_order, make_view, step_options
from .soell_glsl import WAYS, glsl_rows
from .soell_tables import GRIDS, READINGS, SORTED_BEST, VARIANTS, tabulate

SIZE = (1024, 1024)
WHY = "uniform in the frustum, nearest to farthest as 1 to 4, seed 2015: the published set is not to be had"
SCENES = tuple(
    SceneChoice(f"{word} spheres of {pixels} px", count, demo("spheres", count), False, WHY)
    for pixels in (3, 12)
    for word, count in (("1K", 1_000), ("10K", 10_000), ("100K", 100_000), ("1M", 1_000_000))
)

BLOCKS = tuple((x, y) for x in (16, 32) for y in (1, 2, 4, 8, 16, 32))
ONE_BLOCK = ((32, 4),)
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

PICTURED = {"10K spheres of 12 px": "5.1", "1M spheres of 3 px": "5.2"}
"""The scenes of the thesis' pictures, and their figures."""
DRAWN = ViewSettings(ray_type="flat", primary="tiles")

OURS: tuple[tuple[str, GlyphOptions], ...] = (
    ("splat", GlyphOptions(arrangement="splat")),
    ("splat, in any order", GlyphOptions(arrangement="splat", near_first=False)),
    ("v1, front to back", GlyphOptions(arrangement="pixels_by_pixels", lists="front_to_back", tiles=64, block_x=16)),
)
"""And `auto`, which is given frames to try its candidates in."""


def run(job: SuiteJob) -> SuiteReport:
    """The whole suite."""
    report = SuiteReport("soell2015", __doc__ or "", published_source("soell2015"), job.picture(SIZE), job.repeat)
    for choice in SCENES:
        if not job.takes(choice, report, "spheres"):
            continue
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
            measured: Iterable[dict[str, Any]] = _measured(job, choice)
            count = _row_count(job, choice)
            if pixels_of(choice) == 3:
                measured = itertools.chain(measured, glsl_rows(job, choice, 3, job.picture(SIZE)))
                count += len(WAYS)
            report.rows += job.counted(measured, report, tabulate, count)
            if choice.published in PICTURED:
                shot = Shot(PICTURED[choice.published], DRAWN, camera=CAMERA)
                take(job, report, choice, _seen(choice, job.picture(SIZE)), [shot], job.picture(SIZE))
        except (OutOfMemoryError, HierarchyError) as error:
            report.absent.append(f"{choice.published}: {error}")
        tabulate(report)
        job.keep(report)
    return report


def pixels_of(choice: SceneChoice) -> int:
    """The radius."""
    return int(choice.published.split()[-2])


def _seen(choice: SceneChoice, size: tuple[int, int]) -> Scene:
    """The spheres as a scene, each with its radius in pixels where it is."""
    return make_spheres(choice.published_triangles, 0, "pixels", pixels_of(choice) * PICTURE / size[1])


@dataclasses.dataclass(frozen=True)
class Cast:
    """A row to be measured: what it says of itself, and the options; None are those that `auto` takes."""

    about: dict[str, Any]
    options: GlyphOptions | None
    in_morton_order: bool = False


def _measured(job: SuiteJob, choice: SceneChoice) -> Iterator[dict[str, Any]]:
    what = {"scene": choice.published, "spheres": choice.published_triangles}
    for reading in READINGS:
        view = make_view(job.target, choice.published_triangles, pixels_of(choice), job.picture(SIZE), reading)
        ordered: View | None = None
        for cast in _planned(job.target.kind, choice, reading):
            if cast.in_morton_order:
                ordered = ordered or in_morton_order(job.target, view)
            options = cast.options
            if options is None:
                situation = Situation(choice.published_triangles, pixels_of(choice), view.rays.count)
                options = auto_options(job.target, view, situation)
            seen = ordered if ordered is not None and cast.in_morton_order else view
            yield {**what, **cast.about, **cast_times(job.target, seen, options, job.repeat)}


def _row_count(job: SuiteJob, choice: SceneChoice) -> int:
    """Without those of OpenGL."""
    return sum(len(list(_planned(job.target.kind, choice, reading))) for reading in READINGS)


def _planned(kind: str, choice: SceneChoice, reading: str) -> Iterator[Cast]:
    """What is cast of a scene, in order."""
    for variant in VARIANTS:
        options = step_options(variant, SORTED_BEST.get(variant, "sorted"))
        yield Cast({"part": "counts", "reading": reading, "variant": variant}, options)
    for name, own in (*OURS, ("auto", None)):
        yield Cast({"part": "counts", "reading": reading, "variant": name}, own)
    if reading != READINGS[0]:
        return
    yield from _varied(kind, choice.published_triangles, reading)
    for name, own in (("v4", step_options("v4", "boxes")), *OURS):
        yield Cast({"part": "morton", "variant": name}, own, in_morton_order=True)
    if choice is SCENES[0]:
        yield from _swept(kind, reading)


def _varied(kind: str, count: int, reading: str) -> Iterator[Cast]:
    """Tables 5.9 and 5.10, and the axes that the thesis names without measuring them."""
    for variant in VARIANTS:
        plain = step_options(variant, SORTED_BEST.get(variant, "sorted"))
        hoisted = dataclasses.replace(plain, ray_setup="tile", intrinsics="fast")
        yield Cast({"reading": reading, "part": "optimised", "variant": variant}, hoisted)
    if count <= MOST_UNSORTED[kind]:
        unsorted = dataclasses.replace(step_options("v4", "boxes"), lists="none")
        yield Cast({"reading": reading, "part": "unsorted", "variant": "v4"}, unsorted)
    for variant, (name, changed) in itertools.product(AXES_OF, AXES):
        options = dataclasses.replace(step_options(variant, "boxes"), **changed)
        yield Cast({"reading": reading, "part": "axes", "variant": variant, "axis": name}, options)


def _swept(kind: str, reading: str) -> Iterator[Cast]:
    """Tables 5.1 to 5.6: all grids, and all blocks on a GPU; on a CPU a block is one thread."""
    blocks = BLOCKS if kind == "cuda" else ONE_BLOCK
    for variant, step in itertools.product(VARIANTS, STEPS):
        if published_row("soell2015", "steps", step)[variant] is None:
            continue
        about = {"reading": reading, "variant": variant}
        for grid, block in itertools.product(GRIDS, blocks):
            options = step_options(variant, step, grid, block)
            yield Cast({**about, "part": "steps", "step": step, "grid": grid, "block": list(block)}, options)
        if step == SORTED_BEST.get(variant, "sorted"):
            for grid in GRIDS:
                cut = dataclasses.replace(step_options(variant, step, grid, ONE_BLOCK[0]), tile_rounding="printed")
                yield Cast({**about, "part": "cut", "grid": grid}, cut)

"""Every kernel on a CUDA device, once: python -m tests.gpu.target.every_kernel [--sort library] [--claims DIR]
[--seconds S] [--watch memory | races]. What compute-sanitizer watches.

Every array is an allocation of its own, of exactly its size, so that an access one element past an end is found. Prints
which jobs began and ended, and what was launched.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import pathlib
import time
from collections.abc import Callable

import numpy as np

from raygrove.gpu.analysis.ray_log import record_ray
from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.base import Hierarchy, StructureChoice
from raygrove.gpu.hierarchy.primitives import KINDS as KINDS_OF_PRIMITIVES
from raygrove.gpu.hierarchy.primitives import (
    TRIANGLE_TESTS,
    glyph_primitives,
    mixed_primitives,
    sphere_primitives,
    triangle_primitives,
)
from raygrove.gpu.hierarchy.registry import structures, telling_layouts
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target.base import Target, TargetOptions
from raygrove.gpu.trace.scatter import scatter_rays
from raygrove.gpu.trace.trace import KINDS, VIEW_FRAME, CameraRays, Tracer, see_through, upload_rays
from tests.gpu.sanitizers.frames import draw_spheres
from tests.gpu.sanitizers.glyphs import draw_primary_tiles
from tests.gpu.sanitizers.queries import region_jobs
from tests.gpu.sanitizers.scenario import everything, name_of, run_structure

WITH_GLYPHS = ("brute_force", "lbvh", "sbvh", "median_sah", "grid", "octree_top_down")


def trace_every_way(target: Target) -> None:
    """Launch every traversal of every layout of every structure: each kind of primitive, ray source and hit, and shadow
    rays."""
    for job in tracing():
        job(target)


def tracing() -> list[Callable[[Target], None]]:
    """What `trace_every_way` runs; each by itself."""
    return [draw_from_given_hits, *(functools.partial(trace_structure, name=name) for name in structures())]


def draw_from_given_hits(target: Target) -> None:
    """Every ray type over spheres and glyphs, and what starts from primary hits that it is given."""
    draw_spheres(target, ray_types())
    draw_primary_tiles(target)
    draw_spheres(target, ("smooth", "path", "layers"), glyphs=True)
    draw_spheres(target, ("layers",), gathering="one_by_one")
    for strategy in ("megakernel", "wavefront"):
        draw_spheres(target, ("whitted", "path", "ao", "diffuse"), strategy)


def trace_structure(target: Target, name: str) -> None:
    """Every traversal of every layout of a structure."""
    corners, indices = target.zeros((3, 3), "f4", "test"), target.zeros((1, 3), "i4", "test")
    kinds = {
        "triangle": triangle_primitives(corners, indices),
        "sphere": sphere_primitives(corners, target.zeros(3, "f4", "test")),
        "mixed": mixed_primitives(corners, indices, corners, target.zeros(3, "f4", "test")),
    }
    kinds["glyphs"] = glyph_primitives(kinds["mixed"], target.zeros((2, 12), "f4", "test"), 2)
    frame = np.zeros(1, VIEW_FRAME)  # of a picture without a size there is no order of the rays
    see_through(frame[0], Camera(eye=(0.0, 0.0, 3.0)), 9, 9)
    camera = CameraRays(target.upload(frame.view(np.uint8), "test"), 9, 9)
    buffer = upload_rays(target, np.zeros((5, 3)), np.ones((5, 3)))
    lights, counter = target.zeros((1, 20), "f4", "test"), target.zeros(1, "u8", "test")
    structure = structures()[name]
    for layout, traversal, kind, test in structure_choices(structure):
        made = structure(target, StructureChoice(layout=layout, traversal=traversal, triangle_test=test))
        made.build(kinds[kind])
        tracer = Tracer(target, made.traversal())
        ways = (
            itertools.product(KINDS, (camera, buffer))
            if kind in ("triangle", "sphere")
            else (("closest", camera), ("any", buffer))
        )
        for hit, rays in ways:
            tracer.trace(rays, hit)
        if kind == "triangle":
            record_ray(tracer, buffer)
            scatter_rays(target, camera, tracer.trace(camera), corners, indices)
            tracer.trace_shadows(camera, tracer.trace(camera), corners, indices, lights, 1, counter)


def structure_choices(structure: type[Hierarchy]) -> list[tuple[str, str, str, str]]:
    """Layout, traversal, kind of primitive and test of triangles: each test in every layout of the structure that all
    are tried with."""
    kinds, layouts = structure.capabilities.primitive_kinds, telling_layouts(structure.name)
    glyphs = []
    if structure.name in WITH_GLYPHS:  # once each: beside their own text others have the same
        glyphs = [(layouts[0], structure.traversals(layouts[0])[0], "glyphs", TRIANGLE_TESTS[0])]
        glyphs += [(*glyphs[0][:3], test) for test in TRIANGLE_TESTS[1:] if structure.name == WITH_GLYPHS[0]]
    kinds = tuple(kind for kind in kinds if kind != "glyphs")
    found = [
        (layout, traversal, kind, TRIANGLE_TESTS[0])
        for layout in layouts
        for traversal in structure.traversals(layout)
        for kind in kinds
    ]
    tests = TRIANGLE_TESTS[1:] if layouts == structure.layouts() else ()
    tested = [kind for kind in kinds if KINDS_OF_PRIMITIVES[kind].tests]
    return (
        found
        + glyphs
        + [
            (layout, structure.traversals(layout)[0], kind, test)
            for layout in layouts
            for test in tests
            for kind in tested
        ]
    )


def jobs_of(watch: str) -> list[Callable[[Target], None]]:
    """All there is to run, in an order that is the same in every process."""
    jobs = everything(watch)
    if watch == "all":
        known = {name_of(job) for job in jobs}
        jobs += [job for job in region_jobs("all") if name_of(job) not in known] + tracing()
    # Builders take the longest: begun first, they end beside the others and not after them.
    return sorted(jobs, key=lambda job: not name_of(job).startswith(run_structure.__name__))


def claimed(number: int, claims: pathlib.Path | None) -> bool:
    """Whether this process is the first that asks for a job. Processes that share the folder share the jobs."""
    if claims is None:
        return True
    try:
        (claims / str(number)).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def main() -> None:
    """Run everything on the first device."""
    from raygrove.gpu.target.cuda import CudaTarget

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sort", choices=("own", "library"), default="own")
    parser.add_argument(
        "--claims", type=pathlib.Path, help="an empty folder: processes with the same one share the jobs"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no further job after this time")
    parser.add_argument(
        "--watch", choices=("all", "memory", "races"), default="all", help="leave out what shows nothing else of these"
    )
    options = parser.parse_args()
    started, jobs = time.monotonic(), jobs_of(options.watch)
    print(f"jobs {len(jobs)}", flush=True)
    target = CudaTarget(TargetOptions(sort=options.sort), exact_memory=True)
    for number, job in enumerate(jobs):
        if time.monotonic() - started > options.seconds:
            break
        if claimed(number, options.claims):
            begun = time.monotonic()
            print(f"begun {name_of(job)}", flush=True)
            job(target)
            target.synchronize()
            print(f"ended {name_of(job)} after {time.monotonic() - begun:.1f} s", flush=True)
    print(
        f"{target.device_name}: {target.launch_count} launches, {target.unit_count} units, sort {target.sorter_name}",
        flush=True,
    )
    target.close()


if __name__ == "__main__":
    main()

"""Every kernel on a CUDA device, once: python -m tests.gpu.target.every_kernel [--sort library] [--part K/N]. What compute-sanitizer watches.

Every array is an allocation of its own, of exactly its size, so that an access one element past an end is found. Prints what was launched.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

from gpu.hierarchy.base import Hierarchy
from gpu.hierarchy.primitives import TRIANGLE_TESTS, sphere_primitives, triangle_primitives
from gpu.hierarchy.registry import structures, telling_layouts
from gpu.target.base import Target, TargetOptions
from gpu.trace.scatter import scatter_rays
from gpu.trace.trace import KINDS, VIEW_FRAME, CameraRays, Tracer, upload_rays
from tests.gpu.sanitizers.scenario import run_everything


def trace_every_way(target: Target, part: tuple[int, int] = (0, 1)) -> None:
    """Launch every traversal of every layout of every structure: each kind of primitive, ray source and hit, and shadow rays.

    Of `part` = (k, n) every n-th structure from the k-th on."""
    corners, indices = target.zeros((3, 3), "f4", "test"), target.zeros((1, 3), "i4", "test")
    kinds = {"triangle": triangle_primitives(corners, indices), "sphere": sphere_primitives(corners, target.zeros(3, "f4", "test"))}
    camera = CameraRays(target.zeros(VIEW_FRAME.itemsize, "u1", "test"), 9, 9)
    buffer = upload_rays(target, np.zeros((5, 3)), np.ones((5, 3)))
    lights, counter = target.zeros((1, 20), "f4", "test"), target.zeros(1, "u8", "test")
    for structure in list(structures().values())[part[0] :: part[1]]:
        for layout, traversal, kind, test in structure_choices(structure):
            made = structure(target, structure.Options(), layout, traversal)
            made.test_triangles_by(test)
            made.build(kinds[kind])
            tracer = Tracer(target, made.traversal())
            for hit, rays in itertools.product(KINDS, (camera, buffer)):
                tracer.trace(rays, hit)
            if kind == "triangle":
                scatter_rays(target, camera, tracer.trace(camera), corners, indices)
                tracer.trace_shadows(camera, tracer.trace(camera), corners, indices, lights, 1, counter)


def structure_choices(structure: type[Hierarchy]) -> list[tuple[str, str, str, str]]:
    """Layout, traversal, kind of primitive and test of triangles: each test in every layout of the structure that all are tried with."""
    kinds, layouts = structure.capabilities.primitive_kinds, telling_layouts(structure.name)
    found = [(layout, traversal, kind, TRIANGLE_TESTS[0]) for layout in layouts for traversal in structure.traversals(layout) for kind in kinds]
    tests = TRIANGLE_TESTS[1:] if layouts == structure.layouts() else ()
    return found + [(layout, structure.traversals(layout)[0], "triangle", test) for layout in layouts for test in tests]


def main() -> None:
    """Run everything on the first device."""
    from gpu.target.cuda import CudaTarget

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sort", choices=("own", "library"), default="own")
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N parts, from 0")
    options = parser.parse_args()
    number, parts = (int(text) for text in options.part.split("/"))
    target = CudaTarget(TargetOptions(sort=options.sort), exact_memory=True)
    run_everything(target, (number, parts))
    trace_every_way(target, (number, parts))
    target.synchronize()
    print(f"{target.device_name}: {target.launch_count} launches, {target.unit_count} units, sort {target.sorter_name}", flush=True)
    target.close()


if __name__ == "__main__":
    main()

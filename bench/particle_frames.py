"""Frames of spheres that move: rebuilds, primary rays and whole frames, and how soon a trajectory is read."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos.particles import PICTURE, make_spheres
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.scene import Moment, Scene, SphereKeys
from raygrove.gpu.target.base import Target

from .cases.opening import write_atoms
from .frame import run_frame
from .measure import Task, median
from .particle_casts import Views
from .particle_cells import Cell, Figures, millions
from .replay import build_as_graph
from .trace import run_trace

KEYS_A_SECOND, SEED = 60.0, 2015
MOVING_KEYS = 16
"""Key frames of moving spheres whose number is chosen: a million of them take 12 bytes each a key frame."""
MOST_TURNS = 4
SEARCHED = "lbvh"
WAYS = ("structure", "tiles")


def displaced(scene: Scene, keys: int) -> Scene:
    """The scene's spheres, each swinging about its place by about its own radius, over so many key frames, which come
    round again; seeded. ValueError where a scene has none or they move already."""
    if not scene.spheres or any(spheres.key_frames is not None for spheres in scene.spheres):
        raise ValueError(f"{scene.name} has no spheres that stand still: give a file of one frame of particles.")
    random, times = np.random.default_rng(SEED), np.arange(keys, dtype=np.float32) / np.float32(KEYS_A_SECOND)
    moved = []
    for spheres in scene.spheres:
        count = len(spheres.centres)
        turns = random.integers(1, MOST_TURNS + 1, (count, 3)).astype(np.float32)
        begins = random.uniform(0.0, 2.0 * np.pi, (count, 3)).astype(np.float32)
        reach = np.maximum(spheres.radii, 0.0).astype(np.float32)[:, None]
        centres = np.empty((keys, count, 3), np.float32)
        for key in range(keys):
            angles = turns * np.float32(2.0 * np.pi * key / max(1, keys - 1)) + begins
            centres[key] = spheres.centres + reach * np.sin(angles)
        moved.append(dataclasses.replace(spheres, centres=centres[0], key_frames=SphereKeys(times, centres)))
    return dataclasses.replace(scene, spheres=tuple(moved))


def moments_of(scene: Scene, frames: int) -> tuple[Moment, ...]:
    """So many, from its first key frame to its last."""
    return tuple(Moment(scene.duration() * step / max(1, frames - 1), step, frames) for step in range(frames))


def moving(target: Target, count: int, size: tuple[int, int], runs: int) -> Iterator[Cell]:
    """Spheres of 3 px that move, in a structure that is rebuilt: a rebuild, and primary rays."""
    made: list[Scene] = []

    def scene() -> Scene:
        if not made:
            made.append(displaced(make_spheres(count, 0, "pixels", 3.0 * PICTURE / size[1]), MOVING_KEYS))
        return made[0]

    def rebuild() -> Figures:
        built = build_as_graph(target, scene(), ViewSettings(SEARCHED), runs)
        yield {"figure": built.spent_ms, "unit": "ms", "phases_ms": built.phases_ms, "kernels": built.kernels}

    def primary() -> Figures:
        task = Task(scene(), ViewSettings(SEARCHED), size, repeat=runs)
        (row,) = run_trace(target, task, kinds=("primary",))
        figure = None if row.mrays_per_s is None else row.mrays_per_s / 1e3
        yield {"figure": figure, "unit": "GRays/s", "hits": row.hits, "trace_ms": row.trace_ms}

    what = f"{millions(count)} moving spheres"
    yield Cell("moving", f"rebuild of {what}", SEARCHED, rebuild)
    yield Cell("moving", f"primary rays at {what}, {size[0]}x{size[1]}", SEARCHED, primary)
    for way in WAYS:
        yield frames_of(target, f"{what} drawn, {size[0]}x{size[1]}", scene, MOVING_KEYS, way, size, runs)


def frames_of(
    target: Target,
    what: str,
    scene: Callable[[], Scene],
    frames: int,
    way: str,
    size: tuple[int, int],
    runs: int,
    ray_type: str = "smooth",
) -> Cell:
    """Whole frames as `bench frame` has them, first hits by the structure or in tiles. A structure is rebuilt in each,
    where the ray type needs one."""

    def measure() -> Figures:
        shown, settings = scene(), ViewSettings(SEARCHED, primary=way, ray_type=ray_type)
        row = run_frame(target, Task(shown, settings, size, moments_of(shown, frames), max(1, runs // 3), 3))
        told = {"frame_ms": median(row.samples["frame_ms"]), "host_ms": median(row.samples["host_ms"])}
        rate = median(row.samples["frames_per_s"])
        yield {"figure": rate, "unit": "frames/s", **told, "phases_ms": row.phases_ms, "hits": row.hits}

    return Cell("frames", what, f"first hits by {way}", measure)


def files(target: Target, paths: Sequence[str], frames: int, size: tuple[int, int], runs: int) -> Iterator[Cell]:
    """Each file's particles under a seeded displacement of so many frames."""
    for path in paths:
        made: list[Scene] = []

        def scene(path: str = path, made: list[Scene] = made) -> Scene:
            if not made:
                made.append(displaced(load([path]), frames))
            return made[0]

        name = pathlib.Path(path).name.partition(".")[0]
        for way in WAYS:
            yield frames_of(target, f"{name} drawn, {size[0]}x{size[1]}", scene, frames, way, size, runs)


def still_frames(target: Target, count: int, size: tuple[int, int], runs: int) -> Iterator[Cell]:
    """Whole frames of spheres of 3 px that stand still, cast by `auto`: lit from the eye as the paper lights them, by
    tiles alone, and with shadows, by a structure that is rebuilt in each."""
    spheres = functools.partial(make_spheres, count, 0, "pixels", 3.0 * PICTURE / size[1])
    for ray_type, how in (("flat", "drawn"), ("smooth", "drawn with shadows")):
        what = f"{millions(count)} spheres of 3 px {how}, {size[0]}x{size[1]}"
        yield frames_of(target, what, spheres, 8, "tiles", size, runs, ray_type)


def memory_of_structure(views: Views, count: int) -> Cell:
    """All that a target holds once spheres are in a structure, themselves included."""

    def measure() -> Figures:
        target, view = views.target, views.of(count, 1, "random")
        target.forget_scratch()
        with contextlib.closing(make_structure(target, SEARCHED)) as structure:
            structure.build(view.primitives)
            target.synchronize()
            held = target.memory()
        yield {"figure": sum(held.values()) / 1e9, "unit": "GB", "by_tag": dict(held)}

    return Cell("memory", f"memory of {millions(count)} spheres with a structure", SEARCHED, measure)


def trajectory(runs: int) -> Cell:
    """Seconds until the first frame of a trajectory is there, read in the child process."""

    def measure() -> Figures:
        with tempfile.TemporaryDirectory() as folder:
            paths = write_atoms(pathlib.Path(folder))
            if not paths:
                yield {"figure": None, "unit": "s", "why": "chemfiles is not installed"}
                return
            spent = []
            for _ in range(max(3, runs // 3)):
                began = time.perf_counter()
                load(paths)
                spent.append(time.perf_counter() - began)
        yield {"figure": statistics.median(spent), "unit": "s", "samples": spent}

    return Cell("files", "XTC of 100,000 atoms read", "in the import's child process", measure)

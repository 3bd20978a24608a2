"""What the laboratory costs: hot spots, steps of the ray debugger, races, and validation.

Hot spots stand beside the frame's own trace, a race beside the frames of each contestant alone, the validation is of
a large tree. All are wall times on an idle device, waited for each time, medians; the first of each compiles and does
not count.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.analysis.hot_frames import corners_of, divergence_of, hot_spots_of
from raygrove.gpu.analysis.ray_log import record_ray
from raygrove.gpu.analysis.validation import validate
from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer

from ..arguments import DEVICE, OUT, argument, at_least_one, chosen, repeat
from ..context import context
from ..saved import keep
from ..table import aligned

CONTESTANTS = ("lbvh", "hploc", "ploc", "median_sah")
HOT_SCENES = ("orbit", "explode", "room")
HOT_STRUCTURES = ("lbvh", "hploc", "median_sah")
ARGUMENTS = (
    DEVICE,
    repeat(9),
    argument(
        "--nodes",
        type=at_least_one,
        default=10_000_000,
        metavar="N",
        help="of the tree that is validated, about (default: %(default)s)",
    ),
    argument(
        "--triangles",
        type=at_least_one,
        default=1_000_000,
        metavar="N",
        help="of the ray debugger's scene (default: %(default)s)",
    ),
    OUT,
)
Row = dict[str, Any]


def run(names: argparse.Namespace) -> int:
    """Measure, print, keep."""
    rows: list[Row] = []
    with chosen(names.device) as target:
        about, size = context(target, command=names.command), (1280, 720) if target.kind == "cuda" else (512, 384)
        for scene in HOT_SCENES:
            rows += [hot_row(target, make_demo(scene), name, size, names.repeat) for name in HOT_STRUCTURES]
        rows.append(debugger_row(target, make_demo("explode", names.triangles), size, names.repeat))
        rows.append(race_row(target, make_demo("orbit"), (512, 384), 4 * names.repeat))
        rows.append(validation_row(target, make_demo("blob", names.nodes * 3 // 2), min(3, names.repeat)))
    cells = [(row["what"], row["of"], f"{row['figure']:.3f}", row["unit"], row["beside"]) for row in rows]
    text = aligned(("what", "of", "figure", "unit", "beside"), cells)
    print(text)
    keep(names.out, {"context": about, "results": rows}, text)
    return 0


def median_ms(target: Target, act: Callable[[], Any], count: int) -> float:
    """Milliseconds of an act, the median of so many after a first one."""
    act()
    found = []
    for _ in range(count):
        target.synchronize()
        began = time.perf_counter()
        act()
        target.synchronize()
        found.append((time.perf_counter() - began) * 1e3)
    return statistics.median(found)


def view_of(target: Target, scene: Scene, name: str, size: tuple[int, int]) -> View:
    """A picture of the whole scene that is drawn anew each time; views of several structures stand apart."""
    settings = ViewSettings(hierarchy=name)
    settings = dataclasses.replace(settings, update=dataclasses.replace(settings.update, always=True))
    return View(settings, fit(scene.lower, scene.upper), ArrayPixels(target, *size), name)


def hot_row(target: Target, scene: Scene, name: str, size: tuple[int, int], count: int) -> Row:
    """Hot spots of all rays of a frame over what the frame took to trace them."""
    with contextlib.closing(Engine(target, scene)) as engine:
        view, traced = view_of(target, scene, name, size), []
        for number in range(count + 2):
            engine.render_frame(Moment(frame_id=number), [view])
            traced.append(engine.flush().views[0].trace_ms)
        trace_ms = statistics.median(traced[2:])
        hot_ms = median_ms(target, lambda: hot_spots_of(engine, view), count)
        warps_ms = median_ms(target, lambda: divergence_of(engine, view), count)
    beside = f"trace {trace_ms:.3f} ms, hot spots {hot_ms:.3f} ms, divergence {warps_ms:.3f} ms"
    figures = {"trace_ms": trace_ms, "hot_ms": hot_ms, "divergence_ms": warps_ms, "size": list(size)}
    of = f"{scene.name}, {name}"
    return {"what": "hot spots over trace", "of": of, "figure": hot_ms / trace_ms, "unit": "times", "beside": beside,
            **figures}  # fmt: skip


def debugger_row(target: Target, scene: Scene, size: tuple[int, int], count: int) -> Row:
    """The ray of a pixel, written down by its traversal."""
    with contextlib.closing(Engine(target, scene)) as engine:
        view = view_of(target, scene, "hploc", size)
        engine.render_frame(Moment(), [view])
        engine.flush()
        slot = engine.drawn_slot(view)
        ray = slot.ray_through(size[0] / 2, size[1] / 2)
        tracer = Tracer(target, slot.hierarchy.traversal())
        events = record_ray(tracer, ray).event_count
        step_ms = median_ms(target, lambda: record_ray(tracer, ray), count)
    of = f"{scene.triangle_count:,} triangles"
    return {"what": "ray debugger", "of": of, "figure": step_ms, "unit": "ms", "beside": f"{events} events"}


def race_row(target: Target, scene: Scene, size: tuple[int, int], count: int) -> Row:
    """Frames of all contestants together over the sum of the frames of each alone."""

    def frames_ms(structures: Sequence[str]) -> float:
        with contextlib.closing(Engine(target, scene)) as engine:
            views = [view_of(target, scene, name, size) for name in structures]
            numbers = iter(range(1 << 20))

            def frame() -> None:
                number = next(numbers)
                engine.render_frame(Moment(time=number % 97 / 24.0, frame_id=number), views)
                engine.flush()

            for _ in range(8):
                frame()
            return median_ms(target, frame, count)

    alone = [frames_ms([name]) for name in CONTESTANTS]
    together = frames_ms(CONTESTANTS)
    beside = f"together {together:.3f} ms, alone {', '.join(f'{ms:.3f}' for ms in alone)}"
    return {"what": "race over its parts", "of": scene.name, "figure": together / sum(alone), "unit": "times",
            "beside": beside, "together_ms": together, "alone_ms": alone, "size": list(size)}  # fmt: skip


def validation_row(target: Target, scene: Scene, count: int) -> Row:
    """A tree over a large scene, found to be sound."""
    with contextlib.closing(Engine(target, scene)) as engine:
        view = view_of(target, scene, "lbvh", (16, 16))
        engine.render_frame(Moment(), [view])
        engine.flush()
        table, corners = engine.drawn_slot(view).hierarchy.nodes(), corners_of(engine, view)
    assert corners is not None, "it has triangles alone"
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    sound = validate(table, boxes)
    sound.raise_if_bad()
    seconds = median_ms(target, lambda: validate(table, boxes), count) / 1e3
    of = f"{sound.nodes:,} nodes"
    return {"what": "validation", "of": of, "figure": seconds, "unit": "s", "beside": "on the CPU"}

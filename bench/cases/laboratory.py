"""What the laboratory costs: hot spots, steps of the ray debugger, races, the tree browser, and validation.

Hot spots and divergence stand beside the frame's own trace, each of a tree that was just rebuilt: `counted` is what a
view that shows them live pays for a frame, from the first launch to the last on the target's clock, nothing read;
`listed` is what one pays who asks for a list besides (the slower of those by node and by object), and `read`
who asks for the whole tables of a new tree, on the host: wall times. A race stands beside the
frames of each contestant alone; browser and validation are of a large tree: wall times on an idle device, waited for
each time. The browser is what the panel Tree asks for: the root and its children when it opens, and a page of children
for each node that is opened on the way down to a leaf.
All are medians; the first of each compile and capture, and do not count. Advice is over a clip of 100 frames, once, its
kernels compiled by a first time over a few: what `rg.advise` takes.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.analysis.divergence import WarpCounter
from raygrove.gpu.analysis.frame_counter import FrameCounter
from raygrove.gpu.analysis.hot_frames import corners_of, spots_read
from raygrove.gpu.analysis.hot_lists import HotLists
from raygrove.gpu.analysis.proved_trees import proved, uploaded, validate_on
from raygrove.gpu.analysis.ray_log import record_ray
from raygrove.gpu.analysis.tree_rows import TreeRow
from raygrove.gpu.analysis.validation import validate
from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.face.clips import Clip
from raygrove.gpu.face.laboratory import advise
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.inspector import Inspector
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import VIEW_FRAME, Tracer

from ..arguments import DEVICE, OUT, UsageError, argument, at_least_one, chosen, repeat
from ..context import context
from ..saved import keep
from ..table import aligned

CONTESTANTS = ("lbvh", "hploc", "ploc", "median_sah")
SETTLING = 6
"""Frames that do not count: kernels compile, the counts are found where they end, launches are captured."""
_NUMBERS = itertools.count(1 << 43)
"""Of the frames of the target's clock, apart from those of engines and rigs."""
ADVICE_FRAMES, ADVICE_TRIANGLES, ADVICE_SIZE, WARMING = 100, 100_000, (1024, 768), 4
HOT_SCENES = ("orbit", "explode", "room")
HOT_STRUCTURES = ("lbvh", "hploc", "median_sah")
PARTS = ("hot", "ray", "race", "browser", "validation", "advice")
ARGUMENTS = (
    DEVICE,
    repeat(9),
    argument("--parts", default=",".join(PARTS), help="what is measured, by commas (default: %(default)s)"),
    argument(
        "--nodes",
        type=at_least_one,
        default=10_000_000,
        metavar="N",
        help="of the tree that is opened and validated, about (default: %(default)s)",
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
    parts = [part for part in names.parts.split(",") if part]
    if unknown := sorted(set(parts) - set(PARTS)):
        raise UsageError(f"--parts knows {', '.join(PARTS)}, not {', '.join(unknown)}.")
    rows: list[Row] = []
    with chosen(names.device) as target:
        about, size = context(target, command=names.command), (1280, 720) if target.kind == "cuda" else (512, 384)
        for scene in HOT_SCENES if "hot" in parts else ():
            for name in HOT_STRUCTURES:
                rows += hot_rows(target, make_demo(scene), name, size, names.repeat)
        if "ray" in parts:
            rows.append(debugger_row(target, make_demo("explode", names.triangles), size, names.repeat))
        if "race" in parts:
            rows += race_rows(target, make_demo("orbit"), (512, 384), 4 * names.repeat)
        if large := [part for part in ("browser", "validation") if part in parts]:
            rows += large_rows(target, make_demo("blob", names.nodes * 3 // 2), large, min(3, names.repeat))
        if "advice" in parts:
            rows.append(advice_row(make_demo("explode", ADVICE_TRIANGLES), range(ADVICE_FRAMES), names.device))
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


def device_ms(target: Target, act: Callable[[], None]) -> float:
    """Milliseconds of an act's launches, from the first to the last, by the target's clock."""
    number = next(_NUMBERS)
    target.begin_frame(number)
    try:
        act()
    finally:
        target.end_frame()
    target.synchronize()
    (timing,) = target.frames_of({number})
    return timing.span_ms


def wall_ms(act: Callable[[], Any]) -> float:
    """Milliseconds of an act that waits."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1e3


def hot_rows(target: Target, scene: Scene, name: str, size: tuple[int, int], count: int) -> list[Row]:
    """Hot spots of all rays of a frame, and divergence, over what the frame took to trace its rays: counted, and read
    besides."""
    with contextlib.closing(Engine(target, scene)) as engine:
        view = view_of(target, scene, name, size)
        spots, warps = FrameCounter(engine, view), WarpCounter(target)
        lists = HotLists(engine, view, spots)
        frame = target.empty(VIEW_FRAME.itemsize, np.uint8, "bench")
        taken: list[tuple[float, ...]] = []

        def count_warps() -> None:
            slot = engine.drawn_slot(view)
            warps.count(slot.hierarchy, slot.film.first_rays(frame))

        for number in range(count + SETTLING):
            engine.render_frame(Moment(frame_id=number), [view])
            trace_ms = engine.flush().views[0].trace_ms
            counted = device_ms(target, spots.count), device_ms(target, count_warps)
            listed = max(wall_ms(lambda: lists.read("node")), wall_ms(lambda: lists.read("object")))
            read = wall_ms(lambda: spots_read(engine, view, spots).top(20)), wall_ms(warps.read)
            taken.append((trace_ms, *counted, *read, listed))
    of, found = f"{scene.name}, {name}", [statistics.median(one) for one in zip(*taken[SETTLING:], strict=True)]
    trace_ms = found[0]
    beside = f"counted {found[1]:.3f} ms, listed {found[5]:.3f} ms"
    return [
        {"what": "hot spots, counted and listed", "of": of, "figure": found[1] + found[5], "unit": "ms",
         "beside": beside, "size": list(size)},
        *(_over_trace(of, what, ms, trace_ms, size)
        for what, ms in (
            ("hot spots", found[1]),
            ("divergence", found[2]),
            ("hot spots, counted and read,", found[1] + found[3]),
            ("divergence, counted and read,", found[2] + found[4]),
        )),
    ]  # fmt: skip


def _over_trace(of: str, what: str, ms: float, trace_ms: float, size: tuple[int, int]) -> Row:
    return {
        "what": f"{what} over trace",
        "of": of,
        "figure": ms / trace_ms,
        "unit": "times",
        "beside": f"trace {trace_ms:.3f} ms, {what} {ms:.3f} ms",
        "trace_ms": trace_ms,
        "ms": ms,
        "size": list(size),
    }


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


def race_rows(target: Target, scene: Scene, size: tuple[int, int], count: int) -> list[Row]:
    """Frames of all contestants together over the sum of the frames of each alone; and how many of them, a picture of
    each contestant, there are a second, without a window. Trees are measured as often as in a window that plays."""

    def frames_ms(structures: Sequence[str]) -> float:
        with contextlib.closing(Engine(target, scene)) as engine:
            views = [view_of(target, scene, name, size) for name in structures]
            numbers = iter(range(1 << 20))

            def frame() -> None:
                number = next(numbers)
                engine.render_frame(Moment(time=number % 97 / 24.0, frame_id=number), views)

            for _ in range(8):
                frame()
                target.synchronize()
            return median_ms(target, frame, count)

    alone = [frames_ms([name]) for name in CONTESTANTS]
    together = frames_ms(CONTESTANTS)
    beside = f"together {together:.3f} ms, alone {', '.join(f'{ms:.3f}' for ms in alone)}"
    about = {"of": scene.name, "together_ms": together, "alone_ms": alone, "size": list(size)}
    return [
        {"what": "race over its parts", "figure": together / sum(alone), "unit": "times", "beside": beside, **about},
        {"what": "race of 4", "figure": 1e3 / together, "unit": "frames/s", "beside": ", ".join(CONTESTANTS), **about},
    ]


def advice_row(scene: Scene, frames: range, device: str) -> Row:
    """Seconds until it is known when to rebuild in a clip, all that usually is measured beside it included."""
    clip = Clip.from_plain(scene)
    advise(clip, "hploc", frames=frames[:WARMING], size=ADVICE_SIZE, device=device)
    began = time.perf_counter()
    found = advise(clip, "hploc", frames=frames, size=ADVICE_SIZE, device=device)
    seconds = time.perf_counter() - began
    of = f"{found.frames} frames of {scene.triangle_count:,} triangles"
    return {"what": "advice", "of": of, "figure": seconds, "unit": "s", "beside": found.sentence}


def large_rows(target: Target, scene: Scene, parts: Sequence[str], count: int) -> list[Row]:
    """A tree over a large scene: opened, and proved, as `parts` say."""
    rows: list[Row] = []
    with contextlib.closing(Engine(target, scene)) as engine:
        view = view_of(target, scene, "lbvh", (16, 16))
        engine.render_frame(Moment(), [view])
        engine.flush()
        if "browser" in parts:
            rows += browser_rows(target, lambda: Inspector(engine.drawn_slot(view)), count)
        if "validation" not in parts:
            return rows
        table, corners = engine.drawn_slot(view).hierarchy.nodes(), corners_of(engine, view)
    assert corners is not None, "it has triangles alone"
    return rows + validation_rows(target, table, corners, count)


def browser_rows(target: Target, begin: Callable[[], Inspector], count: int) -> list[Row]:
    """Seconds until a tree that nobody has looked into shows its root and the children, and milliseconds of a page of
    children on the way to a leaf."""

    def opened() -> tuple[Inspector, list[TreeRow]]:
        inspector = begin()
        return inspector, [*inspector.children(inspector.root().rows[0].node).rows]

    seconds = median_ms(target, opened, count) / 1e3
    inspector, rows = opened()
    pages: list[float] = []
    while inner := [row.node for row in rows if not row.node.is_leaf]:
        began = time.perf_counter()
        rows = [*inspector.children(inner[0]).rows]
        pages.append((time.perf_counter() - began) * 1e3)
    counts = inspector.nodes.hierarchy.stats()
    of = f"{counts.node_count + counts.leaf_count:,} nodes"
    return [
        {"what": "tree browser, opened", "of": of, "figure": seconds, "unit": "s", "beside": "root and its children"},
        {"what": "tree browser, a page", "of": of, "figure": statistics.median(pages), "unit": "ms",
         "beside": f"{len(pages)} down to a leaf, the longest {max(pages):.3f} ms"},
    ]  # fmt: skip


def validation_rows(target: Target, table: NodeTable, corners: np.ndarray, count: int) -> list[Row]:
    """A large tree, found to be sound: from arrays of the host, as files are, and when it lies on the target; and by
    the host alone."""
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    there = uploaded(target, table, boxes)
    assert there is not None, "it has the types that kernels read"
    sound = proved(target, there)
    assert sound is not None and sound == validate(table, boxes), "both find the same"
    ways: dict[tuple[str, str], Callable[[], Any]] = {
        ("validation", "uploaded and proved"): lambda: validate_on(target, table, boxes),
        ("validation of a tree on the device", "proved"): lambda: proved(target, there),
        ("validation by the host alone", "numpy"): lambda: validate(table, boxes),
    }
    of = f"{sound.nodes:,} nodes"
    return [
        {"what": what, "of": of, "figure": median_ms(target, act, count) / 1e3, "unit": "s", "beside": beside}
        for (what, beside), act in ways.items()
    ]

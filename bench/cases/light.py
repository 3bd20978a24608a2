"""Ambient-occlusion and diffuse rays: what they and a first picture cost.

Files (or the built-in room) that rest; four rays from each primary hit, which alone are counted, over the time of their
phase. Ambient occlusion within 1 and 5 % of the scene's diagonal and without an end, diffuse rays, in either
strategy, on some structures. And the time of a first picture of `orbit`, rebuilt, from the call until it is there.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy.registry import structure
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.shade.ao import AoOptions
from raygrove.gpu.shade.diffuse import DiffuseOptions
from raygrove.gpu.shade.gather import GatherOptions
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions

from ..arguments import DEVICE, EYE, FILES, LOOK_AT, OUT, argument, check_view, chosen, repeat, size
from ..context import context
from ..measure import Task, median
from ..saved import keep
from ..table import aligned

STRUCTURES = ("lbvh", "hploc", "sbvh", "median_sah")
ENDLESS = 1e9
KINDS: tuple[tuple[str, str, GatherOptions], ...] = (
    ("ao 1 %", "ao", AoOptions(radius=0.01, falloff="none", strategy="megakernel")),
    ("ao 5 %", "ao", AoOptions(radius=0.05, falloff="none", strategy="megakernel")),
    ("ao 5 %, wavefront", "ao", AoOptions(radius=0.05, falloff="none", strategy="wavefront")),
    ("ao", "ao", AoOptions(radius=ENDLESS, falloff="none", strategy="megakernel")),
    ("diffuse", "diffuse", DiffuseOptions(strategy="megakernel")),
    ("diffuse, wavefront", "diffuse", DiffuseOptions(strategy="wavefront")),
)
BARS = {("lbvh", "ao 5 %"): 750.0, ("best", "ao 5 %"): 1200.0}
"""MRays/s promised on Crytek Sponza at 1920x1080 on an H200: on lbvh, and on the best structure."""

FIRST_PICTURE, MOST_FIRST_MS = (512, 384), 60.0


def rates(
    target: Target, scene: Scene, camera: Camera, size: tuple[int, int], hierarchy: str, repeat: int
) -> list[dict[str, Any]]:
    """Each kind of rays on one structure: MRays/s and the medians of phases. The tree is built once."""
    rows, pixels = [], ArrayPixels(target, *size)
    for what, ray_type, options in KINDS:
        layout = structure(hierarchy).default_layout(target.kind)
        settings = ViewSettings(
            hierarchy, layout=layout, ray_type=ray_type, ray_type_options=options, samples=repeat + 3
        )
        with contextlib.closing(Engine(target, scene)) as engine:
            drawn = []
            for number in range(repeat + 3):
                engine.render_frame(Moment(0.0, 0, number), [View(settings, camera, pixels)])
                drawn.append(engine.flush().views[0])
        measured = drawn[3:]
        phases = {
            name: median([view.phases_ms[name] for view in measured if name in view.phases_ms])
            for name in measured[0].phases_ms
        }
        named = {
            "scene": scene.name,
            "triangles": scene.triangle_count,
            "hierarchy": hierarchy,
            "layout": layout,
            "rays": what,
        }
        samples = [view.mrays_per_s_by_kind[ray_type] for view in measured]
        rows.append(
            {
                **named,
                "count": measured[0].rays_by_kind[ray_type],
                "mrays_per_s": median(samples),
                "phases_ms": phases,
                "samples": samples,
            }
        )
    return rows


def first_picture(target: Target, scene: Scene, repeat: int) -> dict[str, Any]:
    """Milliseconds from the call of a frame that rebuilds and draws one sample of ambient occlusion until it has
    finished; processor time too."""
    view = View(
        ViewSettings(ray_type="ao", update=UpdateOptions(always=True)),
        Task(scene, size=FIRST_PICTURE).view_from(),
        ArrayPixels(target, *FIRST_PICTURE),
    )
    wall, busy = [], []
    with contextlib.closing(Engine(target, scene)) as engine:
        for number in range(repeat + 3):
            started, spent = time.perf_counter(), time.process_time()
            engine.render_frame(Moment(0.02 * number, 0, number), [view])
            engine.flush()
            wall.append((time.perf_counter() - started) * 1e3)
            busy.append((time.process_time() - spent) * 1e3)
    return {
        "scene": scene.name,
        "triangles": scene.triangle_count,
        "size": FIRST_PICTURE,
        "ms": wall[3:],
        "processor_ms": busy[3:],
        "goal_ms": MOST_FIRST_MS,
    }


def measure(
    target: Target,
    scene: Scene,
    camera: Camera,
    size: tuple[int, int],
    names: Sequence[str],
    repeat: int,
    say: Callable[[str], None],
) -> list[dict[str, Any]]:
    """All kinds on all structures."""
    rows = []
    for name in names:
        rows += rates(target, scene, camera, size, name, repeat)
        say(
            f"{name}: "
            + ", ".join(f"{row['rays']} {row['mrays_per_s']:,.0f}" for row in rows[-len(KINDS) :])
            + " MRays/s"
        )
    return rows


def table(rows: Sequence[dict[str, Any]], first: dict[str, Any] | None) -> str:
    """For people: a line per structure, and what the goals were."""
    names = list(dict.fromkeys(row["hierarchy"] for row in rows))
    lines = [(name, *(row["mrays_per_s"] for row in rows if row["hierarchy"] == name)) for name in names]
    text = aligned(("MRays/s", *(what for what, _, _ in KINDS)), lines)
    best = max((row["mrays_per_s"] for row in rows if row["rays"] == "ao 5 %"), default=0.0)
    bars = (BARS["lbvh", "ao 5 %"], BARS["best", "ao 5 %"])
    text += (
        f"\n\nGoals on Crytek Sponza, 1920x1080, one H200, ao 5 %: {bars[0]:,.0f} on lbvh, {bars[1]:,.0f} on the "
        f"best; best here {best:,.0f}"
    )
    if first is not None:
        text += (
            f"\nFirst picture of ao, {first['scene']}, {first['triangles']:,} triangles rebuilt, 512x384: "
            f"{median(first['ms']):.1f} ms"
        )
        text += (
            f" (at best {min(first['ms']):.1f}; processor time {median(first['processor_ms']):.1f}; goal "
            f"{first['goal_ms']:.0f} on 2 cores)"
        )
    return text + "\n"


ARGUMENTS = (
    FILES,
    DEVICE,
    size("1920x1080"),
    EYE,
    LOOK_AT,
    argument("--structures", default=",".join(STRUCTURES), help="of the hierarchies, separated by commas"),
    argument("--triangles", type=int, default=500_000, help="of the built-in room"),
    argument("--orbit", type=int, default=100_000, help="triangles of orbit, for the first picture"),
    repeat(9),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for."""
    check_view(names)
    with chosen(names.device) as target:
        scene = (
            load([pathlib.Path(file) for file in names.files]) if names.files else make_demo("room", names.triangles)
        )
        camera = (
            Camera(eye=names.eye, look_at=names.look_at)
            if names.eye is not None
            else Task(scene, size=names.size).view_from()
        )
        rows = measure(target, scene, camera, names.size, names.structures.split(","), names.repeat, print)
        first = first_picture(target, make_demo("orbit", names.orbit), names.repeat)
        about = context(target, command=names.command)
    print(text := table(rows, first))
    keep(names.out, {"context": about, "results": rows, "first_picture": first}, text)
    return 0

"""Ambient-occlusion and diffuse rays: `python -m bench.light [FILE ...] [--target NAME] [--size WxH] [--eye X,Y,Z --look-at X,Y,Z] [--out NAME]`.

Files (or the built-in room) that rest; four rays from each primary hit, which alone are counted, over the time of their phase. Ambient occlusion
within 1 and 5 % of the scene's diagonal and without an end, diffuse rays, in either organisation, on some structures. And the time of a first
picture of `orbit`, rebuilt, from the call until it is there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from app.scene_io import load
from app.scene_io.demos import make_demo
from gpu.camera import Camera
from gpu.engine import Engine, View, ViewSettings
from gpu.hierarchy.registry import structure
from gpu.pixels import ArrayPixels
from gpu.scene import Moment, Scene
from gpu.shade.ao import AoOptions
from gpu.shade.diffuse import DiffuseOptions
from gpu.shade.gather import GatherOptions
from gpu.target import choose
from gpu.target.base import Target
from gpu.update_policy import UpdateOptions

from .context import context
from .measure import Task, median
from .table import aligned

STRUCTURES = ("lbvh", "hploc", "sbvh", "median_sah")
ENDLESS = 1e9
KINDS: tuple[tuple[str, str, GatherOptions], ...] = (
    ("ao 1 %", "ao", AoOptions(radius=0.01, organisation="megakernel")),
    ("ao 5 %", "ao", AoOptions(organisation="megakernel")),
    ("ao 5 %, waves", "ao", AoOptions(organisation="wavefront")),
    ("ao", "ao", AoOptions(radius=ENDLESS, organisation="megakernel")),
    ("diffuse", "diffuse", DiffuseOptions(organisation="megakernel")),
    ("diffuse, waves", "diffuse", DiffuseOptions(organisation="wavefront")),
)
BARS = {("lbvh", "ao 5 %"): 750.0, ("best", "ao 5 %"): 1200.0}
"""MRays/s promised on Crytek Sponza at 1920x1080 on an H200: on lbvh, and on the best structure."""

FIRST_PICTURE, MOST_FIRST_MS = (512, 384), 60.0


def rates(target: Target, scene: Scene, camera: Camera, size: tuple[int, int], hierarchy: str, repeat: int) -> list[dict[str, Any]]:
    """Each kind of rays on one structure: MRays/s and the medians of phases. The tree is built once."""
    rows, pixels = [], ArrayPixels(target, *size)
    for what, ray_type, options in KINDS:
        layout = structure(hierarchy).default_layout(target.kind)
        settings = ViewSettings(hierarchy, layout=layout, ray_type=ray_type, ray_type_options=options, samples=repeat + 3)
        with contextlib.closing(Engine(target, scene)) as engine:
            drawn = []
            for number in range(repeat + 3):
                engine.render_frame(Moment(0.0, 0, number), [View(settings, camera, pixels)])
                drawn.append(engine.flush().views[0])
        kept = drawn[3:]
        phases = {name: median([view.phases_ms[name] for view in kept if name in view.phases_ms]) for name in kept[0].phases_ms}
        named = {"scene": scene.name, "triangles": scene.triangle_count, "hierarchy": hierarchy, "layout": layout, "rays": what}
        samples = [view.mrays_per_s_by_kind[ray_type] for view in kept]
        rows.append({**named, "count": kept[0].rays_by_kind[ray_type], "mrays_per_s": median(samples), "phases_ms": phases, "samples": samples})
    return rows


def first_picture(target: Target, scene: Scene, repeat: int) -> dict[str, Any]:
    """Milliseconds from the call of a frame that rebuilds and draws one sample of ambient occlusion until it has finished; processor time too."""
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
    target: Target, scene: Scene, camera: Camera, size: tuple[int, int], names: Sequence[str], repeat: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """All kinds on all structures."""
    rows = []
    for name in names:
        rows += rates(target, scene, camera, size, name, repeat)
        say(f"{name}: " + ", ".join(f"{row['rays']} {row['mrays_per_s']:,.0f}" for row in rows[-len(KINDS) :]) + " MRays/s")
    return rows


def table(rows: Sequence[dict[str, Any]], first: dict[str, Any] | None) -> str:
    """For people: a line a structure, and what the goals were."""
    names = list(dict.fromkeys(row["hierarchy"] for row in rows))
    lines = [(name, *(row["mrays_per_s"] for row in rows if row["hierarchy"] == name)) for name in names]
    text = aligned(("MRays/s", *(what for what, _, _ in KINDS)), lines)
    best = max((row["mrays_per_s"] for row in rows if row["rays"] == "ao 5 %"), default=0.0)
    bars = (BARS["lbvh", "ao 5 %"], BARS["best", "ao 5 %"])
    text += f"\n\nGoals on Crytek Sponza, 1920x1080, one H200, ao 5 %: {bars[0]:,.0f} on lbvh, {bars[1]:,.0f} on the best; best here {best:,.0f}"
    if first is not None:
        text += f"\nFirst picture of ao, {first['scene']}, {first['triangles']:,} triangles rebuilt, 512x384: {median(first['ms']):.1f} ms"
        text += f" (at best {min(first['ms']):.1f}; processor time {median(first['processor_ms']):.1f}; goal {first['goal_ms']:.0f} on 2 cores)"
    return text + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and keep where asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--target", default="auto")
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--eye", default="")
    parser.add_argument("--look-at", default="")
    parser.add_argument("--structures", default=",".join(STRUCTURES))
    parser.add_argument("--triangles", type=int, default=500_000, help="of the built-in room")
    parser.add_argument("--orbit", type=int, default=100_000, help="triangles of orbit, for the first picture")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--out", default="")
    given = parser.parse_args(arguments)
    width, height = (int(part) for part in given.size.split("x"))
    with contextlib.closing(choose(given.target)) as target:
        scene = load([pathlib.Path(file) for file in given.files]) if given.files else make_demo("room", given.triangles)
        camera = (
            Camera(eye=_point(given.eye), look_at=_point(given.look_at))
            if given.eye and given.look_at
            else Task(scene, size=(width, height)).view_from()
        )
        rows = measure(target, scene, camera, (width, height), given.structures.split(","), given.repeat, print)
        first = first_picture(target, make_demo("orbit", given.orbit), given.repeat)
        text = table(rows, first)
        print(text)
        if given.out:
            kept = {"context": context(target), "results": rows, "first_picture": first}
            pathlib.Path(given.out).with_suffix(".json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            pathlib.Path(given.out).with_suffix(".txt").write_text(text, encoding="utf-8")
    return 0


def _point(text: str) -> tuple[float, float, float]:
    x, y, z = (float(part) for part in text.split(","))
    return x, y, z


if __name__ == "__main__":
    raise SystemExit(main())

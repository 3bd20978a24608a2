"""Recursive rays over moving scenes: frames and rays per second.

The built-in rooms of mirrors, the structure rebuilt in each frame, a light with shadows: frames per second by the wall
clock, and rays of each kind and depth. `--share` takes scenes of fewer triangles and smaller pictures.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.shade.whitted import WhittedOptions
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions

from ..arguments import DEVICE, OUT, argument, chosen, repeat
from ..context import context
from ..measure import Task, median
from ..saved import keep
from ..table import aligned

WARM_UP = 5


@dataclasses.dataclass(frozen=True)
class Case:
    """One scene drawn in one way; `goal` frames per second are promised, 0 for none."""

    scene: str
    triangles: int
    hierarchy: str
    size: tuple[int, int]
    depth: int
    strategy: str = "megakernel"
    goal: float = 0.0


LARGE, CHANG, SMALL = (1024, 768), (1024, 1024), (512, 384)
ON_DEVICE = (
    Case("orbit", 100_000, "lbvh", LARGE, 1, goal=300.0),
    Case("orbit", 100_000, "sah_events", LARGE, 1, goal=100.0),
    Case("orbit", 335_102, "median_sah", CHANG, 1, goal=100.0),
    Case("orbit", 100_000, "lbvh", LARGE, 1, "wavefront"),
    Case("metal", 100_000, "lbvh", LARGE, 4),
    Case("metal", 100_000, "lbvh", LARGE, 4, "wavefront"),
    Case("glass", 100_000, "lbvh", LARGE, 4),
    Case("glass", 100_000, "lbvh", LARGE, 2),
    Case("glass", 100_000, "lbvh", LARGE, 2, "wavefront"),
    Case("glass", 100_000, "lbvh", LARGE, 4, "wavefront"),
    Case("glass", 100_000, "lbvh", LARGE, 12),
    Case("glass", 100_000, "lbvh", LARGE, 12, "wavefront"),
)
ON_HOST = (
    Case("orbit", 100_000, "lbvh", SMALL, 1, goal=15.0),
    Case("orbit", 100_000, "lbvh", SMALL, 1, "wavefront"),
    Case("glass", 100_000, "lbvh", SMALL, 2),
    Case("glass", 100_000, "lbvh", SMALL, 2, "wavefront"),
)


def draw(target: Target, case: Case, repeat: int, share: float = 1.0) -> dict[str, Any]:
    """Frames of a case: wall-clock milliseconds each, medians of phases, and the rays of the last one."""
    scene = make_demo(case.scene, max(round(case.triangles * share), 1000))
    width, height = (max(round(side * share**0.5), 16) for side in case.size)
    settings = ViewSettings(
        case.hierarchy,
        ray_type="whitted",
        ray_type_options=WhittedOptions(depth=case.depth, strategy=case.strategy),
        update=UpdateOptions(mode="rebuild", always=True),
    )
    view = View(settings, Task(scene, size=(width, height)).view_from(), ArrayPixels(target, width, height))
    wall, found = [], []
    with contextlib.closing(Engine(target, scene)) as engine:
        for number in range(repeat + WARM_UP):
            started = time.perf_counter()
            engine.render_frame(Moment(number / 30.0, 0, number), [view])
            found.append(engine.flush().views[0])
            wall.append((time.perf_counter() - started) * 1e3)
    measured, last = found[WARM_UP:], found[-1]
    return {
        **dataclasses.asdict(case),
        "triangles": scene.triangle_count,
        "size": [width, height],
        "wall_ms": wall[WARM_UP:],
        "build_ms": median([one.build_ms for one in measured]),
        "trace_ms": median([one.trace_ms for one in measured]),
        "frames_per_s": 1e3 / median(wall[WARM_UP:]),
        "mrays_per_s": sum(last.rays_by_kind.values()) / max(last.trace_ms, 1e-9) / 1e3,
        "rays": last.rays_by_kind,
    }


def measure(
    target: Target, cases: Sequence[Case], repeat: int, share: float, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """All cases."""
    rows = []
    for case in cases:
        rows.append(draw(target, case, repeat, share))
        say(
            f"{case.scene} {case.hierarchy} {case.strategy} depth {case.depth}: "
            f"{rows[-1]['frames_per_s']:.1f} frames per second"
        )
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """For people: a line per case."""
    names = (
        "scene",
        "triangles",
        "hierarchy",
        "strategy",
        "depth",
        "frames_per_s",
        "goal",
        "build_ms",
        "trace_ms",
        "mrays_per_s",
    )
    return aligned(names, [tuple(row[name] for name in names) for row in rows]) + "\n"


ARGUMENTS = (
    DEVICE,
    argument("--share", type=float, default=1.0, help="of the scenes' triangles and of the pictures' pixels"),
    repeat(15),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for."""
    with chosen(names.device) as target:
        rows = measure(target, ON_DEVICE if target.kind == "cuda" else ON_HOST, names.repeat, names.share, print)
        about = context(target, command=names.command)
    print(text := table(rows))
    keep(names.out, {"context": about, "results": rows}, text)
    return 0

"""Rebuild, refit or auto: `python -m bench.policy [--target NAME] [--size WxH] [--triangles N] [--sequence PATTERN]`.

Plays each scene with the update fixed to rebuild, fixed to refit, and auto, in turn, several rounds, and compares the sums of all frames' times on
the target; what auto has to learn is in them. The first frames, which fill caches, count for nobody. --sequence takes a numbered pattern of files,
the horse's (`DIR/%04d.obj`).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence

from app.scene_io import load
from app.scene_io.demos import make_demo
from gpu.camera import fit
from gpu.engine import Engine, View, ViewSettings
from gpu.pixels import ArrayPixels
from gpu.scene import Moment, Scene
from gpu.stats import FrameStatistics
from gpu.target import choose
from gpu.target.base import Target
from gpu.update_policy import UpdateOptions

from .context import context, heading
from .measure import median
from .table import aligned

MODES = ("rebuild", "refit", "auto")
SCENES = ("explode", "walker", "cloth")
FRAMES_A_SECOND = 30.0
UNCOUNTED = 4


@dataclasses.dataclass(frozen=True)
class Played:
    """One play: the sum of its frames' milliseconds, and what was done in each frame."""

    total_ms: float
    updates: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A scene in all three modes: medians of the rounds."""

    scene: str
    triangles: int
    frames: int
    total_ms: Mapping[str, float]
    rebuilds: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """Auto over the better of the fixed choices."""
        return self.total_ms["auto"] / min(self.total_ms["rebuild"], self.total_ms["refit"])


def play(target: Target, scene: Scene, settings: ViewSettings, frames: int, size: tuple[int, int]) -> Played:
    """One period of the scene, or `frames` of it, from its start."""
    view = View(settings, fit(scene.lower, scene.upper, aspect=size[0] / size[1]), ArrayPixels(target, *size))
    found: dict[int, FrameStatistics] = {}
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.tell_of_every_frame(lambda done: found.update({done.frame_id: done}))
        for number in range(UNCOUNTED + frames):
            engine.render_frame(Moment(number / FRAMES_A_SECOND % scene.duration(), frame_id=number), [view])
            target.synchronize()
        engine.flush()
    counted = [found[number] for number in range(UNCOUNTED, UNCOUNTED + frames) if number in found]
    if len(counted) != frames:
        raise RuntimeError(f"{frames - len(counted)} frames of {scene.name} have no times: the target dropped them.")
    return Played(sum(one.frame_ms for one in counted), tuple(one.views[0].update for one in counted))


def compare(target: Target, scene: Scene, settings: ViewSettings, frames: int, size: tuple[int, int], rounds: int) -> Comparison:
    """All modes in turn, so that a machine that slows down slows all of them."""
    plays: dict[str, list[Played]] = {mode: [] for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            chosen = dataclasses.replace(settings, update=UpdateOptions(mode))
            plays[mode].append(play(target, scene, chosen, frames, size))
    totals = {mode: median([one.total_ms for one in played]) for mode, played in plays.items()}
    rebuilds = {mode: median([float(one.updates.count("rebuild")) for one in played]) for mode, played in plays.items()}
    return Comparison(scene.name, scene.triangle_count, frames, totals, rebuilds)


def table(rows: Sequence[Comparison]) -> str:
    """For people."""
    heads = ("scene", "triangles", "frames", "rebuild ms", "refit ms", "auto ms", "auto / best", "rebuilds by auto")
    lines = [(r.scene, r.triangles, r.frames, *(r.total_ms[mode] for mode in MODES), f"{r.ratio:.3f}", r.rebuilds["auto"]) for r in rows]
    return aligned(heads, lines)


def main(arguments: list[str] | None = None) -> int:
    """The script."""
    parser = argparse.ArgumentParser(prog="python -m bench.policy", description="Compare auto with fixed updates.")
    parser.add_argument("--target", default="auto", help="auto, host, cuda or cuda:N")
    parser.add_argument("--hierarchy", default="lbvh")
    parser.add_argument("--layout", default="auto")
    parser.add_argument("--ray-type", default="smooth")
    parser.add_argument("--size", default="1024x768")
    parser.add_argument("--triangles", type=int, default=0, help="of the built-in scenes; 0: their own number")
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scenes", default=",".join(SCENES))
    parser.add_argument("--sequence", help="a numbered pattern of files, as one more scene")
    asked = parser.parse_args(arguments)
    width, height = (int(part) for part in asked.size.split("x"))
    settings = ViewSettings(asked.hierarchy, layout=asked.layout, ray_type=asked.ray_type)
    makers: list[Callable[[], Scene]] = [lambda name=name: make_demo(name, asked.triangles) for name in asked.scenes.split(",") if name]  # type: ignore[misc]
    if asked.sequence:
        makers.append(lambda: load([pathlib.Path(asked.sequence)]))
    rows = []
    with contextlib.closing(choose(asked.target)) as target:
        about = context(target)
        for make in makers:
            rows.append(compare(target, make(), settings, asked.frames, (width, height), asked.rounds))
            print(f"{rows[-1].scene}: {rows[-1].ratio:.3f}", file=sys.stderr)
    print("\n".join([*heading(about), "", table(rows)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

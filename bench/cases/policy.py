"""Rebuild, refit or auto: what each update costs over whole animations.

Plays each scene with the update fixed to rebuild, fixed to refit, and auto, in turn, several rounds, and compares the
sums of all frames' times on the target; what auto has to learn is in them. The first frames, which fill caches, count
for nobody. --sequence takes a numbered pattern of files, the horse's (`DIR/%04d.obj`).

With --optimum each clip is measured once, all trees at all ages, and auto, its rival and the fixed choices are played
against the best schedule there could have been (bench/policy_regret.py). --keep writes what each clip cost into a
folder, and --costs plays over such files with nothing measured: the same numbers, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import pathlib
from collections.abc import Callable, Mapping, Sequence

from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.analysis.rig import camera_rays
from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions

from ..arguments import DEVICE, OUT, argument, chosen, size
from ..clip_tables import ClipTable, read_table
from ..context import context, heading
from ..measure import median
from ..policy_regret import NOISE, Regret, measured_clip, regrets_of
from ..policy_regret import table as regret_table
from ..saved import keep
from ..table import aligned

MODES = ("rebuild", "refit", "auto")
SCENES = ("explode", "walker", "cloth")
FRAMES_A_SECOND = 30.0
UNCOUNTED = 4
COUNTED_RAYS = 1 << 14


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


def compare(
    target: Target, scene: Scene, settings: ViewSettings, frames: int, size: tuple[int, int], rounds: int
) -> Comparison:
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
    lines = [
        (r.scene, r.triangles, r.frames, *(r.total_ms[mode] for mode in MODES), f"{r.ratio:.3f}", r.rebuilds["auto"])
        for r in rows
    ]
    return aligned(heads, lines)


ARGUMENTS = (
    DEVICE,
    argument("--hierarchy", default="lbvh"),
    argument("--layout", default="auto"),
    argument("--ray-type", default="smooth"),
    size("1024x768"),
    argument("--triangles", type=int, default=0, help="of the built-in scenes; 0: their own number"),
    argument("--frames", type=int, default=120),
    argument("--rounds", type=int, default=3),
    argument("--scenes", default=",".join(SCENES)),
    argument("--sequence", metavar="PATTERN", help="a numbered pattern of files, as one more scene"),
    argument("--optimum", action="store_true", help="how far policies are from the best schedule, by counted costs"),
    argument(
        "--updates",
        default="1",
        metavar="X,Y",
        help="with --optimum: play on with rebuilds and refits that cost so many times what was measured",
    ),
    argument("--noise", type=float, default=NOISE, help="of each time that a policy sees (default: %(default)g)"),
    argument("--keep", metavar="FOLDER", help="with --optimum: write what each clip cost into files of this folder"),
    argument("--costs", metavar="FILE", nargs="+", help="play over costs that --keep wrote; nothing is measured"),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for."""
    demos = filter(None, names.scenes.split(","))
    makers: list[Callable[[], Scene]] = [functools.partial(make_demo, name, names.triangles) for name in demos]
    if names.sequence:
        makers.append(lambda: load([pathlib.Path(names.sequence)]))
    with chosen(names.device) as target:
        about = context(target, command=names.command)
        rows: list[Regret] | list[Comparison]
        if names.optimum or names.costs:
            kept = (read_table(pathlib.Path(file)) for file in names.costs or ())
            clips = kept if names.costs else (_measured(target, make(), names) for make in makers)
            factors = [float(text) for text in names.updates.split(",")]
            regrets = rows = [one for clip in clips for one in regrets_of(clip, names.rounds, factors, names.noise)]
            found = regret_table(regrets)
        else:
            settings = ViewSettings(names.hierarchy, layout=names.layout, ray_type=names.ray_type)
            compared = rows = [
                compare(target, make(), settings, names.frames, names.size, names.rounds) for make in makers
            ]
            found = table(compared)
    print(text := "\n".join([*heading(about), "", found]))
    keep(names.out, {"context": about, "results": [dataclasses.asdict(row) for row in rows]}, text)
    return 0


def _measured(target: Target, scene: Scene, names: argparse.Namespace) -> ClipTable:
    rate = scene.fps or FRAMES_A_SECOND
    frames = min(names.frames, max(2, round(scene.duration() * rate)))
    rays = camera_rays(fit(scene.lower, scene.upper, aspect=names.size[0] / names.size[1]), *names.size)
    structure = names.hierarchy, StructureChoice(layout=names.layout)
    moments = [Moment(number / rate, frame_id=number) for number in range(frames)]
    clip = measured_clip(target, scene, structure, moments, rate, (rays.at_most(COUNTED_RAYS), len(rays)))
    if names.keep:
        clip.keep(pathlib.Path(names.keep), f"{names.hierarchy} {names.layout}")
    return clip

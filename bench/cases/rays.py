"""Rays per second over the scenes that speed is judged by, beside other programs: the bench of record.

FILE are models of bench/ray_scenes.py, known by their numbers of triangles; a scene whose file is not given is said to
be missing. Each view is seen by the camera's rays, made on the way and as a buffer, and by shadow, ambient-occlusion
and diffuse rays from the hits of the first size. On the host Embree traces the same rays, in turns with ours, and rates
are of the processor's time; on a GPU stand the figures that peers reached on an H200 at the same views
(bench/published/peers2026.json). With --out a scene that is measured is kept in PREFIX-parts, and not measured again:
a run that was cut short goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target

from ..arguments import DEVICE, OUT, UsageError, argument, chosen, repeat, size_of
from ..context import context, heading
from ..goal import Report
from ..ray_goals import ray_goals
from ..ray_runs import Plan, measure_scene, settings_of
from ..ray_scenes import BY_NAME, given
from ..ray_sets import KINDS
from ..ray_tables import rays_page
from ..record import FILES, SCENES, TRIANGLES, measure_all, missing
from ..saved import Content

TREES = {
    "cuda": ("lbvh", "hploc", "binned_sah", "sbvh", "median_sah", "sah_events", "hploc+cwbvh"),
    "host": ("lbvh", "hploc", "best", "sbvh", "best-split"),
}
QUALITIES = ("high", "medium")


def page_of(content: Content) -> str:
    """Everything for people."""
    about = content["context"]
    goals = Report(goals=ray_goals(content)).text()
    parts = [*heading(about), "command: " + " ".join(about["command"]), "", goals, "", rays_page(content)]
    return "\n".join([*parts, missing(content)])


ARGUMENTS = (
    FILES,
    SCENES,
    argument("--views", nargs="*", default=[], metavar="VIEW", help="only these: inside, outside, front, back, above"),
    argument("--trees", nargs="*", default=[], metavar="TREE", help="NAME or NAME+LAYOUT, best or best-split"),
    argument(
        "--sizes",
        nargs="*",
        type=size_of,
        default=[(1024, 768), (1920, 1080)],
        metavar="WxH",
        help="of the pictures; rays from hits start at the first",
    ),
    argument("--rays", nargs="*", choices=KINDS, default=list(KINDS), help="only these kinds"),
    argument("--peers", nargs="*", choices=QUALITIES, default=list(QUALITIES), help="Embree's trees, on the host"),
    TRIANGLES,
    DEVICE,
    repeat(10),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for. Words go to stderr, tables to stdout."""
    try:
        makers = given(names.files, names.triangles)
    except ValueError as error:
        raise UsageError(str(error)) from error
    with chosen(names.device) as target:
        plan = Plan(
            tuple(names.trees or TREES[target.kind]),
            tuple(names.sizes),
            tuple(names.rays),
            names.repeat,
            tuple(names.views),
            tuple(names.peers if target.kind == "host" else ()),
        )
        try:
            for tree in plan.trees:
                settings_of(tree, target.kind)
        except ValueError as error:
            raise UsageError(str(error)) from error

        def measure(target: Target, name: str, scene: Scene) -> dict[str, Any]:
            return measure_scene(target, BY_NAME[name], scene, plan, lambda words: print(words, file=sys.stderr))

        about = context(target, command=names.command)
        content = measure_all(target, makers, names.scenes, names.out, about, measure, page_of)
    print(page_of(content))
    return 0

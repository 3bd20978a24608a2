"""Builds and refits over the scenes that speed is judged by: the bench of record for trees.

FILE are models of bench/ray_scenes.py; each tree's build and refit is captured once and replayed, as frames do it. On a
GPU the figures that peers took for theirs on an H200 stand below (bench/published/peers2026.json). With --out a scene
that is measured is kept in PREFIX-parts, and not measured again.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target

from ..arguments import DEVICE, OUT, UsageError, argument, chosen, repeat
from ..build_runs import measure_builds
from ..build_tables import build_goals, builds_page
from ..context import context, heading
from ..goal import Report
from ..ray_runs import settings_of
from ..ray_scenes import BY_NAME, given
from ..record import FILES, SCENES, TRIANGLES, measure_all, missing
from ..saved import Content

TREES = {
    "cuda": (
        "lbvh",
        "lbvh+rotations",
        "hploc",
        "hploc+cwbvh",
        "hlbvh_sah",
        "binned_sah",
        "sbvh",
        "median_sah",
        "sah_events",
    ),
    "host": ("lbvh", "hploc", "binned_sah", "median_sah", "sah_events"),
}


def page_of(content: Content) -> str:
    """Everything for people."""
    about = content["context"]
    goals = Report(goals=build_goals(content)).text()
    parts = [*heading(about), "command: " + " ".join(about["command"]), "", goals, "", builds_page(content)]
    return "\n".join([*parts, missing(content)])


ARGUMENTS = (
    FILES,
    SCENES,
    argument("--trees", nargs="*", default=[], metavar="TREE", help="NAME, NAME+LAYOUT or NAME+OPTIMISER"),
    TRIANGLES,
    DEVICE,
    repeat(20),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for. Words go to stderr, tables to stdout."""
    with chosen(names.device) as target:
        trees = tuple(names.trees or TREES[target.kind])
        try:
            makers = given(names.files, names.triangles)
            for tree in trees:
                settings_of(tree, target.kind)
        except ValueError as error:
            raise UsageError(str(error)) from error

        def measure(target: Target, name: str, scene: Scene) -> dict[str, Any]:
            return measure_builds(
                target, BY_NAME[name], scene, trees, names.repeat, lambda words: print(words, file=sys.stderr)
            )

        about = context(target, command=names.command)
        content = measure_all(target, makers, names.scenes, names.out, about, measure, page_of)
    print(page_of(content))
    return 0

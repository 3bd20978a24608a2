"""Queries of regions for the scenario: every question by every visit of a structure."""

from __future__ import annotations

import functools
from collections.abc import Callable
from unittest import mock

import numpy as np

from raygrove.gpu.hierarchy import quality
from raygrove.gpu.hierarchy.base import Primitives, StructureChoice
from raygrove.gpu.hierarchy.primitives import sphere_primitives, triangle_primitives
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.query.query import Queries
from raygrove.gpu.query.questions import Places, upload_boxes, upload_places
from raygrove.gpu.query.touching import Touching
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import mixed_scene

KINDS = ("triangle", "sphere", "mixed")
VISITS = {
    ("brute_force", "auto"): "triangle",
    ("lbvh", "bvh2"): "sphere",
    ("lbvh", "bvh4"): "mixed",
    ("median_sah", "auto"): "mixed",
    ("octree_top_down", "auto"): "triangle",
    ("grid", "auto"): "sphere",
    ("grid_two_level", "auto"): "mixed",
}
"""Structure and layout, one for each visit, and of what it is made where one kind is enough."""


def choices(which: str) -> list[tuple[str, str, str]]:
    """Structure, layout and kind of primitives: `all` of them; `memory`, each visit with one kind; `units`, one of them
    with each; `races`, one of a BVH, which touches and repeats, too, and one that has leaves to be asked for: a
    thread answers a question by itself, and what it shares with others is where lists begin."""
    if which == "races":
        return [("lbvh", "bvh2", "sphere"), ("median_sah", "auto", "triangle")]
    return [
        (*visit, kind)
        for visit, usual in VISITS.items()
        for kind in KINDS
        if which == "all" or kind == usual or (which == "units" and visit == ("lbvh", "bvh2"))
    ]


def run_region_queries(target: Target, which: str = "all") -> None:
    """The nearest primitives, what is in boxes and balls, what touches, and leaves: by `choices`. Where structures have
    overlap to be measured, it is."""
    for job in region_jobs(which):
        job(target)


def region_jobs(which: str) -> list[Callable[[Target], None]]:
    """What `run_region_queries` runs; each by itself. For `memory` all is asked of one, and of the others half by
    turns: what questions have in common is the visit."""
    jobs: list[Callable[[Target], None]] = []
    for turn, choice in enumerate(choices(which)):
        asks_half = which == "memory" and choice != ("lbvh", "bvh2", "sphere")
        jobs.append(functools.partial(ask_all, choice=choice, halves=(turn % 2,) if asks_half else (0, 1)))
    if which == "races":  # what the other structures launch besides
        jobs += [functools.partial(measure, name=name) for name in ("octree_top_down", "grid", "grid_two_level")]
    return jobs


def make_kind(target: Target, kind: str) -> Primitives:
    """A hundred triangles, three hundred spheres, or ninety of both."""
    if kind == "mixed":
        return mixed_scene(target, 90, 90)[-1]
    positions = target.upload(np.random.default_rng(8).uniform(-1, 1, (300, 3)).astype(np.float32), "test")
    if kind == "sphere":
        return sphere_primitives(positions, target.upload(np.full(300, 0.1, np.float32), "test"))
    return triangle_primitives(positions, target.upload(np.arange(300, dtype=np.int32).reshape(-1, 3), "test"))


def ask_all(target: Target, choice: tuple[str, str, str], halves: tuple[int, ...] = (0, 1)) -> None:
    """Every question that a structure in a layout over a kind of primitives answers, of seventy places; of those that
    all answer only some `halves`."""
    name, layout, kind = choice
    primitives, lower = make_kind(target, kind), np.random.default_rng(9).uniform(-1, 1, (70, 3))
    made = make_structure(target, name, StructureChoice(layout=layout))
    made.build(primitives)
    asked, count = Queries(made), len(lower)
    for half in halves:
        (ask_first_half, ask_second_half)[half](target, asked, lower)
    if made.layout_name in ("bvh2", "kd8"):
        assert len(asked.touching(Touching(primitives, is_own=True)).first) == primitives.count
    if primitives.kind == "sphere" and made.layout_name == "bvh2":
        repeating = Places(target.upload(lower.astype(np.float32), "test"), radius=0.3, periodic=np.eye(3))
        asked = Queries(made, of="centres")
        assert len(asked.in_balls(repeating).prim_ids) > 0 and asked.k_nearest(repeating, 9).prim_ids.shape[1] == 9
    if "leaf" in made.capabilities.queries:
        with mock.patch.dict(quality.SAMPLES, {target.kind: 20}):
            made.measure_quality()
        assert len(asked.leaves(upload_places(target, lower)).leaf_ids) == count


def ask_first_half(target: Target, asked: Queries, lower: np.ndarray) -> None:
    """The nearest one, lists of boxes, what a ball marks."""
    assert len(asked.nearest(upload_places(target, lower)).prim_id) == len(lower)
    assert len(asked.in_boxes(upload_boxes(target, lower, lower + 0.3), ascending=True).prim_ids) > 0
    ball = upload_places(target, lower[:1], 0.9)
    assert target.download(asked.mark(ball, target.zeros(300, np.uint32, "test")))[0] > 0


def ask_second_half(target: Target, asked: Queries, lower: np.ndarray) -> None:
    """The nearest nine, lists of balls, what a box marks."""
    assert asked.k_nearest(upload_places(target, lower), 9).prim_ids.shape == (len(lower), 9)
    assert len(asked.in_balls(upload_places(target, lower, 0.3)).prim_ids) > 0
    box = upload_boxes(target, lower[:1], lower[:1] + 0.9)
    assert target.download(asked.mark(box, target.zeros(300, np.uint32, "test")))[0] > 0


def measure(target: Target, name: str) -> None:
    """Build and measure a structure that has leaves to be asked for."""
    made = make_structure(target, name)
    made.build(make_kind(target, "triangle"))
    with mock.patch.dict(quality.SAMPLES, {target.kind: 20}):
        made.measure_quality()

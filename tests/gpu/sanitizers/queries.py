"""Queries of regions for the scenario: every question by every visit of a structure."""

from __future__ import annotations

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
    """Structure, layout and kind of primitives: `all` of them; `memory` and `units`, each visit with one kind and each
    kind by one visit; `races`, one of a BVH, which touches and repeats, too, and one that has leaves to be asked for: a
    thread answers a question by itself, and what it shares with others is where lists begin."""
    if which == "races":
        return [("lbvh", "bvh2", "sphere"), ("median_sah", "auto", "triangle")]
    return [
        (*visit, kind)
        for visit, usual in VISITS.items()
        for kind in KINDS
        if which == "all" or kind == usual or visit == ("lbvh", "bvh2")
    ]


def run_region_queries(target: Target, which: str = "all") -> None:
    """The nearest primitives, what is in boxes and balls, what touches, and leaves: by `choices`. Where structures have
    overlap to be measured, it is. For `memory` all is asked of one, and of the others half by turns: what questions
    have in common is the visit."""
    random = np.random.default_rng(8)
    positions = target.upload(random.uniform(-1, 1, (300, 3)).astype(np.float32), "test")
    kinds = {
        "triangle": triangle_primitives(
            positions, target.upload(np.arange(300, dtype=np.int32).reshape(-1, 3), "test")
        ),
        "sphere": sphere_primitives(positions, target.upload(np.full(300, 0.1, np.float32), "test")),
        "mixed": mixed_scene(target, 90, 90)[-1],
    }
    lower = random.uniform(-1, 1, (70, 3))
    for turn, (name, layout, kind) in enumerate(choices(which)):
        asks_half = which == "memory" and (name, layout, kind) != ("lbvh", "bvh2", "sphere")
        ask_all(target, (name, layout), kinds[kind], lower, (turn % 2,) if asks_half else (0, 1))
    if which == "races":  # what the other structures launch besides
        for name in ("octree_top_down", "grid", "grid_two_level"):
            measure(target, name, kinds["triangle"])


def ask_all(
    target: Target, choice: tuple[str, str], primitives: Primitives, lower: np.ndarray, halves: tuple[int, ...] = (0, 1)
) -> None:
    """Every question that the structure answers, of places (N, 3); of those that all answer only some `halves`."""
    made = make_structure(target, choice[0], StructureChoice(layout=choice[1]))
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


def measure(target: Target, name: str, primitives: Primitives) -> None:
    """Build and measure a structure that has leaves to be asked for."""
    made = make_structure(target, name)
    made.build(primitives)
    with mock.patch.dict(quality.SAMPLES, {target.kind: 20}):
        made.measure_quality()

"""What a ray did: the same as an independent traversal in float64 does over the same tree, whole, and at every step."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.ray_log import Event, RayLog, record_ray
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.nvrtc import compile_options, compile_text
from raygrove.gpu.target.translation_unit import read_source, write_unit
from raygrove.gpu.trace.trace import Tracer, upload_rays
from tests.gpu.target.recording import RecordingTarget
from tests.gpu.trace.scenes import built, random_rays, soup
from tests.gpu.trace.test_events import over_traversals

TRIANGLE = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


def logs_of(target: Target, made: Any, count: int = 6, **options: Any) -> list[RayLog]:
    origins, directions = random_rays(5, count)
    tracer = Tracer(target, made.traversal())
    return [record_ray(tracer, upload_rays(target, *ray, 0.0, np.inf), **options) for ray in zip(
        origins[:, None], directions[:, None], strict=True)]  # fmt: skip


def test_events_are_numbered_as_the_header_numbers_them() -> None:
    body = re.search(r"enum class Event : int \{(.*?)\};", read_source("gpu/device/traversal_events.cuh"), re.DOTALL)
    assert body
    assert re.findall(r"^\s*([A-Z_]+),", body[1], re.MULTILINE) == [event.name for event in Event]


def enters(lower: np.ndarray, upper: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        planes = (np.stack([lower, upper]).astype(np.float64) - origin) / direction
    near, far = np.nanmin(planes, axis=0).max(), np.nanmax(planes, axis=0).min()
    return max(float(near), 0.0), float(far)


def hit_at(corners: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> float:
    a, b, c = corners.astype(np.float64)
    matrix = np.stack([b - a, c - a, -direction], axis=1)
    u, v, t = np.linalg.solve(matrix, origin - a)
    return float(t) if u >= 0 and v >= 0 and u + v <= 1 and t > 0 else np.inf


def walk(table: NodeTable, scene: np.ndarray, log: RayLog) -> tuple[list[Any], list[int], float]:
    """Nodes by their boxes and primitives in the order of a depth-first traversal, nearer child first; float64."""
    origin, direction = np.array(log.origin), np.array(log.direction)
    nearest, boxes, tested, stack = np.inf, [], [], [(0, 0.0)]
    while stack:
        row, entry = stack.pop()
        if entry > nearest:
            continue
        boxes.append((table.lower[row], table.upper[row]))
        first, count = table.first_reference[row], table.reference_count[row]
        if table.is_leaf[row]:
            for prim_id in table.references[first : first + count].tolist():
                tested.append(prim_id)
                nearest = min(nearest, hit_at(scene[prim_id], origin, direction))
            continue
        ways = []
        for child in np.flatnonzero(table.parent == row).tolist():
            near, far = enters(table.lower[child], table.upper[child], origin, direction)
            if near <= min(far, nearest):
                ways.append((child, near))
        stack += sorted(ways, key=lambda way: -way[1])
    return boxes, tested, nearest


@pytest.mark.parametrize("layout", ["bvh2", "bvh2_soa", "bvh2_compact"])
def test_steps_are_those_of_an_independent_traversal(target: Target, layout: str) -> None:
    scene = soup(4, 120)
    made = built(target, scene, "lbvh", layout)
    table = made.nodes()
    for log in logs_of(target, made, 24):
        boxes, tested, nearest = walk(table, scene, log)
        assert log.count("NODE_ENTERED", "LEAF_ENTERED") == len(boxes)
        assert [step.id for step in map(log.__getitem__, range(len(log))) if step.event == Event.PRIMITIVE_TESTED] == (
            tested
        )
        assert log.t == pytest.approx(nearest, rel=1e-5) if np.isfinite(nearest) else log.primitive == -1


@over_traversals
def test_totals_are_those_of_the_steps_ray_type(target: Target, traversal: tuple[str, str, str]) -> None:
    made = built(target, soup(4, 120), *traversal)
    origins, directions = random_rays(5, 6)
    steps = Tracer(target, made.traversal()).trace(upload_rays(target, origins, directions), "steps")
    nodes, tests = (target.download(array)[:6] for array in (steps.steps, steps.tests))
    logs = logs_of(target, made)
    assert [log.count("NODE_ENTERED", "LEAF_ENTERED") for log in logs] == nodes.tolist()
    assert [log.count("PRIMITIVE_TESTED") for log in logs] == tests.tolist()
    for log in logs:
        check_states(log)


def check_states(log: RayLog) -> None:
    """Forwards and backwards: each state follows from the events before it."""
    states = [log.state(n) for n in range(len(log))]
    assert states[::-1] == [log.state(n) for n in reversed(range(len(log)))]
    for n, state in enumerate(states):
        step, before = log[n], states[n - 1].stack if n else ()
        if step.event == Event.CHILD_PUSHED:
            assert state.stack == (*before, (step.id, step.entry))
        elif step.event in (Event.CHILD_MISSED, Event.CHILD_BEYOND, Event.PRIMITIVE_TESTED, Event.PRIMITIVE_HIT):
            assert state.stack == before
        else:
            assert len(before) - len(state.stack) in (0, 1)
        if step.event in (Event.NODE_ENTERED, Event.LEAF_ENTERED):
            assert (state.node, state.is_leaf) == (step.id, step.event == Event.LEAF_ENTERED)
            assert log.entered(step.id) is not None and not state.children and not state.tested
        if step.event == Event.PRIMITIVE_TESTED:
            assert state.tested[-1] == step.id and state.is_leaf
        assert state.t_max <= (states[n - 1].t_max if n else log.t_max)
        assert str(step.id) in step.sentence or step.id < 0
    if log.primitive >= 0:
        assert (states[-1].primitive, states[-1].t_max) == (log.primitive, log.t)


def test_children_are_told_with_what_became_of_them(target: Target) -> None:
    made = built(target, soup(4, 120), "lbvh", "bvh2")
    for log in logs_of(target, made):
        for n in range(len(log)):
            if log[n].event == Event.NODE_ENTERED:
                told = log.children(n)
                assert len({step.id for step in told}) == 2 == len(told)
                assert log.state(n).children == () and log.children(n, n + 1) == told[:1]


def test_a_long_way_is_cut_off_and_says_so(target: Target) -> None:
    made = built(target, soup(4, 120), "brute_force")
    (whole,), (cut,) = logs_of(target, made, 1), logs_of(target, made, 1, most=50)
    assert whole.event_count == len(whole) >= 121 and whole.remark == ""
    assert len(cut) == 50 and cut.event_count == whole.event_count and cut.primitive == whole.primitive
    np.testing.assert_array_equal(cut.ids, whole.ids[:50])
    assert cut.remark == f"The ray has {len(whole)} events; the first 50 of them are kept."
    with pytest.raises(IndexError, match="none is number 50"):
        cut.state(50)


def test_a_way_that_is_longer_than_the_first_room_is_traced_again(target: Target) -> None:
    made = built(target, soup(4, 5000), "brute_force")
    (log,) = logs_of(target, made, 1)
    assert len(log) == log.event_count > 5000 and log.count("PRIMITIVE_TESTED") == 5000


def test_a_tree_is_stepped_through(host_target: Target) -> None:
    rays = rg.RaySet([[0.2, 0.2, 1.0], [2.0, 2.0, 1.0]], [0.0, 0.0, -1.0])
    with rg.build(TRIANGLE, "hploc", target=host_target) as tree:
        log = tree.step(rays[0])
        assert [log[n].event for n in range(len(log))] == [
            Event.LEAF_ENTERED, Event.PRIMITIVE_TESTED, Event.PRIMITIVE_HIT]  # fmt: skip
        assert (log.primitive, log.t, log.origin) == (0, 1.0, pytest.approx((0.2, 0.2, 1.0)))
        assert tree.step(rays[1], "any").primitive == -1
        with pytest.raises(rg.Error, match="one ray is stepped through, not 2 rays"):
            tree.step(rays)
        with pytest.raises(rg.Error, match="closest hit or any, not 'all'"):
            tree.step(rays[0], "all")
    scene = rg.Scene(target=host_target)
    scene.add_mesh(*TRIANGLE, groups=3)
    with rg.build(scene, "lbvh") as tree, pytest.raises(rg.Error, match="by groups or masks"):
        tree.step(rays[0])


@pytest.mark.parametrize("layout", ["bvh2", "cwbvh"])
def test_the_kernel_compiles_for_gpus(layout: str) -> None:
    target = RecordingTarget(is_dry=True)
    made = built(target, soup(1, 2), "lbvh", layout)
    before = set(target.launched)
    record_ray(Tracer(target, made.traversal()), upload_rays(target, *random_rays(5, 1)))
    (source,) = set(target.launched) - before
    target.close()
    assert compile_text(write_unit(source, "cuda", 1).text, compile_options(90)).image

"""The hierarchical sum beside the sum over all pairs, with and without what hides points from each other."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.primitives import triangle_primitives
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.radiosity import hierarchical, pairs
from raygrove.gpu.radiosity.direct import Bounces, gather_from_all
from raygrove.gpu.radiosity.hierarchical import HierarchicalOptions, HierarchicalSum
from raygrove.gpu.radiosity.pairs import FIRST_ASKED, LISTS, SightOptions
from raygrove.gpu.radiosity.point_set import PointValues, upload_points
from raygrove.gpu.target.base import OutOfMemoryError, Target
from raygrove.gpu.trace.trace import Tracer
from tests.oracle.radiosity import form_factors, rms_error, spiral_sphere

from .test_direct import box_room, random_points


def lit_room(count: int, turned: bool = False) -> PointValues:
    """A box whose ceiling shines, with a ball in it; turned so that no wall lies along an axis."""
    room = box_room(count)
    places, outwards = spiral_sphere(count // 4)
    areas = np.full(count // 4, 4.0 * np.pi * 0.0625 / (count // 4))
    joined = np.concatenate([room.positions, places * 0.25 + [0.9, 0.4, 0.7]])
    normals = np.concatenate([room.normals, places])
    emission = np.zeros((len(joined), 3))
    emission[: len(room.areas)][room.positions[:, 1] > 0.999] = [1.0, 0.8, 0.5]
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0] if turned else np.eye(3)
    reflectance = np.random.default_rng(2).uniform(0.3, 0.8, (len(joined), 3))
    columns = joined @ turn.T, normals @ turn.T, np.concatenate([room.areas, areas]), reflectance, emission
    return PointValues(*columns)


def placed(
    target: Target, values: PointValues, options: HierarchicalOptions, sight: SightOptions | None = None
) -> HierarchicalSum:
    """The sum with its lists made."""
    points = upload_points(target, values)
    made = HierarchicalSum(target, points.count, options)
    none = target.zeros((points.count, 4), np.float32, "test")
    made.place(points, none, sight, learns=True)
    return made


def gathered(target: Target, made: HierarchicalSum, bounces: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """What points gather after so many bounces (N, 3), and what they would gather of the same by all pairs."""
    light = Bounces(target, made.sorted_points, made.sorted_direct)
    light.begin()
    for _ in range(bounces - 1):
        light.add(made.gather)
    ways = [target.zeros((made.count, 4), np.float32, "test") for _ in range(2)]
    made.gather(light.sent, ways[0])
    gather_from_all(target, made.sorted_points, light.sent, ways[1])
    first, second = (target.download(way)[:, :3].astype(np.float64) for way in ways)
    return first, second


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("bounces", [1, 2])
def test_the_error_is_below_a_hundredth(target: Target, turned: bool, bounces: int) -> None:
    made = placed(target, lit_room(2000, turned), HierarchicalOptions())
    found, expected = gathered(target, made, bounces)
    assert rms_error(found, expected) < 0.01
    assert not made.lists.lacks_room(target.download(made.lists.totals))
    counts = made.lists.counts()
    assert counts["far"] > 1000 and counts["to_points"] > 1000 and counts["near"] > 100


def test_a_higher_order_and_a_smaller_angle_are_more_exact(target: Target) -> None:
    values, errors = lit_room(1500), []
    for order, angle in ((1, 0.8), (2, 0.8), (3, 0.8), (3, 0.3)):
        options = HierarchicalOptions(order=order, angle=angle, leaf_points=8)
        errors.append(rms_error(*gathered(target, placed(target, values, options))))
    assert errors[0] > 2.0 * errors[1] > 2.0 * errors[2] > 2.0 * errors[3], errors


def test_walls_that_meet_have_nodes_of_their_own(target: Target) -> None:
    """Else all along the edges nodes look two ways, and exchange light with each other leaf by leaf."""
    made = placed(target, box_room(6000), HierarchicalOptions())
    nodes = int(target.download(made.tree.counts)[0])
    cosines = target.download(made.shapes)[1:nodes, 2, 3]
    assert nodes > 200 and (cosines == 1.0).all()
    counts = made.lists.counts()
    assert sum(counts.values()) < 150 * nodes, counts
    assert not made.lists.lacks_room(target.download(made.lists.totals))


def test_a_wide_leaf_of_few_points_hears_boxes_and_not_every_point(target: Target) -> None:
    """Of few bent points a leaf is as wide as the room, which is small beside no distance in it."""
    room = box_room(8000)
    lone, outwards = spiral_sphere(24)
    columns = lone * 0.3 + [1.0, 0.5, 0.75], outwards, np.full(24, 0.01), np.full((24, 3), 0.5), np.zeros((24, 3))
    values = PointValues(*(np.concatenate(both) for both in zip(vars(room).values(), columns, strict=True)))
    made = placed(target, values, HierarchicalOptions())
    assert rms_error(*gathered(target, made)) < 0.01
    nodes = int(target.download(made.tree.counts)[0])
    is_bent = (target.download(made.tree.child_count)[:nodes] == 0) & (target.download(made.shapes)[:nodes, 2, 3] < 1.0)
    first = target.download(made.lists._first[LISTS.index("near")])[: nodes + 1]
    assert is_bent.sum() >= 4 and np.diff(first)[is_bent].max() < 100, "of 550 leaves"


def test_the_same_points_give_the_same_bytes(target: Target) -> None:
    values = lit_room(800)
    first, second = (gathered(target, placed(target, values, HierarchicalOptions()))[0] for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_lists_that_grow_while_they_are_made_are_those_that_had_room(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = lit_room(800)
    made = placed(target, values, HierarchicalOptions())
    monkeypatch.setattr(hierarchical, "FIRST_PAIRS", 1)
    grown = placed(target, values, HierarchicalOptions())
    assert grown.lists.counts() == made.lists.counts()
    assert grown.lists.room >= max(made.lists.counts().values()) > made.count
    first, _ = gathered(target, made)
    second, _ = gathered(target, grown)
    assert first.tobytes() == second.tobytes()
    points = upload_points(target, values)
    grown.place(points, target.zeros((points.count, 4), np.float32, "test"), None)
    again, _ = gathered(target, grown)
    assert first.tobytes() == again.tobytes()
    assert not grown.lists.lacks_room(target.download(grown.lists.totals))


def test_more_pairs_than_can_be_counted_are_refused(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of 32 bits over a round's chunks are negative past 2^31: a frame writes nothing there and says that it
    lacked room; a round that is learnt from is refused."""
    values = lit_room(200)
    made = placed(target, values, HierarchicalOptions())
    points, lists, asks = upload_points(target, values), made.lists, made.lists._ask
    none = target.zeros((points.count, 4), np.float32, "test")

    def ask_too_much(*arguments: Any) -> None:
        asks(*arguments)
        counts = target.download(lists._counts)
        counts[0, -3:] = 1 << 30
        target.write(lists._counts, counts)
        target.exclusive_scan(lists._counts[0], lists._begins[0], "radiosity.scan")

    monkeypatch.setattr(lists, "_ask", ask_too_much)
    made.place(points, none, None)
    assert lists.lacks_room(target.download(lists.totals))
    with pytest.raises(OutOfMemoryError, match="pairs of nodes that exchange light"):
        made.place(points, none, None, learns=True)


@pytest.mark.parametrize("count", [1, 2, 40])
def test_few_points_and_points_in_one_place(target: Target, count: int) -> None:
    values = random_points(count)
    found, expected = gathered(target, placed(target, values, HierarchicalOptions()))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * max(expected.max(), 1e-9))
    one_place = dataclasses.replace(values, positions=np.ones((count, 3)))
    found, expected = gathered(target, placed(target, one_place, HierarchicalOptions()))
    assert not found.any() and not expected.any()


def test_points_that_are_not_finite_are_left_out(target: Target) -> None:
    values = random_points(60)
    values.positions[7] = np.nan
    made = placed(target, values, HierarchicalOptions(leaf_points=4))
    light = Bounces(target, made.sorted_points, made.sorted_direct)
    light.begin()
    light.add(made.gather)
    kept = PointValues(*(np.delete(column, 7, axis=0) for column in vars(values).values()))
    order = np.delete(np.arange(60), 7)
    places = np.searchsorted(order, target.download(made.tree.order)[:59])
    expected = (form_factors(kept, kept) @ kept.emission)[places]
    assert rms_error(target.download(light.gathered)[:59, :3], expected) < 0.01


# -- what hides points from each other ------------------------------------------------------------------------------
SHADE = np.array(
    [[[0.6, 0.5, 0.4], [1.4, 0.5, 0.4], [1.4, 0.5, 1.1]], [[0.6, 0.5, 0.4], [1.4, 0.5, 1.1], [0.6, 0.5, 1.1]]]
)
"""A sheet in the middle of the box."""


def is_hidden(values: PointValues) -> np.ndarray:
    """(N, N): whether the sheet lies between two points."""
    a, b = values.positions[:, None], values.positions[None]
    t = (0.5 - a[..., 1]) / np.where(b[..., 1] == a[..., 1], np.inf, b[..., 1] - a[..., 1])
    x, z = (a[..., i] + (b[..., i] - a[..., i]) * t for i in (0, 2))
    return np.asarray((t > 0) & (t < 1) & (x > 0.6) & (x < 1.4) & (z > 0.4) & (z < 1.1))


def behind_the_sheet(target: Target, values: PointValues, leaf_points: int) -> HierarchicalSum:
    """The sum of points between which the sheet stands."""
    structure = make_structure(target, "lbvh", StructureChoice())
    corners = target.upload(SHADE.reshape(6, 3).astype(np.float32), "test")
    structure.build(triangle_primitives(corners, target.upload(np.arange(6, dtype=np.int32).reshape(2, 3), "test")))
    sight = SightOptions(Tracer(target, structure.traversal()), 16)
    return placed(target, values, HierarchicalOptions(leaf_points=leaf_points), sight)


def lit_by_its_ceiling(count: int) -> PointValues:
    """The box, whose ceiling alone shines."""
    room = box_room(count)
    return dataclasses.replace(room, emission=np.where(room.positions[:, 1:2] > 0.999, 1.0, 0.0) * np.ones(3))


def test_what_stands_between_points_hides_them(target: Target) -> None:
    values = lit_by_its_ceiling(1500)
    made = behind_the_sheet(target, values, 8)
    light = Bounces(target, made.sorted_points, made.sorted_direct)
    light.begin()
    light.add(made.gather)
    order = target.download(made.tree.order)
    open_factors = form_factors(values, values)
    factors = np.where(is_hidden(values), 0.0, open_factors)
    expected = (factors @ values.emission)[order]
    found = target.download(light.gathered)[:, :3]
    floor = values.positions[order, 1] < 0.001
    unhidden = (open_factors @ values.emission)[order]
    assert (expected[floor] < 0.9 * unhidden[floor]).mean() > 0.3, "the sheet throws a shadow"
    assert rms_error(found, expected) < 0.03 < rms_error(unhidden, expected)
    assert made.lists.counts()["partial"] > 20


def test_points_of_wide_leaves_see_what_rays_say(target: Target) -> None:
    """Of leaves with more points than are asked at first, bit by bit."""
    values = lit_by_its_ceiling(4000)
    made = behind_the_sheet(target, values, 32)
    hidden, order = is_hidden(values), target.download(made.tree.order)
    starts, counts = target.download(made.tree.first_point), target.download(made.tree.point_count)
    number = LISTS.index("partial")
    lists, senders = target.download(made.lists._first[number]), target.download(made.lists._senders[number])
    seen, wrong, wide = target.download(made.lists.seen), [], []
    for node in np.flatnonzero(np.diff(lists)):
        for pair in range(lists[node], lists[node + 1]):
            receivers, of = (order[starts[one] : starts[one] + counts[one]] for one in (node, senders[pair]))
            bits = seen[pair, : len(receivers), None] >> np.arange(len(of), dtype=np.uint32) & 1
            wrong.append(np.mean(bits != ~hidden[np.ix_(receivers, of)]))
            wide.append(len(receivers) > FIRST_ASKED)
    assert np.sum(wide) > 100
    assert np.mean(np.array(wrong)[wide]) < 0.02
    assert max(np.array(wrong)[~np.array(wide)], default=0.0) < 0.05


def test_of_what_gives_little_the_share_that_arrives_is_enough(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    values, partial, errors = lit_by_its_ceiling(3000), [], []
    factors = np.where(is_hidden(values), 0.0, form_factors(values, values))
    for little in (0.0, 0.02, 10.0):
        monkeypatch.setattr(pairs, "LITTLE", little)
        made = behind_the_sheet(target, values, 4)
        light = Bounces(target, made.sorted_points, made.sorted_direct)
        light.begin()
        light.add(made.gather)
        expected = (factors @ values.emission)[target.download(made.tree.order)]
        errors.append(rms_error(target.download(light.gathered)[:, :3], expected))
        partial.append(made.lists.counts()["partial"])
    assert partial[0] > 1.2 * partial[1] and partial[1] > partial[2], partial
    assert errors[0] < errors[1] < 0.03 and errors[1] < errors[2] < 0.3, errors


def test_the_page_runs() -> None:
    text = pathlib.Path(__file__).parents[3].joinpath("docs", "radiosity.md").read_text(encoding="utf-8")
    found = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(found) == 1
    names: dict[str, Any] = {}
    exec(compile(found[0], "docs/radiosity.md", "exec"), names)
    assert names["radiance"].shape == (2000, 4) and names["radiance"][:, :3].min() > 0.0
    assert len(names["remarks"]) == 2

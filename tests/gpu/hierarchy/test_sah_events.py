"""sah_events: the splits of the sequential reference, counts of a sweep line, and scenes that are nasty to kd-trees."""

from __future__ import annotations

import dataclasses
import functools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.grown_tree import NODES_NOW, REFERENCES_NOW
from raygrove.gpu.hierarchy.kdtree.builders.sah_events import SahEvents, SahEventsOptions
from raygrove.gpu.hierarchy.kdtree.kdtree import KdTreeHierarchy
from raygrove.gpu.hierarchy.kdtree.options import KdTreeOptions
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.stats import HierarchyStatistics
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES, TriangleScene, rays, scene_of, trace
from raygrove.testing.tree_walker import check_tree

from .kd_reference import FLOAT, Clip, GivenKdTree, KdArrays, best_split, build_reference, cost_terms
from .test_kd_builders import NASTY


def built(target: Target, scene: TriangleScene, **options: object) -> SahEvents:
    made = SahEvents(target, StructureChoice(SahEvents.Options(**options)))  # type: ignore[arg-type]
    made.build(scene.upload(target))
    return made


def reference_of(scene: TriangleScene, options: SahEventsOptions, dtype: type = FLOAT) -> KdArrays:
    """The sequential tree, in single precision as the kernels count or in double precision."""
    most = {"small_nodes": float(options.small_node_size), "all": np.inf}
    clip = Clip(scene.corners(), most[options.clipping], dtype) if options.clipping in most else None
    return build_reference(*scene.boxes(), options, clip)


def assert_is_the_reference(
    target: Target, scene: TriangleScene, expected: KdArrays | None = None, **options: object
) -> None:
    made = built(target, scene, **options)
    expected = expected or reference_of(scene, made.options)
    counts = target.download(made.tree.counts)
    np.testing.assert_array_equal(target.download(made.tree.nodes)[: counts[NODES_NOW]], expected.nodes)
    np.testing.assert_array_equal(target.download(made.tree.parent)[: counts[NODES_NOW]], expected.parent)
    np.testing.assert_array_equal(target.download(made.tree.references)[: counts[REFERENCES_NOW]], expected.references)
    np.testing.assert_array_equal(target.download(made.tree.box)[:, :3], expected.box)


@pytest.mark.covers("scene_name max_leaf_size", "scene_name stop", "scene_name clipping", "max_leaf_size stop clipping")
@pytest.mark.parametrize("clipping", ["split_axis", "small_nodes"])
@pytest.mark.parametrize("stop", ["sah", "size"])
@pytest.mark.parametrize("max_leaf_size", [1, 8])
@pytest.mark.parametrize("scene_name", ["one", "two", "coincident", "degenerate", "stairs", "moving"])
def test_it_makes_the_splits_of_the_sequential_reference(
    exact_target: Target, scene_name: str, max_leaf_size: int, stop: str, clipping: str
) -> None:
    assert_is_the_reference(
        exact_target, SCENES[scene_name](), max_leaf_size=max_leaf_size, stop=stop, clipping=clipping
    )


@pytest.mark.parametrize("clipping", ["split_axis", "small_nodes"])
def test_it_makes_them_over_many_tiles_with_other_costs(exact_target: Target, clipping: str) -> None:
    """Nodes of many tiles, and tiles and warps of several nodes; the share of references decides some leaves."""
    choices = {
        "max_leaf_size": 32,
        "traversal_cost": 1.5,
        "intersection_cost": 0.75,
        "empty_factor": 0.5,
        "references_per_primitive": 3.0,
    }
    assert_is_the_reference(exact_target, SCENES["soup"](), clipping=clipping, **choices)


SMALL = 200
"""References of a small node in these tests: the soup has large nodes too, and small ones that a block takes as well as
a warp."""

SLOWER: list[dict[str, object]] = [
    {},
    {"reduction": "atomics", "triangles": "vertices"},
    {"reduction": "nodes", "candidates": "shared", "moving": "gaps"},
    {"reduction": "segments", "candidates": "shared", "flags": "words", "cascading": False, "triangles": "staged"},
    {"reduction": "whole_and_segments", "whole_levels": 2, "flags": "words", "moving": "masks", "boxes": "soa"},
]
"""Each form before an optimisation in one of these."""

ONE_BY_ONE: list[dict[str, object]] = [
    {"reduction": "atomics"},
    {"reduction": "nodes"},
    {"candidates": "shared"},
    {"reduction": "segments"},
    {"reduction": "whole_and_segments"},
    {"flags": "words"},
    {"boxes": "soa"},
    {"cascading": False},
    {"triangles": "staged"},
    {"triangles": "vertices"},
    {"moving": "gaps"},
    {"moving": "masks"},
]


@functools.cache
def soup_in_leaves_of_24() -> KdArrays:
    return reference_of(SCENES["soup"](), SahEvents.Options(max_leaf_size=24, small_node_size=SMALL))


@pytest.mark.parametrize(
    "slower",
    [*SLOWER, *(pytest.param(options, marks=pytest.mark.full) for options in ONE_BY_ONE)],
    ids=lambda options: "-".join(f"{name}_{value}" for name, value in options.items()),
)
def test_forms_before_an_optimisation_make_the_same_tree(exact_target: Target, slower: dict[str, object]) -> None:
    """Chapter 6 of the thesis: nodes of many tiles, and many nodes in a tile."""
    assert_is_the_reference(
        exact_target, SCENES["soup"](), soup_in_leaves_of_24(), max_leaf_size=24, small_node_size=SMALL, **slower
    )


@pytest.mark.parametrize("clipping", ["split_axis", "small_nodes"])
def test_a_level_has_a_fixed_number_of_launches(host_target: Target, clipping: str) -> None:
    """Whatever is in it, as nobody waits to learn that: what a frame issues is known beforehand."""

    def launches(max_depth: int) -> int:
        made = built(host_target, SCENES["two"](), max_depth=max_depth, clipping=clipping)
        primitives = SCENES["two"]().upload(host_target)
        made.build(primitives)
        host_target.finished_frames()
        host_target.begin_frame(1)
        made.build(primitives)
        host_target.end_frame()
        return host_target.finished_frames()[-1].launches

    assert launches(7) - launches(6) == launches(30) - launches(29) == (6 if clipping == "small_nodes" else 5)


@pytest.mark.parametrize("clipping", ["small_nodes", "all"])
@pytest.mark.parametrize("scene_name", ["some", "stairs", "needle"])
def test_boxes_cut_along_all_axes_make_the_tree_of_the_reference_in_double_precision(
    target: Target, scene_name: str, clipping: str
) -> None:
    """Clipping against polygons in numpy: the same cost, and as many references, but for roundings."""
    scene = SCENES[scene_name]() if scene_name in SCENES else NASTY[scene_name]()
    choices = {"max_leaf_size": 8, "references_per_primitive": 8.0, "small_node_size": SMALL}
    made = built(target, scene, clipping=clipping, **choices)
    given = GivenKdTree(target, reference_of(scene, made.options, np.float64))
    given.build(scene.upload(target))
    exact, expected = statistics(made), statistics(given)
    assert exact.sah_cost == pytest.approx(expected.sah_cost, rel=2e-3)
    assert exact.reference_count == pytest.approx(expected.reference_count, rel=2e-3)
    one_axis = built(target, scene, clipping="split_axis", **choices)
    assert exact.reference_count <= statistics(one_axis).reference_count
    if scene_name != "stairs":
        assert exact.sah_cost < 0.99 * statistics(one_axis).sah_cost
    check_tree(made.nodes(), *scene.boxes(), splits_references=True, splits_space=True)
    np.testing.assert_array_equal(trace(made, *rays()).t, trace(one_axis, *rays()).t)


def globe(rows: int) -> TriangleScene:
    """A thin shell: two triangles for each of rows x 2 rows patches of a ball."""
    down, around = np.meshgrid(
        np.linspace(0.0, np.pi, rows + 1), np.linspace(0.0, 2.0 * np.pi, 2 * rows + 1), indexing="ij"
    )
    points = np.stack([np.sin(down) * np.cos(around), np.cos(down), np.sin(down) * np.sin(around)], -1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    return scene_of(
        np.concatenate([np.stack(corners, 2).reshape(-1, 3, 3) for corners in ((a, b, c), (a, c, d))]).astype(
            np.float32
        )
    )


def test_small_nodes_are_enough_to_cut_boxes_in(target: Target) -> None:
    """The promise: within 3 % of the cost of boxes that are cut along all axes in every node."""
    costs = {
        clipping: statistics(built(target, globe(60), clipping=clipping)).sah_cost or 0.0
        for clipping in ("split_axis", "small_nodes", "all")
    }
    assert costs["all"] <= 1.001 * costs["small_nodes"] <= 1.03 * costs["all"]
    assert costs["split_axis"] > 1.05 * costs["all"]


@pytest.mark.parametrize("clipping", ["small_nodes", "all"])
def test_parts_of_spheres_are_bounded_too(target: Target, clipping: str) -> None:
    """Fewer references than where their boxes are cut along one axis, and the same hits."""
    random = np.random.default_rng(8)
    centres, radii = (
        random.uniform(-1.0, 1.0, (600, 3)).astype(np.float32),
        random.uniform(0.02, 0.3, 600).astype(np.float32),
    )
    spheres = sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test"))
    found = {}
    for name in (clipping, "split_axis"):
        options = SahEvents.Options(clipping=name, small_node_size=SMALL, references_per_primitive=8.0)
        made = SahEvents(target, StructureChoice(options))
        made.build(spheres)
        found[name] = statistics(made), trace(made, *rays()).t
    assert found[clipping][0].sah_cost < 0.98 * (found["split_axis"][0].sah_cost or 0.0)
    np.testing.assert_array_equal(found[clipping][1], found["split_axis"][1])


def statistics(made: KdTreeHierarchy) -> HierarchyStatistics:
    """Measured on the target."""
    made.measure()
    made.target.synchronize()
    return made.stats()


CLIPPINGS = st.sampled_from(["split_axis", "small_nodes"])


@hypothesis.given(st.integers(0, 2**32 - 1), st.integers(2, 40), CLIPPINGS)
def test_small_whole_numbers_meet_in_planes(host_target: Target, seed: int, count: int, clipping: str) -> None:
    """Boxes over a grid of six: planes exactly on boundaries, flat boxes, points and boxes that are equal. Each leaf's
    cell has what it lists."""
    random = np.random.default_rng(seed)
    scene = scene_of(random.integers(0, 6, (count, 3, 3)).astype(np.float32))
    made = built(host_target, scene, max_leaf_size=1, stop="size", clipping=clipping)
    lower, upper = scene.boxes()
    table = made.nodes()
    check_tree(table, lower, upper, splits_references=True, splits_space=True)
    root = np.stack([table.lower[0], table.upper[0]])
    split = best_split(lower, upper, root, made.options)
    if split is None:
        assert len(table) == 1
    elif len(table) > 1:
        axis = (
            int(host_target.download(made.tree.nodes)[0, 1]) & 3
        )  # of equal costs contraction may find another one the least
        assert table.upper[1][axis] == table.lower[2][axis]
        assert axis != split.axis or table.upper[1][axis] == split.plane


def sweep(lower: np.ndarray, upper: np.ndarray, cell: np.ndarray, options: KdTreeOptions) -> float:
    """Algorithm 1 of the thesis along all axes, in double precision: the least cost of a plane inside the cell."""
    extent, area, scale = (np.asarray(value, np.float64) for value in cost_terms(cell.astype(np.float32)))
    least = np.inf
    for axis in range(3):
        flat = lower[:, axis] == upper[:, axis]
        starts = [(plane, 3 - 2 * bool(is_flat), 1) for plane, is_flat in zip(lower[:, axis], flat, strict=True)]
        ends = [(plane, 2 * bool(is_flat), 0) for plane, is_flat in zip(upper[:, axis], flat, strict=True)]
        below, above = 0, len(lower)
        a, b = extent[(axis + 1) % 3], extent[(axis + 2) % 3]
        for plane, _, is_start in sorted(starts + ends):
            above -= 1 - is_start
            low, high = cell[:, axis]
            if (
                low < plane < high or low < high and plane == (high if is_start else low)
            ):  # at a face from what lies flat in it
                left = a * b + (plane - cell[0, axis]) * scale * (a + b)
                right = a * b + (cell[1, axis] - plane) * scale * (a + b)
                cost = options.traversal_cost * area + options.intersection_cost * (left * below + right * above)
                least = min(least, cost * (options.empty_factor if below == 0 or above == 0 else 1.0))
            below += is_start
    return float(least)


@hypothesis.given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.booleans(), CLIPPINGS)
def test_counts_are_those_of_a_sweep_line(
    host_target: Target, seed: int, count: int, is_coarse: bool, clipping: str
) -> None:
    """By prefix sums over events, and by comparing boxes."""
    random = np.random.default_rng(seed)
    corners = (
        random.integers(0, 9, (count, 3, 3))
        if is_coarse
        else random.random((count, 1, 3)) + 0.2 * random.random((count, 3, 3))
    )
    scene = scene_of(corners.astype(np.float32))
    lower, upper = scene.boxes()
    cell = np.stack([lower.min(axis=0), upper.max(axis=0)])
    options = SahEvents.Options(
        max_leaf_size=1, stop="size", max_depth=1, references_per_primitive=8.0, clipping=clipping
    )
    made = built(
        host_target, scene, **{field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    )
    table, expected = made.nodes(), best_split(lower, upper, cell, options)
    least = sweep(lower, upper, cell, options)
    if expected is None:
        assert len(table) == 1 and least == np.inf
        return
    assert float(expected.cost) == pytest.approx(least, rel=1e-5)
    first, second = table.reference_count[1:3]
    axis = (
        int(host_target.download(made.tree.nodes)[0, 1]) & 3
    )  # of equal costs multiply-add contraction may find another one the least
    assert (first, second) == counted(lower, upper, axis, table.upper[1][axis], first)


def shelves(count: int = 6) -> TriangleScene:
    """Floor, shelf and ceiling, and slanted planks through the shelf: what is cut at the shelf ends at the face in
    which it lies."""
    x, z = np.meshgrid(np.arange(float(count)), np.arange(float(count)), indexing="ij")
    corners = []
    for height in (0.0, 1.0, 2.0):
        corner = np.stack([x, np.full_like(x, height), z], -1).reshape(-1, 1, 3)
        corners += [corner + [[0, 0, 0], [1, 0, 0], [0, 0, 1]], corner + [[1, 0, 0], [1, 0, 1], [0, 0, 1]]]
    for low, high in ((0.25, 1.75), (0.5, 1.5), (1.0, 1.5), (0.5, 1.0)):
        corner = np.stack([x, np.full_like(x, low), z], -1).reshape(-1, 1, 3) + [[0.25 * low, 0, 0]]
        corners.append(corner + [[0, 0, 0], [0.25, high - low, 0.25], [0.5, 0, 0.25]])
    return scene_of(np.concatenate(corners).astype(np.float32))


@pytest.mark.parametrize("clipping", ["split_axis", "small_nodes"])
@pytest.mark.parametrize(
    "options", [{"max_leaf_size": 2}, {"max_leaf_size": 8, "stop": "size"}, {"max_leaf_size": 2, "reduction": "nodes"}]
)
def test_flat_ones_in_faces_of_cells_that_cut_others_are_counted(
    exact_target: Target, options: dict[str, object], clipping: str
) -> None:
    assert_is_the_reference(exact_target, shelves(), clipping=clipping, **options)


@pytest.mark.parametrize("height", [0.0, 3.0])
def test_what_lies_flat_in_a_face_has_cells_without_volume(target: Target, height: float) -> None:
    """A floor or a ceiling: else each ray through the room would meet a column of it."""
    x, z = np.meshgrid(np.arange(8.0), np.arange(8.0), indexing="ij")
    corner = np.stack([x, np.full_like(x, height), z], -1).reshape(-1, 1, 3)
    floor = np.concatenate([corner + [[0, 0, 0], [1, 0, 0], [0, 0, 1]], corner + [[1, 0, 0], [1, 0, 1], [0, 0, 1]]])
    things = np.array([[[x, y, 4.0], [x + 0.5, y + 0.5, 4.5], [x, y + 0.5, 4.5]] for x in range(8) for y in (0.5, 1.5)])
    table = built(target, scene_of(np.concatenate([floor, things]).astype(np.float32)), max_leaf_size=4).nodes()
    for row in np.flatnonzero(table.is_leaf):
        listed = table.references[table.first_reference[row] :][: table.reference_count[row]]
        if (listed < len(floor)).any():
            assert table.lower[row, 1] == table.upper[row, 1] == height


def counted(lower: np.ndarray, upper: np.ndarray, axis: int, plane: float, first: int) -> tuple[int, int]:
    """What lies on both sides of a plane by looking; flat ones on the side where the tree has them."""
    flat = int(((lower[:, axis] == plane) & (upper[:, axis] == plane)).sum())
    below, above = int((lower[:, axis] < plane).sum()), int((upper[:, axis] > plane).sum())
    return (below + flat, above) if first != below else (below, above + flat)


def test_the_depth_is_what_the_options_say(target: Target) -> None:
    assert [SahEvents.Options().levels(n) for n in (1, 2, 1500, 69451)] == [8, 10, 21, 29]
    table = built(target, SCENES["moving"](), max_leaf_size=1, max_depth=3).nodes()
    assert table.depth.max() == 3 and table.reference_count.max() > 1


def test_its_tree_is_as_good_as_its_sums_say(target: Target) -> None:
    """Leaves by cost are fewer than by size alone, and cost less to traverse."""
    costs = {}
    for stop in ("sah", "size"):
        made = built(target, SCENES["soup"](), max_leaf_size=1, stop=stop, references_per_primitive=8.0)
        made.measure()
        target.synchronize()
        costs[stop] = made.stats().sah_cost or 0.0
    assert 0.0 < costs["sah"] < costs["size"]

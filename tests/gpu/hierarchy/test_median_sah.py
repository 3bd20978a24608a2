"""median_sah: the splits of the sequential reference, the same tree whoever builds it, and scenes that are nasty to
kd-trees."""

from __future__ import annotations

import dataclasses
import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import NodeTable, StructureChoice
from raygrove.gpu.hierarchy.kdtree.builders.median_sah import MedianSah
from raygrove.gpu.settings import fields_of
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.scenes import SCENES, TriangleScene, scene_of, soup
from raygrove.testing.tree_walker import check_tree

from .kd_reference import GivenKdTree
from .median_reference import MedianReference, part_between


def built(target: Target, scene: TriangleScene, **options: object) -> MedianSah:
    made = MedianSah(target, StructureChoice(MedianSah.Options(**options)))  # type: ignore[arg-type]
    made.build(scene.upload(target))
    return made


def canonical(table: NodeTable) -> list[np.ndarray]:
    """The table with leaves' references in the order of its rows, whatever their places."""
    lists = [
        table.references[first : first + count]
        for first, count in zip(table.first_reference, table.reference_count, strict=True)
    ]
    columns = (table.parent, table.depth, table.lower, table.upper, table.is_leaf, table.reference_count)
    return [*columns, np.concatenate([np.zeros(0, np.int32), *lists])]


def assert_same_tree(first: NodeTable, second: NodeTable) -> None:
    for one, other in zip(canonical(first), canonical(second), strict=True):
        np.testing.assert_array_equal(one, other)


def assert_is_the_reference(target: Target, scene: TriangleScene, **options: object) -> NodeTable:
    made = built(target, scene, **options)
    reference = MedianReference(scene, made.options, made.large_levels(len(scene.indices)), made.max_depth())
    expected = GivenKdTree(target, reference.arrays)
    expected.build(scene.upload(target))
    assert_same_tree(made.nodes(), expected.nodes())
    return made.nodes()


@pytest.mark.covers("scene_name max_leaf_size", "scene_name stop", "max_leaf_size stop")
@pytest.mark.parametrize("stop", ["sah", "size"])
@pytest.mark.parametrize("max_leaf_size", [1, 8])
@pytest.mark.parametrize("scene_name", ["one", "two", "coincident", "degenerate", "stairs", "moving"])
def test_it_makes_the_splits_of_the_sequential_reference(
    exact_target: Target, scene_name: str, max_leaf_size: int, stop: str
) -> None:
    table = assert_is_the_reference(exact_target, SCENES[scene_name](), max_leaf_size=max_leaf_size, stop=stop)
    assert scene_name in ("one", "two") or len(table) > 8


@pytest.mark.parametrize("clips", [True, False])
def test_it_makes_them_over_many_chunks_with_other_costs(exact_target: Target, clips: bool) -> None:
    """Nodes of many chunks, cuts of empty space, leaves by the share of references and by depth."""
    choices = {
        "max_leaf_size": 4,
        "traversal_cost": 1.5,
        "intersection_cost": 0.75,
        "empty_factor": 0.5,
        "references_per_primitive": 3.0,
    }
    corners = np.concatenate(
        [soup(900, seed=9, size=0.02).corners(), 0.2 * soup(700, seed=10, size=0.3).corners() + [2.0, 0.0, 5.0]]
    )
    assert_is_the_reference(
        exact_target, scene_of(corners), clips_primitives=clips, empty_fraction=0.1, max_depth=14, **choices
    )


@hypothesis.given(st.integers(0, 2**32 - 1), st.integers(2, 200))
def test_small_whole_numbers_meet_in_planes(host_target: Target, seed: int, count: int) -> None:
    """Boxes over a grid of six: planes exactly on boundaries, flat boxes, points and boxes that are equal, in large and
    in small nodes."""
    random = np.random.default_rng(seed)
    scene = scene_of(random.integers(0, 6, (count, 3, 3)).astype(np.float32))
    made = built(host_target, scene, max_leaf_size=1, stop="size")
    table = made.nodes()
    check_tree(table, *scene.boxes(), splits_references=True, splits_space=True)
    assert len(table.references) <= made.options.references_per_primitive * count
    for first, number in zip(table.first_reference, table.reference_count, strict=True):
        assert (np.diff(table.references[first : first + number]) > 0).all()


@hypothesis.given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.floats(0, 1), st.integers(0, 2))
def test_the_reference_cuts_triangles_to_what_lies_between_planes(
    seed: int, first: float, second: float, axis: int
) -> None:
    """Points of the triangle between the planes lie in the box, which is no wider than the planes say but for
    rounding."""
    random = np.random.default_rng(seed)
    corners = random.random((3, 3)).astype(np.float32)
    low, high = np.float32(min(first, second)), np.float32(max(first, second))
    box = part_between(corners, axis, low, high)
    points = random.dirichlet((1, 1, 1), 400) @ corners
    inside = points[(points[:, axis] >= low) & (points[:, axis] <= high)]
    assert (inside >= box[0] - 1e-6).all() and (inside <= box[1] + 1e-6).all()
    assert box[0, axis] > box[1, axis] or (box[0, axis] >= low - 1e-5 and box[1, axis] <= high + 1e-5)


def crowd() -> TriangleScene:
    """Three thousand times the same triangle in a soup: a leaf of more than any small node."""
    corners = np.concatenate(
        [soup(700, seed=4, size=0.05).corners(), np.tile(soup(1, size=0.01).corners(), (3000, 1, 1))]
    )
    return scene_of(np.random.default_rng(1).permutation(corners))


@pytest.mark.parametrize("implementation", ["atomics", "primitives"])
def test_the_same_bytes_however_many_blocks_there_are(implementation: str) -> None:
    """Blocks arrive in another order; large leaves and small nodes are put in order of primitives."""
    tables = []
    for threads in (1, 2, 5):
        target = make_target("host", threads=threads)
        tables.append(built(target, crowd(), max_leaf_size=3, implementation=implementation).nodes())
        target.close()
    largest = int(tables[0].reference_count.argmax())
    first, count = tables[0].first_reference[largest], tables[0].reference_count[largest]
    assert count >= 3000 and (np.diff(tables[0].references[first : first + count]) > 0).all()
    for other in tables[1:]:
        for column in vars(other):
            np.testing.assert_array_equal(getattr(tables[0], column), getattr(other, column))


def test_no_leaf_is_deeper_than_the_options_say(target: Target) -> None:
    sentence = next(field.info.sentence for field in fields_of(MedianSah.Options) if field.name == "max_depth")
    assert f"0 takes {MedianSah(target).max_depth()}," in sentence
    for depth in (1, 3, 9):
        table = built(target, SCENES["moving"](), max_leaf_size=1, max_depth=depth).nodes()
        assert table.depth.max() == depth and table.reference_count.max() > 1


VARIANTS: dict[str, dict[str, str]] = {
    "primitives": {"implementation": "primitives"},
    "A": {"implementation": "primitives", "sorting": "atomics"},
    "AB": {"implementation": "primitives", "sorting": "atomics", "scans": "ballots"},
    "ABC": {"implementation": "primitives", "sorting": "atomics", "scans": "ballots", "boxes": "atomics"},
    "ABCD": {
        "implementation": "primitives",
        "sorting": "atomics",
        "scans": "ballots",
        "boxes": "atomics",
        "reductions": "shuffles",
    },
    "C alone": {"implementation": "primitives", "boxes": "atomics"},
    "rounds": {"small_nodes": "rounds"},
    "Manku in subtrees": {"bit_counts": "manku"},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_way_builds_the_same_tree(exact_target: Target, name: str) -> None:
    """Chang's improvements change how long it takes, one by one, and nothing else."""
    for scene, max_leaf_size in (
        (crowd(), 3),
        (SCENES["soup"](), 8),
        (SCENES["degenerate"](), 1),
        (SCENES["stairs"](), 100),
    ):
        expected = built(exact_target, scene, max_leaf_size=max_leaf_size)
        found = built(exact_target, scene, max_leaf_size=max_leaf_size, **VARIANTS[name])
        assert_same_tree(found.nodes(), expected.nodes())


@pytest.mark.parametrize("scene_name", ["soup", "moving", "stairs", "coincident"])
def test_every_way_ends_at_the_same_depth(exact_target: Target, scene_name: str) -> None:
    """At bounds of every depth, so that small roots and nodes below them lie there; both ends of a tree by turns, of
    which each scene meets the other half."""
    scene, turn = SCENES[scene_name](), ("soup", "moving", "stairs", "coincident").index(scene_name)
    for bound, stop in zip(range(1, 13), itertools.cycle(("sah", "size") if turn % 2 else ("size", "sah"))):
        choices = {"max_leaf_size": 2, "stop": stop, "max_depth": bound}
        expected = built(exact_target, scene, **choices).nodes()
        assert expected.depth.max() <= bound
        for name in ("primitives", "rounds"):
            assert_same_tree(built(exact_target, scene, **choices, **VARIANTS[name]).nodes(), expected)


@pytest.mark.parametrize("bound", [2, 4, 5, 7])
def test_a_bounded_tree_is_the_reference(exact_target: Target, bound: int) -> None:
    table = assert_is_the_reference(exact_target, SCENES["soup"](), max_leaf_size=4, max_depth=bound)
    assert table.depth.max() == bound


def launches_of(target: Target, scene: TriangleScene, **options: object) -> int:
    """Kernels of a build that has its room."""
    made = built(target, scene, **options)
    primitives = scene.upload(target)
    made.build(primitives)
    target.finished_frames()
    target.begin_frame(0)
    made.build(primitives)
    target.end_frame()
    target.synchronize()
    return target.finished_frames()[-1].launches


def nested_details(scales: int) -> TriangleScene:
    """As much around a corner at every scale, each half of the one before, and most of all at the last: no space is
    empty, and halves come down to the details one scale in three levels."""
    random = np.random.default_rng(3)
    size = 0.5 ** np.repeat(np.arange(scales + 1), [120] * scales + [1500])[:, None]
    centres = (random.random((len(size), 3)) * size)[:, None]
    corners = centres + 0.02 * size[:, :, None] * random.normal(size=(len(size), 3, 3))
    return scene_of(corners)


def test_details_that_are_small_beside_the_scene_are_divided(host_target: Target) -> None:
    """A warp waits for its slowest ray: a leaf of a thousand references costs the picture what it costs one ray."""
    table = built(host_target, nested_details(6)).nodes()
    assert table.reference_count.max() <= 64


def test_each_improvement_takes_launches_away(host_target: Target) -> None:
    """Ballots and shuffles take none; atomics and subtrees do, as many as the help says."""
    scene = SCENES["soup"]()
    for name, more in (("primitives", 9), ("rounds", 3)):
        deeper = [launches_of(host_target, scene, **VARIANTS[name], max_depth=depth) for depth in (5, 6)]
        assert deeper[1] - deeper[0] == more
    counts = {
        name: launches_of(host_target, scene, **VARIANTS[name]) for name in ("primitives", "A", "AB", "ABC", "ABCD")
    }
    assert counts["primitives"] > counts["A"] == counts["AB"] > counts["ABC"] == counts["ABCD"]
    assert launches_of(host_target, scene) < counts["ABCD"] / 1.5


@pytest.mark.covers("too_small", "implementation")
@pytest.mark.parametrize("too_small", ["nodes", "references", "working"])
@pytest.mark.parametrize("implementation", ["atomics", "primitives"])
def test_a_tree_that_does_not_fit_leaves_the_one_before(target: Target, implementation: str, too_small: str) -> None:
    scene = SCENES["soup"]()
    made = built(target, scene, implementation=implementation)
    made.build(scene.upload(target))  # the second of the builds that find room
    before, whole = made.nodes(), made.tree.capacity
    made.tree.capacity = dataclasses.replace(
        whole, **{too_small: {"nodes": 30, "references": 900, "working": 1600}[too_small]}
    )
    made.build(scene.upload(target, later=True))
    assert_same_tree(made.nodes(), before)
    made.tree.capacity = whole
    made.build(scene.upload(target, later=True))
    expected = built(target, scene, implementation=implementation)
    expected.build(scene.upload(target, later=True))
    assert_same_tree(made.nodes(), expected.nodes())

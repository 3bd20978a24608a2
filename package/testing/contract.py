"""THE suite: every structure of the registry, in every layout, on every target, over every scene, keeps every promise
of the contract, whether its builds and refits are launched or were captured with other vertices and are replayed."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import CannotRefitError, Hierarchy, HierarchyError, Primitives
from raygrove.gpu.hierarchy.registry import structure, structures, telling_layouts
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays
from raygrove.testing.closest_hits import OracleHits, mixed_hits, sphere_hits, triangle_hits
from raygrove.testing.tree_walker import TreeStatistics, check_tree, tree_statistics

from . import HAS_CUDA, KINDS, make_target, scenes
from .replayed import replayed
from .scenes import SCENES, Traced, TriangleScene, mixed_scene, rays, scene_of, sphere_scene, trace

over_scenes = pytest.mark.parametrize("scene_name", SCENES)
make = scenes.make


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what asks for a `choice` with every structure in the layouts that tell about it, or with those of
    --structure."""
    choices = [
        (name, layout, traversal)
        for name in metafunc.config.getoption("--structure") or structures()
        for layout in telling_layouts(name)
        for traversal in structure(name).traversals(layout)
    ]
    if "choice" in metafunc.fixturenames:
        metafunc.parametrize("choice", choices, ids="-".join)
    if "way_through" in metafunc.fixturenames:  # the first structure of each traversal of a layout
        firsts = {choice[1:]: choice for choice in reversed(choices)}
        metafunc.parametrize("way_through", list(firsts.values()), ids="-".join)


@pytest.fixture(params=["launched", "replayed"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How builds and refits of what `make` makes come to the target."""
    if request.param == "replayed":
        monkeypatch.setitem(globals(), "make", lambda *choice, **options: replayed(scenes.make(*choice, **options)))


@functools.cache
def scene_and_hits(name: str, later: bool = False) -> tuple[TriangleScene, OracleHits]:
    scene = SCENES[name]()
    return scene, triangle_hits(scene.corners(later), *rays())


@functools.cache
def near_hits(name: str, most: float) -> OracleHits:
    """Of rays that end at `most`."""
    return triangle_hits(SCENES[name]().corners(), *rays(), t_max=most)


@functools.cache
def hits_of_first(name: str, count: int) -> OracleHits:
    """Of a scene's first primitives alone."""
    return triangle_hits(SCENES[name]().corners()[:count], *rays())


@functools.cache
def hits_by_brute_force(target: Target, counts: tuple[int, int]) -> Traced:
    """Of triangles and spheres, on a target."""
    plain = scenes.make(target, "brute_force")
    plain.build(mixed_scene(target, *counts)[-1])
    return trace(plain, *rays())


def assert_hits(hierarchy: Hierarchy, expected: OracleHits) -> None:
    """Closest hits as the oracle's wherever it is certain; any hit if and only if closest hit; u, v, t lie on the
    primitive."""
    assert_any_hits(hierarchy, assert_closest_hits(hierarchy, expected))


def assert_any_hits(hierarchy: Hierarchy, closest: Traced) -> None:
    """Any hit if and only if closest hit."""
    np.testing.assert_array_equal(trace(hierarchy, *rays(), "any").prim_id >= 0, closest.prim_id >= 0)


def assert_closest_hits(hierarchy: Hierarchy, expected: OracleHits) -> Traced:
    """They are the oracle's wherever it is certain; u, v, t lie on the primitive."""
    closest, sure = trace(hierarchy, *rays()), expected.is_certain
    assert sure.mean() > 0.9
    np.testing.assert_array_equal(closest.prim_id[sure], expected.prim_id[sure])
    is_hit = sure & (expected.prim_id >= 0)
    np.testing.assert_allclose(closest.t[is_hit], expected.t[is_hit], rtol=1e-4, atol=1e-4)
    return closest


def built_and_refitted(hierarchy: Hierarchy, primitives: Primitives) -> Iterator[None]:
    """Once it is built, and once more where it has been refitted."""
    hierarchy.build(primitives)
    yield
    if hierarchy.capabilities.refit:
        hierarchy.refit(primitives)
        yield


@over_scenes
def test_tree_hits_and_statistics(target: Target, choice: tuple[str, str, str], scene_name: str) -> None:
    """One build: the tree is one, rays find in it what the oracle finds, and its statistics are a walker's count."""
    scene, expected = scene_and_hits(scene_name)
    hierarchy = make(target, *choice)
    hierarchy.build(scene.upload(target))
    capabilities, table = hierarchy.capabilities, hierarchy.nodes()
    check_tree(table, *scene.boxes(), capabilities.splits_references, capabilities.splits_space)
    assert_hits(hierarchy, expected)
    assert hierarchy.stats().sah_cost is None
    hierarchy.measure()
    target.synchronize()
    assert_statistics(hierarchy, tree_statistics(table), scene)


def assert_statistics(hierarchy: Hierarchy, counted: TreeStatistics, scene: TriangleScene) -> None:
    """What a measured structure says of itself is what a walker `counted`."""
    stats = hierarchy.stats()
    assert (stats.node_count, stats.leaf_count, stats.depth) == (counted.node_count, counted.leaf_count, counted.depth)
    if hierarchy.capabilities.sah_cost:
        assert stats.sah_cost == pytest.approx(counted.sah_cost, rel=1e-5)
    else:
        assert stats.sah_cost is None
    assert stats.primitive_count == len(scene.indices)
    assert stats.reference_count >= stats.primitive_count - (
        stats.inactive_count if hierarchy.capabilities.splits_space else 0
    )
    assert stats.inactive_count == int((scene.boxes()[0] > scene.boxes()[1]).any(axis=1).sum())
    assert stats.bytes > 0 or stats.primitive_count == 0


def test_boxes_are_counted_where_there_are_some(host_target: Target, choice: tuple[str, str, str]) -> None:
    """Heat maps of different layouts share a scale, so every traversal says how many boxes it tests: at least two a
    node that is no leaf."""
    hierarchy = make(host_target, *choice)
    hierarchy.build(SCENES["soup"]().upload(host_target))
    found = Tracer(host_target, hierarchy.traversal()).trace(upload_rays(host_target, *rays()), "steps")
    nodes, boxes = host_target.download(found.steps), host_target.download(found.boxes)
    if hierarchy.family != "bvh":
        assert boxes.min() >= 0
        return
    assert np.all(boxes[nodes > 1] >= 2) and np.all(boxes[nodes <= 0] == 0) and boxes.max() > 8


def all_bytes(hierarchy: Hierarchy) -> tuple[bytes, ...]:
    table = hierarchy.nodes()
    return tuple(np.ascontiguousarray(column).tobytes() for column in vars(table).values())


@over_scenes
def test_refit_of_unmoved_is_identity(target: Target, choice: tuple[str, str, str], scene_name: str) -> None:
    scene, expected = scene_and_hits(scene_name)
    hierarchy, primitives = make(target, *choice), scene.upload(target)
    hierarchy.build(primitives)
    if not hierarchy.capabilities.refit:
        with pytest.raises(CannotRefitError):
            hierarchy.refit(primitives)
        return
    before = all_bytes(hierarchy)
    for _ in range(2):
        hierarchy.refit(primitives)
    assert all_bytes(hierarchy) == before
    assert_hits(hierarchy, expected)


@pytest.mark.parametrize("scene_name", ["two", "soup", "stairs", "moving"])
def test_refit_of_moved_finds_what_a_rebuild_finds(
    target: Target, choice: tuple[str, str, str], scene_name: str
) -> None:
    scene, expected = scene_and_hits(scene_name, later=True)
    hierarchy = make(target, *choice)
    if not hierarchy.capabilities.refit:
        pytest.skip("this structure is never refitted")
    hierarchy.build(scene.upload(target))
    before = hierarchy.nodes()
    hierarchy.refit(scene.upload(target, later=True))
    after = hierarchy.nodes()
    for column in ("parent", "depth", "is_leaf", "first_reference", "reference_count", "references"):
        np.testing.assert_array_equal(getattr(after, column), getattr(before, column))
    check_tree(after, *scene.boxes(later=True))
    assert_hits(hierarchy, expected)


def test_refit_says_why_it_cannot(host_target: Target, choice: tuple[str, str, str]) -> None:
    scene, other = SCENES["soup"](), SCENES["stairs"]()
    hierarchy = make(host_target, *choice)
    with pytest.raises(CannotRefitError, match=choice[0]):
        hierarchy.refit(scene.upload(host_target))
    with pytest.raises(HierarchyError, match=choice[0]):
        hierarchy.traversal()
    hierarchy.build(scene.upload(host_target))
    with pytest.raises(CannotRefitError):
        hierarchy.refit(other.upload(host_target))
    with pytest.raises(CannotRefitError, match="topology" if hierarchy.capabilities.refit else choice[0]):
        hierarchy.refit(scene.upload(host_target, topology_version=1))


def test_unknown_primitives_are_refused(host_target: Target, choice: tuple[str, str, str]) -> None:
    strange = Primitives("disc", "", "", np.zeros(()), 1)
    with pytest.raises(HierarchyError, match="disc"):
        make(host_target, *choice).build(strange)


@pytest.mark.parametrize("scene_name", ["soup", "degenerate", "coincident"])
def test_same_input_same_bytes(target: Target, choice: tuple[str, str, str], scene_name: str) -> None:
    scene, _ = scene_and_hits(scene_name)
    first, second = make(target, *choice), make(target, *choice)
    if not first.capabilities.deterministic:
        pytest.skip("this structure does not promise it")
    other = SCENES["stairs"]()
    first.build(scene.upload(target))
    second.build(other.upload(target))
    second.build(scene.upload(target))
    assert all_bytes(first) == all_bytes(second)


def test_of_coincident_primitives_the_first_is_hit(target: Target, choice: tuple[str, str, str]) -> None:
    """Of hits at one distance the smallest prim_id stays, whatever the tree is like."""
    scene = SCENES["coincident"]()
    hierarchy = make(target, *choice)
    hierarchy.build(scene.upload(target))
    expected = hits_of_first("coincident", 3)
    sure = expected.is_certain
    assert (expected.prim_id[sure] >= 0).sum() > 20
    np.testing.assert_array_equal(trace(hierarchy, *rays()).prim_id[sure], expected.prim_id[sure])


def test_coincident_primitives_give_one_picture(exact_hits_target: Target, way_through: tuple[str, str, str]) -> None:
    """So no traversal can be told by its picture: equal to brute force bit by bit."""
    scene = SCENES["coincident"]()
    plain, hierarchy = make(exact_hits_target, "brute_force"), make(exact_hits_target, *way_through)
    for made in (plain, hierarchy):
        made.build(scene.upload(exact_hits_target))
    expected, found = trace(plain, *rays()), trace(hierarchy, *rays())
    assert (expected.prim_id >= 0).sum() > 20
    assert expected.prim_id.max() < 3
    for column in ("t", "prim_id", "u", "v"):
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))


@pytest.mark.parametrize("way", ["launched"], indirect=True)
def test_checks_find_nothing(checked_target: Target, way_through: tuple[str, str, str]) -> None:
    """Of every layout and traversal a family has, by one of its structures: in units that check each index, stack and
    ray, building and tracing are right, and hits are the oracle's."""
    scene, expected = scene_and_hits("soup")
    hierarchy = make(checked_target, *way_through)
    hierarchy.build(scene.upload(checked_target))
    found, sure = trace(hierarchy, *rays()), expected.is_certain
    np.testing.assert_array_equal(found.prim_id[sure], expected.prim_id[sure])


def test_lines_are_never_hit(target: Target, choice: tuple[str, str, str]) -> None:
    """Triangles whose corners lie on a line have no area: rounding must not make specks of them. Their boxes count,
    without any -0."""
    random = np.random.default_rng(2)
    start, along = random.integers(-9, 10, (200, 3)), random.integers(-5, 6, (200, 3))
    corners = np.stack([start, start + along * 2, start - along * 3], axis=1).astype(np.float32)
    corners[:20] = -0.0
    corners[20:40, :, 1] = np.array([0.0, -0.0, 0.0], np.float32)
    corners[20:40, 1:] = corners[20:40, :1]
    scene = scene_of(corners)
    hierarchy = make(target, *choice)
    hierarchy.build(scene.upload(target))
    onto = (corners[:, 0] + corners[:, 1]) / 2
    origins = np.repeat(onto, 5, axis=0) + random.standard_normal((1000, 3))
    directions = np.repeat(onto, 5, axis=0) - origins
    found = trace(hierarchy, origins.astype(np.float32), directions.astype(np.float32))
    assert (found.prim_id == -1).all()
    table = hierarchy.nodes()
    assert not np.signbit(table.lower[table.lower == 0]).any() and not np.signbit(table.upper[table.upper == 0]).any()


def test_rays_end_where_they_are_told(target: Target, choice: tuple[str, str, str]) -> None:
    scene, _ = scene_and_hits("soup")
    hierarchy = make(target, *choice)
    hierarchy.build(scene.upload(target))
    short = trace(hierarchy, *rays(), t_max=0.3)
    expected = near_hits("soup", 0.3)
    sure = expected.is_certain
    np.testing.assert_array_equal(short.prim_id[sure] >= 0, expected.prim_id[sure] >= 0)
    assert (short.prim_id >= 0).any() and (short.t[short.prim_id >= 0] <= 0.3).all()


def test_rays_that_are_no_numbers_hit_nothing_and_disturb_no_others(
    target: Target, choice: tuple[str, str, str]
) -> None:
    """As packs of rays go through a tree together. Half of the primitives are not finite."""
    corners = scenes.soup(120).corners().astype(np.float32)
    corners[::2] = np.nan
    hierarchy = make(target, *choice)
    hierarchy.build(scene_of(corners).upload(target))
    origins, directions = rays()
    alone = trace(hierarchy, origins, directions)
    origins[::3], directions[1::6, 2] = np.nan, np.nan
    beside = trace(hierarchy, origins, directions)
    unknown = np.isnan(origins).any(axis=1) | np.isnan(directions).any(axis=1)
    assert (alone.prim_id[~unknown] >= 0).sum() > 20
    np.testing.assert_array_equal(beside.prim_id, np.where(unknown, -1, alone.prim_id))


@pytest.mark.parametrize("count", [0, 1, 3, 400])
def test_spheres(target: Target, choice: tuple[str, str, str], count: int) -> None:
    hierarchy = make(target, *choice)
    if "sphere" not in hierarchy.capabilities.primitive_kinds:
        pytest.skip("this structure takes no spheres")
    centres, radii, primitives = sphere_scene(target, count)
    expected = sphere_hits(centres, radii, *rays())
    assert count < 400 or (expected.prim_id >= 0).sum() > 60
    for _ in built_and_refitted(hierarchy, primitives):
        assert_closest_hits(hierarchy, expected)


def test_any_sphere_is_hit_where_one_is_closest(target: Target, choice: tuple[str, str, str]) -> None:
    hierarchy = make(target, *choice)
    if "sphere" not in hierarchy.capabilities.primitive_kinds:
        pytest.skip("this structure takes no spheres")
    centres, radii, primitives = sphere_scene(target, 400)
    expected = sphere_hits(centres, radii, *rays())
    for _ in built_and_refitted(hierarchy, primitives):
        assert_hits(hierarchy, expected)


def test_any_of_both_kinds_is_hit_where_one_is_closest(exact_hits_target: Target, choice: tuple[str, str, str]) -> None:
    hierarchy = make(exact_hits_target, *choice)
    if "mixed" not in hierarchy.capabilities.primitive_kinds:
        pytest.skip("this structure takes no triangles beside spheres")
    triangles, centres, radii, primitives = mixed_scene(exact_hits_target, 300, 300)
    expected = mixed_hits(triangles.corners(), centres, radii, *rays())
    for _ in built_and_refitted(hierarchy, primitives):
        assert_hits(hierarchy, expected)


@pytest.mark.parametrize("counts", [(0, 40), (40, 0), (1, 1), (300, 300)])
def test_triangles_and_spheres(
    exact_hits_target: Target, choice: tuple[str, str, str], counts: tuple[int, int]
) -> None:
    """Hits of both kinds are the oracle's, and bit by bit those of brute force."""
    hierarchy = make(exact_hits_target, *choice)
    if "mixed" not in hierarchy.capabilities.primitive_kinds:
        pytest.skip("this structure takes no triangles beside spheres")
    triangles, centres, radii, primitives = mixed_scene(exact_hits_target, *counts)
    expected = mixed_hits(triangles.corners(), centres, radii, *rays())
    assert max(counts) < 300 or min(np.bincount(expected.prim_id[expected.prim_id >= 0] >= 300)) > 30
    for _ in built_and_refitted(hierarchy, primitives):
        assert_closest_hits(hierarchy, expected)
    first, second = hits_by_brute_force(exact_hits_target, counts), trace(hierarchy, *rays())
    for column in ("t", "prim_id", "u", "v"):
        np.testing.assert_array_equal(getattr(second, column), getattr(first, column))


if HAS_CUDA:

    @pytest.fixture(scope="session")
    def exact_host_target() -> Iterator[Target]:
        """The host target without multiply-add contraction."""
        with make_target("host", contraction=False) as made:
            yield made

    @pytest.mark.cuda
    @pytest.mark.parametrize("exact_target", KINDS[1:], indirect=True)
    @pytest.mark.parametrize("scene_name", ["soup", "degenerate", "stairs", "moving"])
    def test_host_topology_is_cudas(
        exact_target: Target, exact_host_target: Target, choice: tuple[str, str, str], scene_name: str
    ) -> None:
        """Both targets without contraction: nodes, boxes and references equal byte by byte."""
        scene, options = SCENES[scene_name](), {"max_leaf_size": 4} if choice[0] == "lbvh" else {}
        tables = []
        for target in (exact_target, exact_host_target):
            hierarchy = make(target, *choice, **options)
            hierarchy.build(scene.upload(target))
            tables.append(all_bytes(hierarchy))
        assert tables[0] == tables[1]

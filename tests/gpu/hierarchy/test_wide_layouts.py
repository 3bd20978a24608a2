"""The 8-wide layouts: nodes chosen by cost, boxes that hold what is below them, every reference reached once, extreme
coordinates."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.bvh import collapse
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.layouts import bvh4, cwbvh, layout_classes
from raygrove.gpu.hierarchy.bvh.layouts.cwbvh import Cwbvh
from raygrove.gpu.hierarchy.bvh.tree import EMPTY_CHILD, first_references, leaf_words, reference_counts
from raygrove.gpu.target.base import Target, Unit
from raygrove.testing import make_target
from raygrove.testing.closest_hits import triangle_hits
from raygrove.testing.scenes import SCENES, make, rays, scene_of, soup, trace

from .test_bvh import built, canonical

WIDE = [("bvh8", "bvh8_stack"), ("bvh8", "bvh8_single"), ("cwbvh", "cwbvh_stack")]
UNIT = 2.0**36
"""A root's area in the whole numbers that costs are counted in."""


def wide_tree(hierarchy: BvhHierarchy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Child words (N, 8), lower and upper (N, 8, 3) of the nodes that are reached from the root; planes of cwbvh as its
    traversal reads them."""
    target, layout = hierarchy.target, hierarchy.layout
    nodes = target.download(layout.nodes).view(layout.node_dtype).reshape(-1)
    if isinstance(layout, Cwbvh):
        words = target.download(layout.leaf_words)
        inner = nodes["meta"] >= 128
        children = np.where(
            inner, nodes["child_base"][:, None] + (nodes["meta"] & 7), np.where(nodes["meta"] == 64, words, EMPTY_CHILD)
        )
        size = np.ldexp(1.0, nodes["exponents"].astype(np.int32) - 127)[:, :, None, None]
        with np.errstate(invalid="ignore"):  # what lies behind the last node may be anything
            planes = nodes["origin"][:, :, None, None].astype(np.float64) + nodes["planes"].reshape(-1, 3, 2, 8) * size
        lower, upper = planes[:, :, 0], planes[:, :, 1]
    else:
        children = nodes["children"]
        lower, upper = (np.stack([nodes[axis][:, side] for axis in "xyz"], 1) for side in (0, 1))
    reached, queue = [0], [0]
    while queue:
        row = children[queue.pop()]
        queue += row[row >= 0].tolist()
        reached += row[row >= 0].tolist()
        assert len(reached) <= len(nodes)
    assert sorted(reached) == list(range(len(reached))), "no gaps, every node once"
    count = len(reached)
    return children[:count], lower[:count].transpose(0, 2, 1), upper[:count].transpose(0, 2, 1)


@pytest.mark.parametrize("scene_name", ["soup", "degenerate", "coincident", "stairs"])
@pytest.mark.parametrize("layout", ["bvh8", "cwbvh"])
@pytest.mark.parametrize("max_leaf_size", [1, 5])
def test_wide_nodes_reach_every_active_reference_once_in_boxes_that_hold_it(
    target: Target, layout: str, scene_name: str, max_leaf_size: int
) -> None:
    hierarchy = built(target, layout, scene_name, max_leaf_size=max_leaf_size)
    assert layout_classes()[layout].node_dtype.itemsize == {"bvh8": 256, "cwbvh": 80}[layout]
    children, lower, upper = wide_tree(hierarchy)
    assert len(children) <= (
        collapse.most_wide_nodes(hierarchy.tree.count, 8) if layout == "bvh8" else 1 + hierarchy.tree.count // 2
    )
    used = children != EMPTY_CHILD
    leaf = used & (children < 0)
    order = canonical(hierarchy)["order"]
    scene_lower, scene_upper = SCENES[scene_name]().boxes()
    seen = []
    for word, low, high in zip(children[leaf], lower[leaf], upper[leaf], strict=True):
        references = np.arange(first_references(word), first_references(word) + reference_counts(word))
        seen += references.tolist()
        active = references[(scene_lower[order[references]] <= scene_upper[order[references]]).all(axis=1)]
        assert (scene_lower[order[active]] >= low).all() and (scene_upper[order[active]] <= high).all()
    assert len(seen) == len(set(seen))
    missing = np.setdiff1d(np.arange(hierarchy.tree.count), seen)
    assert not (scene_lower[order[missing]] <= scene_upper[order[missing]]).all(axis=1).any(), (
        "only inactive ones are left out"
    )
    for node, slot in zip(*np.nonzero(used & (children >= 0)), strict=True):
        below = used[children[node, slot]] & (lower[children[node, slot]] <= upper[children[node, slot]]).all(axis=1)
        grid = 1e-5 if layout == "bvh8" else (upper[node, slot] - lower[node, slot]).max() / 100 + 1e-5
        assert (lower[children[node, slot]][below] >= lower[node, slot] - grid).all()
        assert (upper[children[node, slot]][below] <= upper[node, slot] + grid).all()


def least_cost(hierarchy: BvhHierarchy, width: int) -> int:
    """The least sum of costs of wide nodes that any collapse has, by recursion over rooms."""
    tree = canonical(hierarchy)
    by_id = dict(zip(tree["ids"].tolist(), tree["nodes"], strict=True))

    def half_area(node: Any) -> np.float32:
        x, y, z = node["upper"] - node["lower"]
        return np.float32(x * y + y * z + z * x)

    root_area = half_area(by_id[0])

    def own_cost(node_id: int) -> int:
        return 1 + int(min(np.float32(half_area(by_id[node_id]) / root_area), np.float32(1)) * np.float32(UNIT))

    @functools.cache
    def leaves(word: int) -> int:
        return 1 if word < 0 else leaves(int(by_id[word]["left"])) + leaves(int(by_id[word]["right"]))

    @functools.cache
    def shared(node_id: int, places: int) -> float:
        left, right = int(by_id[node_id]["left"]), int(by_id[node_id]["right"])
        return min(cost(left, mine) + cost(right, places - mine) for mine in range(1, places))

    @functools.cache
    def cost(word: int, room: int) -> float:
        if word < 0:
            return 0
        closed = own_cost(word) + shared(word, width) if leaves(word) > width // 2 or word == 0 else float("inf")
        return min([closed] + [shared(word, places) for places in range(2, room + 1)])

    return int(own_cost(0) + shared(0, width))


@pytest.mark.parametrize("max_leaf_size", [1, 4])
def test_the_chosen_nodes_cost_the_least(max_leaf_size: int) -> None:
    target = make_target("host", contraction=False)
    hierarchy = built(target, "bvh8", "moving", max_leaf_size=max_leaf_size)
    is_wide = target.download(collapse.choose_wide_nodes(target, hierarchy.tree, 8))
    tree = canonical(hierarchy)
    size = (tree["nodes"]["upper"] - tree["nodes"]["lower"]).astype(np.float32)
    area = size[:, 0] * size[:, 1] + size[:, 1] * size[:, 2] + size[:, 2] * size[:, 0]
    chosen = is_wide[tree["ids"]] == 1
    share = np.minimum(area / area[tree["ids"] == 0], np.float32(1)).astype(np.float32)
    found = int((1 + (share * np.float32(UNIT)).astype(np.uint64))[chosen].sum())
    assert 10 < chosen.sum() < len(tree["ids"]) // 3
    assert found == least_cost(hierarchy, 8)
    target.close()


def test_the_quick_choice_costs_little_more_than_the_least(target: Target) -> None:
    """Areas of all wide nodes over the root's, on 1500 triangles: the greedy pieces within a fifth of the programme,
    and nodes as well filled."""
    areas, fills = {}, {}
    for layout in ("bvh8", "cwbvh"):
        hierarchy = built(target, layout, "soup", max_leaf_size=2)
        tree = canonical(hierarchy)
        if layout == "bvh8":
            is_wide = target.download(collapse.choose_wide_nodes(target, hierarchy.tree, 8))
        else:
            is_wide = target.download(collapse.choose_quickly(target, hierarchy.tree)["is_wide"])
        size = (tree["nodes"]["upper"] - tree["nodes"]["lower"]).astype(float)
        area = size[:, 0] * size[:, 1] + size[:, 1] * size[:, 2] + size[:, 2] * size[:, 0]
        chosen = is_wide[tree["ids"]] == 1
        areas[layout], fills[layout] = area[chosen].sum(), (wide_tree(hierarchy)[0] != EMPTY_CHILD).sum(axis=1).mean()
    assert areas["bvh8"] <= areas["cwbvh"] < 1.25 * areas["bvh8"], areas
    assert min(fills.values()) > 4.5, fills


EXTREMES = {
    "tiny": lambda: soup(200).corners().astype(float) * 1e-38,
    "denormal": lambda: soup(200).corners().astype(float) * 1e-41,
    "large": lambda: (soup(200).corners() - 0.5) * 1e15,
    "far apart": lambda: np.concatenate([soup(100).corners().astype(float) * 10.0 ** (-9 + 3 * k) for k in range(4)]),
    "flat": lambda: soup(200).corners() * (1, 0, 1) + (0, 0.37, 0),
    "line of points": lambda: np.repeat(np.linspace(0, 1, 200)[:, None, None], 3, 1).repeat(3, 2),
    "half infinite": lambda: np.where(np.arange(200)[:, None, None] % 2 == 0, soup(200).corners(), np.inf),
    "largest": lambda: (soup(200).corners().astype(float) - 0.5).clip(-0.5, 0.5) * 6.6e38,
}


def check_extreme_scene(target: Target, layout: str, traversal: str, name: str) -> None:
    """The same hits as bvh2, closest and any."""
    scene = scene_of(EXTREMES[name]())
    with np.errstate(all="ignore"):
        extent = np.nanmax(np.where(np.isfinite(scene.positions), np.abs(scene.positions), 0))
        origins, directions = rays(200)
        origins = ((origins - 0.5) * np.float64(2 * extent)).clip(-3e38, 3e38).astype(np.float32)
    plain, wide = make(target, "lbvh", "bvh2"), make(target, "lbvh", layout, traversal)
    for hierarchy in (plain, wide):
        hierarchy.build(scene.upload(target))
    for kind in ("closest", "any"):
        expected, found = (
            trace(plain, origins, directions, kind).prim_id,
            trace(wide, origins, directions, kind).prim_id,
        )
        np.testing.assert_array_equal(found >= 0, expected >= 0, err_msg=name)
        if kind == "closest":
            np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize(("layout", "traversal"), WIDE)
def test_extreme_coordinates_are_traversed_as_by_bvh2(target: Target, layout: str, traversal: str, name: str) -> None:
    check_extreme_scene(target, layout, traversal, name)


@pytest.mark.parametrize("layout", ["bvh8", "cwbvh"])
def test_extreme_coordinates_are_traversed_as_by_bvh2_by_single_rays(layout: str) -> None:
    """As on CUDA, where a compressed node's grid is taken into the ray's own terms."""
    target = make_target("host")
    target.lane_count = 1
    for name in EXTREMES:
        check_extreme_scene(target, layout, "auto", name)
    target.close()


@pytest.mark.parametrize(("layout", "traversal"), WIDE)
def test_packs_and_single_rays_agree(host_target: Target, layout: str, traversal: str) -> None:
    expected = triangle_hits(SCENES["stairs"]().corners(), *rays())
    for width in (1, 8, 16):
        target = make_target("host")
        target.lane_count = width
        hierarchy = make(target, "lbvh", layout, traversal)
        hierarchy.build(SCENES["stairs"]().upload(target))
        found = trace(hierarchy, *rays()).prim_id
        np.testing.assert_array_equal(found[expected.is_certain], expected.prim_id[expected.is_certain])
        target.close()


@pytest.mark.parametrize("shift", [0.0, 300.0])
@pytest.mark.parametrize("width", [8, 16])
def test_beams_miss_nothing(width: int, shift: float) -> None:
    """Packs that go down the same axes, from one eye and from places apart, near the origin and off it."""
    random = np.random.default_rng(8)
    corners = (soup(600).corners() + np.float32(shift)).astype(np.float32)
    eyes = random.uniform(-1.0, 2.0, (200, 1, 3)) + random.uniform(0.0, 0.3, (200, 1, 1)) * random.random((200, 16, 3))
    ends = random.uniform(0.0, 1.0, (200, 1, 3)) + random.uniform(0.0, 0.2, (200, 1, 1)) * random.random((200, 16, 3))
    away = (ends - eyes).reshape(-1, 3)
    origins = (eyes.reshape(-1, 3) + shift).astype(np.float32)
    directions = (away / np.linalg.norm(away, axis=1, keepdims=True)).astype(np.float32)
    signs = np.signbit(directions).reshape(200, 16, 3)
    assert (signs == signs[:, :1]).all(axis=(1, 2)).mean() > 0.3, "many packs make a beam"
    expected = triangle_hits(corners, origins, directions)
    assert 0.2 < (expected.prim_id >= 0).mean() < 0.99
    target = make_target("host")
    target.lane_count = width
    hierarchy = make(target, "lbvh", "bvh8", "bvh8_stack")
    hierarchy.build(scene_of(corners).upload(target))
    certain = expected.is_certain
    for kind in ("closest", "any"):
        found = trace(hierarchy, origins, directions, kind).prim_id
        np.testing.assert_array_equal(found[certain] >= 0, expected.prim_id[certain] >= 0)
        if kind == "closest":
            np.testing.assert_array_equal(found[certain], expected.prim_id[certain])
    target.close()


@pytest.mark.parametrize("layout", ["bvh8", "cwbvh"])
def test_threads_chunks_and_refits_do_not_show(monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    monkeypatch.setenv("RAYGROVE_HOST_FORCE_SPLIT", "1")
    scene, outcomes = soup(2000), []
    for threads, chunk in ((1, 1024), (2, 16)):
        monkeypatch.setitem(collapse.COLLAPSE_CHUNKS, "host", chunk)
        monkeypatch.setitem(collapse.GREEDY_CHUNKS, "host", chunk)
        target = make_target("host", threads=threads)
        hierarchy = make(target, "lbvh", layout)
        assert isinstance(hierarchy, BvhHierarchy)
        hierarchy.build(scene.upload(target))
        for moved in (True, False):
            hierarchy.refit(scene.upload(target, later=moved))
            outcomes.append([part.tobytes() for part in wide_tree(hierarchy)])
        target.close()
    assert outcomes[:2] == outcomes[2:] and outcomes[0] != outcomes[1]


@pytest.mark.parametrize("layout", ["bvh4", "bvh8", "cwbvh"])
def test_a_refit_keeps_the_choice_whatever_others_build_meanwhile(
    target: Target, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    """No launch chooses anew, another structure's choice is another's, and there and back again is where it was."""
    scene, hierarchy, other = soup(2000), make(target, "lbvh", layout), make(target, "hploc", layout)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene.upload(target))
    before = [part.tobytes() for part in wide_tree(hierarchy)]
    expected, launch = triangle_hits(scene.corners(later=True), *rays()), target.launch
    launched: list[str] = []

    def record(unit: Unit, kernel: str, *rest: Any, **how: Any) -> None:
        launched.append(kernel)
        launch(unit, kernel, *rest, **how)

    monkeypatch.setattr(target, "launch", record)
    for moved in (True, False):
        other.build(soup(3000, seed=3).upload(target))
        launched.clear()
        hierarchy.refit(scene.upload(target, later=moved))
        assert launched[-1] in (f"write_{layout}_nodes", f"write_{layout}_tiles") and not {
            "mark_wide_nodes",
            "collapse_costs",
            "choose_pieces",
        } & set(launched)
        if moved:
            found = trace(hierarchy, *rays()).prim_id
            np.testing.assert_array_equal(found[expected.is_certain], expected.prim_id[expected.is_certain])
    assert [part.tobytes() for part in wide_tree(hierarchy)] == before


@pytest.mark.parametrize("scene_name", ["soup", "degenerate", "stairs"])
def test_bvh4_is_the_same_by_tiles(target: Target, monkeypatch: pytest.MonkeyPatch, scene_name: str) -> None:
    written = []
    for is_tiled in (False, True):
        monkeypatch.setitem(bvh4.BY_TILES, target.kind, is_tiled)
        monkeypatch.setattr(bvh4, "CHUNK", 128 if is_tiled else 1024)
        written.append([part.tobytes() for part in wide_tree(built(target, "bvh4", scene_name))])
    assert written[0] == written[1]


def test_chunks_with_more_wide_nodes_than_lists_have_room_for_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def written(share: int) -> list[bytes]:
        monkeypatch.setattr(cwbvh, "LIST_SHARE", share)
        monkeypatch.setattr(collapse, "LIST_SHARE", share)
        target = make_target("host")
        made = built(target, "cwbvh")
        parts = [part.tobytes() for part in wide_tree(made)]
        target.close()
        return parts

    assert written(4) == written(512)


def test_words_of_leaves_survive() -> None:
    assert reference_counts(leaf_words(5, 32)) == 32 and first_references(leaf_words(5, 32)) == 5


@pytest.mark.parametrize(("traversal", "width"), [("bvh8_single", 8), ("bvh8_stack", 16)])
def test_large_leaves_are_tested_whole(traversal: str, width: int) -> None:
    """Single rays of a pack test a leaf's triangles at once, more than a pack has lanes too: the hits of brute force,
    bit by bit."""
    corners = np.concatenate([soup(300).corners(), np.tile(soup(9, seed=5).corners(), (12, 1, 1))])
    target, outcomes = make_target("host", contraction=False), []
    target.lane_count = width
    made = [make(target, "brute_force")] + [
        make(target, "lbvh", "bvh8", traversal, max_leaf_size=size) for size in (3, 8, 32)
    ]
    for hierarchy in made:
        hierarchy.build(scene_of(corners).upload(target))
        closest, whether = trace(hierarchy, *rays(200)), trace(hierarchy, *rays(200), "any").prim_id >= 0
        outcomes.append(
            b"".join(part.tobytes() for part in (closest.t, closest.prim_id, closest.u, closest.v, whether))
        )
    target.close()
    assert len(set(outcomes)) == 1

"""What is special to the family: the layouts' bytes, packs of every width, results that no thread and no block can
change, memory, names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Hierarchy
from raygrove.gpu.hierarchy.bvh import refit, sizes
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.layouts import halves_of, layout_classes, traversal_names
from raygrove.gpu.hierarchy.bvh.tree import EMPTY_CHILD, NODE_DTYPE, first_references, reference_counts
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays
from raygrove.testing import make_target
from raygrove.testing.closest_hits import triangle_hits
from raygrove.testing.scenes import SCENES, make, rays, scene_of, soup, trace

EXISTS, COLLAPSED, BOTTOM = 1, 2, 4


def built(target: Target, layout: str, scene_name: str = "soup", **options: Any) -> BvhHierarchy:
    hierarchy = make(target, "lbvh", layout, **options)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(SCENES[scene_name]().upload(target))
    return hierarchy


def canonical(hierarchy: BvhHierarchy) -> dict[str, np.ndarray]:
    """The canonical tree on the host; what lies at ids of no node is cut out."""
    tree, target = hierarchy.tree, hierarchy.target
    flags = target.download(tree.flags)[: tree.node_capacity]
    exists = flags & EXISTS != 0
    hierarchy.complete_boxes()
    nodes = target.download(tree.nodes)[: tree.node_capacity].view(NODE_DTYPE).reshape(-1)
    return {
        "ids": np.flatnonzero(exists),
        "flags": flags,
        "nodes": nodes[exists],
        "parent": target.download(tree.parent)[: tree.node_capacity][exists],
        "order": target.download(tree.order)[: tree.count],
        "records": target.download(tree.records)[: tree.count].view(np.int32),
        "root": target.download(tree.root),
    }


def layout_bytes(hierarchy: BvhHierarchy) -> bytes:
    """The layout's nodes, where there are any."""
    tree = canonical(hierarchy)
    nodes = hierarchy.target.download(hierarchy.layout.nodes)
    if hierarchy.layout_name == "bvh2":
        return nodes[tree["ids"]].tobytes()
    return nodes[: int((tree["flags"] & (EXISTS | COLLAPSED) == EXISTS).sum())].tobytes()


def leaf_boxes(hierarchy: BvhHierarchy, words: np.ndarray, scene_name: str) -> tuple[np.ndarray, np.ndarray]:
    """The boxes of leaf words, from the scene."""
    lower, upper = SCENES[scene_name]().boxes()
    order = canonical(hierarchy)["order"]
    spans = [order[f : f + c] for f, c in zip(first_references(words), reference_counts(words), strict=True)]
    return np.array([lower[s].min(axis=0) for s in spans]), np.array([upper[s].max(axis=0) for s in spans])


@pytest.mark.parametrize("scene_name", ["soup", "degenerate", "stairs"])
def test_bvh2_nodes_hold_their_childrens_boxes(target: Target, scene_name: str) -> None:
    hierarchy = built(target, "bvh2", scene_name)
    assert layout_classes()["bvh2"].node_dtype.itemsize == 64
    tree = canonical(hierarchy)
    stored = target.download(hierarchy.layout.nodes).view(layout_classes()["bvh2"].node_dtype).reshape(-1)[tree["ids"]]
    by_id = dict(zip(tree["ids"], tree["nodes"], strict=True))
    for word in ("left", "right"):
        words = tree["nodes"][word]
        np.testing.assert_array_equal(stored[word], words)
        leaf = words < 0
        lower = np.array([by_id[w]["lower"] if w >= 0 else (0, 0, 0) for w in words])
        upper = np.array([by_id[w]["upper"] if w >= 0 else (0, 0, 0) for w in words])
        lower[leaf], upper[leaf] = leaf_boxes(hierarchy, words[leaf], scene_name)
        is_empty = (lower > upper).any(axis=1)
        centre, half = stored[f"{word}_centre"], halves_of(stored, word)
        assert (half[is_empty] == -np.inf).all()
        centre, half = centre[~is_empty].astype(float), half[~is_empty].astype(float)
        lower, upper = lower[~is_empty].astype(float), upper[~is_empty].astype(float)
        assert (centre - half <= lower).all() and (upper <= centre + half).all()
        for axis, rounded in enumerate((2.0**-7, 2.0**-7, 3e-6)):
            widths = upper[:, axis] - lower[:, axis]
            np.testing.assert_allclose(2 * half[:, axis], widths, rtol=rounded, atol=9e-7 * np.abs(centre).max())


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
def test_inactive_subtrees_are_never_traversed(target: Target, layout: str) -> None:
    corners = soup(600).corners().copy()
    corners[100:] = np.nan
    hierarchy = make(target, "lbvh", layout)
    hierarchy.build(scene_of(corners).upload(target))
    everything = make(target, "lbvh", layout)
    everything.build(scene_of(corners[:100]).upload(target))
    origins, directions = rays(300)
    with_inactive, without = (
        target.download(
            Tracer(target, tree.traversal()).trace(upload_rays(target, origins, directions), "steps").steps
        )[:300]
        for tree in (hierarchy, everything)
    )
    assert without.max() > 3
    assert (with_inactive <= without + 12).all(), "at most the way to where the inactive ones hang"


@pytest.mark.parametrize("scene_name", ["soup", "degenerate", "coincident", "stairs"])
@pytest.mark.parametrize("max_leaf_size", [1, 4])
def test_bvh4_nodes_reach_everything_once(target: Target, scene_name: str, max_leaf_size: int) -> None:
    hierarchy = built(target, "bvh4", scene_name, max_leaf_size=max_leaf_size)
    dtype = layout_classes()["bvh4"].node_dtype
    assert dtype.itemsize == 128
    tree = canonical(hierarchy)
    wide_count = int((tree["flags"] & (EXISTS | COLLAPSED) == EXISTS).sum())
    assert 0 < wide_count <= (len(tree["ids"]) + 1) // 2
    nodes = target.download(hierarchy.layout.nodes).view(dtype).reshape(-1)[:wide_count]
    words = nodes["children"].reshape(-1)
    empty = words == EMPTY_CHILD
    lower = np.stack([nodes[axis][:, 0].reshape(-1) for axis in "xyz"], 1)
    upper = np.stack([nodes[axis][:, 1].reshape(-1) for axis in "xyz"], 1)
    assert (lower[empty] > upper[empty]).all()
    np.testing.assert_array_equal(np.sort(words[words >= 0]), np.arange(1, wide_count))
    leaf = (words < 0) & ~empty
    covered = np.concatenate(
        [np.arange(f, f + c) for f, c in zip(first_references(words[leaf]), reference_counts(words[leaf]), strict=True)]
    )
    np.testing.assert_array_equal(np.sort(covered), np.arange(hierarchy.tree.count))
    for found, expected in zip((lower[leaf], upper[leaf]), leaf_boxes(hierarchy, words[leaf], scene_name), strict=True):
        np.testing.assert_array_equal(found, expected)
    inner = np.flatnonzero(words >= 0)
    np.testing.assert_array_equal(lower[inner], lower.reshape(-1, 4, 3)[words[inner]].min(axis=1))
    np.testing.assert_array_equal(upper[inner], upper.reshape(-1, 4, 3)[words[inner]].max(axis=1))


@pytest.mark.parametrize("scene_name", ["soup", "coincident", "degenerate"])
def test_flags_say_who_is_collapsed_and_who_is_at_the_bottom(target: Target, scene_name: str) -> None:
    hierarchy = built(target, "bvh4", scene_name, max_leaf_size=1)
    tree = canonical(hierarchy)
    for node_id, node in zip(tree["ids"], tree["nodes"], strict=True):
        children = [word for word in (node["left"], node["right"]) if word >= 0]
        should = node_id != 0 and not any(tree["flags"][child] & COLLAPSED for child in children)
        assert bool(tree["flags"][node_id] & COLLAPSED) == should
        assert bool(tree["flags"][node_id] & BOTTOM) == (not children)
        assert all(tree["parent"][np.searchsorted(tree["ids"], child)] == node_id for child in children)
    assert tree["parent"][0] == -1


@pytest.mark.parametrize("scene_name", ["soup", "degenerate"])
def test_nodes_written_on_the_way_equal_nodes_written_afterwards(target: Target, scene_name: str) -> None:
    hierarchy = built(target, "bvh2", scene_name)
    direct = layout_bytes(hierarchy)
    target.fill(hierarchy.layout.nodes, 0)
    hierarchy.layout.write(hierarchy.tree, SCENES[scene_name]().upload(target))
    assert layout_bytes(hierarchy) == direct


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
def test_refit_writes_what_a_build_wrote(target: Target, layout: str) -> None:
    scene = SCENES["degenerate"]()
    hierarchy = built(target, layout, "degenerate")
    tree, nodes = canonical(hierarchy), layout_bytes(hierarchy)
    hierarchy.refit(scene.upload(target, later=True))
    hierarchy.refit(scene.upload(target))
    for name, column in canonical(hierarchy).items():
        np.testing.assert_array_equal(column.view(np.uint8), tree[name].view(np.uint8), err_msg=name)
    assert layout_bytes(hierarchy) == nodes


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
def test_threads_and_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch, layout: str) -> None:
    """One thread and two (both forced to take blocks), chunks of 16 and of the target's own size: the same bytes, after
    a build and after a refit."""
    monkeypatch.setenv("RAYGROVE_HOST_FORCE_SPLIT", "1")
    scene, outcomes = soup(3000), []
    for threads, chunk in ((1, 1024), (2, 1024), (2, 16)):
        monkeypatch.setitem(sizes.CHUNKS, "host", chunk)
        monkeypatch.setitem(refit.CHUNKS, "host", chunk)
        target = make_target("host", threads=threads)
        hierarchy = make(target, "lbvh", layout)
        assert isinstance(hierarchy, BvhHierarchy)
        for moved in (False, True):
            (hierarchy.refit if moved else hierarchy.build)(scene.upload(target, later=moved))
            outcomes.append([column.tobytes() for column in canonical(hierarchy).values()] + [layout_bytes(hierarchy)])
        target.close()
    assert outcomes[0] == outcomes[2] == outcomes[4]
    assert outcomes[1] == outcomes[3] == outcomes[5]
    assert outcomes[0] != outcomes[1]


def test_groups_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """What chunks leave unfinished, bounded in global memory, by groups in shared memory, or by groups that have no
    room: the same bytes, all at rest."""
    outcomes = []
    for is_used, chunk, slots in ((False, 512, 0.0), (True, 64, 5 / 3), (True, 16, 0.0)):
        monkeypatch.setitem(refit.USES_GROUPS, "host", is_used)
        monkeypatch.setitem(refit.CHUNKS, "host", chunk)
        monkeypatch.setattr(refit, "SLOTS", slots)
        target, scene = make_target("host"), soup(3000)
        hierarchy = make(target, "lbvh", "bvh2", construction="search")
        assert isinstance(hierarchy, BvhHierarchy)
        hierarchy.build(scene.upload(target))
        built_bytes = [column.tobytes() for column in canonical(hierarchy).values()]
        hierarchy.refit(scene.upload(target, later=True))
        outcomes.append(
            [*built_bytes, *(column.tobytes() for column in canonical(hierarchy).values()), layout_bytes(hierarchy)]
        )
        assert (target.download(hierarchy.tree.waiting) == -1).all()
        target.close()
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
def test_packs_of_every_width_find_the_same(host_target: Target, layout: str) -> None:
    scene = SCENES["stairs"]()
    expected = triangle_hits(scene.corners(), *rays())
    sure = expected.is_certain
    one_by_one = trace(built(host_target, layout, "stairs"), *rays(), "steps")
    np.testing.assert_array_equal(one_by_one.prim_id[sure], expected.prim_id[sure])
    for width in (8, 16):
        target = make_target("host")
        target.lane_count = width
        found = trace(built(target, layout, "stairs"), *rays())
        np.testing.assert_array_equal(found.prim_id, one_by_one.prim_id)
        target.close()


def test_rays_that_start_on_a_flat_box_meet_it(host_target: Target) -> None:
    """Directions with zeros, origins in the planes of boxes without volume: 0 times infinity must not hide what is
    there."""
    for layout in ("bvh2", "bvh4"):
        hierarchy = built(host_target, layout, "stairs", max_leaf_size=1)
        x = (np.arange(40) + 0.5) / 40
        origins = np.stack([x, x + 1.0 / 80, np.full(40, -1.0)], 1).astype(np.float32)
        directions = np.tile(np.array([[0.0, -1.0, 0.0]], np.float32), (40, 1))
        assert (trace(hierarchy, origins + (0, 0, 1.3), directions).prim_id >= 0).all()
        straight_up = trace(hierarchy, origins + (0, -2.0, 1.6), -directions)
        assert (straight_up.prim_id >= 0).all()


def test_rays_in_the_planes_of_faces_meet_what_touches_them(exact_hits_target: Target) -> None:
    """On a grid about 0, where a plane times an inverse of 1e20 is still 0: boxes end where rays along the axes run,
    and their edges are hit."""
    random, count = np.random.default_rng(5), 600
    scene = scene_of(random.integers(-2, 3, (400, 1, 3)) + random.integers(-1, 2, (400, 3, 3)))
    axis, sign = random.integers(0, 3, count), random.choice([-1.0, 1.0], count)
    origins, directions = (
        random.integers(-3, 4, (count, 3)).astype(float),
        np.zeros((count, 3)) * random.choice([-1, 1], (count, 3)),
    )
    origins[np.arange(count), axis] = -sign * random.choice([4.0, 10.0, 0.3, 0.0], count)
    directions[np.arange(count), axis] = sign
    is_slanted = random.random(count) < 0.4  # within the plane of the third axis
    directions[is_slanted, (axis[is_slanted] + 1) % 3] = random.choice([-1, 1], is_slanted.sum())
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    plain = make(exact_hits_target, "brute_force")
    plain.build(scene.upload(exact_hits_target))
    expected = trace(plain, origins, directions)
    assert (expected.prim_id >= 0).sum() > 400
    for layout in layout_classes():
        for traversal in traversal_names(layout):
            hierarchy = make(exact_hits_target, "lbvh", layout, traversal)
            hierarchy.build(scene.upload(exact_hits_target))
            found = trace(hierarchy, origins, directions)
            for column in ("t", "prim_id"):
                np.testing.assert_array_equal(getattr(found, column), getattr(expected, column), err_msg=traversal)


def reserved_bytes_a_triangle(hierarchy: Hierarchy, count: int) -> tuple[float, float]:
    stats = hierarchy.stats()
    return stats.bytes / count, stats.scratch_bytes / count


@pytest.mark.parametrize(("layout", "limit"), [("bvh2", 160), ("bvh4", 200)])
@pytest.mark.parametrize("code_bits", ["30", "60"])
def test_memory_stays_in_its_budget(host_target: Target, layout: str, limit: int, code_bits: str) -> None:
    count = 20000
    hierarchy = make(host_target, "lbvh", layout, code_bits=code_bits)
    hierarchy.build(soup(count).upload(host_target))
    kept, scratch = reserved_bytes_a_triangle(hierarchy, count)
    assert 140 < kept <= limit
    assert 40 < scratch <= 72


def test_memory_is_kept_from_build_to_build(host_target: Target) -> None:
    hierarchy = built(host_target, "bvh2")
    nodes, count = hierarchy.layout.nodes, hierarchy.tree.count
    hierarchy.build(soup(count - 100).upload(host_target))
    assert hierarchy.layout.nodes is nodes and hierarchy.tree.count == count - 100
    hierarchy.build(soup(count + 1).upload(host_target))
    assert len(hierarchy.layout.nodes) >= (count - 1) * 9 // 8
    assert (trace(hierarchy, *rays()).prim_id >= 0).any()


def test_unknown_layout_and_traversal_are_named(host_target: Target) -> None:
    with pytest.raises(OptionError, match="bvh2, .*bvh4, bvh8, cwbvh"):
        make(host_target, "lbvh", "bvh3")
    with pytest.raises(OptionError, match="bvh2_stack"):
        make(host_target, "lbvh", "bvh2", "bvh4_stack")
    assert traversal_names("bvh4")[0] == "bvh4_stack"

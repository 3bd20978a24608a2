"""What is special to the linear BVH: Morton order, Karras' topology and numbering, the depth bound; and random
soups."""

from __future__ import annotations

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from raygrove.gpu.hierarchy.bvh.builders import lbvh
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.tree import NODE_DTYPE, leaf_words
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import SCENES, TriangleScene, make, rays, scene_of, soup, trace
from raygrove.testing.tree_walker import check_tree


def morton_codes(scene: TriangleScene, code_bits: int) -> np.ndarray:
    """Codes by bit loops, in float32 as the kernel does it; inactive triangles get the largest."""
    lower, upper = scene.boxes()
    finite = scene.positions[np.isfinite(scene.positions).all(axis=1)]
    origin, size = finite.min(axis=0), (finite.max(axis=0) - finite.min(axis=0)).max()
    scale = np.float32(1) / size if size > 0 else np.float32(0)
    bits = code_bits // 3
    with np.errstate(over="ignore"):
        unit = ((lower + upper) * np.float32(0.5) - origin) * scale
    unit[(lower > upper).any(axis=1)] = 1
    cell = np.clip((unit * np.float32(1 << bits)).astype(np.int64), 0, (1 << bits) - 1)
    codes = np.zeros(len(cell), np.uint64)
    for bit in range(bits):
        for axis in range(3):
            codes |= (cell[:, axis].astype(np.uint64) >> np.uint64(bit) & np.uint64(1)) << np.uint64(3 * bit + 2 - axis)
    return codes


def karras_tree(codes: list[int], max_leaf_size: int) -> dict[int, tuple[int, int]]:
    """Node id -> child words, from above: a range is split where the highest differing bit of (code, position)
    changes."""
    keys = [code << 32 | position for position, code in enumerate(codes)]
    found: dict[int, tuple[int, int]] = {}

    def word(first: int, last: int, node_id: int) -> int:
        count = last - first + 1
        if count <= max_leaf_size:
            return int(leaf_words(first, count))
        top = (keys[first] ^ keys[last]).bit_length() - 1
        split = next(i for i in range(first, last) if (keys[i + 1] >> top) & 1 and not (keys[i] >> top) & 1)
        found[node_id] = (word(first, split, split), word(split + 1, last, split + 1))
        return node_id

    word(0, len(codes) - 1, 0)
    return found


def build(target: Target, scene: TriangleScene, layout: str = "bvh2", **options: object) -> BvhHierarchy:
    hierarchy = make(target, "lbvh", layout, **options)
    assert isinstance(hierarchy, BvhHierarchy)
    hierarchy.build(scene.upload(target))
    return hierarchy


@pytest.mark.parametrize("scene_name", ["soup", "degenerate", "coincident", "stairs", "moving"])
@pytest.mark.parametrize("code_bits", [30, 60])
def test_references_are_in_morton_order(exact_target: Target, scene_name: str, code_bits: int) -> None:
    scene = SCENES[scene_name]()
    hierarchy = build(exact_target, scene, code_bits=str(code_bits))
    order = exact_target.download(hierarchy.tree.order)[: len(scene.indices)]
    np.testing.assert_array_equal(order, np.argsort(morton_codes(scene, code_bits), kind="stable"))


@pytest.mark.parametrize("scene_name", ["two", "soup", "degenerate", "coincident", "stairs", "moving"])
@pytest.mark.parametrize(("code_bits", "max_leaf_size"), [(30, 1), (30, 4), (30, 32), (60, 2)])
@pytest.mark.parametrize("construction", ["search", "climb"])
def test_topology_is_karras(
    exact_target: Target, scene_name: str, code_bits: int, max_leaf_size: int, construction: str
) -> None:
    scene = SCENES[scene_name]()
    hierarchy = build(
        exact_target, scene, code_bits=str(code_bits), max_leaf_size=max_leaf_size, construction=construction
    )
    tree = hierarchy.tree
    expected = karras_tree([int(code) for code in np.sort(morton_codes(scene, code_bits))], max_leaf_size)
    exists = np.flatnonzero(exact_target.download(tree.flags)[: tree.node_capacity] & 1)
    nodes = exact_target.download(tree.nodes)[: max(1, tree.node_capacity)].view(NODE_DTYPE).reshape(-1)
    found = {int(i): (int(nodes[i]["left"]), int(nodes[i]["right"])) for i in exists}
    assert found == expected
    parents = exact_target.download(tree.parent)
    assert all(parents[child] == node_id for node_id, words in expected.items() for child in words if child >= 0)


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
@pytest.mark.parametrize("scene_name", ["one", "soup", "degenerate", "coincident"])
def test_search_and_climb_write_the_same_bytes(target: Target, scene_name: str, layout: str) -> None:
    searched, climbed = (written_by(target, SCENES[scene_name](), layout, way) for way in ("search", "climb"))
    assert searched == climbed


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("block", ["small", "large"])
def test_rounds_of_a_climb_change_nothing(
    target: Target, monkeypatch: pytest.MonkeyPatch, steps: int, block: str
) -> None:
    """Few steps a round are many rounds, and in a round all that go on may have met who waited before it."""
    scenes = [soup(2500, seed=3), SCENES["stairs"](), SCENES["coincident"]()]
    scene = scene_of(np.concatenate([one.corners() for one in scenes]))
    searched = written_by(target, scene, "bvh2", "search")
    monkeypatch.setattr(lbvh, "ROUND_STEPS", dict.fromkeys(lbvh.ROUND_STEPS, steps))
    monkeypatch.setattr(lbvh, "CUDA_BLOCKS", dict.fromkeys(lbvh.CUDA_BLOCKS, lbvh.CUDA_BLOCKS[block]))
    assert written_by(target, scene, "bvh2", "climb") == searched


def written_by(target: Target, scene: TriangleScene, layout: str, construction: str) -> list[bytes]:
    """Flags, nodes, parents, order, root and the layout's nodes."""
    hierarchy = build(target, scene, layout, construction=construction)
    tree = hierarchy.tree
    flags = target.download(tree.flags)[: tree.node_capacity]
    exists = np.flatnonzero(flags & 1)
    nodes = target.download(tree.nodes)[: tree.node_capacity][exists].view(np.uint8)
    written = target.download(hierarchy.layout.nodes)
    rows = exists if layout == "bvh2" else slice(int((flags & 3 == 1).sum()))
    arrays = (
        flags,
        nodes,
        target.download(tree.parent)[: tree.node_capacity][exists],
        target.download(tree.order)[: tree.count],
    )
    return [array.tobytes() for array in (*arrays, target.download(tree.root), written[rows])]


@pytest.mark.parametrize("layout", ["bvh2", "bvh4"])
def test_equal_codes_stay_within_the_depth_bound(target: Target, layout: str) -> None:
    """5,000 triangles in one place and a few far away: without the split by position the tree would be a list, and the
    traversal's stack too small."""
    crowd = np.tile(soup(1, size=1e-6).corners(), (5000, 1, 1))
    far = soup(8, size=0.1).corners() * 1000
    scene = scene_of(np.concatenate([crowd, far]))
    hierarchy = build(target, scene, layout, max_leaf_size=1)
    depth = int(hierarchy.nodes().depth.max())
    assert depth <= 30 + int(np.ceil(np.log2(5008)))
    assert depth < hierarchy.max_depth()
    origin = scene.corners()[0].mean(axis=0) - (0, 0, 1)
    found = trace(
        hierarchy, np.tile(origin, (40, 1)).astype(np.float32), np.tile(np.array([[0, 0, 1]], np.float32), (40, 1))
    )
    assert (found.prim_id == 0).all()


@given(
    cells=arrays.arrays(np.int8, st.tuples(st.integers(0, 40), st.just(3), st.just(3)), elements=st.integers(-3, 3)),
    max_leaf_size=st.integers(1, 32),
    layout=st.sampled_from(["bvh2", "bvh4"]),
    code_bits=st.sampled_from(["30", "60"]),
    construction=st.sampled_from(["search", "climb"]),
)
def test_any_soup_of_small_integers(
    host_target: Target, cells: np.ndarray, max_leaf_size: int, layout: str, code_bits: str, construction: str
) -> None:
    """Coordinates from -3 to 3: full of equal codes, shared planes and degenerate triangles. A tree over them, and
    brute force's hits."""
    scene = scene_of(cells.astype(np.float32))
    hierarchy = build(
        host_target, scene, layout, max_leaf_size=max_leaf_size, code_bits=code_bits, construction=construction
    )
    check_tree(hierarchy.nodes(), *scene.boxes())
    plain = make(host_target, "brute_force")
    plain.build(scene.upload(host_target))
    origins, directions = rays(64, seed=len(cells))
    expected, found = trace(plain, origins * 4, directions), trace(hierarchy, origins * 4, directions)
    np.testing.assert_array_equal(found.prim_id, expected.prim_id)


@given(seed=st.integers(0, 10000), count=st.integers(900, 2300), scale=st.floats(1e-3, 1e5))
def test_any_soup_across_chunks(host_target: Target, seed: int, count: int, scale: float) -> None:
    """Enough triangles for subtrees to meet across the borders of chunks, anywhere in scale."""
    corners = soup(count, seed).corners() * np.float32(scale)
    scene = scene_of(corners, corners[::-1])
    hierarchy = build(host_target, scene, construction=("search", "climb")[seed % 2])
    check_tree(hierarchy.nodes(), *scene.boxes())
    hierarchy.refit(scene.upload(host_target, later=True))
    check_tree(hierarchy.nodes(), *scene.boxes(later=True))

"""Wide trees of jbikker/tinybvh (MIT) 1.6.7: MBVH<4>, BVH4_GPU with its triangles among the nodes, and the compressed
BVH8_CWBVH, with what its Save writes."""

from __future__ import annotations

import numpy as np

from .found import FoundTree, TreeSource
from .tinybvh import WORD, primitives_beside
from .wide import Binary, Slots, binary

MBVH4 = np.dtype(
    [("lower", "<f4", 3), ("first", "<u4"), ("upper", "<f4", 3), ("count", "<u4"), ("child", "<u4", 4)]
    + [("children", "<u4"), ("rest", "<u4", 3)]
)
BLOCK, BLOCKS_OF_NODE, BLOCKS_OF_TRIANGLE = 16, 4, 3
CWBVH = np.dtype(
    [("origin", "<f4", 3), ("exponents", "i1", 3), ("mask", "u1"), ("child", "<u4"), ("triangle", "<u4")]
    + [("meta", "u1", 8), ("lower", "u1", (3, 8)), ("upper", "u1", (3, 8))]
)
TRIANGLE_BYTES = 48
SAVE_WORD = 0x0A010607
"""Version 1.6.7, and the layout 10."""
CWBVH_NODES_AT = 568


def read_mbvh4(source: TreeSource) -> FoundTree:
    """Nodes of four children in FILE.nodes.bin, indices in FILE.prims.bin. Nodes that nothing refers to are left."""
    nodes = source.rows(source.read(), MBVH4, "nodes")
    primitives = primitives_beside(source, WORD)
    if not len(nodes):
        raise source.error("it has no node")
    boxes = np.hstack([nodes["lower"], nodes["upper"]])
    if nodes["count"][0]:
        one = np.full((1, 2), -1, np.int64)
        return FoundTree(
            one, nodes["first"][:1].astype(np.int64), nodes["count"][:1].astype(np.int64),
            primitives.astype(np.int64), boxes[:1], "tinybvh, MBVH4",
        )  # fmt: skip

    def decode(ids: np.ndarray) -> Slots:
        child = nodes["child"][ids].astype(np.int64)
        used = np.arange(4) < nodes["children"][ids].astype(np.int64)[:, None]
        is_out = used & (child >= len(nodes))
        if is_out.any():
            row, slot = np.argwhere(is_out)[0]
            raise source.error(f"node {ids[row]} has the child {child[row, slot]}, and there are {len(nodes):,} nodes")
        safe = np.where(used, child, 0)
        count = np.where(used, nodes["count"][safe].astype(np.int64), 0)
        return Slots(
            np.where(used & (count == 0), child, -1), nodes["first"][safe].astype(np.int64), count, boxes[safe]
        )

    tree = binary(source, decode, len(nodes), grows=False)
    return FoundTree(*tree[:3], primitives.astype(np.int64), tree.bounds, "tinybvh, MBVH4")


def read_bvh4_gpu(source: TreeSource) -> FoundTree:
    """Blocks of 16 bytes: nodes of four, triangles of three, in one array."""
    data = source.read()
    blocks = source.rows(data, np.dtype(("<f4", 4)), "blocks")
    words = blocks.view("<u4")
    if len(blocks) < BLOCKS_OF_NODE:
        raise source.error("it has no node")

    def decode(ids: np.ndarray) -> Slots:
        _check_ends(source, ids, len(blocks) - BLOCKS_OF_NODE, "node")
        lower, step = blocks[ids, :3], blocks[ids + 1, :3]
        raw = words[ids[:, None] + np.arange(3)].copy().view(np.uint8)  # (K, 3 blocks, 16 bytes)
        low_x, high_x, rest = raw[:, 0, 12:], raw[:, 1, 12:], raw[:, 2].reshape(-1, 4, 4)
        lows = np.stack([low_x, rest[:, 0], rest[:, 2]], axis=2).astype(np.float32)
        highs = np.stack([high_x, rest[:, 1], rest[:, 3]], axis=2).astype(np.float32)
        box = np.concatenate([lower[:, None] + lows * step[:, None], lower[:, None] + highs * step[:, None]], axis=2)
        slot = words[ids + 3].astype(np.int64)
        is_leaf = slot >> 31 == 1
        count = np.where(is_leaf, slot >> 16 & 0x7FFF, 0)
        node = np.where(is_leaf | (slot == 0), -1, slot)
        return Slots(node, np.where(is_leaf, ids[:, None] + (slot & 0xFFFF), 0), count, box.astype(np.float32))

    tree = binary(source, decode, len(blocks), grows=True)
    return _with_triangles(source, tree, words, 0, "tinybvh, BVH4 for GPUs")


def read_cwbvh(source: TreeSource) -> FoundTree:
    """Nodes in FILE.nodes.bin, triangles in FILE.tris.bin."""
    name = source.path.replace("\\", "/").rpartition("/")[2]
    triangles = source.beside(name.removesuffix(".nodes.bin") + ".tris.bin")
    return _cwbvh(source, source.rows(source.read(), CWBVH, "nodes"), triangles)


def read_cwbvh_save(source: TreeSource) -> FoundTree:
    """What Save wrote of a compressed tree: counts are compared with the file's length."""
    data = source.read()
    words = np.frombuffer(data[: min(len(data), CWBVH_NODES_AT) // 4 * 4], "<u4")
    if len(words) * 4 < CWBVH_NODES_AT or int(words[0]) != SAVE_WORD:
        raise source.error("it does not begin as a compressed tree that tinybvh 1.6.7 saved")
    blocks, indices = int(words[35]), int(words[48])
    wanted = CWBVH_NODES_AT + blocks * BLOCK + 64 * indices
    if wanted != len(data) or blocks * BLOCK % CWBVH.itemsize:
        said = f"its {blocks:,} blocks and {indices:,} indices take {wanted:,} bytes, and it has {len(data):,}"
        raise source.error(said, "It is cut off or damaged")
    nodes = source.rows(data, CWBVH, "nodes", CWBVH_NODES_AT, blocks * BLOCK // CWBVH.itemsize)
    begin = CWBVH_NODES_AT + blocks * BLOCK
    return _cwbvh(source, nodes, data[begin : begin + TRIANGLE_BYTES * indices])


def _cwbvh(source: TreeSource, nodes: np.ndarray, triangles: bytes) -> FoundTree:
    words = source.rows(triangles, np.dtype(("<u4", 4)), "blocks of triangles")
    if not len(nodes):
        raise source.error("it has no node")

    def decode(ids: np.ndarray) -> Slots:
        node = nodes[ids]
        meta = node["meta"].astype(np.int64)
        mask = node["mask"].astype(np.int64)[:, None] >> np.arange(8) & 1
        is_inner = (mask == 1) & (meta != 0)
        before = np.cumsum(mask, axis=1) - mask
        count = np.where(is_inner | (meta == 0), 0, (meta >> 5 & 1) + (meta >> 6 & 1) + (meta >> 7 & 1))
        first = node["triangle"].astype(np.int64)[:, None] + BLOCKS_OF_TRIANGLE * (meta & 31)
        with np.errstate(over="ignore"):
            step = np.ldexp(np.float64(1.0), node["exponents"].astype(np.int32))[:, :, None]
        sides = [node["origin"].astype(np.float64)[:, :, None] + node[name] * step for name in ("lower", "upper")]
        box = np.concatenate(sides, axis=1).transpose(0, 2, 1)
        below = node["child"].astype(np.int64)[:, None] + before
        with np.errstate(over="ignore"):
            return Slots(np.where(is_inner, below, -1), first, count, box.astype(np.float32))

    tree = binary(source, decode, len(nodes), grows=True)
    return _with_triangles(source, tree, words, 2, "tinybvh, CWBVH")


def _with_triangles(source: TreeSource, tree: Binary, words: np.ndarray, place: int, builder: str) -> FoundTree:
    """The tree with a list of primitives: leaves say in which block their first triangle begins, and the fourth word of
    its block `place` is the triangle's number."""
    first = np.cumsum(tree.size) - tree.size
    if int(tree.size.sum()) > 8 * len(words):
        raise source.error(f"its leaves list {int(tree.size.sum()):,} triangles, and it has {len(words):,} blocks")
    inside = np.arange(int(tree.size.sum())) - np.repeat(first, tree.size)
    blocks = np.repeat(tree.first, tree.size) + BLOCKS_OF_TRIANGLE * inside
    _check_ends(source, blocks, len(words) - BLOCKS_OF_TRIANGLE, "triangle")
    primitives = words[blocks + place, 3].astype(np.int64)
    return FoundTree(tree.children, first, tree.size, primitives, tree.bounds, builder)


def _check_ends(source: TreeSource, blocks: np.ndarray, last: int, what: str) -> None:
    is_out = (blocks < 0) | (blocks > last)
    if is_out.any():
        raise source.error(f"a {what} begins at block {blocks[int(np.argmax(is_out))]}, past the end")

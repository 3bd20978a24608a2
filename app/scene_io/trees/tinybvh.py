"""Binary trees of jbikker/tinybvh (MIT): its nodes of 32 bytes and of 64 (double), and what its Save writes. Layouts as
in tiny_bvh.h 1.6.7: `BVHNode`, `BVHNode` of BVH_Double, BVHBase::Save."""

from __future__ import annotations

import numpy as np

from .found import FoundTree, TreeSource, float32_around, paired, whole

NODE = np.dtype([("lower", "<f4", 3), ("a", "<u4"), ("upper", "<f4", 3), ("count", "<u4")])
DOUBLE_NODE = np.dtype([("lower", "<f8", 3), ("upper", "<f8", 3), ("a", "<u8"), ("count", "<u8")])
WORD, DOUBLE_WORD = np.dtype("<u4"), np.dtype("<u8")
SAVE_VERSION, SAVE_LAYOUT = 166, 1
NODES_AT = 296
"""Where the nodes begin in what Save writes: behind two words and an image of the object of 288 bytes."""
NAMED_NODES, NAMED_PRIMITIVES = ".nodes.bin", ".prims.bin"


def read_bvh2(source: TreeSource) -> FoundTree:
    """An array of nodes in FILE.nodes.bin, and its indices in FILE.prims.bin."""
    nodes = source.rows(source.read(), NODE, "nodes")
    return _tree(source, nodes, primitives_beside(source, WORD), "tinybvh")


def read_double(source: TreeSource) -> FoundTree:
    """The same with doubles and whole numbers of 64 bits."""
    nodes = source.rows(source.read(), DOUBLE_NODE, "nodes")
    return _tree(source, nodes, primitives_beside(source, DOUBLE_WORD), "tinybvh, double")


def read_save(source: TreeSource) -> FoundTree:
    """What Save wrote of a binary tree. Of the image only counts are read, and compared with the file's length."""
    data = source.read()
    if len(data) < NODES_AT:
        raise source.error(
            f"it has {len(data):,} bytes, and what tinybvh saves begins with {NODES_AT}", "It is cut off"
        )
    words = np.frombuffer(data, "<u4", NODES_AT // 4)
    version, layout = int(words[0]) & 0xFFFFFF, int(words[0]) >> 24
    if (version, layout) != (SAVE_VERSION, SAVE_LAYOUT):
        said = f"it is of cache version {version} and layout {layout}"
        raise source.error(
            f"{said}; read are version {SAVE_VERSION} and layout {SAVE_LAYOUT}", "Save it by tinybvh 1.6.7"
        )
    used, triangles, indices = int(words[12]), int(words[13]), int(words[14])
    wanted = NODES_AT + used * NODE.itemsize + 4 * indices
    if wanted != len(data):
        said = f"its {used:,} nodes and {indices:,} indices take {wanted:,} bytes, and it has {len(data):,}"
        raise source.error(said, "It is cut off or damaged")
    nodes = source.rows(data, NODE, "nodes", NODES_AT, used)
    primitives = source.rows(data, WORD, "indices", NODES_AT + used * NODE.itemsize, indices)
    return _tree(source, nodes, primitives, "tinybvh", triangles)


def primitives_beside(source: TreeSource, kind: np.dtype) -> np.ndarray:
    """The array of indices in the file beside."""
    name = source.path.replace("\\", "/").rpartition("/")[2]
    if not name.endswith(NAMED_NODES):
        raise source.error(
            f"nodes of tinybvh lie in NAME{NAMED_NODES}, its indices in NAME{NAMED_PRIMITIVES}", "Name it so"
        )
    other = name.removesuffix(NAMED_NODES) + NAMED_PRIMITIVES
    return source.rows(source.beside(other), kind, "indices")


def _tree(
    source: TreeSource, nodes: np.ndarray, primitives: np.ndarray, builder: str, triangles: int = -1
) -> FoundTree:
    if not len(nodes):
        raise source.error("it has no node")
    count, a = whole(nodes["count"]), whole(nodes["a"])
    lower, upper = nodes["lower"], nodes["upper"]
    is_double = lower.dtype.itemsize == 8
    bounds = float32_around(lower, upper) if is_double else np.hstack([lower, upper])
    # SBVH leaves room for half as many indices again as there are triangles, and not all of it is listed.
    splits = len(primitives) > (triangles if triangles >= 0 else int(count.sum()))
    return FoundTree(
        paired(count == 0, a, a + 1), a, count, whole(primitives), bounds, builder, splits, None, triangles
    )

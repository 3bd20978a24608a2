"""Trees of madmann91/bvh, version 2 (MIT): what Bvh::serialize writes, for float and for double. A node has bounds with
lower and upper of each axis side by side, and an index: the low four bits are the number of primitives."""

from __future__ import annotations

import numpy as np

from .found import FoundTree, TreeSource, float32_around, paired, whole

FLOAT_NODE = np.dtype([("bounds", "<f4", 6), ("index", "<u4")])
DOUBLE_NODE = np.dtype([("bounds", "<f8", 6), ("index", "<u8")])
LEAF_BITS = 4


def read(source: TreeSource) -> FoundTree:
    """A stream; whether it is of floats or of doubles its length says."""
    data = source.read()
    for kind, word in ((FLOAT_NODE, np.dtype("<u4")), (DOUBLE_NODE, np.dtype("<u8"))):
        head = 2 * word.itemsize
        if len(data) < head:
            continue
        nodes, primitives = (int(number) for number in np.frombuffer(data, word, 2))
        if nodes and head + nodes * kind.itemsize + primitives * word.itemsize == len(data):
            return _tree(
                source.rows(data, kind, "nodes", head, nodes),
                source.rows(data, word, "primitives", head + nodes * kind.itemsize, primitives),
            )
    claimed = [int(number) for number in np.frombuffer(data, "<u4", 2)] if len(data) >= 8 else [0, 0]
    said = f"it claims {claimed[0]:,} nodes and {claimed[1]:,} primitives, which its {len(data):,} bytes are not"
    raise source.error(said, "It is cut off or damaged, or no stream of madmann91/bvh")


def _tree(nodes: np.ndarray, primitives: np.ndarray) -> FoundTree:
    index = whole(nodes["index"])
    count, begin = index & (1 << LEAF_BITS) - 1, index >> LEAF_BITS
    lower, upper = nodes["bounds"][:, 0::2], nodes["bounds"][:, 1::2]
    is_double = lower.dtype.itemsize == 8
    bounds = float32_around(lower, upper) if is_double else np.hstack([lower, upper])
    ids = whole(primitives)
    builder = "madmann91/bvh, double" if is_double else "madmann91/bvh"
    return FoundTree(paired(count == 0, begin, begin + 1), begin, count, ids, bounds, builder)

"""Trees of Embree's general builder (rtcBuildBVH, Apache-2.0), as a program writes them out of its callbacks:
`RTCBVH01`, six words, nodes of two boxes and two children, leaves, references (docs/trees.md has the layout)."""

from __future__ import annotations

import numpy as np

from .found import FoundTree, TreeSource

MAGIC = b"RTCBVH01"
HEAD = len(MAGIC) + 24
NODE = np.dtype([("boxes", "<f4", (2, 6)), ("children", "<u4", 2)])
LEAF = np.dtype([("first", "<u4"), ("count", "<u4")])
REFERENCE = np.dtype([("triangle", "<u4"), ("box", "<f4", 6)])
IS_LEAF = 1 << 31
QUALITIES = ("low", "medium", "high")


def read(source: TreeSource) -> FoundTree:
    """Rows of nodes: inner ones first, then leaves. The root is moved to row 0."""
    data = source.read()
    if len(data) < HEAD or not data.startswith(MAGIC):
        raise source.error("it does not begin with RTCBVH01 and six numbers")
    quality, nodes, leaves, references, root, triangles = (
        int(one) for one in np.frombuffer(data, "<u4", 6, len(MAGIC))
    )
    wanted = HEAD + nodes * NODE.itemsize + leaves * LEAF.itemsize + references * REFERENCE.itemsize
    if wanted != len(data) or quality >= len(QUALITIES):
        said = f"its {nodes:,} nodes, {leaves:,} leaves and {references:,} references take {wanted:,} bytes"
        raise source.error(f"{said}, and it has {len(data):,} (quality {quality})", "It is cut off or damaged")
    inner = source.rows(data, NODE, "nodes", HEAD, nodes)
    leaf = source.rows(data, LEAF, "leaves", HEAD + nodes * NODE.itemsize, leaves)
    listed = source.rows(
        data, REFERENCE, "references", HEAD + nodes * NODE.itemsize + leaves * LEAF.itemsize, references
    )
    words = np.append(inner["children"].reshape(-1), np.uint32(root)).astype(np.int64)
    rows = np.where(words >= IS_LEAF, words - IS_LEAF + nodes, words)
    is_wrong = np.where(words >= IS_LEAF, words - IS_LEAF >= leaves, words >= nodes)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        where = "its root" if place == 2 * nodes else f"a child of node {place // 2}"
        said = f"{where} is {int(words[place]) % IS_LEAF}, and it has {nodes:,} nodes and {leaves:,} leaves"
        raise source.error(said)
    top, kids = int(rows[-1]), rows[:-1].reshape(-1, 2)
    bounds = np.full((nodes + leaves, 6), np.nan, np.float32)
    bounds[kids.reshape(-1)] = inner["boxes"].reshape(-1, 6)
    around = inner["boxes"][top] if top < nodes else listed["box"]
    if len(around):
        bounds[top] = [*around[:, :3].min(axis=0), *around[:, 3:].max(axis=0)]
    children = np.full((nodes + leaves, 2), -1, np.int64)
    children[:nodes] = kids
    swap = np.arange(nodes + leaves)
    swap[[0, top]] = swap[[top, 0]]
    children = np.where(children < 0, -1, swap[children])[swap]
    zeros = np.zeros(nodes, np.int64)
    return FoundTree(
        children, np.concatenate([zeros, leaf["first"].astype(np.int64)])[swap],
        np.concatenate([zeros, leaf["count"].astype(np.int64)])[swap], listed["triangle"].astype(np.int64),
        bounds[swap], f"Embree, {QUALITIES[quality]} quality", quality == 2, None, triangles,
    )  # fmt: skip

"""Trees of three-mesh-bvh (MIT): the arrays that MeshBVH.serialize gives, each in a file of its raw bytes, and a JSON
that names them: `version` (1, or null of versions up to 0.7), `roots`, `index`, `indirectBuffer`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .found import FoundTree, TreeSource, paired

NODE = np.dtype([("box", "<f4", 6), ("a", "<u4"), ("b", "<u4")])
LEAF_MARK, WORDS_OF_NODE = 0xFFFF, 8
TYPES: dict[str, np.dtype] = {
    "Uint16Array": np.dtype("<u2"),
    "Uint32Array": np.dtype("<u4"),
    "Int32Array": np.dtype("<i4"),
}
MOST_JSON, MOST_ROOTS = 1 << 20, 4096


def read(source: TreeSource) -> FoundTree:
    """All roots as one tree."""
    said = _said(source)
    version = said.get("version")
    if version not in (None, 1):
        raise source.error(
            f"it is of version {str(version)[:40]}; read are 1 and null", "Save it by three-mesh-bvh 0.9"
        )
    roots = said.get("roots")
    if not isinstance(roots, list) or not 0 < len(roots) <= MOST_ROOTS:
        raise source.error('it names no "roots"')
    index = _array(source, said, "index")
    if len(index) % 3:
        raise source.error(f"its index has {len(index):,} entries, no whole triangles")
    parts, start = [], 0
    for place, root in enumerate(roots):
        part = _root(source, root, place, version is None, start)
        parts.append(part)
        start += len(part[0])
    children, first, count, bounds = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    tops = np.cumsum([0, *(len(part[0]) for part in parts)])[:-1]
    children, first, count, bounds = _joined(tops, children, first, count, bounds)
    corners: np.ndarray | None = index.reshape(-1, 3).astype(np.int64)
    assert corners is not None
    triangles, primitives = len(corners), np.arange(len(corners))
    if said.get("indirectBuffer") is not None:
        primitives, corners = _array(source, said, "indirectBuffer").astype(np.int64), None
    library = f"three-mesh-bvh {str(said.get('libraryVersion', ''))[:24]}".rstrip()
    return FoundTree(children, first, count, primitives, bounds, library, False, corners, triangles)


def _said(source: TreeSource) -> dict[str, Any]:
    text = source.read()
    try:
        said = json.loads(text) if len(text) <= MOST_JSON else None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise source.error("it is no JSON that names roots and an index")
    return said


def _array(source: TreeSource, said: dict[str, Any], name: str) -> np.ndarray:
    entry = said.get(name)
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise source.error(f'it names no file of its "{name}"')
    kind = TYPES.get(str(entry.get("type")))
    if kind is None:
        raise source.error(f'its "{name}" is of no known type ({", ".join(TYPES)})')
    values = source.rows(source.beside(entry["file"]), kind, f"entries of {name}")
    if "length" in entry and entry["length"] != len(values):
        claimed = str(entry["length"])[:24]
        raise source.error(f'its "{name}" is said to have {claimed} entries, and has {len(values):,}', "It is cut off")
    return values


def _root(
    source: TreeSource, entry: Any, place: int, is_old: bool, start: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The nodes of one root, its rows from `start` on."""
    if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
        raise source.error(f"it names no file of root {place}")
    nodes = source.rows(source.beside(entry["file"]), NODE, f"nodes of root {place}")
    if entry.get("nodeCount", len(nodes)) != len(nodes) or not len(nodes):
        claimed = str(entry.get("nodeCount"))[:24]
        raise source.error(f"root {place} is said to have {claimed} nodes, and has {len(nodes):,}", "It is cut off")
    rows, a, b = np.arange(len(nodes)), nodes["a"].astype(np.int64), nodes["b"].astype(np.int64)
    is_leaf = b >> 16 == LEAF_MARK
    axis = ~is_leaf & (b > 2)
    if axis.any():
        node = int(np.argmax(axis))
        raise source.error(f"node {node} of root {place} is split along axis {b[node]}, and axes are 0 to 2")
    uneven = ~is_leaf & (a % WORDS_OF_NODE != 0) & is_old
    if uneven.any():
        node = int(np.argmax(uneven))
        raise source.error(f"the right child of node {node} of root {place} begins inside a node, at word {a[node]}")
    right = a // WORDS_OF_NODE if is_old else rows + a
    is_wrong = ~is_leaf & ((right >= len(nodes)) | (rows + 1 >= len(nodes)))
    if is_wrong.any():
        node = int(np.argmax(is_wrong))
        said = f"the right child of node {node} of root {place} is node {right[node]}, and there are {len(nodes):,}"
        raise source.error(said, 'It is damaged, or its "version" is not what wrote it')
    children = paired(~is_leaf, rows + 1 + start, right + start)
    return children, np.where(is_leaf, a, 0), np.where(is_leaf, b & LEAF_MARK, 0), nodes["box"]


def _joined(
    tops: np.ndarray, children: np.ndarray, first: np.ndarray, count: np.ndarray, bounds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Several roots under one: a chain of new nodes before the others, row 0 the root."""
    more = len(tops) - 1
    if not more:
        return children, first, count, bounds
    links = [[tops[place] + more, place + 1 if place + 1 < more else tops[place + 1] + more] for place in range(more)]
    boxes = [[*bounds[tops[place:], :3].min(axis=0), *bounds[tops[place:], 3:].max(axis=0)] for place in range(more)]
    zeros = np.zeros(more, np.int64)
    moved = np.where(children < 0, -1, children + more)
    return (
        np.concatenate([links, moved]), np.concatenate([zeros, first]), np.concatenate([zeros, count]),
        np.concatenate([np.array(boxes, np.float32), bounds]),
    )  # fmt: skip

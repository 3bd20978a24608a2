"""An octree over points built by recursion, with numpy and Python's integers: what trees of the targets are compared
with."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

NAMES = ("code", "level", "parent", "first_child", "child_count", "first_point", "point_count")


@dataclasses.dataclass
class Node:
    """A cell over a range of sorted points."""

    level: int
    first: int
    count: int
    children: list[Node] = dataclasses.field(default_factory=list)
    path: int = 0


def z_codes(positions: np.ndarray, bits: int, root: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The codes of finite positions and the root cube, by the rules that the page of octrees states."""
    points = positions[:, :3].astype(np.float32)
    if root is None and not len(points):
        half_lower, half_side = np.zeros(3, np.float32), np.float32(0)
    elif root is None:
        half_lower = points.min(axis=0) * np.float32(0.5) + np.float32(0)
        half_side = (points.max(axis=0) * np.float32(0.5) - half_lower).max()
    else:
        half_lower, half_side = root[:3] * np.float32(0.5), root[3] * np.float32(0.5)
    magnified = np.float32(1.2676506e30 if half_side < np.float32(1e-30) else 1.0)
    side = half_side * magnified
    units = np.zeros_like(points)
    if side > 0:
        units = (points * np.float32(0.5) - half_lower) * magnified / side
    cells = np.clip(units * np.float32(1 << bits), 0, np.float32((1 << bits) - 1)).astype(np.int64)
    codes = np.zeros(len(points), np.uint64)
    for bit in range(bits):
        for axis in range(3):
            codes |= (cells[:, axis] >> bit & 1).astype(np.uint64) << np.uint64(3 * bit + 2 - axis)
    with np.errstate(over="ignore"):
        side_of_root = min(np.float32(2) * half_side, np.finfo(np.float32).max)
    return codes, np.array([*(np.float32(2) * half_lower), side_of_root], np.float32)


def build(codes: list[int], bits: int, leaf_points: int, is_full: bool) -> Node:
    """The tree over sorted codes."""

    def cell(first: int, count: int, level: int) -> Node:
        """Of all the points in this cell, subcells by recursion; with chains."""
        node = Node(level, first, count)
        if count <= leaf_points or level == bits:
            return node
        at = first
        for octant in range(8):
            inside = sum(codes[i] >> 3 * (bits - level - 1) & 7 == octant for i in range(first, first + count))
            if inside:
                node.children.append(cell(at, inside, level + 1))
                at += inside
        return node

    def own_level(node: Node) -> int:
        """Of the smallest cell that holds the same points."""
        low, high = codes[node.first], codes[node.first + node.count - 1]
        return next(level for level in range(bits, -1, -1) if low >> 3 * (bits - level) == high >> 3 * (bits - level))

    def lower_leaves(node: Node) -> Node:
        """Leaves are the smallest cells that hold their points."""
        if not node.children and node.level < own_level(node):
            below = Node(node.level + 1, node.first, node.count)
            node.children = [lower_leaves(below)]
        else:
            node.children = [lower_leaves(child) for child in node.children]
        return node

    def compress(node: Node) -> Node:
        while len(node.children) == 1:
            node = node.children[0]
        node.children = [compress(child) for child in node.children]
        return node

    root = cell(0, len(codes), 0)
    if not root.children:
        return root
    lower_leaves(root)
    if not is_full:
        root.children = [compress(child) for child in root.children]
    return root


def levels_of(root: Node) -> list[list[Node]]:
    """Nodes by depth."""
    rows = [[root]]
    while rows[-1]:
        rows.append([child for node in rows[-1] for child in node.children])
    return rows[:-1]


def arrays_of(root: Node, codes: list[int], bits: int) -> dict[str, Any]:
    """The arrays of a PointTree, as lists."""
    rows = levels_of(root)
    nodes = [node for row in rows for node in row]
    number = {id(node): i for i, node in enumerate(nodes)}
    parent = {id(child): number[id(node)] for node in nodes for child in node.children}
    starts = np.cumsum([0, *(len(row) for row in rows)]).tolist()
    return {
        "code": [codes[n.first] >> 3 * (bits - n.level) if n.count else 0 for n in nodes],
        "level": [n.level for n in nodes],
        "parent": [parent.get(id(n), -1) for n in nodes],
        "first_child": [number[id(n.children[0])] if n.children else -1 for n in nodes],
        "child_count": [len(n.children) for n in nodes],
        "first_point": [n.first for n in nodes],
        "point_count": [n.count for n in nodes],
        "depth_first": starts + [len(nodes)] * (23 - len(starts)),
        "depths": len(rows),
        "leaves": sum(not n.children for n in nodes),
    }


def divide(points: np.ndarray, codes: list[int], bits: int, leaf_points: int, split: str) -> tuple[Node, list[int]]:
    """The tree top down over points, each node divided along three axes; and the order of the points."""
    order: list[int] = []

    def halves(ids: list[int], level: int, stage: int, axes: list[int], planes: np.ndarray) -> list[list[int]]:
        axis = axes[stage]
        if split == "cell_middle":
            is_upper = [codes[i] >> (3 * (bits - level) - 1 - axis) & 1 for i in ids]
        elif split == "bounds_middle":
            is_upper = [points[i, axis] > planes[axis] for i in ids]
        else:
            ids = sorted(ids, key=lambda i: points[i, axis])
            is_upper = [k >= (len(ids) + 1) // 2 for k in range(len(ids))]
        return [[i for i, u in zip(ids, is_upper, strict=True) if bool(u) == side] for side in (False, True)]

    def node_over(ids: list[int], level: int) -> Node:
        node = Node(level, len(order), len(ids))
        low, high = (points[ids].min(axis=0), points[ids].max(axis=0)) if ids else (np.zeros(3), np.zeros(3))
        extent = high * np.float32(0.5) - low * np.float32(0.5)
        is_leaf = len(ids) <= leaf_points or level == bits or (split != "cell_middle" and not extent.any())
        if is_leaf:
            order.extend(ids)
            return node
        axes = [0, 1, 2] if split == "cell_middle" else sorted(range(3), key=lambda axis: (-extent[axis], axis))
        middle = low * np.float32(0.5) + high * np.float32(0.5)
        parts = [ids]
        for stage in range(3):
            planes = np.where(middle < high, np.maximum(middle, low), low)
            parts = [half for part in parts for half in halves(part, level, stage, axes, planes)]
        for octant, part in enumerate(parts):
            if part:
                node.children.append(node_over(part, level + 1))
                node.children[-1].path = node.path * 8 + octant
        return node

    def name(node: Node) -> None:
        for child in node.children:
            child.path += node.path * 8
            name(child)

    root = node_over(list(range(len(points))), 0)
    name(root)
    return root, order

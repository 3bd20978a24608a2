"""median_sah one node at a time: the sequential reference, in numpy and single precision, operation by operation as
kernels have it without contraction."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.hierarchy.kdtree.builders.median_sah import MedianSahOptions
from raygrove.testing.scenes import TriangleScene

from .kd_reference import FLOAT, KdArrays, cost_terms

SMALL, SMALL_LEVELS = 64, 20
SLACK = FLOAT(4.8e-7)


def part_between(corners: np.ndarray, axis: int, low: np.float32, high: np.float32) -> np.ndarray:
    """The box (2, 3) of what of a triangle lies between two planes, with 4 roundings' slack where an edge meets one."""
    box = np.array([[np.finfo(FLOAT).max] * 3, [-np.finfo(FLOAT).max] * 3], FLOAT)

    def grow(first: np.ndarray, last: np.ndarray) -> None:
        box[0], box[1] = np.minimum(box[0], first), np.maximum(box[1], last)

    with np.errstate(all="ignore"):
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            if low <= a[axis] <= high:
                grow(a, a)
            for plane in (low, high):
                if not (a[axis] < plane < b[axis] or a[axis] > plane > b[axis]):
                    continue
                point = a + (b - a) * ((plane - a[axis]) / (b[axis] - a[axis]))
                slack = (np.abs(a) + np.abs(b)) * SLACK
                is_known = np.isfinite(point).all() and np.isfinite(slack).all()
                grow(point - slack if is_known else a, point + slack if is_known else b)
    return box


@dataclasses.dataclass
class Open:
    """A node that is being split: prim_ids (n,) ascending, the boxes (n, 2, 3) of what of them lies in the cell (2,
    3)."""

    node_id: int
    depth: int
    prim_ids: np.ndarray
    boxes: np.ndarray
    cell: np.ndarray
    share: np.float32


class MedianReference:
    """Fills `nodes`, `parent`, `references`; `arrays` gives them all."""

    def __init__(self, scene: TriangleScene, options: MedianSahOptions, large_levels: int, max_depth: int) -> None:
        self.corners, self.options, self.max_depth = scene.corners(), options, max_depth
        self.small_count = max(SMALL, options.max_leaf_size)
        self.nodes, self.parent, self.references = [(0, 3)], [-1], list[int]()
        lower, upper = (side + FLOAT(0.0) for side in scene.boxes())
        active = np.flatnonzero((lower <= upper).all(axis=1))
        boxes = np.stack([lower[active], upper[active]], axis=1)
        self.box = (
            np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]) if len(active) else np.zeros((2, 3), FLOAT)
        )
        level = [Open(0, 0, active, boxes, self.box, FLOAT(options.references_per_primitive))]
        for _ in range(large_levels):
            level = [
                child
                for node in level
                for child in (self.part_large(node) if len(node.prim_ids) > self.small_count else [node])
            ]
        for node in level:
            self.split_small(node)

    @property
    def arrays(self) -> KdArrays:
        words = np.array(self.nodes, np.int64).astype(np.uint32).view(np.int32).reshape(-1, 2)
        return KdArrays(words, np.array(self.parent, np.int32), np.array(self.references, np.int32), self.box)

    def add_inner(self, node_id: int, axis: int, plane: np.float32) -> int:
        left = len(self.nodes)
        self.nodes[node_id] = (int(np.array(plane, FLOAT).view(np.uint32)), left << 2 | axis)
        self.nodes += [(0, 3), (0, 3)]
        self.parent += [node_id, node_id]
        return left

    def add_leaf(self, node_id: int, prim_ids: np.ndarray) -> None:
        self.nodes[node_id] = (len(self.references), len(prim_ids) << 2 | 3)
        self.references += prim_ids.tolist()

    # -- large nodes ------------------------------------------------------------------------------------------------
    def part_large(self, node: Open) -> list[Open]:
        """Its children, or itself without share, which is not split again."""
        cuts, cell = self.cuts_of(node)
        chosen = self.middle_of(node, cell)
        if chosen is None:
            return [dataclasses.replace(node, depth=self.max_depth)] if node.depth < self.max_depth else [node]
        axis, plane, share = chosen
        node_id = node.node_id
        for cut_axis, side, at in cuts:
            left = self.add_inner(node_id, cut_axis, at)
            node_id = left + 1 - side
        left = self.add_inner(node_id, axis, plane)
        goes = sides_of(node.boxes, axis, plane)
        made = []
        for side in (0, 1):
            boxes = node.boxes[goes[side]].copy()
            for place in np.flatnonzero((goes[0] & goes[1])[goes[side]]):
                boxes[place] = self.piece_of(boxes[place], node.prim_ids[goes[side]][place], axis, plane, side)
            part = cell.copy()
            part[1 - side, axis] = plane
            if len(boxes):
                made.append(
                    Open(left + side, node.depth + len(cuts) + 1, node.prim_ids[goes[side]], boxes, part, share)
                )
        return made

    def cuts_of(self, node: Open) -> tuple[list[tuple[int, int, np.float32]], np.ndarray]:
        cell, cuts = node.cell.copy(), list[tuple[int, int, np.float32]]()
        first, last = node.boxes[:, 0].min(axis=0), node.boxes[:, 1].max(axis=0)
        for axis in range(3):
            low, high = node.cell[:, axis]
            least = FLOAT(self.options.empty_fraction) * (high - low)
            if first[axis] - low > least and first[axis] < high and len(cuts) < self.max_depth - node.depth - 1:
                cell[0, axis] = first[axis]
                cuts.append((axis, 0, first[axis]))
            if high - last[axis] > least and last[axis] > cell[0, axis] and len(cuts) < self.max_depth - node.depth - 1:
                cell[1, axis] = last[axis]
                cuts.append((axis, 1, last[axis]))
        return cuts, cell

    def middle_of(self, node: Open, cell: np.ndarray) -> tuple[int, np.float32, np.float32] | None:
        for axis in np.argsort(-(cell[1] - cell[0]), kind="stable"):
            count, plane = len(node.prim_ids), FLOAT(0.5) * (cell[0, axis] + cell[1, axis])
            left, right = (int(side.sum()) for side in sides_of(node.boxes, axis, plane))
            share = node.share * FLOAT(count) / FLOAT(left + right)
            if (
                node.depth < self.max_depth
                and cell[0, axis] < plane < cell[1, axis]
                and min(left, right) < count
                and share >= 1
            ):
                return int(axis), plane, share
        return None

    def piece_of(self, box: np.ndarray, prim_id: int, axis: int, plane: np.float32, side: int) -> np.ndarray:
        slab = box.copy()
        slab[1 - side, axis] = plane
        if not self.options.clips_primitives:
            return slab
        whole = part_between(self.corners[prim_id], axis, slab[0, axis], slab[1, axis])
        piece = np.stack([np.maximum(whole[0], slab[0]), np.minimum(whole[1], slab[1])]) + FLOAT(0.0)
        return piece if (piece[0] <= piece[1]).all() else slab

    # -- small nodes ------------------------------------------------------------------------------------------------
    def split_small(self, root: Open) -> None:
        waiting = [(root, 0)]
        while waiting:
            node, level = waiting.pop()
            split = None
            if (
                self.options.max_leaf_size < len(node.prim_ids) <= SMALL
                and level < SMALL_LEVELS
                and node.depth < self.max_depth
            ):
                split = self.best_split(node)
            if split is None:
                self.add_leaf(node.node_id, node.prim_ids)
                continue
            axis, plane, goes, share = split
            left = self.add_inner(node.node_id, axis, plane)
            for side in (1, 0):
                cell = node.cell.copy()
                cell[1 - side, axis] = plane
                waiting.append(
                    (
                        Open(
                            left + side, node.depth + 1, node.prim_ids[goes[side]], node.boxes[goes[side]], cell, share
                        ),
                        level + 1,
                    )
                )

    def best_split(self, node: Open) -> tuple[int, np.float32, tuple[np.ndarray, np.ndarray], np.float32] | None:
        """By the faces of boxes, lower ones first, axis by axis; of equal costs the first."""
        options, count = self.options, len(node.prim_ids)
        extent, area, scale = cost_terms(node.cell)
        best, found = np.inf, None
        for side in range(6):
            axis = side % 3
            low, high = node.cell[:, axis]
            a, b = extent[(axis + 1) % 3], extent[(axis + 2) % 3]
            for plane in node.boxes[:, side // 3, axis]:
                lower, upper = node.boxes[:, 0, axis], node.boxes[:, 1, axis]
                is_flat = (lower == plane) & (upper == plane)
                goes = (lower < plane) | (is_flat & (side >= 3)), (upper > plane) | (is_flat & (side < 3))
                left, right = int(goes[0].sum()), int(goes[1].sum())
                may_split = low < plane < high or (low < high and plane == (low if side >= 3 else high))
                if not may_split or min(left, right) == count:
                    continue
                left_area, right_area = (
                    a * b + (plane - low) * scale * (a + b),
                    a * b + (high - plane) * scale * (a + b),
                )
                cost = FLOAT(options.traversal_cost) * area + FLOAT(options.intersection_cost) * (
                    left_area * FLOAT(left) + right_area * FLOAT(right)
                )
                cost = cost * FLOAT(options.empty_factor) if left == 0 or right == 0 else cost
                if cost < best and cost <= np.finfo(FLOAT).max:
                    best, found = cost, (axis, plane, goes, node.share * FLOAT(count) / FLOAT(left + right))
        whole = FLOAT(options.intersection_cost) * (area * FLOAT(count))
        if found is None or (options.stop == "sah" and not best < whole) or found[3] < 1:
            return None
        return found


def sides_of(boxes: np.ndarray, axis: int, plane: np.float32) -> tuple[np.ndarray, np.ndarray]:
    """Who lies left and right at least in part; what lies in the plane goes right."""
    low, high = boxes[:, 0, axis], boxes[:, 1, axis]
    return low < plane, (low >= plane) | (high > plane)

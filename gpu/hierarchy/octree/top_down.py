"""The octree over points level by level (top_down.cu; Goradia et al. 2008, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...target.base import Array, Target, Unit, UnitSource
from ..scratch import Shapes, scratch_arrays
from .z_order import ZOrder

if TYPE_CHECKING:
    from .point_tree import PointTree, PointTreeOptions

SPLITS = {"cell_middle": 0, "bounds_middle": 1, "median": 2}


class TopDownForm:
    """Divides nodes level by level. Launches only, for as many levels as there may be."""

    def __init__(self, target: Target, options: PointTreeOptions, order: ZOrder) -> None:
        self.target, self.options, self._order = target, options, order
        self.bits, self._is_parallel = int(options.bits), options.work == "parallel"
        constants = (("BITS", self.bits), ("SPLIT", SPLITS[options.split]))
        self._source = UnitSource("gpu/hierarchy/octree/top_down.cu", constants=constants)

    def shapes(self, count: int, capacity: int) -> Shapes:
        """Scratch memory."""
        shapes: Shapes = dict.fromkeys(("order", "moved", "owner", "flags", "before"), ((count + 1,), np.int32))
        shapes["begins"] = ((capacity, 8), np.int32)
        if self.options.split != "cell_middle":
            shapes["boxes"] = ((capacity, 6), np.int32)
        if self.options.split == "median" and self._is_parallel:
            shapes["keys"] = ((count + 1,), np.uint64)
        elif self._is_parallel:
            shapes["moved_owner"] = ((count,), np.int32)
            shapes["planes"] = ((3 * _words(count),), np.uint32)
            shapes |= dict.fromkeys(("tallies", "tallied"), ((8 * _words(count),), np.int32))
        return shapes

    def first_capacity(self, count: int) -> int:
        """What most points need: there are more where they lie in small clusters far from each other."""
        return max(2 * count, 64)

    def most_levels(self, count: int) -> int:
        """Below the root: an eighth of the points is left a level, where they are halved; elsewhere all may be."""
        if self.options.split != "median":
            return self.bits
        left = (-(-count // 8**level) for level in range(self.bits))
        return sum(points > self.options.leaf_points for points in left)

    def build(self, tree: PointTree, positions: Array, values: Array | None) -> None:
        """The whole tree, or none and the status where a level does not fit."""
        target, (n, width) = self.target, positions.shape
        held = scratch_arrays(target, "octree.top_down", self.shapes(n, tree.capacity))
        unit, nodes = target.unit(self._source), {name: getattr(tree, name) for name in ("code", "level", "parent")}
        ranges = {name: getattr(tree, name) for name in ("first_point", "point_count", "depth_first")}
        rows = {"positions": positions, "width": width}
        codes = self._order.encode(tree, positions)
        with target.phase("build.nodes"):
            flags, before = held["flags"], held["before"]
            self._launch(unit, "flag_dropped", n + 1, **rows, n=n, order=held["moved"], is_upper=flags)
            target.exclusive_scan(flags, before, "octree.scan")
            begun = {"is_upper": flags, "before": before, "n": n, "order": held["moved"], "moved": held["order"]}
            self._launch(unit, "begin_tree", n + 1, **begun, owner=held["owner"], counts=tree.counts, **nodes, **ranges)
            order = held["order"]
            for depth in range(self.most_levels(n) + 1):
                order = self._divide(_Level(unit, n, depth, rows | {"given_codes": codes}, held, ranges), tree, order)
            finished = {name: getattr(tree, name) for name in ("code", "level", "first_child", "points", "order")}
            self._launch(
                unit,
                "finish_tree",
                max(n, tree.capacity),
                **rows,
                values=values,
                n=n,
                last_order=order,
                owner=held["owner"],
                **finished,
                codes=tree.codes,
                counts=tree.counts,
                depth_first=tree.depth_first,
            )

    def _launch(self, unit: Unit, kernel: str, items: int, /, **arguments: Any) -> None:
        self.target.launch(unit, kernel, items, block=int(self.options.block), **arguments)

    def _divide(self, level: _Level, tree: PointTree, order: Array) -> Array:
        """Divide the nodes of a level and write their children; the order of the points then."""
        n, held = level.count, level.held
        known: dict[str, Any] = {
            **level.ranges,
            "boxes": held.get("boxes"),
            "depth": level.depth,
            "leaf_points": self.options.leaf_points,
        }
        is_last, is_moved = level.depth == self.most_levels(n), "planes" in held
        if not is_last:
            order = self._divide_nodes(level, known, tree, order)
        self._write_children(level, known, tree)
        owned = {"begins": held["begins"], "first_child": tree.first_child, "counts": tree.counts, "n": n}
        if not is_moved:
            self._launch(level.unit, "own_points", n, **known, **owned, owner=held["owner"])
        elif not is_last:
            moved = held["moved"] if order is held["order"] else held["order"]
            given = {"order": order, "owner": held["owner"], "moved": moved, "moved_owner": held["moved_owner"]}
            self._launch(level.unit, "move_points", n, **level.parts, **known, **owned, **given)
            order, held["owner"], held["moved_owner"] = moved, held["moved_owner"], held["owner"]
        return order

    def _write_children(self, level: _Level, known: dict[str, Any], tree: PointTree) -> None:
        """Count the children of a level's nodes, and write them."""
        held, most = level.held, level.most_nodes
        begins, counts = {"begins": held["begins"], "n": most}, (held["flags"][: most + 1], held["before"][: most + 1])
        self._launch(level.unit, "count_children", most + 1, **known, **begins, children=counts[0])
        self.target.exclusive_scan(*counts, "octree.scan")
        written = {name: getattr(tree, name) for name in ("code", "parent", "first_child", "child_count", "counts")}
        children = {"children": counts[0], "before": counts[1], "level_of": tree.level, **written}
        self._launch(level.unit, "write_children", max(most, 1), **known, **begins, **children, capacity=tree.capacity)

    def _divide_nodes(self, level: _Level, known: dict[str, Any], tree: PointTree, order: Array) -> Array:
        """Find where the parts of a level's nodes begin; the order of the points, where they were moved for that."""
        held, n = level.held, level.count
        given = {"order": order, "begins": held["begins"]}
        if not self._is_parallel:
            self._launch(level.unit, "divide_alone", n, **level.rows, **known, **given)
            return order
        if known["boxes"] is not None:
            begun = {"depth_first": tree.depth_first, "depth": level.depth, "boxes": known["boxes"]}
            rows = {name: level.rows[name] for name in ("positions", "width")}
            self._launch(level.unit, "begin_boxes", 6 * max(n, 1), **begun)
            bounded = {"order": order, "owner": held["owner"], "counts": tree.counts}
            self._launch(level.unit, "bound_nodes", n, **rows, **bounded, **begun)
        if self.options.split == "median":
            for stage in range(3):
                order = self._sort_points(level, known | {"stage": stage}, order, n)
                self._launch(level.unit, "halve_parts", 4 * n, **known, stage=stage, begins=held["begins"])
            return order
        found = {"planes": held["planes"], "tallies": held["tallies"], "words": _words(n), "n": n}
        owned = {"order": order, "owner": held["owner"]}
        self._launch(level.unit, "part_points", 32 * _words(n), **level.rows, **owned, **known, **found)
        self.target.exclusive_scan(held["tallies"], held["tallied"], "octree.scan")
        self._launch(level.unit, "divide_nodes", level.most_nodes, **level.parts, **known, begins=held["begins"])
        return order

    def _sort_points(self, level: _Level, known: dict[str, Any], order: Array, n: int) -> Array:
        """The points of each part along its axis."""
        target, held = self.target, level.held
        rows = {name: level.rows[name] for name in ("positions", "width")}
        keys = held["keys"][:n]
        known = known | {"begins": held["begins"], "owner": held["owner"], "n": n}
        self._launch(level.unit, "key_points", n, **rows, order=order, **known, keys=keys)
        if n == 0:
            return order
        _, by_key = target.sort_pairs(keys, order[:n], (0, 32 + n.bit_length()), "octree.medians")
        moved = held["moved"] if order is held["order"] else held["order"]
        self._launch(level.unit, "copy_order", n, order=by_key, n=n, moved=moved)
        return moved


class _Level:
    """What the launches of a level share."""

    def __init__(
        self, unit: Unit, count: int, depth: int, rows: dict[str, Any], held: dict[str, Array], ranges: dict[str, Array]
    ) -> None:
        self.unit, self.count, self.depth = unit, count, depth
        self.rows, self.held, self.ranges = rows, held, ranges

    @property
    def most_nodes(self) -> int:
        """Of the level: one a point, eight times those of the level above."""
        return min(self.count, int(8**self.depth))

    @property
    def parts(self) -> dict[str, Any]:
        """Which eighth each point is in, as kernels have it."""
        return {"planes": self.held["planes"], "before": self.held["tallied"], "words": _words(self.count)}


def _words(count: int) -> int:
    """Of 32 points each, one behind the last place too."""
    return count // 32 + 1

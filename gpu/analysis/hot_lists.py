"""The dearest lines of what a view's rays do, for who looks at them picture after picture: counted by a FrameCounter
that is kept, and added up on the target, a list at a time. Read is what is listed, and no tree.

Where a structure does not tell the links of its nodes (tree_links.py), lists come from its whole tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..engine import Engine
from ..errors import Error
from ..hierarchy.tree_links import LEAF_ROW, TreeLinks, tree_links
from ..rows import Int, Struct
from ..target.base import Array, Unit, UnitSource
from ..view import View
from .frame_counter import FrameCounter
from .hot_frames import names_of, objects_of, spots_read
from .hot_spots import Spot
from .hot_words import BY
from .node_counts import Count
from .tree_levels import spelling

MOST_LINES = 200
SHARE_BITS = 52
"""Shares are added up as whole numbers of 2^-52, so that sums do not depend on the order."""

MOST_DEPTH = 1024
"""Levels of a tree that is listed by depth; what lies deeper counts as of the last one."""

DEPTH_FIELDS, OWNER_FIELDS, TOP_FIELDS = 8, 4, 10
"""Numbers of a level, an owner, a line of nodes or triangles (hot_lists.cu)."""


@dataclasses.dataclass(frozen=True)
class BelowRow(Struct):
    """What lies below a node, itself included: references, found hits; `borne`: visits of inner nodes that its
    references bear, its own and those of children under which none lies."""

    references: Count
    found: Count
    borne: Count
    children: Int
    arrived: Int


@dataclasses.dataclass(frozen=True)
class HotList:
    """The dearest first, those that cost anything; by depth from the root down. `rays` and `kind` are those that were
    counted, `ray_count` of them, with `visits` of nodes and `tests` of primitives in all, which cost `cost`. The
    `number` of a node is what events call it (TreeNode.id), so that the tree's browser finds it; all else is as Spot
    has it."""

    by: str
    spots: tuple[Spot, ...]
    rays: str
    kind: str
    ray_count: int
    visits: int
    tests: int
    cost: float
    configuration: str


class _Summed:
    """What a list is made from: counts, links, sums below, totals (visits, those of inner nodes, tests) on the target,
    and what an inner node and a primitive cost."""

    def __init__(self, counter: FrameCounter, links: TreeLinks, weights: tuple[float, float]) -> None:
        node_counter = counter.counted_by
        self.target, self.links, self.weights = node_counter.target, links, weights
        self.counts, self.primitives = node_counter.sums()
        self.primitive_count = self.primitives.shape[1]
        self.totals = self.target.scratch("hot.totals", 3, np.uint64)
        self.below = self.target.scratch("hot.below", (links.rows, BelowRow.dtype().itemsize // 8), np.uint64)
        for array in (self.totals, self.below):
            self.target.fill(array, 0)
        rows = self._rows("kinds", "parents") | {"counts": self.counts, "row_count": links.rows, "below": self.below}
        self._launch("count_children", links.rows, **rows, totals=self.totals)
        self._launch("sum_up", links.rows, **rows, reference_counts=links.counts)

    @property
    def unit(self) -> Unit:
        return self.target.unit(UnitSource("gpu/analysis/hot_lists.cu"))

    def of_depths(self) -> Array:
        """(MOST_DEPTH, DEPTH_FIELDS)."""
        found = self.target.scratch("hot.depths", (MOST_DEPTH, DEPTH_FIELDS), np.uint64)
        self.target.fill(found, 0)
        rows = self._rows("kinds", "parents") | {"reference_counts": self.links.counts, "row_count": self.links.rows}
        self._launch("sum_depths", self.links.rows, **rows, counts=self.counts, below=self.below, depths=found)
        return found

    def of_primitives(self) -> Array:
        """(P,) shares of all cost."""
        links, found = self.links, self.target.scratch("hot.shares", self.primitive_count, np.uint64)
        self._launch("share_tests", self.primitive_count, primitive_tests=self.primitives[0],
                     primitive_count=self.primitive_count, **self._costs(), shares=found)  # fmt: skip
        self._launch("share_nodes", links.rows, **self._rows("kinds", "parents", "firsts"),
                     reference_counts=links.counts, below=self.below, row_count=links.rows,
                     references=links.references, scene_ids=links.scene_ids, **self._costs(), shares=found)  # fmt: skip
        return found

    def of_owners(self, owners: Array, owner_rows: int) -> Array:
        """(owners + 1, OWNER_FIELDS), the first of nobody."""
        found = self.target.scratch("hot.owners", (owner_rows, OWNER_FIELDS), np.uint64)
        self.target.fill(found, 0)
        self._launch("sum_owners", self.primitive_count // 16 + 1, owners=owners, primitive_count=self.primitive_count,
                     shares=self.of_primitives(), primitive_tests=self.primitives[0],
                     primitive_hits=self.primitives[1], owner_rows=owner_rows, sums=found)  # fmt: skip
        return found

    def dearest(self, by: str, count: int) -> Array:
        """(count, TOP_FIELDS) int64 of nodes or of triangles, at most so many as there are."""
        length = self.links.rows if by == "node" else self.primitive_count
        keys = self.target.scratch("hot.keys", length, np.uint64)
        numbers = self.target.scratch("hot.numbers", length, np.int32)
        ranked = {"keys": keys, "numbers": numbers}
        taken = self.target.scratch("hot.taken", (min(count, length), TOP_FIELDS), np.int64)
        self.target.fill(taken, 0)
        if by == "node":
            rows = {"counts": self.counts, **self._rows("kinds")}
            self._launch("node_keys", length, **rows, row_count=length, **self._costs(), **ranked)
            rows |= self._rows("parents") | {"below": self.below}
        else:
            rows = {"shares": self.of_primitives()}
            self._launch("primitive_keys", length, **rows, primitive_count=length, **ranked)
            rows |= {"primitive_tests": self.primitives[0], "primitive_hits": self.primitives[1]}
        _, first = self.target.sort_pairs(keys, numbers, (0, SHARE_BITS + 2), "hot.sort")
        kernel = "take_nodes" if by == "node" else "take_primitives"
        self._launch(kernel, len(taken), numbers=first, count=len(taken), **rows, taken=taken)
        return taken

    def _rows(self, *names: str) -> dict[str, Array]:
        return {name: getattr(self.links, name) for name in names}

    def _costs(self) -> dict[str, object]:
        traversal, intersection = self.weights
        return {"totals": self.totals, "traversal_cost": traversal, "intersection_cost": intersection}

    def _launch(self, kernel: str, n: int, /, **given: Any) -> None:
        self.target.launch(self.unit, kernel, n, **given)


class HotLists:
    """Lists of what `counter` counted last in pictures of its view. Who makes one keeps it as long as the counter."""

    def __init__(self, engine: Engine, view: View, counter: FrameCounter) -> None:
        self._engine, self._view, self._counter = engine, view, counter
        self._owners: dict[str, tuple[Hashable, Array]] = {}

    def read(self, by: str = "node", count: int = MOST_LINES) -> HotList:
        """At most so many lines by node, depth, object, material or triangle. Waits; not in a frame. Error where the
        tree is another than the one that was counted, and for what there is not."""
        if by not in BY:
            raise Error(
                f"hot spots are listed by {', '.join(BY)}, not by {by!r}", "HotLists.read", "choose one of them"
            )
        self._counter.check_tree()
        links = tree_links(self._counter.hierarchy)
        if links is None:
            return self._from_tables(by, count)
        costs, target = self._view.settings.statistics, self._engine.target
        weights = costs.traversal_cost, costs.intersection_cost
        summed = _Summed(self._counter, links, weights)
        if by in ("node", "triangle"):
            found = summed.dearest(by, count)
        elif by == "depth":
            found = summed.of_depths()
        else:
            owners, names = self._owned(by, summed.primitive_count)
            found = summed.of_owners(owners, len(names) + 1)
        rows = target.download(found).astype(np.int64)
        visits, inner, tests = (int(one) for one in target.download(summed.totals))
        rays, width = (int(one) for one in target.download(self._counter.counted_by.totals))
        cost = weights[0] * inner + weights[1] * tests
        if by == "node":
            spots = _of_nodes(rows, links, weights, cost or 1.0, width)
        elif by == "depth":
            spots = _of_depths(rows, weights, cost or 1.0, width)
        else:
            spots = _of_triangles(rows) if by == "triangle" else _of_owners(rows, by, names)
        of, kind = self._counter.counted
        configuration = spelling(self._counter.hierarchy)
        return HotList(by, spots[:count], of, kind, rays, visits, tests, cost, configuration)

    def _owned(self, by: str, count: int) -> tuple[Array, tuple[str, ...]]:
        """Whose each primitive is, on the target, and what they are called. Made again where the scene is another."""
        engine, context = self._engine, self._engine.drawn_slot(self._view).context
        assert context is not None, "it was drawn"
        surface, names = context.surface, names_of(engine.scene)[BY.index(by) - BY.index("object")]
        if by == "material" and len(surface.material_ids) >= count:
            return surface.material_ids[:count], names
        key: Hashable = (count, tuple((one.first, one.count) for one in surface.objects), id(surface.material_ids))
        if by not in self._owners or self._owners[by][0] != key:
            owners = objects_of(surface, count)
            if by == "material":
                owners[:] = -1
                owners[: len(surface.material_ids)] = engine.target.download(surface.material_ids)
            self._owners[by] = key, engine.target.upload(owners, "analysis")
        return self._owners[by][1], names

    def _from_tables(self, by: str, count: int) -> HotList:
        found = spots_read(self._engine, self._view, self._counter)
        spots = found.top(count, by)
        if by == "node":
            ids = found.table.event_ids
            assert ids is not None, "it was counted by them"
            spots = tuple(_named(spot, int(ids[spot.number])) for spot in spots)
        visits, tests = int(found.visits.sum()), int(np.sum(found.counts.nodes["tests"]))
        sums = (found.counts.rays, visits, tests, found.total_cost)
        return HotList(by, spots, found.rays, found.kind, *sums, spelling(self._counter.hierarchy))


def _named(spot: Spot, event_id: int) -> Spot:
    called = event_id if event_id >= 0 else f"~{~event_id}"
    return dataclasses.replace(spot, number=event_id, name=f"{spot.name.split()[0]} {called}")


def _of_nodes(
    rows: np.ndarray, links: TreeLinks, weights: tuple[float, float], cost: float, width: int
) -> tuple[Spot, ...]:
    spots = []
    for row, kind, depth, visits, more, box_hits, tests, hits, references, found in rows.tolist():
        if kind == 0 or visits == 0:
            break
        is_leaf = kind == LEAF_ROW
        event_id = row if row < links.leaf_rows else ~(row - links.leaf_rows)
        paid = weights[1] * tests + (0.0 if is_leaf else weights[0] * visits)
        boxes = more + (0 if is_leaf else width * visits)
        missed = 1.0 - min(found / visits, 1.0)
        name, into = ("leaf" if is_leaf else "node"), box_hits if width else 0
        spot = Spot(event_id, name, paid / cost, visits, boxes, into, tests, hits, missed, depth, references)
        spots.append(_named(spot, event_id))
    return tuple(spots)


def _of_depths(rows: np.ndarray, weights: tuple[float, float], cost: float, width: int) -> tuple[Spot, ...]:
    return tuple(
        Spot(depth, f"depth {depth}", (weights[0] * inner + weights[1] * tests) / cost, visits, width * inner + more,
             box_hits if width else 0, tests, hits, missed / visits, depth, references)
        for depth, (visits, inner, box_hits, more, tests, hits, missed, references) in enumerate(rows.tolist())
        if visits > 0
    )  # fmt: skip


def _of_triangles(rows: np.ndarray) -> tuple[Spot, ...]:
    return tuple(
        Spot(number, f"triangle {number}", share / (1 << SHARE_BITS), tests=tests, hits=hits, size=1)
        for number, share, tests, hits, *_ in rows.tolist()
        if share > 0
    )


def _of_owners(rows: np.ndarray, by: str, names: tuple[str, ...]) -> tuple[Spot, ...]:
    """Of the most that share anything down."""
    return tuple(
        Spot(int(one) - 1, names[one - 1] if one else "nobody's", int(rows[one, 0]) / (1 << SHARE_BITS),
             tests=int(rows[one, 1]), hits=int(rows[one, 2]), size=int(rows[one, 3]))
        for one in np.argsort(-rows[:, 0], kind="stable")
        if rows[one, 0] > 0
    )  # fmt: skip

"""Where rays spend their steps: counts of what they did in a structure, and their cost by node, depth, object, material
and triangle.

Cost is what SAH predicts, counted: an inner node that is entered costs `traversal_cost`, a primitive that is tested
`intersection_cost`. A triangle bears its own tests, and of each node above it an even part among the references below.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from ..brief import percent
from ..errors import Error
from ..hierarchy.base import NOT_TOLD, NodeTable
from .diagnosis import Finding
from .hot_words import BY
from .node_counts import Counts


@dataclasses.dataclass(frozen=True, eq=False)
class Owners:
    """Whose the primitives are, (P,) int32 each, -1 of nobody; and what those are called."""

    objects: np.ndarray
    materials: np.ndarray
    object_names: tuple[str, ...] = ()
    material_names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Spot:
    """One line: a node (a row of `nodes()`), a depth, an object, a material or a triangle, by number and `name`.
    `visits` of its nodes; boxes and primitives tested there, and how many of those were hit; `share` of all cost;
    `missed`, the share of visits by rays that did not find there what they hit; None is what means nothing here."""

    number: int
    name: str
    share: float
    visits: int | None = None
    box_tests: int | None = None
    box_hits: int | None = None
    tests: int = 0
    hits: int = 0
    missed: float | None = None
    depth: int | None = None
    size: int = 0
    """References below, or triangles."""


@dataclasses.dataclass(frozen=True, eq=False)
class HotSpots:
    """What rays called `rays` did: those of closest hits or of `any`, or both. Arrays (N,) are by row of `table`.
    `visits` int64 are rays that entered the node; `tests` and `hits` those of primitives in a leaf; `culled` its
    children that rays were not sent on to. `str` lists the `listed` dearest nodes, and what was found."""

    table: NodeTable
    counts: Counts
    rays: str
    kind: str
    owners: Owners | None = None
    traversal_cost: float = 1.0
    intersection_cost: float = 1.0
    configuration: str = ""
    findings: tuple[Finding, ...] = ()
    listed: int = 20

    # -- by node ------------------------------------------------------------------------------------------------------
    @property
    def visits(self) -> np.ndarray:
        """Rays that entered each node, as often as they did."""
        return self.counts.nodes["visits"]

    @property
    def tests(self) -> np.ndarray:
        """Primitives tested in each leaf."""
        return self.counts.nodes["tests"]

    @property
    def hits(self) -> np.ndarray:
        """Primitives hit in each leaf, before where the ray ended by then."""
        return self.counts.nodes["hits"]

    @functools.cached_property
    def box_tests(self) -> np.ndarray:
        """Boxes tested at each node, those of empty places too; 0 where nodes are cells."""
        inner = np.where(self.table.is_leaf, 0, self.visits)
        return np.asarray(self.counts.width * inner + self.counts.nodes["more_boxes"])

    @functools.cached_property
    def box_hits(self) -> np.ndarray:
        """Boxes tested at each node that a ray went into, or kept for later."""
        table = self.table
        found = np.zeros(len(table), np.int64)
        if self.counts.width == 0:
            return found
        child = np.flatnonzero(self._is_told & (table.parent >= 0))
        children = np.bincount(self._parents[child], minlength=len(table))
        return np.asarray(children * self.visits - self.counts.nodes["culled"])

    @functools.cached_property
    def cost(self) -> np.ndarray:
        """(N,) float64: what was spent in each node itself."""
        inner = np.where(self.table.is_leaf, 0, self.visits)
        return np.asarray(self.traversal_cost * inner + self.intersection_cost * self.tests)

    @property
    def total_cost(self) -> float:
        """Of all nodes."""
        return float(self.cost.sum())

    @property
    def share(self) -> np.ndarray:
        """(N,) float64: each node's part of all cost."""
        return self.cost / max(self.total_cost, 1e-300)

    @functools.cached_property
    def share_below(self) -> np.ndarray:
        """(N,) float64: the same with all nodes below."""
        return self._sums_below(self.share)

    @functools.cached_property
    def missed(self) -> np.ndarray:
        """(N,) float64: the share of visits by rays that entered and left empty-handed: what they hit in the end, if
        anything, lies elsewhere. 0 where nobody came."""
        found = self._sums_below(self.counts.nodes["found"])
        return np.where(self.visits > 0, 1.0 - np.minimum(found / np.maximum(self.visits, 1), 1.0), 0.0)

    @functools.cached_property
    def references_below(self) -> np.ndarray:
        """(N,) int64."""
        return self._sums_below(self.table.reference_count.astype(np.int64))

    # -- by triangle --------------------------------------------------------------------------------------------------
    @functools.cached_property
    def triangle_share(self) -> np.ndarray:
        """(P,) float64: each triangle's part of all cost."""
        table, found = self.table, self.intersection_cost * self.counts.primitive_tests.astype(np.float64)
        down = self.traversal_cost * np.where(table.is_leaf, 0, self.visits).astype(np.float64)
        below, levels = self.references_below, self._levels
        for rows in levels[:0:-1]:  # what no reference lies below goes to the node above
            empty = rows[below[rows] == 0]
            np.add.at(down, table.parent[empty], down[empty])
            down[empty] = 0.0
        each = np.divide(down, below, out=np.zeros(len(table)), where=below > 0)
        for rows in levels[1:]:
            each[rows] += each[table.parent[rows]]
        leaves = np.flatnonzero(table.is_leaf & (table.reference_count > 0))
        counts = table.reference_count[leaves]
        places = np.repeat(table.first_reference[leaves] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        np.add.at(found, table.references[places], np.repeat(each[leaves], counts))
        return np.asarray(found / max(self.total_cost, 1e-300))

    # -- lists --------------------------------------------------------------------------------------------------------
    def top(self, count: int = 20, by: str = "node") -> tuple[Spot, ...]:
        """The dearest first, those that cost anything; by depth from the root down. Error for what there is not."""
        if by not in BY:
            raise Error(f"hot spots are listed by {', '.join(BY)}, not by {by!r}", "HotSpots.top", "choose one of them")
        if by == "depth":
            return self._by_depth()[:count]
        if by == "node":
            order = np.argsort(-self.share, kind="stable")[:count]
            return tuple(self.node(int(row)) for row in order if self.visits[row] > 0)
        if by == "triangle":
            order = np.argsort(-self.triangle_share, kind="stable")[:count]
            return tuple(self.triangle(int(one)) for one in order if self.triangle_share[one] > 0)
        return self._by_owner(by)[:count]

    def node(self, row: int) -> Spot:
        """What happened at a row of the table. Its name is what events, the tree's browser and the ray debugger call
        it; that of a row which no layout has as a node of its own is the row's."""
        table, ids = self.table, self.table.event_ids
        told = row if ids is None or ids[row] == NOT_TOLD else int(ids[row])
        name = ("leaf " if table.is_leaf[row] else "node ") + (str(told) if told >= 0 else f"~{~told}")
        counted = {of: int(getattr(self, of)[row]) for of in ("visits", "box_tests", "box_hits", "tests", "hits")}
        where = {"depth": int(table.depth[row]), "size": int(self.references_below[row])}
        return Spot(row, name, float(self.share[row]), missed=float(self.missed[row]), **counted, **where)

    def triangle(self, number: int) -> Spot:
        """What happened at a primitive."""
        tests, hits = (int(of[number]) for of in (self.counts.primitive_tests, self.counts.primitive_hits))
        return Spot(number, f"triangle {number}", float(self.triangle_share[number]), tests=tests, hits=hits, size=1)

    def _by_depth(self) -> tuple[Spot, ...]:
        found = []
        for depth, rows in enumerate(self._levels):
            visits = int(self.visits[rows].sum())
            told = {of: int(getattr(self, of)[rows].sum()) for of in ("box_tests", "box_hits", "tests", "hits")}
            missed = float((self.missed[rows] * self.visits[rows]).sum() / visits) if visits else 0.0
            where = {"depth": depth, "size": int(self.table.reference_count[rows].sum())}
            share = float(self.share[rows].sum())
            found.append(Spot(depth, f"depth {depth}", share, visits, missed=missed, **told, **where))
        return tuple(one for one in found if one.visits)

    def _by_owner(self, by: str) -> tuple[Spot, ...]:
        owners = self.owners
        if owners is None:
            raise Error(f"these rays were traced without a scene, so that no {by}s are known", "HotSpots.top",
                        "ask rg.hot_spots about a scene")  # fmt: skip
        ids, names = getattr(owners, f"{by}s"), getattr(owners, f"{by}_names")
        count = max(len(names), int(ids.max(initial=-1)) + 1) + 1
        sums = [
            np.bincount(ids + 1, weights=of, minlength=count)
            for of in (self.triangle_share, self.counts.primitive_tests, self.counts.primitive_hits, np.ones(len(ids)))
        ]
        order = np.argsort(-sums[0], kind="stable")
        return tuple(
            Spot(
                int(one) - 1,
                names[one - 1] if 0 < one <= len(names) else f"{by} {one - 1}" if one else "nobody's",
                float(sums[0][one]),
                tests=int(sums[1][one]),
                hits=int(sums[2][one]),
                size=int(sums[3][one]),
            )
            for one in order
            if sums[0][one] > 0
        )

    def __str__(self) -> str:
        counts = f"{int(self.visits.sum()):,} visits, {int(self.tests.sum()):,} primitives tested"
        lines = [f"{self.counts.rays:,} rays ({self.rays}), {counts}", "node        depth      visits   share  missed"]
        lines += [
            f"{one.name:<11} {one.depth:>5} {one.visits:>11,} {percent(one.share, 1):>7} {missed:>7}"
            for one in self.top(self.listed)
            for missed in ("" if one.missed is None else percent(one.missed, 1),)
        ]
        return "\n".join([*lines, *(f"{one.sentence} {remedy_sentence(one)}" for one in self.findings)])

    # -- the table ----------------------------------------------------------------------------------------------------
    @functools.cached_property
    def _is_told(self) -> np.ndarray:
        """Which rows are nodes in the layout."""
        return np.asarray(self.table.event_ids) != NOT_TOLD

    @functools.cached_property
    def _parents(self) -> np.ndarray:
        """The row above each that is a node in the layout; -1 above the root."""
        above, is_told = self.table.parent.copy(), self._is_told
        while True:
            climbs = (above >= 0) & ~is_told[np.maximum(above, 0)]
            if not climbs.any():
                return above
            above[climbs] = self.table.parent[above[climbs]]

    @functools.cached_property
    def _levels(self) -> list[np.ndarray]:
        """Rows by depth."""
        order = np.argsort(self.table.depth, kind="stable")
        if len(order) == 0:
            return []
        return np.split(order, np.flatnonzero(np.diff(self.table.depth[order])) + 1)

    def _sums_below(self, values: np.ndarray) -> np.ndarray:
        found = values.copy()
        for rows in self._levels[:0:-1]:
            np.add.at(found, self.table.parent[rows], found[rows])
        return found


def remedy_sentence(finding: Finding) -> str:
    """The remedy of a finding, and what it gains."""
    if finding.gain is None:
        return f"What may help: {finding.remedy}."
    name = getattr(finding, "configuration", "")
    how = f"saves {percent(1 - 1 / finding.gain)}" if finding.gain > 1.005 else "saves nothing"
    return f"{name} {how}."

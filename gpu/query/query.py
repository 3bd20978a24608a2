"""Regions of space -> the primitives in them, on both targets, over every structure that answers (`capabilities
.queries`).

Queries are asked between frames, many at a time. On the device a structure gives one function for all of them, `visit`
(regions.cuh). Triangles are all their points, and found where they have no area, too; spheres are balls, and glyphs
solids. Inactive primitives (not finite, hidden) are never found. Places and boxes are in scene units, at most 1e18 from
the origin.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..hierarchy.base import Hierarchy, HierarchyError
from ..target.base import Array, Unit, UnitSource
from ..target.structs import pack
from .cell import edges_of, upload_cell
from .contacts import Contacts
from .lists import ListedPrimitives, make_ascending, total_of
from .questions import Boxes, Places, QueryParts, check_target
from .touching import Touching, check_touching

Question = Boxes | Places | Touching | Contacts

MOST_NEIGHBOURS = 128
_LEAST_ROOM = 8
_PARTS_ALONG = {"host": 8, "cuda": 24}
"""A region that many threads share is divided into so many parts along each axis."""

_ASKING_TOGETHER = {"host": 8, "cuda": 1}
"""Primitives side by side in the structure that visit it together: that saves steps, and leaves fewer threads."""


@dataclasses.dataclass(frozen=True, eq=False)
class NearestPrimitives:
    """What is nearest to each of N places, on the target: `prim_id` (N,) int32 (-1: nothing so near), `distance` (N,)
    float32 in scene units (inf where there is nothing), and `points` (N, 3) float32, the nearest point of the primitive
    (NaN where there is none)."""

    prim_id: Array
    distance: Array
    points: Array


@dataclasses.dataclass(frozen=True, eq=False)
class KNearestPrimitives:
    """The k primitives nearest to each of N places, on the target, nearest first: `prim_ids` (N, k) int32 (-1: there
    are no more), `distances` (N, k) float32 in scene units (inf where there are no more)."""

    prim_ids: Array
    distances: Array


@dataclasses.dataclass(frozen=True, eq=False)
class Leaves:
    """The leaf that holds each of N places, on the target: `leaf_ids` (N,) int32, its number among the structure's own
    nodes (-1: the place is outside of all), `reference_counts` (N,) int32, and its `cells` (N, 2, 3) float32, lower and
    upper corner."""

    leaf_ids: Array
    reference_counts: Array
    cells: Array


class Queries:
    """Asks one structure, as it was last built or refitted. Cheap to make: compiled units are found by what decides
    them.

    `of` says what distances are measured to: `surfaces` (the nearest point of a primitive; a ball has no distance to
    what it contains) or `centres` (of spheres alone). Every method raises HierarchyError where the structure has no
    such query.
    """

    def __init__(self, hierarchy: Hierarchy, of: str = "surfaces") -> None:
        if of not in ("surfaces", "centres"):
            raise HierarchyError(f"Distances are measured to surfaces or to centres, not to {of}.")
        self.hierarchy, self.target, self.of = hierarchy, hierarchy.target, of
        self._cell: Array | None = None

    def nearest(self, places: Places) -> NearestPrimitives:
        """The primitive nearest to each of `places` (`upload_places`), the smallest prim_id of those equally near.
        Launches only."""
        count = len(places)
        if places.periodic is not None:
            raise HierarchyError("In a periodic box the nearest primitive is asked for by k_nearest, with k = 1.")
        unit, view = self._unit("nearest", "gpu/query/nearest.cu", places)
        found = NearestPrimitives(
            self.target.empty(count, np.int32, "queries"),
            self.target.empty(count, np.float32, "queries"),
            self.target.empty((count, 3), np.float32, "queries"),
        )
        if count > 0:
            arrays = {"prim_id": found.prim_id, "distance": found.distance, "nearest": found.points}
            self.target.launch(unit, "find_nearest", count, input=view, count=count, **arrays)
        return found

    def k_nearest(self, places: Places, k: int) -> KNearestPrimitives:
        """The `k` primitives, at most MOST_NEIGHBOURS, nearest to each of `places`, nearest first, of equals the
        smaller prim_id. Launches only, but in a periodic box."""
        if not 1 <= k <= MOST_NEIGHBOURS:
            raise HierarchyError(f"The nearest 1 to {MOST_NEIGHBOURS} primitives are found; {k} were asked for.")
        count = len(places)
        room = max(_LEAST_ROOM, 1 << (k - 1).bit_length())
        constants = (("MOST_NEIGHBOURS", room), ("MAY_REPEAT", self._may_repeat(places)))
        unit, view = self._unit("k_nearest", "gpu/query/k_nearest.cu", places, constants)
        prim_ids = self.target.empty((count, k), np.int32, "queries")
        distances = self.target.empty((count, k), np.float32, "queries")
        if count > 0:
            arrays = {"prim_ids": prim_ids, "distances": distances}
            self.target.launch(unit, "find_k_nearest", count, input=view, count=count, wanted=k, **arrays)
        return KNearestPrimitives(prim_ids, distances)

    def in_boxes(self, boxes: Boxes, ascending: bool = False) -> ListedPrimitives:
        """The primitives that have a point in common with each of `boxes` (`upload_boxes`). Waits, to learn how many
        they are. TooManyListedError where they are too many for one call."""
        return self._listed("box", boxes, ascending)

    def in_balls(self, places: Places, ascending: bool = False) -> ListedPrimitives:
        """The primitives that are at most so far from each of `places`; with a radius of 0, those that contain the
        place. Waits. TooManyListedError where they are too many for one call."""
        return self._listed("ball", places, ascending)

    def touching(self, others: Touching, ascending: bool = False) -> ListedPrimitives:
        """The primitives that have a point in common with each of `others`. Waits. TooManyListedError where they are
        too many for one call."""
        return self._listed("touching", others, ascending)

    def count_in_boxes(self, boxes: Boxes) -> Array:
        """How many primitives have a point in common with each of `boxes`, (N,) int32. Launches only, where the
        structure lists no primitive several times."""
        return self._counted("box", boxes)

    def count_in_balls(self, places: Places) -> Array:
        """How many primitives are at most so far from each of `places`, (N,) int32. Launches only, where the structure
        lists no primitive several times and nothing is periodic."""
        return self._counted("ball", places)

    def mark_touching(self, contacts: Contacts, marks: Array, found: Array) -> None:
        """Mark the primitives of different objects that touch, where these objects ask for one another, in `marks` (P,)
        uint32 by their numbers, all 0 before, and count the pairs and the primitives in `found` (2,) uint64. Launches
        only; of structures that list no primitive several times."""
        if self._may_repeat(None):
            raise HierarchyError(f"The structure {self.hierarchy.name} may find a pair twice: ask for lists of them.")
        built, target = self.hierarchy.last_built(), self.target
        group = _ASKING_TOGETHER[target.kind]
        unit, view = self._unit("touching", "gpu/query/touching_pairs.cu", contacts, (("GROUP", group),))
        rows = {"input": view, "count": built.count, "marks": marks, "found": found}
        target.launch(unit, "mark_touching", -(-built.count // group), **rows)

    def mark(self, region: Boxes | Places, marks: Array) -> Array:
        """Mark the primitives in one region in `marks`, (P,) uint32 by their numbers, all 0 before and not 0 where they
        are in it, and count them, each once: (1,) int32. Of `centres` those whose centres are in the box or the ball,
        else those that lists name. Many threads share the region. Launches only."""
        if len(region) != 1 or region.periodic is not None:
            raise HierarchyError(f"One region that does not repeat is marked at a time; {len(region)} were given.")
        query = "box" if isinstance(region, Boxes) else "ball"
        unit, view = self._unit(query, "gpu/query/marked.cu", region)
        along = _PARTS_ALONG[self.target.kind]
        found = self.target.zeros(1, np.int32, "queries")
        self.target.launch(unit, "mark_within", along**3, input=view, parts_along=along, marks=marks, found=found)
        return found

    def leaves(self, places: Places) -> Leaves:
        """The leaf that holds each of `places`, of structures whose leaves divide space. Launches only."""
        count = len(places)
        unit, view = self._unit("leaf", "gpu/query/leaf.cu", places)
        leaf_ids, counts = (self.target.empty(count, np.int32, "queries") for _ in range(2))
        cells = self.target.empty((count, 2, 3), np.float32, "queries")
        if count > 0:
            arrays = {"leaf_ids": leaf_ids, "reference_counts": counts, "cells": cells}
            self.target.launch(unit, "find_leaves", count, input=view, count=count, **arrays)
        return Leaves(leaf_ids, counts, cells)

    def _may_repeat(self, question: Question | None) -> bool:
        is_periodic = question is not None and question.periodic is not None
        return self.hierarchy.capabilities.splits_references or is_periodic

    def _counted(self, query: str, question: Question) -> Array:
        if self._may_repeat(question):
            return self._listed(query, question, False).counts
        unit, view = self._unit(query, "gpu/query/listed.cu", question)
        counts = self.target.empty(len(question), np.int32, "queries")
        self.target.launch(unit, "count_listed", len(question), input=view, count=len(question), found=counts)
        return counts

    def _listed(self, query: str, question: Question, ascending: bool) -> ListedPrimitives:
        target, count = self.target, len(question)
        unit, view = self._unit(query, "gpu/query/listed.cu", question)
        counts, first = (target.zeros(count, np.int32, "queries") for _ in range(2))
        if count == 0:
            return ListedPrimitives(target.empty(0, np.int32, "queries"), first, counts)
        target.launch(unit, "count_listed", count, input=view, count=count, found=counts)
        total = total_of(target, counts, first)
        prim_ids = target.empty(total, np.int32, "queries")
        if total > 0:
            lists = {"first": first, "counts": counts, "prim_ids": prim_ids}
            target.launch(unit, "write_listed", count, input=view, count=count, **lists)
        listed = ListedPrimitives(prim_ids, first, counts)
        return make_ascending(target, listed) if ascending or self._may_repeat(question) else listed

    def _unit(
        self, query: str, path: str, question: Question, constants: tuple[tuple[str, int], ...] = ()
    ) -> tuple[Unit, np.ndarray]:
        """The compiled query, and its by-value struct."""
        self._check(query)
        check_target(self.target, question.arrays)
        traversal = self.hierarchy.query_traversal()
        cell = self._cell = self._cell_of(question)  # kept while launches read it
        tree, records, rows = traversal.tree, traversal.records, question.packed(cell)
        view = pack(QueryParts(tree.view, records.view, rows))
        source = UnitSource(
            path,
            (records.header, tree.header, *question.headers),
            (("Tree", tree.type_name), ("Records", records.type_name), ("Question", question.device_type)),
            (
                *tree.constants,
                ("QUERY_INPUT_BYTES", view.dtype.itemsize),
                ("OF_CENTRES", self.of == "centres"),
                ("IS_PERIODIC", cell is not None),
                *constants,
            ),
            1,
        )
        return self.target.unit(source), view

    def _cell_of(self, question: Question) -> Array | None:
        if question.periodic is None:
            return None
        if self.of != "centres":
            raise HierarchyError("In a periodic box distances to the centres of spheres are asked for (of=centres).")
        return upload_cell(self.target, edges_of(question.periodic), self.hierarchy.last_built().keep_alive[0])

    def _check(self, query: str) -> None:
        known = self.hierarchy.capabilities.queries
        if query not in known:
            has = f"has the queries {', '.join(known)}" if known else "answers no queries of regions"
            raise HierarchyError(f"The structure {self.hierarchy.name} {has}; {query} was asked for.")
        kind = self.hierarchy.last_built().kind
        if query == "touching":
            check_touching(kind)
        if self.of == "centres" and kind != "sphere":
            raise HierarchyError(f"Distances to centres are those of spheres alone; there are {kind} primitives.")

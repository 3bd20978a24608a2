"""What rays do in a structure, counted by node and by primitive, from the events of the traversal that traces them."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from ..hierarchy.base import NOT_TOLD, HierarchyError, NodeTable
from ..rows import Struct
from ..target.base import Target, UnitSource
from ..trace.trace import COUNTING_REGISTERS, TRACE_BLOCK, RaySource, Tracer
from .ray_log import ON_PRIMITIVE

COPIES = {"host": 8, "cuda": 32}
COPIES_BYTES = 1 << 26
"""Copies of the counts, and how much memory they may take: with fewer, blocks share them."""

Count = Annotated[int, "uint64"]


@dataclasses.dataclass(frozen=True)
class NodeCount(Struct):
    """What rays did at one node. `culled`: rays that its parent did not send on to it; `tests` and `hits` of primitives
    in it; `found`: rays whose hit, in the end, was found in it; `more_boxes`: boxes of runs of a long list."""

    visits: Count
    culled: Count
    tests: Count
    hits: Count
    found: Count
    more_boxes: Count


FIELDS = tuple(field.name for field in dataclasses.fields(NodeCount))


class Slots:
    """Where each row of a table is counted, and which row each place is of."""

    def __init__(self, table: NodeTable) -> None:
        ids = table.event_ids
        if ids is None:
            raise HierarchyError("This structure does not say what events of its traversal call its nodes.")
        is_told = ids != NOT_TOLD
        self.node_space = int(ids[is_told].max(initial=-1)) + 1
        self.count = self.node_space + len(table.references) + 1
        self.rows = np.flatnonzero(is_told)
        told = ids[self.rows].astype(np.int64)
        self.places = np.where(told < 0, self.node_space + ~told, told)

    def by_row(self, of_slots: np.ndarray, rows: int) -> np.ndarray:
        """Numbers of slots as those of the table's rows, 0 of what events do not name."""
        found = np.zeros(rows, of_slots.dtype)
        found[self.rows] = of_slots[self.places]
        return found

    def by_slot(self, of_rows: np.ndarray) -> np.ndarray:
        """Numbers of rows as those of their slots, 0 of places that no row is counted in."""
        found = np.zeros(self.count, of_rows.dtype)
        found[self.places] = of_rows[self.rows]
        return found


@dataclasses.dataclass(frozen=True, eq=False)
class Counts:
    """By row of the table (N,) int64: NodeCount's fields; by primitive (P,) int64: tests and hits. `rays` were traced;
    `width` boxes are tested at an inner node that is visited, 0 where nodes are cells."""

    nodes: dict[str, np.ndarray]
    primitive_tests: np.ndarray
    primitive_hits: np.ndarray
    rays: int
    width: int

    def plus(self, other: Counts) -> Counts:
        """Those of both, of one table."""
        nodes = {name: self.nodes[name] + other.nodes[name] for name in FIELDS}
        tests, hits = (getattr(self, f"primitive_{of}") + getattr(other, f"primitive_{of}") for of in ("tests", "hits"))
        return Counts(nodes, tests, hits, self.rays + other.rays, max(self.width, other.width))


class NodeCounter:
    """Counts the rays of any sources through one structure, until it is read."""

    def __init__(self, target: Target, table: NodeTable, primitive_count: int) -> None:
        self.target, self.slots = target, Slots(table)
        self._rows, self._primitives = len(table), max(1, primitive_count)
        size = self.slots.count * NodeCount.dtype().itemsize + 16 * self._primitives
        wanted = COPIES[target.kind]
        self._copies = max(1, min(wanted, COPIES_BYTES // size))
        self._has_own_copies = target.kind == "host" and self._copies == wanted
        self._counts = target.zeros((self._copies, self.slots.count, len(FIELDS)), np.uint64, "analysis")
        self._of_primitives = target.zeros((self._copies, 2, self._primitives), np.uint64, "analysis")
        self._traced = target.zeros(1, np.uint64, "analysis")
        self._width = target.zeros(1, np.int32, "analysis")

    def count(self, tracer: Tracer, rays: RaySource, kind: str) -> None:
        """Trace rays to their closest hits, or to any, and add what they do. Launches only."""
        aliases = (("OnPrimitive", ON_PRIMITIVE[kind]),)
        unit, view = tracer.unit(
            "gpu/analysis/node_counts.cu",
            rays,
            aliases,
            (("OWN_COPIES", self._has_own_copies),),
            registers=COUNTING_REGISTERS,
            width=1,
        )
        self.target.launch(
            unit,
            "count_nodes",
            rays.padded_count,
            input=view,
            ray_count=rays.padded_count,
            counts=self._counts,
            slot_count=self.slots.count,
            copies=self._copies,
            node_space=self.slots.node_space,
            of_primitives=self._of_primitives,
            primitive_count=self._primitives,
            traced=self._traced,
            width=self._width,
            block=TRACE_BLOCK,
            blocks=self._copies if self._has_own_copies else 0,
        )

    def read(self) -> Counts:
        """What was counted until now. Waits."""
        unit = self.target.unit(UnitSource("gpu/analysis/sum_copies.cu"))
        for copied in (self._counts, self._of_primitives):
            length = copied.size // self._copies
            self.target.launch(unit, "sum_copies", length, counts=copied, length=length, copies=self._copies)
        counts = self.target.download(self._counts[0]).astype(np.int64)
        tests, hits = self.target.download(self._of_primitives[0]).astype(np.int64)
        nodes = {name: self.slots.by_row(counts[:, place], self._rows) for place, name in enumerate(FIELDS)}
        rays, width = (int(self.target.download(array)[0]) for array in (self._traced, self._width))
        return Counts(nodes, tests, hits, rays, width)

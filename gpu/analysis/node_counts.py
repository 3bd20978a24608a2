"""What rays do in a structure, counted by node and by primitive, from the events of the traversal that traces them.

Counting only launches: a node is counted by what events call it, so that the table of nodes, which waits for the
target, is needed by those alone who read.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np

from ..hierarchy.base import NOT_TOLD, HierarchyError, NodeTable
from ..hierarchy.traversed_nodes import EventSpace
from ..rows import Struct
from ..target.base import Array, Target, Unit, UnitSource
from ..trace.trace import TRACE_BLOCK, HitBuffer, RaySource, Tracer
from .ray_log import ON_PRIMITIVE

COUNT_BITS = 29
"""Bits of visits, and of rays that found their hit, where two counts share a word. The other has 35: no more than
PACKED_TESTS primitives or children are tested a visit."""

PRIMITIVE_BITS = 32
"""The same of a primitive's tests."""

PACKED_TESTS = 1 << 64 - 2 * COUNT_BITS
"""Tests of a visit up to which two counts share a word, so that half as many are written."""

MOST_PACKED = (1 << COUNT_BITS) - 1
"""Rays that are counted so from one `clear` to the next."""

MOST_COPIES, COPIES_A_THREAD = 8, 1
COPIES_BYTES = {"host": 1 << 26, "cuda": 1 << 24}
"""Copies of the counts, for each thread of a host, and how much memory they may take: with fewer, blocks share them.
Each is cleared for every picture, on an H200 some 5 us for 16 MiB. Where leaves may be of any size, each count has 64
bits: a leaf of a million primitives is tested by a million rays."""

REGISTERS = 96
"""Room for a traversal that counts by node, and for the point and the light behind a shadow ray."""

Count = Annotated[int, "uint64"]


@dataclasses.dataclass(frozen=True)
class NodeCount(Struct):
    """What rays did at one node. `culled`: its children that a ray was not sent on to; `tests` and `hits` of primitives
    in it; `found`: rays whose hit, in the end, was found in it; `more_boxes`: boxes of runs of a long list."""

    visits: Count
    culled: Count
    tests: Count
    hits: Count
    found: Count
    more_boxes: Count


FIELDS = tuple(field.name for field in dataclasses.fields(NodeCount))


class Slots:
    """Where each row of a table is counted, and which row each place is of; in `space`, or as much as the table
    needs."""

    def __init__(self, table: NodeTable, space: EventSpace | None = None) -> None:
        ids = table.event_ids
        if ids is None:
            raise HierarchyError("This structure does not say what events of its traversal call its nodes.")
        is_told = ids != NOT_TOLD
        self.rows = np.flatnonzero(is_told)
        told = ids[self.rows].astype(np.int64)
        needed = EventSpace(int(told.max(initial=-1)) + 1, int((~told).max(initial=-1)) + 1)
        space = space or EventSpace(needed.nodes, len(table.references) + 1)
        if needed.nodes > space.nodes or needed.references > space.references:
            raise HierarchyError(f"A tree whose nodes need {needed} was counted in {space}.")
        self.node_space, self.count = space.nodes, space.places
        self.places = np.where(told < 0, space.nodes + ~told, told)

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
    """Counts the rays of any sources through one structure, until it is cleared. All but `read` only launches, once its
    kernels are compiled."""

    def __init__(self, target: Target, space: EventSpace, primitive_count: int) -> None:
        self.target, self.space, self.primitive_count = target, space, max(1, primitive_count)
        self._slots, self._rays = space.places, 0
        self.is_packed = 0 < space.most_tests <= PACKED_TESTS
        slot_words, primitive_words = (2, 1) if self.is_packed else (len(FIELDS), 2)
        self._length = slot_words * self._slots + primitive_words * self.primitive_count
        self._sums: Array | None = None
        wanted = min(MOST_COPIES, COPIES_A_THREAD * target.threads or MOST_COPIES)
        room = COPIES_BYTES[target.kind]
        self._copies = max(1, min(wanted, room // (8 * self._length)))
        self._has_own_copies = target.kind == "host" and self._copies == wanted
        self._all = target.zeros(self._copies * self._length + 2, np.uint64, "analysis")
        self._copied, self._totals = self._all[:-2], self._all[-2:]

    def clear(self) -> None:
        """Begin anew."""
        self._rays = 0
        self.target.fill(self._all, 0)

    def count(self, tracer: Tracer, rays: RaySource, kind: str, hits: HitBuffer | None = None) -> None:
        """Trace rays to their closest hits, or to any, and add what they do; into `hits` they are written, too."""
        aliases = (("OnPrimitive", ON_PRIMITIVE[kind]),)
        width = tracer.lanes if tracer.traversal.lanes_go_alone else 1
        unit, view = self._unit(tracer, "node_counts.cu", rays, aliases, width)
        found = dict.fromkeys(("t", "prim_id", "u", "v")) if hits is None else hits.arrays()
        self._launch(unit, "count_nodes", tracer, rays, width, input=view, **found)

    def count_shadows(
        self,
        tracer: Tracer,
        rays: RaySource,
        hits: HitBuffer,
        positions: Array,
        triangles: Array,
        lights: Array,
        light_count: int,
    ) -> None:
        """Trace rays from the hits of `rays` to every light, as Tracer.trace_shadows does, and add what they do."""
        unit, view = self._unit(tracer, "shadow_counts.cu", rays, (), 1)
        lit = {"positions": positions, "triangles": triangles, "lights": lights, "light_count": light_count}
        found = {"prim_id": hits.prim_id, "u": hits.u, "v": hits.v}
        self._launch(unit, "count_shadow_nodes", tracer, rays, 1, input=view, **found, **lit)

    def _unit(
        self, tracer: Tracer, file: str, rays: RaySource, aliases: tuple[tuple[str, str], ...], width: int
    ) -> tuple[Unit, np.ndarray]:
        constants = (("OWN_COPIES", self._has_own_copies), ("PACKED", self.is_packed))
        return tracer.unit(f"gpu/analysis/{file}", rays, aliases, constants, REGISTERS, width)

    def _launch(self, unit: Unit, kernel: str, tracer: Tracer, rays: RaySource, width: int, **given: Any) -> None:
        count, blocks = rays.padded_count, self._copies if self._has_own_copies else tracer.blocks(rays)
        self._rays += count * given.get("light_count", 1)
        if self.is_packed and self._rays > MOST_PACKED:
            raise HierarchyError(
                f"At most {MOST_PACKED:,} rays are counted together in such a tree: choose fewer rays, a smaller "
                "picture or fewer lights."
            )
        if kernel == "count_nodes":
            given |= {"in_strides": int(blocks == 0), "pack_count": count // width}
        else:
            given["ray_count"] = count
        self.target.launch(
            unit,
            kernel,
            count // width,
            **given,
            counts=self._copied,
            slot_count=self._slots,
            node_space=self.space.nodes,
            primitive_count=self.primitive_count,
            copies=self._copies,
            totals=self._totals,
            block=TRACE_BLOCK,
            blocks=blocks,
        )

    def sums(self) -> tuple[Array, Array]:
        """What was counted until now, on the target: a NodeCount a slot (slots, 6), and the primitives' tests and hits
        (2, P), uint64. Launches only; not in a frame."""
        slots = len(FIELDS) * self._slots
        sums = self._summed()
        return sums[:slots].reshape(self._slots, len(FIELDS)), sums[slots:].reshape(2, self.primitive_count)

    @property
    def totals(self) -> Array:
        """(2,) uint64: the rays, and the most boxes of an inner node."""
        return self._totals

    def read(self, table: NodeTable) -> Counts:
        """What was counted until now, by the rows of the table of that tree. Waits."""
        slots, end = Slots(table, self.space), len(FIELDS) * self._slots
        sums = self.target.download(self._summed()).view(np.int64)
        of_slots, (tests, hits) = sums[:end].reshape(self._slots, len(FIELDS)), sums[end:].reshape(2, -1)
        nodes = {name: slots.by_row(of_slots[:, place], len(table)) for place, name in enumerate(FIELDS)}
        rays, width = self.target.download(self._totals).tolist()
        return Counts(nodes, tests, hits, rays, width)

    def _summed(self) -> Array:
        target, slots, primitives = self.target, self._slots, self.primitive_count
        end = len(FIELDS) * slots
        if self._sums is None:
            self._sums = target.empty(end + 2 * primitives, np.uint64, "analysis")
        unit = target.unit(UnitSource("gpu/analysis/sum_copies.cu"))
        given = {"counts": self._copied, "copies": self._copies}
        if self.is_packed:
            space = {"slot_count": slots, "node_space": self.space.nodes, "primitive_count": primitives}
            found = {"of_slots": self._sums[:end], "of_primitives": self._sums[end:]}
            target.launch(unit, "unpack_copies", max(slots, primitives), **given, **space, **found)
        else:
            target.launch(unit, "sum_copies", self._length, **given, length=self._length, sums=self._sums)
        return self._sums

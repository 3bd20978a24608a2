"""Which nodes of the points' octree send light to which, and how: lists made by a dual traversal of the tree with
itself (pairs.cu), and what hides points from each other (sight.cu)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..hierarchy.octree.point_tree import MAX_DEPTH, PointTree
from ..rows import Ints, Struct
from ..target.base import Array, OutOfMemoryError, Target, Unit, UnitSource
from ..target.structs import pack
from ..trace.trace import TRACE_BLOCK, Tracer, upload_rays

SPLITS = ("split", "split_receiver", "split_sender")
KINDS = ("far", "near", "to_points", "of_points", "partial", *SPLITS, "none")
"""What becomes of a pair (receiver, sender): expansion to expansion; points to points; the sender's expansion to
points; points to the receiver's expansion; points to those points that see them; it is split; it is left out."""

LISTS = KINDS[: KINDS.index("split")]

PairTotals = {"listed": 0, "frontier": 5, "most_pairs": 6, "rounds": 7, "WORDS": 8}
"""Words of `PairLists.totals`: the lengths of the lists, the pairs of the round to come, the most a round had, and the
rounds that left any."""

CHUNK = 32
MOST_LEAF_POINTS = 32
"""Bits of a word: of whom a point sees."""
MOST_ROUNDS = 2 * (MAX_DEPTH + 1)
SPARE_ROUNDS = 2
"""Beside those that points needed when they were placed first: where they move, a branch may become deeper."""
FIRST_ROOM = 8192
SIGHT_REGISTERS = 96
"""Room for a traversal between what a pair is asked and what it is told."""
PARTS = 64
"""Of the points that a point is asked about by rays: work for as many threads."""


@dataclasses.dataclass(frozen=True)
class NodeLists(Struct):
    """Lists of senders: those of node i are senders[first[i]] .. senders[first[i + 1]]."""

    first: Ints
    senders: Ints


@dataclasses.dataclass(frozen=True)
class SightOptions:
    """How pairs are asked whether they see each other: `rays` between points of two nodes."""

    tracer: Tracer
    rays: int


class PairLists:
    """See the module. There is `room` for so many pairs of each kind, and `pair_room` for those of a round."""

    def __init__(self, target: Target, leaf_points: int, angle: float, least_pairs: int) -> None:
        self._target, self._leaf_points, self._angle, self._least = target, leaf_points, angle, least_pairs
        self._unit = target.unit(UnitSource("gpu/radiosity/pairs.cu"))
        self._rays = upload_rays(target, np.zeros((1, 3)), np.ones((1, 3)))
        self.totals = target.zeros(PairTotals["WORDS"], np.int32, "radiosity")
        self.room = self.pair_room = self.capacity = 0
        self.rounds = MOST_ROUNDS
        self.seen: Array = None
        self.generation = 0

    def reserve(self, capacity: int, room: int = FIRST_ROOM, pair_room: int = FIRST_ROOM) -> None:
        """Arrays for trees of so many nodes, and for so many pairs. Between two frames. Raises OutOfMemoryError."""
        room, pair_room = max(room, self.room), -(-max(pair_room, self.pair_room) // CHUNK) * CHUNK
        if (capacity, room, pair_room) == (self.capacity, self.room, self.pair_room):
            return
        needed = 4 * len(LISTS) * (capacity + 4 * room) + 20 * pair_room + 4 * self._leaf_points * room
        if needed > self._target.free_bytes():
            raise OutOfMemoryError(f"{room:,} pairs of nodes that exchange light", needed, self._target.free_bytes())
        self.capacity, self.room, self.pair_room = capacity, room, pair_room
        self.generation += 1

        def ints(*shape: int) -> Array:
            return self._target.zeros(shape, np.int32, "radiosity")

        kinds = len(LISTS)
        self._pairs, self._next, self._kinds = ints(pair_room, 2), ints(pair_room, 2), ints(pair_room)
        self._counts, self._begins = (ints(kinds + 1, pair_room // CHUNK) for _ in range(2))
        self._listed, self._first, self._senders = ints(kinds, room, 2), ints(kinds, capacity + 1), ints(kinds, room)
        self._keys = self._target.zeros(room, np.uint32, "radiosity")
        self._unsorted = ints(room)
        self.seen = self._target.zeros((room, self._leaf_points), np.uint32, "radiosity")

    def lists(self, kind: str) -> np.ndarray:
        """NodeLists of a kind, for kernels."""
        number = LISTS.index(kind)
        return pack(NodeLists(self._first[number], self._senders[number]))

    def compile(self, sight: SightOptions | None) -> None:
        """Compile what `find` launches."""
        if sight is not None:
            self._sight(sight)

    def find(self, tree: PointTree, shapes: Array, normals: Array, sight: SightOptions | None) -> None:
        """List the pairs of a tree whose nodes have these shapes; all points see each other where `sight` is None.
        Launches only."""
        target = self._target
        target.launch(self._unit, "begin_pairs", 8, tree=tree.view, pairs=self._pairs, totals=self.totals)
        pairs, following = self._pairs, self._next
        for _ in range(self.rounds):
            self._round(tree, shapes, normals, sight, pairs, following)
            pairs, following = following, pairs
        for number, kind in enumerate(LISTS):
            self._sort(number)
            if kind == "partial" and sight is not None:
                self._see_points(tree, normals, sight, number)

    def find_room(self) -> bool:
        """Whether the lists that were made last had room; else they have more from now on, if perhaps not enough.
        Waits; between two frames."""
        totals = self._target.download(self.totals)
        if not self.lacks_room(totals):
            self.rounds = min(int(totals[PairTotals["rounds"]]) + SPARE_ROUNDS, MOST_ROUNDS)
            return True
        longest, most = int(totals[: len(LISTS)].max()), int(totals[PairTotals["most_pairs"]])
        self.rounds = MOST_ROUNDS
        room = self.room if longest <= self.room else max(2 * self.room, longest + longest // 4)
        self.reserve(self.capacity, room, self.pair_room if most <= self.pair_room else most + most // 2)
        return False

    def lacks_room(self, totals: np.ndarray) -> bool:
        """Whether lists that end with these `totals` had too little of it, or too few rounds."""
        longest, most = int(totals[: len(LISTS)].max()), int(totals[PairTotals["most_pairs"]])
        return longest > self.room or most > self.pair_room or bool(totals[PairTotals["frontier"]])

    def counts(self) -> dict[str, int]:
        """Pairs of each kind. Waits."""
        return dict(zip(LISTS, self._target.download(self.totals)[: len(LISTS)].tolist(), strict=True))

    def _round(
        self, tree: PointTree, shapes: Array, normals: Array, sight: SightOptions | None, pairs: Array, following: Array
    ) -> None:
        target, chunks = self._target, self.pair_room // CHUNK
        common = {"tree": tree.view, "shapes": shapes, "pairs": pairs, "totals": self.totals, "kinds": self._kinds}
        limits: dict[str, Any] = {"angle": self._angle, "least_pairs": self._least}
        target.launch(self._unit, "sort_out_pairs", self.pair_room, **common, **limits)
        if sight is not None:
            unit, view = self._sight(sight)
            target.launch(
                unit,
                "see_pairs",
                self.pair_room,
                input=view,
                tree=tree.view,
                normals=normals,
                pairs=pairs,
                totals=self.totals,
                ray_count=sight.rays,
                kinds=self._kinds,
                block=TRACE_BLOCK,
            )
        target.launch(self._unit, "count_pairs", chunks, **common, chunk_count=chunks, counts=self._counts)
        for row in range(len(LISTS) + 1):
            target.exclusive_scan(self._counts[row], self._begins[row], "radiosity.scan")
        places = {"chunk_count": chunks, "begins": self._begins, "room": self.room, "pair_room": self.pair_room}
        target.launch(self._unit, "list_pairs", chunks, **common, **places, listed=self._listed, next=following)
        target.launch(self._unit, "end_round", 8, counts=self._counts, totals=self.totals, **places)

    def _sort(self, number: int) -> None:
        target, room = self._target, self.room
        keys = {"keys": self._keys, "senders": self._unsorted}
        at = {"listed": self._listed, "totals": self.totals, "kind": number, "room": room}
        target.launch(self._unit, "key_pairs", room, **at, **keys)
        sorted_keys, senders = target.sort_pairs(self._keys, self._unsorted, (0, 32), "radiosity.sort")
        self._sorted_keys = sorted_keys
        target.launch(
            self._unit,
            "find_lists",
            max(self.capacity + 1, room),
            keys=sorted_keys,
            sorted=senders,
            room=room,
            capacity=self.capacity,
            first=self._first[number],
            senders=self._senders[number],
        )

    def _see_points(self, tree: PointTree, normals: Array, sight: SightOptions, number: int) -> None:
        unit, view = self._sight(sight)
        self._target.launch(
            unit,
            "see_points",
            self.room * self._leaf_points,
            input=view,
            tree=tree.view,
            normals=normals,
            totals=self.totals,
            receivers=self._sorted_keys,
            senders=self._senders[number],
            room=self.room,
            seen=self.seen,
            block=TRACE_BLOCK,
        )

    def gather_by_rays(self, tree: PointTree, normals: Array, sent: Array, asked: int, tracer: Tracer) -> np.ndarray:
        """(asked, 3) float64: what points evenly along the order of the tree gather by a ray to each other point.
        Waits; between two frames."""
        unit, view = self._sight(SightOptions(tracer, 1))
        parts = self._target.zeros((asked * PARTS, 4), np.float32, "radiosity")
        self._target.launch(
            unit,
            "gather_by_rays",
            asked * PARTS,
            input=view,
            tree=tree.view,
            normals=normals,
            sent=sent,
            step=max(1, int(normals.shape[0]) // asked),
            asked=asked,
            parts=parts,
            block=TRACE_BLOCK,
        )
        rows = self._target.download(parts).reshape(asked, PARTS, 4)[..., :3]
        return np.asarray(rows.sum(axis=1, dtype=np.float64))

    def _sight(self, sight: SightOptions) -> tuple[Unit, np.ndarray]:
        constants = (("LEAF_POINTS", self._leaf_points),)
        return sight.tracer.unit("gpu/radiosity/sight.cu", self._rays, constants=constants, registers=SIGHT_REGISTERS)

"""Which nodes of the points' octree send light to which, and how: lists made by a dual traversal of the tree with
itself (pairs.cu), and what hides points from each other (sight.cu)."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

from ..hierarchy.octree.point_tree import MAX_DEPTH, PointTree
from ..rows import Floats, Ints, Struct
from ..target.base import MOST_ITEMS, WARP, Array, OutOfMemoryError, Target, Unit, UnitSource
from ..target.structs import pack
from ..trace.trace import TRACE_BLOCK, Tracer, upload_rays

SPLITS = ("split", "split_receiver", "split_sender")
KINDS = ("far", "near", "to_points", "of_points", "partial", *SPLITS, "none")
"""What becomes of one way of a pair, from a sender to a receiver: expansion to expansion; points to points; the
sender's expansion to points; points to the receiver's expansion; points to those points that see them; it is split; it
is left out."""

LISTS = KINDS[: KINDS.index("split")]

PairTotals = {"listed": 0, "frontier": 5, "most_pairs": 6, "rounds": 7, "depths": 8, "WORDS": 9}
"""Words of `PairLists.totals`: the lengths of the lists, the pairs of the round to come, the most a round had, the
rounds that left any, and the depths of the tree."""

CHUNK = 32
MOST_LEAF_POINTS = 32
"""Bits of a word: of whom a point sees."""
MOST_ROUNDS = 2 * (MAX_DEPTH + 1)
SPARE_ROUNDS = SPARE_DEPTHS = 2
"""Beside those that points needed when they were placed first: where they move, a branch may become deeper."""
FIRST_ROOM = 8192
PAIR_BYTES = 32
"""Of a pair that is asked in a round."""
SIGHT_REGISTERS = 96
"""Room for a traversal between what a pair is asked and what it is told."""
LITTLE = 0.002
"""Of the mean of all light: where a node gives less, how much of it is hidden is as good as what hides it."""
FIRST_ASKED = 6
"""Receivers of a leaf that are asked about each sender of another; the others are where these do not agree."""
PARTS = 64
"""Of the points that a point is asked about by rays: work for as many threads."""


@dataclasses.dataclass(frozen=True)
class NodeLists(Struct):
    """Lists of senders: those of node i are senders[first[i]] .. senders[first[i + 1]]; of each the share that is
    seen."""

    first: Ints
    senders: Ints
    shares: Floats


@dataclasses.dataclass(frozen=True)
class SightOptions:
    """How pairs are asked whether they see each other: `rays` between points of two nodes."""

    tracer: Tracer
    rays: int


_GENERATIONS = itertools.count(1)
"""Of arrays and rounds, one number in the whole process: a captured frame of other lists is no frame of these."""


class PairLists:
    """See the module. There is `room` for so many pairs of each kind, and `pair_room` for those of a round."""

    def __init__(self, target: Target, leaf_points: int, angle: float, least_pairs: int) -> None:
        self._target, self._leaf_points, self._angle, self._least = target, leaf_points, angle, least_pairs
        self._unit = target.unit(UnitSource("gpu/radiosity/pairs.cu"))
        self._rays = upload_rays(target, np.zeros((1, 3)), np.ones((1, 3)))
        self.totals = target.zeros(PairTotals["WORDS"], np.int32, "radiosity")
        self.room = self.pair_room = self.capacity = 0
        self.rounds, self.depths = MOST_ROUNDS, MAX_DEPTH + 1
        self.seen: Array = None
        self.generation = next(_GENERATIONS)

    def reserve(self, capacity: int, room: int = FIRST_ROOM, pair_room: int = FIRST_ROOM) -> None:
        """Arrays for trees of so many nodes, and for so many pairs. Between two frames. Raises OutOfMemoryError."""
        room, pair_room = max(room, self.room), -(-max(pair_room, self.pair_room) // CHUNK) * CHUNK
        if (capacity, room, pair_room) == (self.capacity, self.room, self.pair_room):
            return
        self._take_lists(capacity, room)
        self._take_round(pair_room)
        self._pairs, self._next = self._ints(pair_room, 2), self._ints(pair_room, 2)

    def _ints(self, *shape: int) -> Array:
        return self._target.zeros(shape, np.int32, "radiosity")

    def _floats(self, *shape: int) -> Array:
        return self._target.zeros(shape, np.float32, "radiosity")

    def _take_lists(self, capacity: int, room: int) -> None:
        kinds = len(LISTS)
        self._check(4 * kinds * (capacity + 5 * room) + 8 * room + 4 * self._leaf_points * room, room)
        self.capacity, self.room = capacity, room
        self.generation = next(_GENERATIONS)
        self._listed, self._listed_shares = self._ints(kinds, room, 2), self._floats(kinds, room)
        self._first, self._senders = self._ints(kinds, capacity + 1), self._ints(kinds, room)
        self._shares = self._floats(kinds, room)
        self._keys, self._unsorted = self._target.zeros(room, np.uint32, "radiosity"), self._ints(room)
        self.seen = self._target.zeros((room, self._leaf_points), np.uint32, "radiosity")

    def _take_round(self, pair_room: int) -> None:
        self._check(PAIR_BYTES * pair_room, pair_room)
        self.pair_room = pair_room
        self.generation = next(_GENERATIONS)
        self._kinds, self._pair_shares = self._ints(pair_room, 2), self._floats(pair_room)
        self._counts, self._begins = (self._ints(len(LISTS) + 1, pair_room // CHUNK) for _ in range(2))

    def _check(self, needed: int, pairs: int) -> None:
        free = self._target.free_bytes()
        if needed > free:
            raise OutOfMemoryError(f"{pairs:,} pairs of nodes that exchange light", needed, free)

    def lists(self, kind: str) -> np.ndarray:
        """NodeLists of a kind, for kernels."""
        number = LISTS.index(kind)
        return pack(NodeLists(self._first[number], self._senders[number], self._shares[number]))

    def compile(self, sight: SightOptions | None) -> None:
        """Compile what `find` launches."""
        if sight is not None:
            self._sight(sight)

    def find(
        self, tree: PointTree, shapes: Array, normals: Array, sight: SightOptions | None, learns: bool = False
    ) -> None:
        """List the pairs of a tree whose nodes have these shapes; all points see each other where `sight` is None.
        Launches only; one that `learns` waits after each round and makes room for the next, so that nothing is asked
        twice."""
        target = self._target
        pairs, following = self._pairs, self._next
        target.launch(self._unit, "begin_pairs", PairTotals["WORDS"], tree=tree.view, pairs=pairs, totals=self.totals)
        for number in range(MOST_ROUNDS if learns else self.rounds):
            self._ask(tree, shapes, normals, sight, pairs)
            if learns:
                following = self._make_room(following)
            self._list(tree, shapes, pairs, following)
            pairs, following = following, pairs
            if learns and not int(target.download(self.totals)[PairTotals["frontier"]]):
                self.rounds = min(number + 1 + SPARE_ROUNDS, MOST_ROUNDS)
                break
            if learns:
                following = self._widen(pairs, following)
        if learns:
            self._pairs, self._next = (self._ints(self.pair_room, 2) for _ in range(2))
            self.generation = next(_GENERATIONS)
        for number, kind in enumerate(LISTS):
            self._sort(number)
            if kind == "partial" and sight is not None:
                self._see_points(tree, normals, sight, number)

    def _make_room(self, following: Array) -> Array:
        """Room for what a round that was counted leaves: longer lists with what is in them, and where its pairs go."""
        target, kinds = self._target, len(LISTS)
        found = target.download(self._counts).sum(axis=1, dtype=np.int64)
        longest = int((target.download(self.totals)[:kinds] + found[:kinds]).max())
        if (most := max(longest, int(found[kinds]))) > MOST_ITEMS:
            raise OutOfMemoryError(
                f"{most:,} pairs of nodes that exchange light", PAIR_BYTES * most, target.free_bytes()
            )
        if longest > self.room:
            listed, shares, room = target.download(self._listed), target.download(self._listed_shares), self.room
            self._take_lists(self.capacity, max(2 * room, longest + longest // 4))
            wider = np.zeros((kinds, self.room, 2), np.int32), np.zeros((kinds, self.room), np.float32)
            wider[0][:, :room], wider[1][:, :room] = listed, shares
            target.write(self._listed, wider[0])
            target.write(self._listed_shares, wider[1])
        left = int(found[kinds])
        return following if left <= len(following) else self._ints(-(-(left + left // 4) // CHUNK) * CHUNK, 2)

    def _widen(self, pairs: Array, following: Array) -> Array:
        """Room to ask pairs of which there are more than before."""
        if len(pairs) > self.pair_room:
            self._take_round(len(pairs))
        return following if len(following) == self.pair_room else self._ints(self.pair_room, 2)

    def learn_depths(self, depths: int) -> None:
        """How many depths the tree has, beside which there are to be some to spare."""
        self.depths = min(depths + SPARE_DEPTHS, MAX_DEPTH + 1)

    def lacks_room(self, totals: np.ndarray) -> bool:
        """Whether lists that end with these `totals` had too little of it, or too few rounds or depths."""
        if int(totals[PairTotals["depths"]]) > self.depths:
            return True
        longest, most = int(totals[: len(LISTS)].max()), int(totals[PairTotals["most_pairs"]])
        is_uncounted = int(totals.min()) < 0  # past 2^31
        return is_uncounted or longest > self.room or most > self.pair_room or bool(totals[PairTotals["frontier"]])

    def counts(self) -> dict[str, int]:
        """Pairs of each kind. Waits."""
        return dict(zip(LISTS, self._target.download(self.totals)[: len(LISTS)].tolist(), strict=True))

    def _ask(self, tree: PointTree, shapes: Array, normals: Array, sight: SightOptions | None, pairs: Array) -> None:
        target, chunks = self._target, self.pair_room // CHUNK
        common = {"tree": tree.view, "shapes": shapes, "pairs": pairs, "totals": self.totals, "kinds": self._kinds}
        shares = {"shares": self._pair_shares}
        limits: dict[str, Any] = {"angle": self._angle, "least_pairs": self._least}
        target.launch(self._unit, "sort_out_pairs", self.pair_room, **common, **shares, **limits)
        if sight is not None:
            unit, view = self._sight(sight)
            target.launch(
                unit,
                "see_pairs",
                self.pair_room,
                input=view,
                normals=normals,
                ray_count=sight.rays,
                least=LITTLE,
                **common,
                **shares,
                block=TRACE_BLOCK,
            )
        target.launch(self._unit, "count_pairs", chunks, **common, chunk_count=chunks, counts=self._counts)
        target.exclusive_scan(self._counts.reshape(-1), self._begins.reshape(-1), "radiosity.scan")

    def _list(self, tree: PointTree, shapes: Array, pairs: Array, following: Array) -> None:
        target, chunks = self._target, self.pair_room // CHUNK
        places = {"chunk_count": chunks, "begins": self._begins, "room": self.room, "pair_room": len(following)}
        target.launch(
            self._unit,
            "list_pairs",
            chunks,
            tree=tree.view,
            shapes=shapes,
            pairs=pairs,
            totals=self.totals,
            kinds=self._kinds,
            shares=self._pair_shares,
            **places,
            listed=self._listed,
            listed_shares=self._listed_shares,
            next=following,
        )
        target.launch(self._unit, "end_round", 8, counts=self._counts, totals=self.totals, **places)

    def _sort(self, number: int) -> None:
        target, room = self._target, self.room
        keys = {"keys": self._keys, "places": self._unsorted}
        at = {"listed": self._listed, "totals": self.totals, "kind": number, "room": room}
        target.launch(self._unit, "key_pairs", room, **at, **keys)
        bits = (self.capacity + 1).bit_length()  # all ones are no node: what is not there comes last
        sorted_keys, places = target.sort_pairs(self._keys, self._unsorted, (0, bits), "radiosity.sort")
        self._sorted_keys = sorted_keys
        target.launch(
            self._unit,
            "find_lists",
            max(self.capacity + 1, room),
            **at,
            listed_shares=self._listed_shares,
            keys=sorted_keys,
            sorted=places,
            capacity=self.capacity,
            first=self._first[number],
            senders=self._senders[number],
            shares=self._shares[number],
        )

    def _see_points(self, tree: PointTree, normals: Array, sight: SightOptions, number: int) -> None:
        unit, view = self._sight(sight)
        self._target.launch(
            unit,
            "see_points",
            min(WARP * self.room, MOST_ITEMS),
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

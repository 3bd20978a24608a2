"""Which cells of a tree attract which as a whole and which leaves body by body: lists of each cell, made by a dual
traversal of the tree, first counted and then written (pairs.cu)."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..hierarchy.octree.point_tree import MAX_DEPTH, PointTree
from ..rows import Int, Ints, Struct
from ..target.base import Array, OutOfMemoryError, Target, UnitSource
from ..target.structs import pack

TOTALS = ("open", "far", "near")
"""What there is of each list in all."""

MOST_PAIRS = (1 << 31) - 1
"""Of a kind: places in lists are counted in 32 bits."""

FIRST_ROOM = {"open": 8, "far": 32, "near": 16}
"""Pairs a node at first, where nothing is known of the bodies."""


@dataclasses.dataclass(frozen=True)
class Lists(Struct):
    """The pairs that each node leaves open to its children, and the room that there is for each kind."""

    first_open: Ints
    open_count: Ints
    open: Ints
    open_room: Int
    far_room: Int
    near_room: Int


class PairLists:
    """See the module. The lists of node i are `counts[kind][i]` nodes from `first[kind][i]` on of `listed[kind]`."""

    def __init__(self, target: Target, angle: float) -> None:
        self.target, self.angle = target, angle
        self._unit = target.unit(UnitSource("gpu/nbody/pairs.cu", constants=(("MOST_PAIRS", MOST_PAIRS),)))
        self._capacity = 0
        self.room = dict.fromkeys(TOTALS, 0)
        self.totals = target.zeros(len(TOTALS), np.int32, "nbody")
        self.listed: dict[str, Array] = {}
        self.first: dict[str, Array] = {}
        self.counts: dict[str, Array] = {}

    def reserve(self, capacity: int) -> None:
        """Arrays for trees of so many nodes. Between two frames."""
        self._capacity = capacity
        for kind in TOTALS:
            self.first[kind] = self.target.zeros(capacity, np.int32, "nbody")
            self.counts[kind] = self.target.zeros(capacity, np.int32, "nbody")
            self._reserve_list(kind, FIRST_ROOM[kind] * capacity)

    def make_room(self) -> None:
        """Room for the lists that were last counted, and a half more. Between two frames, and waits. Lists that lacked
        room for what was left open are counted only as far as they went: then it lacks room once more. Raises
        OutOfMemoryError where they do not fit the target."""
        for kind, total in zip(TOTALS, self.target.download(self.totals).tolist(), strict=True):
            if total > self.room[kind]:
                self._reserve_list(kind, total + total // 2)

    @property
    def bytes(self) -> int:
        """Of all lists."""
        return 4 * (sum(self.room.values()) + 2 * len(TOTALS) * self._capacity)

    def find(self, tree: PointTree, centres: Array, lacking: Array) -> None:
        """List the pairs of a tree whose nodes have these centres and radii, (m, 4). Launches only. `lacking` (1,)
        int32 becomes 0 where there is room for all of them, and for the tree."""
        lists = self.open_lists()
        shared = {"tree": tree.view, "centres": centres, "inverse_angle": 1.0 / self.angle}
        shared["lists"] = pack(lists)
        self.target.fill(self.counts["open"], 0)
        counted = {f"{kind}_count": self.counts[kind] for kind in TOTALS}
        for depth in range(MAX_DEPTH + 1):
            at = {**shared, "depth": depth}
            self.target.launch(self._unit, "count_pairs", tree.capacity, **at, **counted)
            self.target.exclusive_scan(self.counts["open"], self.first["open"], "nbody.scan")
            self.target.launch(self._unit, "list_open", tree.capacity, **at, open=self.listed["open"])
        for kind in ("far", "near"):
            self.target.exclusive_scan(self.counts[kind], self.first[kind], "nbody.scan")
        self._judge(tree, lists, lacking)
        firsts = {f"first_{kind}": self.first[kind] for kind in ("far", "near")}
        listed = {kind: self.listed[kind] for kind in ("far", "near")}
        self.target.launch(self._unit, "list_pairs", tree.capacity, **shared, **firsts, **listed, lacking=lacking)

    def open_lists(self) -> Lists:
        """What kernels are given of the lists, with the room of today."""
        return Lists(
            self.first["open"], self.counts["open"], self.listed["open"], *(self.room[kind] for kind in TOTALS)
        )

    def _judge(self, tree: PointTree, lists: Lists, lacking: Array) -> None:
        """Totals and `lacking` of lists that were counted and scanned."""
        arrays: dict[str, Array] = {"totals": self.totals, "lacking": lacking}
        for array in arrays.values():
            self.target.fill(array, 0)
        for kind in ("far", "near"):
            arrays |= {f"first_{kind}": self.first[kind], f"{kind}_count": self.counts[kind]}
        self.target.launch(self._unit, "judge_lists", tree.capacity, tree=tree.view, lists=pack(lists), **arrays)

    def _reserve_list(self, kind: str, room: int) -> None:
        room = min(max(room, 256), MOST_PAIRS)
        if room == MOST_PAIRS or 4 * room > self.target.free_bytes():
            raise OutOfMemoryError(f"{room:,} pairs of cells", 4 * room, self.target.free_bytes())
        self.listed[kind] = self.target.empty(room, np.int32, "nbody")
        self.room[kind] = room

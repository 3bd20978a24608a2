"""Boxes of a tree from below, by one call: for refits, for builders that leave boxes to the family, and after an
optimiser.

A block always climbs within its chunk of references in shared memory (refit.cu). What chunks leave open goes on by one
of two ways, and `TreeBounds` alone decides which: group by group in the same launch where node ids follow the
references, so that few nodes are left open (groups.cuh), or node by node in a second launch, which takes any numbering.
A forest of which only some trees moved hands in the list of their tiles (`Tiles`), which go the second way.

Where asked, subtrees are exchanged on the way up (exchanges.cuh): ids may lie anywhere then, so that goes the second
way, too.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ....target.base import Array, Target, Unit
from ...base import Primitives
from ...primitives import WIDE_REFERENCE_BITS, reserved
from ..tree import CanonicalTree

CHUNKS = {"cuda": 512, "host": 512}
"""References and node ids that one block bounds in shared memory before it goes on with what is above."""

USES_GROUPS = {"cuda": True, "host": False}
"""Whether what chunks left open goes on by groups where it may: on the host the lists gain nothing."""

SLOTS = 7 / 8
"""Open nodes that a group has room for, by a chunk's references: 448 and 224, so that a group takes no more shared
memory than a chunk does."""

LEFT_OPEN = 18
"""Open nodes that a list is taken to have at most, where groups of up to 16 are made of lists: on an H200 512,000
triangles left 7 to 13 in each."""

MOST_LISTS = 16
"""Lists of a group: 24 and more were slower."""

CLIMBS_A_LIST = 8
"""Threads that take a list of open nodes."""


@dataclasses.dataclass(frozen=True)
class Numbering:
    """What is known of a tree's node ids. `follows_references`: whether a node's id is that of one of its references or
    next to it; then a list of open nodes has at most `left_open`, or a bit more."""

    follows_references: bool
    left_open: int = LEFT_OPEN


@dataclasses.dataclass(frozen=True)
class Tiles:
    """Chunks of a forest's trees (compute_tile_bounds): `tiles` (count, 4) int32 holds first reference and number of
    each, `listed` how many of them and which, known on the target alone; so many `blocks` share them."""

    tiles: Array
    count: int
    listed: Array
    blocks: int


class TreeBounds:
    """See the module. Keeps the lists of open nodes from call to call, and knows whether canonical nodes' boxes are
    stale: those that a refit leaves which writes bvh2."""

    def __init__(self, target: Target, tree: CanonicalTree, numbering: Numbering) -> None:
        self.target, self.tree, self.numbering = target, tree, numbering
        self.list_bytes = 0
        """Scratch bytes of the lists of open nodes."""
        self._is_stale = False
        self._open: Array | None = None
        self._arrivals: Array | None = None

    @property
    def goes_by_groups(self) -> bool:
        """Which of the two ways what chunks leave open goes on."""
        return self.numbering.follows_references and USES_GROUPS[self.target.kind]

    def compute(
        self,
        primitives: Primitives,
        phase: str,
        *,
        gathers: bool,
        marks: bool,
        bvh2: Array | None,
        tiles: Tiles | None = None,
        rotates: bool = False,
    ) -> bool:
        """Boxes from below, of all nodes or of those in `tiles`; records too (`gathers`), flags where the tree is new
        (`marks`), and bvh2 nodes where there is room: whether there was. Of a refit of the whole tree that writes bvh2
        nodes the canonical ones keep their old boxes until `complete`. `rotates`: exchange subtrees, too, once at each
        node of a whole tree; with `gathers` and `marks`."""
        keeps_boxes = marks or bvh2 is None or tiles is not None
        self._is_stale |= not keeps_boxes
        chosen = {
            "GATHERS": gathers,
            "MARKS": marks,
            "WRITES_BVH2": bvh2 is not None,
            "KEEPS_BOXES": keeps_boxes,
            "ROTATES": rotates,
        }
        by_groups = tiles is None and self.goes_by_groups and not rotates
        constants = {**self._sizes(by_groups), **chosen}
        unit = self.target.unit(self.tree.unit_source("gpu/hierarchy/bvh/refit/refit.cu", primitives, **constants))
        nodes = {**self.tree.links(), "bvh2": bvh2, "waiting": self.tree.waiting}
        heights = self.target.scratch("optimise.heights", self.tree.node_capacity, np.uint8) if rotates else None
        lists, arrivals = self._lists(self._chunk_count() if tiles is None else tiles.count)
        with self.target.phase(phase):
            if tiles is None:
                self._bound_all(unit, primitives, nodes, lists, arrivals, heights, by_groups)
            else:
                self._bound_tiles(unit, primitives, nodes, lists, tiles)
        return bvh2 is not None

    def complete(self, primitives: Primitives) -> None:
        """Make the canonical nodes' boxes where they may be stale: before they are measured or shown. Refits may be
        replays that nobody tells of, so once one left them, they are made each time."""
        if self._is_stale and primitives.count > 0:
            self.compute(primitives, "measure.nodes", gathers=False, marks=False, bvh2=None)

    def _sizes(self, by_groups: bool) -> dict[str, int]:
        chunk = CHUNKS[self.target.kind]
        slots = max(1, int(SLOTS * chunk)) if by_groups else 0
        lists = max(2, min(MOST_LISTS, slots // self.numbering.left_open))
        return {"CHUNK": chunk, "GROUP": lists, "SLOTS": slots}

    def _chunk_count(self) -> int:
        return -(-self.tree.count // CHUNKS[self.target.kind])

    def _bound_all(
        self,
        unit: Unit,
        primitives: Primitives,
        nodes: dict[str, Any],
        lists: dict[str, Array],
        arrivals: Array,
        heights: Array | None,
        by_groups: bool,
    ) -> None:
        tree, target, blocks = self.tree, self.target, self._chunk_count()
        target.launch(
            unit,
            "compute_tree_bounds",
            tree.count,
            primitives=primitives.view,
            order=tree.order,
            reference_count_now=tree.reference_count,
            **tree.leaf_boxes(),
            **nodes,
            node_capacity=tree.node_capacity,
            heights=heights,
            **lists,
            arrivals=arrivals,
            block=max(32, CHUNKS[target.kind] // 2),
            blocks=blocks,
        )
        if not by_groups and blocks > 1:
            above: dict[str, Any] = {"chunk_count": blocks, "tiles": None, "listed": None, "heights": heights}
            self._climb_above(unit, blocks, {**above, **nodes, **lists})

    def _bound_tiles(
        self, unit: Unit, primitives: Primitives, nodes: dict[str, Any], lists: dict[str, Array], tiles: Tiles
    ) -> None:
        tree, target = self.tree, self.target
        listed = {"tiles": tiles.tiles, "listed": tiles.listed}
        target.launch(
            unit,
            "compute_tile_bounds",
            primitives.count,
            primitives=primitives.view,
            order=tree.order,
            record_data=tree.records,
            **nodes,
            node_capacity=tree.node_capacity,
            **listed,
            **lists,
            block=CHUNKS[target.kind] // 2,
            blocks=tiles.blocks,
        )
        self._climb_above(unit, tiles.blocks, {"chunk_count": 0, "heights": None, **listed, **nodes, **lists})

    def _climb_above(self, unit: Unit, lists: int, arguments: dict[str, Any]) -> None:
        self.target.launch(unit, "climb_above", lists * CLIMBS_A_LIST, **self.tree.leaf_boxes(), **arguments)

    def _lists(self, chunks: int) -> tuple[dict[str, Array], Array]:
        """Room for lists of open nodes and their numbers level after level, by the kernels' names for them, and who has
        arrived: halves at most, and one more where a level is odd."""
        count = 2 * chunks + WIDE_REFERENCE_BITS
        self._open = self._zeroed(self._open, self.tree.count)
        self._arrivals = self._zeroed(self._arrivals, count)
        self.list_bytes = 4 * count + int(self._open.nbytes) + int(self._arrivals.nbytes)
        open_counts = self.target.scratch("refit.open_counts", count, np.int32)
        return {"open": self._open, "open_counts": open_counts}, self._arrivals

    def _zeroed(self, held: Array | None, count: int) -> Array:
        array = reserved(self.target, held, (count,), np.int32, "scratch")
        if array is not held:
            self.target.fill(array, 0)
        return array

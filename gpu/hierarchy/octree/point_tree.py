"""Octrees over points, on a target: the tree itself, and the builder that keeps its memory from frame to frame.

    tree = build_point_tree(target, target.upload(positions, "points"), leaf_points=8)
    builder = PointTreeBuilder(target, count, leaf_points=8)
    builder.build(positions)  # as often as the points move; launches only, so that a frame may be captured

Positions are (n, 3) or (n, 4) float32 in any unit; the fourth number, or `values` (n,), goes along with its point.
Those that are not finite are dropped and counted. Nodes are cubes of a root cube, by default the smallest one at the
points' lower corner that holds them all, so that precision is relative to it wherever it lies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, Protocol

import numpy as np

from ...rows import Int, Ints, Struct
from ...settings import option
from ...target.base import MOST_ITEMS, Array, OutOfMemoryError, Target
from ...target.structs import pack
from ..base import HierarchyError
from ..scratch import Shapes, bytes_of
from .complete import CompleteForm
from .direct import DirectForm
from .direct import most_nodes as most_nodes  # for who reserves memory for a tree
from .paper import PaperForm
from .top_down import TopDownForm
from .z_order import ZOrder

MAX_DEPTH = 21
TREE_COUNTS = ("nodes", "points", "dropped", "depths", "chains", "leaves", "status", "needed")
"""Words of `PointTree.counts`."""
TREE_COUNT_WORDS = len(TREE_COUNTS)
NODES, POINTS, DROPPED, DEPTHS, CHAINS, LEAVES, STATUS, NEEDED = range(TREE_COUNT_WORDS)

TREE_FULL = 1
"""The status of a tree whose nodes are more than its capacity: there are none then, and `needed` says how many there
would have been."""

MOST_POINTS = 1 << 28
"""Of trees with two nodes a point at most."""

MOST_NODES = MOST_ITEMS
"""Nodes are counted in 32 bits."""


@dataclasses.dataclass(frozen=True)
class PointTreeView(Struct):
    """A PointTree as kernels read it."""

    points: Annotated[Array, "const float4*"]
    order: Ints
    codes: Annotated[Array, "const uint64*"]
    root: Annotated[Array, "const float4*"]
    counts: Ints
    code: Annotated[Array, "const uint64*"]
    level: Ints
    parent: Ints
    first_child: Ints
    child_count: Ints
    first_point: Ints
    point_count: Ints
    depth_first: Ints
    bits: Int
    capacity: Int


@dataclasses.dataclass(frozen=True)
class PointTreeOptions:
    """What can be chosen about an octree over points."""

    method: str = option(
        "direct",
        "How the tree is made: direct from the gaps between sorted points, by the steps of Goradia's paper (common "
        "ancestors, sorted; parents by sorted copies), top_down level by level as in its second half, or complete with "
        "every cell of every level (Karras 2012; Goradia 2008; Ajmera 2008).",
        choices=("direct", "paper", "top_down", "complete"),
    )
    bits: str = option(
        "21",
        "Bits of a Z-order code per axis: the smallest cells are the root's side over 2^bits.",
        choices=("10", "21"),
    )
    leaf_points: int = option(
        1, "A node with at most so many points is a leaf; 1 makes a leaf of each cell.", minimum=1, maximum=1024
    )
    chains: str = option(
        "none",
        "Whether cells with a single child are nodes (full) or left out (none: a compressed octree). Of direct and "
        "paper; the others always have them.",
        choices=("none", "full"),
    )
    work: str = option(
        "parallel",
        "How a node of top_down is divided: all of its points at once, or by a thread alone, as Goradia did.",
        choices=("parallel", "thread"),
    )
    split: str = option(
        "cell_middle",
        "Where top_down divides a node: in the middle of its cell, in the middle of its points' bounds, or with half "
        "of the points on each side; the last two along the longest axis first.",
        choices=("cell_middle", "bounds_middle", "median"),
    )
    block: str = option(
        "256",
        "Threads of a block where nodes are made on a GPU; for measuring.",
        choices=("64", "128", "256", "512", "1024"),
    )
    levels: int = option(6, "Levels of the complete octree below its root.", minimum=0, maximum=10)


@dataclasses.dataclass(frozen=True, eq=False)
class PointTree:
    """An octree over points, on the target. Nodes are in order of depth (ancestors, not levels), those of a depth along
    the Z-order, so siblings are neighbours; node 0 is the root cube, of level 0. Where chains are left out a child's
    level may be more than one beyond its parent's.

    Arrays have room for `capacity` nodes; how many there are is in `counts`, on the target, so that a captured frame
    may build the tree anew."""

    points: Array
    """(n, 4) float32 along the Z-order: x, y, z and the value; dropped ones behind the others."""
    order: Array
    """(n,) int32: number of each as handed in."""
    codes: Array
    """(n,) uint64: Z-order codes, 3 * bits bits, x in the highest place of each three."""
    root: Array
    """(4,) float32: lower corner of the root cube, and its side."""
    counts: Array
    """(8,) int32: nodes, points, dropped points, depths, chain nodes, leaves, status, nodes needed. The status is 1
    where the nodes needed are more than the capacity: there are none then."""
    code: Array
    """(m,) uint64: the cell's prefix of the codes, 3 * level bits."""
    level: Array
    """(m,) int32: the cell's side is the root's over 2**level."""
    parent: Array
    """(m,) int32; -1 of the root."""
    first_child: Array
    """(m,) int32; -1 of leaves."""
    child_count: Array
    """(m,) int32; 0 of leaves."""
    first_point: Array
    """(m,) int32: the sorted place where the points below begin."""
    point_count: Array
    """(m,) int32: how many they are."""
    depth_first: Array
    """(MAX_DEPTH + 2,) int32: nodes of depth d are depth_first[d] .. depth_first[d + 1]."""
    bits: int
    capacity: int
    split: str = "cell_middle"
    """Where nodes are divided. Where that is not the middle of a cell, code and level name the way from the root (half
    by half, of the longest axis, of the second, of the third), and not a place."""

    @property
    def view(self) -> np.ndarray:
        """PointTreeView, for kernels."""
        return pack(PointTreeView(**{name: getattr(self, name) for name in PointTreeView.c_types()}))

    @property
    def bytes(self) -> int:
        """Of all arrays."""
        kinds = PointTreeView.c_types().items()
        return sum(int(getattr(self, name).nbytes) for name, kind in kinds if kind.endswith("*"))


def tree_shapes(count: int, capacity: int) -> Shapes:
    """The arrays of a tree over `count` points."""
    per_node: dict[str, Any] = {"code": np.uint64} | dict.fromkeys(
        ("level", "parent", "first_child", "child_count", "first_point", "point_count"), np.int32
    )
    return {
        "points": ((max(count, 1), 4), np.float32),
        "order": ((max(count, 1),), np.int32),
        "codes": ((max(count, 1),), np.uint64),
        "root": ((4,), np.float32),
        "counts": ((TREE_COUNT_WORDS,), np.int32),
        **{name: ((capacity,), dtype) for name, dtype in per_node.items()},
        "depth_first": ((MAX_DEPTH + 2,), np.int32),
    }


@dataclasses.dataclass(frozen=True)
class TreeMemory:
    """What a tree takes, and what the paper says that its method takes. `bound` counts nodes: 4 n - 2 in the array that
    relates children to parents of n sorted leaves; eight children for each divided node top down, and the root; every
    cell of a complete octree."""

    nodes: int
    non_empty: int
    bound: int
    tree_bytes: int
    scratch_bytes: int


class Form(Protocol):
    """A way to make a tree."""

    def shapes(self, count: int, capacity: int) -> Shapes:
        """Scratch memory beside that of the Z-order."""

    def first_capacity(self, count: int) -> int:
        """Nodes that there is room for where nothing is known of the points."""

    def build(self, tree: PointTree, positions: Array, values: Array | None) -> None:
        """Fill a tree whose counts are 0. Launches only."""


FORMS: dict[str, Callable[[Target, PointTreeOptions, ZOrder], Form]] = {
    "direct": DirectForm,
    "paper": PaperForm,
    "top_down": TopDownForm,
    "complete": CompleteForm,
}


def most_points(options: PointTreeOptions) -> int:
    """How many a tree holds: where cells with one child are nodes, there may be one a level and point."""
    has_chains = options.chains == "full" or options.method == "top_down"
    return min(MOST_POINTS, MOST_NODES // (int(options.bits) + 1)) if has_chains else MOST_POINTS


class PointTreeBuilder:
    """Builds octrees over `count` points, always in the same arrays: `tree`. `root` (x, y, z, side) is a cube to use
    instead of the points' own; points outside belong to its outermost cells. Where chains are nodes, `capacity` is how
    many nodes there is room for, or `make_room` finds it."""

    def __init__(
        self,
        target: Target,
        count: int,
        options: PointTreeOptions | None = None,
        *,
        root: tuple[float, float, float, float] | None = None,
        capacity: int | None = None,
    ) -> None:
        self.target, self.count, self.options = target, count, options or PointTreeOptions()
        most = most_points(self.options)
        if not 0 <= count <= most:
            raise HierarchyError(
                f"An octree with these options holds up to {most:,} points, as its nodes are counted in 32 bits; "
                f"{count:,} were given."
            )
        self.bits = int(self.options.bits)
        is_sorted = self.options.method != "top_down"
        self._order = ZOrder(target, self.bits, None if root is None else np.array(root, np.float32), is_sorted)
        self._form = FORMS[self.options.method](target, self.options, self._order)
        self.tree = self._reserve(self._form.first_capacity(count) if capacity is None else capacity)

    @property
    def scratch_bytes(self) -> int:
        """Of the memory that a build takes beside the tree."""
        return self._order.scratch_bytes(self.count) + bytes_of(self._form.shapes(self.count, self.tree.capacity))

    def build(self, positions: Array, values: Array | None = None, directions: Array | None = None) -> PointTree:
        """The tree over these positions, in the arrays of `tree`. With `directions` (n, 4) float32 each child of the
        root has the points that look to one of six sides, and its own children are eighths of the root's cube: `level`
        is one more than that of the cell then. Launches only. Phases build.bounds, build.codes, build.sort,
        build.nodes."""
        self._check(positions, values)
        self._order.directions = directions
        self.target.fill(self.tree.counts, 0)
        self._form.build(self.tree, positions, values)
        return self.tree

    def make_room(self, positions: Array) -> int:
        """Room for as many nodes as these points need; the number. For trees where that follows from the points: with
        chains, and top down. Waits. OutOfMemoryError, with the figure, where they do not fit: then the arrays stay as
        they were."""
        while True:
            counts = self.target.download(self.build(positions).counts)
            needed = int(counts[NEEDED])
            if counts[STATUS] == 0:
                return needed
            # Top down that is the next level alone: of what more there is nothing is known yet.
            is_all = self.options.method != "top_down"
            self.tree = self._reserve(needed if is_all else max(needed, 2 * self.tree.capacity))

    def memory(self) -> TreeMemory:
        """Of the tree as it was last built. Waits."""
        counts = self.target.download(self.tree.counts)
        nodes, leaves = int(counts[NODES]), int(counts[LEAVES])
        filled = int((self.target.download(self.tree.point_count)[:nodes] > 0).sum())
        sorted_bound = 4 * int(counts[POINTS]) - 2
        bounds = {
            "direct": sorted_bound,
            "paper": sorted_bound,
            "top_down": 1 + 8 * (nodes - leaves),
            "complete": nodes,
        }
        return TreeMemory(nodes, filled, max(bounds[self.options.method], 1), self.tree.bytes, self.scratch_bytes)

    def _check(self, positions: Array, values: Array | None) -> None:
        shape = tuple(positions.shape)
        if shape not in ((self.count, 3), (self.count, 4)) or positions.dtype != np.float32:
            raise HierarchyError(
                f"An octree over {self.count:,} points takes positions ({self.count}, 3) or ({self.count}, 4) of "
                f"float32; {shape} of {positions.dtype} was given."
            )
        if values is not None and (tuple(values.shape) != (self.count,) or values.dtype != np.float32):
            raise HierarchyError(
                f"Values go along with points, ({self.count},) of float32; {tuple(values.shape)} of {values.dtype} was "
                f"given."
            )

    def _reserve(self, capacity: int) -> PointTree:
        shapes = tree_shapes(self.count, capacity)
        scratch = bytes_of(self._form.shapes(self.count, capacity))
        needed, free = bytes_of(shapes) + scratch, self.target.free_bytes()
        if needed > free:
            raise OutOfMemoryError(f"an octree of {capacity:,} nodes over {self.count:,} points", needed, free)
        arrays = {name: self.target.zeros(shape, dtype, "octree") for name, (shape, dtype) in shapes.items()}
        split = self.options.split if self.options.method == "top_down" else "cell_middle"
        return PointTree(**arrays, bits=self.bits, capacity=capacity, split=split)


def build_point_tree(
    target: Target,
    positions: Array,
    values: Array | None = None,
    *,
    root: tuple[float, float, float, float] | None = None,
    **options: Any,
) -> PointTree:
    """An octree over `positions`, made once; `options` are the fields of PointTreeOptions. Waits where how many nodes
    there are follows from the points; a PointTreeBuilder keeps the memory for points that move."""
    chosen = PointTreeOptions(**(options | {"bits": str(options["bits"])} if "bits" in options else options))
    builder = PointTreeBuilder(target, int(positions.shape[0]), chosen, root=root)
    if chosen.chains == "full" or chosen.method == "top_down":
        builder.make_room(positions)
    return builder.build(positions, values)

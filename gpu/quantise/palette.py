"""A picture in few colours. The cells of an octree over its colours are opened one after the other, the one with the
most error first, until there are twice as many as the palette has room for (Gervautz and Purgathofer 1988, from the
top); the pairs that cost least are joined (Ward), and then each colour moves to the mean of those that it is nearest
to, some times over (Lloyd)."""

from __future__ import annotations

import dataclasses
import heapq

import numpy as np

from ..hierarchy.octree.point_tree import MAX_DEPTH, NEEDED, NODES, PointTree, PointTreeBuilder, PointTreeOptions
from ..target.base import Array, Target, Unit, UnitSource

SUMS = ("count", "red", "green", "blue", "squares")
"""Of the colours below a node: how many, of each channel, and of the squares of all three."""

MOST_COLOURS = 256
FIRST_NODES = 1 << 16
CELLS_A_COLOUR = 2
MOVES = 8
"""How often colours move at most: from there on the error falls by less than a hundredth."""


@dataclasses.dataclass(frozen=True, eq=False)
class Indexed:
    """A picture by numbers: `indices` (H, W) uint8 into the `palette` (K, 3) uint8, the rms `error` of a pixel's
    distance in the cube of side 256."""

    palette: np.ndarray
    indices: np.ndarray
    error: float


def quantise(target: Target, pixels: np.ndarray, colours: int) -> Indexed:
    """Pixels (H, W, 3 or more) uint8 in at most so many colours. Waits. Raises ValueError for other pixels and for
    counts that are not from 1 to 256."""
    if pixels.ndim != 3 or pixels.shape[2] < 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise ValueError(f"A picture has pixels (H, W, 3) of uint8; {pixels.shape} of {pixels.dtype} was given.")
    if not 1 <= colours <= MOST_COLOURS:
        raise ValueError(f"A palette has 1 to {MOST_COLOURS} colours; {colours} were asked for.")
    flat = np.zeros((pixels.shape[0] * pixels.shape[1], 4), np.uint8)
    flat[:, :3] = pixels[..., :3].reshape(-1, 3)
    packed = flat.view("<u4")[:, 0]
    unit = target.unit(UnitSource("gpu/quantise/quantise.cu"))
    on_target = target.upload(packed, "palette")
    leaves, palette = _choose(target, unit, on_target, colours)
    palette = _moved(target, unit, leaves, palette)
    rounded = np.round(palette).clip(0, 255).astype(np.uint8)
    indices = _nearest(target, unit, on_target, rounded)
    away = rounded[indices].astype(np.float64) - flat[:, :3]
    error = float(np.sqrt((away * away).sum(axis=1).mean()))
    return Indexed(rounded, indices.astype(np.uint8).reshape(pixels.shape[:2]), error)


def _choose(target: Target, unit: Unit, colours: Array, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The sums (D, 5) of all colours that there are, and the first palette (K, 3)."""
    tree = _tree_over(target, unit, colours)
    sums = target.zeros((tree.capacity, len(SUMS)), np.int64, "palette")
    target.launch(unit, "sum_leaves", tree.capacity, tree=tree.view, sums=sums)
    for depth in reversed(range(MAX_DEPTH + 1)):
        target.launch(unit, "sum_depth", tree.capacity, tree=tree.view, depth=depth, sums=sums)
    count = int(target.download(tree.counts)[NODES])
    first, children = (target.download(rows)[:count] for rows in (tree.first_child, tree.child_count))
    rows = target.download(sums)[:count]
    cells = rows[_opened(_errors(rows), first, children, CELLS_A_COLOUR * most + 8)]
    cells = _joined(cells[:, :4].astype(np.float64), most)
    return rows[children == 0], cells[:, 1:] / cells[:, :1]


def _tree_over(target: Target, unit: Unit, colours: Array) -> PointTree:
    """An octree whose leaves are the colours that there are."""
    count, capacity = int(colours.shape[0]), FIRST_NODES
    points = target.empty((count, 3), np.float32, "palette")
    target.launch(unit, "place_colours", count, colours=colours, n=count, points=points)
    while True:
        builder = PointTreeBuilder(
            target, count, PointTreeOptions(bits="10"), root=(0.0, 0.0, 0.0, 256.0), capacity=capacity
        )
        tree = builder.build(points)
        needed = int(target.download(tree.counts)[NEEDED])
        if needed <= capacity:
            return tree
        capacity = needed


def _errors(rows: np.ndarray) -> np.ndarray:
    """The squared error of each node where its mean stands for all colours below it."""
    sums = rows.astype(np.float64)
    return np.maximum(sums[:, 4] - (sums[:, 1:4] ** 2).sum(axis=1) / sums[:, 0], 0.0)


def _opened(errors: np.ndarray, first: np.ndarray, children: np.ndarray, most: int) -> list[int]:
    """Nodes that have all leaves below them: from the root on, the one with the most error is opened as long as its
    children have room."""
    waiting = [(-float(errors[0]), 0)]
    closed: list[int] = []
    while waiting:
        _, node = heapq.heappop(waiting)
        is_whole = children[node] == 0 or errors[node] == 0.0
        if is_whole or len(waiting) + len(closed) + int(children[node]) > most:
            closed.append(node)
            continue
        for child in range(int(first[node]), int(first[node] + children[node])):
            heapq.heappush(waiting, (-float(errors[child]), child))
    return closed


def _joined(cells: np.ndarray, most: int) -> np.ndarray:
    """Cells (M, 4), counts and sums, joined two at a time until there are no more than `most`: the two whose error
    grows least."""
    counts, means = cells[:, 0], cells[:, 1:] / cells[:, :1]
    away = means[:, None] - means[None]
    costs = (away**2).sum(axis=2) * counts[:, None] * counts[None] / (counts[:, None] + counts[None])
    np.fill_diagonal(costs, np.inf)
    cells, is_there = cells.copy(), np.ones(len(cells), bool)
    for _ in range(len(cells) - most):
        one, other = divmod(int(np.argmin(costs)), len(cells))
        cells[one] += cells[other]
        is_there[other] = False
        costs[other] = costs[:, other] = np.inf
        means, counts = cells[:, 1:] / cells[:, :1], cells[:, 0]
        cost = ((means - means[one]) ** 2).sum(axis=1) * counts * counts[one] / (counts + counts[one])
        cost[~is_there] = cost[one] = np.inf
        costs[one] = costs[:, one] = cost
    return cells[is_there]


def _moved(target: Target, unit: Unit, leaves: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """The palette after its colours have moved to the means of what they are nearest to, as long as that helps."""
    colours = np.zeros((len(leaves), 4), np.uint8)
    colours[:, :3] = leaves[:, 1:4] // leaves[:, :1]
    on_target = target.upload(colours.view("<u4")[:, 0], "palette")
    for _ in range(MOVES):
        nearest = _nearest(target, unit, on_target, palette)
        counts = np.bincount(nearest, leaves[:, 0], len(palette))
        sums = np.stack([np.bincount(nearest, leaves[:, axis], len(palette)) for axis in (1, 2, 3)], axis=1)
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1.0)[:, None], palette)
        if np.array_equal(moved, palette):
            break
        palette = moved
    return palette


def _nearest(target: Target, unit: Unit, colours: Array, palette: np.ndarray) -> np.ndarray:
    count = int(colours.shape[0])
    indices = target.empty(count, np.int32, "palette")
    target.launch(
        unit,
        "find_nearest_colours",
        count,
        colours=colours,
        n=count,
        palette=target.upload(np.ascontiguousarray(palette, np.float32), "palette"),
        k=len(palette),
        indices=indices,
    )
    return target.download(indices)

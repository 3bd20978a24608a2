"""How a tree came to be, step by step, as its builder works: the Morton curve and its prefixes (`lbvh`), splits with
their SAH costs over the bins (`binned_sah`), clusters joined from below (`hploc`), and of every other structure its
levels from the root.

Nothing was recorded while the tree was built. Each step is worked out again by the builder's own rule, in float32 as it
is on the target, from the boxes of the primitives and the finished tree; tests hold it to the nodes that were built.
"""

from __future__ import annotations

import abc
import dataclasses

import numpy as np

from ..brief import percent
from ..hierarchy.base import NOT_TOLD, Hierarchy, NodeTable
from ..hierarchy.bvh.builders.binned_sah import SWEEP

MOST_DRAWN = 1500
"""Boxes of a step that are drawn: the largest."""

MOST_POINTS = 20_000
"""Points of the curve that are drawn; of more every second, third ... one."""

NO_BOXES = np.zeros((0, 6), np.float32)
NO_LINES = np.zeros((0, 2, 3), np.float32)


@dataclasses.dataclass(frozen=True, eq=False)
class SplitCosts:
    """What each plane of a set would cost: `costs` (3, P), of x, y and z, the halved areas of both sides times what is
    in them, infinite where a side is empty. `chosen` is axis and plane of the least; None where no plane splits the
    set, and it was halved. `leaf` is what a leaf would cost. `is_binned`: planes lie between bins, else between two
    primitives each."""

    costs: np.ndarray
    chosen: tuple[int, int] | None
    leaf: float
    is_binned: bool


@dataclasses.dataclass(frozen=True, eq=False)
class BuildStep:
    """A step in words and in the scene: boxes that are `made` in it, those `around` them, both (B, 6), lower and upper;
    `lines` (L, 2, 3) from one place to another."""

    sentence: str
    made: np.ndarray = dataclasses.field(default_factory=lambda: NO_BOXES)
    around: np.ndarray = dataclasses.field(default_factory=lambda: NO_BOXES)
    lines: np.ndarray = dataclasses.field(default_factory=lambda: NO_LINES)
    costs: SplitCosts | None = None


class BuildReplay(abc.ABC):
    """See the module. `boxes` (N, 6) float32 are those of the primitives, `title` says what is shown; `steps` (M,)
    which step made each node of the table, -1 where none did."""

    title: str

    def __init__(self, table: NodeTable, boxes: np.ndarray) -> None:
        self.table, self.boxes = table, np.asarray(boxes, np.float32)
        self.steps = np.asarray(table.depth, np.int64)
        self.node_boxes = np.hstack([table.lower, table.upper])

    @abc.abstractmethod
    def __len__(self) -> int:
        """How many steps there are."""

    @abc.abstractmethod
    def __getitem__(self, n: int) -> BuildStep:
        """A step, from 0 on."""

    def step_of(self, row: int) -> int | None:
        """The step that made a node; None where none did."""
        found = int(self.steps[row])
        return found if found >= 0 else None

    def nodes_of(self, n: int) -> np.ndarray:
        """The rows of the nodes that a step made."""
        return np.flatnonzero(self.steps == n)

    def largest_of(self, n: int) -> int | None:
        """What events call the largest of them, or the node that a wide layout has joined that with; None where there
        is none."""
        rows, ids = self.nodes_of(n), self.table.event_ids
        if ids is None or not len(rows):
            return None
        row = int(rows[np.argmax(_area(self.table.lower[rows], self.table.upper[rows]))])
        while ids[row] == NOT_TOLD:  # the root is told
            row = int(self.table.parent[row])
        return int(ids[row])


class LevelReplay(BuildReplay):
    """Level by level from the root, whatever the builder did."""

    title = "Levels from the root"

    def __len__(self) -> int:
        return int(self.table.depth.max(initial=-1)) + 1

    def __getitem__(self, n: int) -> BuildStep:
        rows = np.flatnonzero(self.table.depth == n)
        leaves = int(self.table.is_leaf[rows].sum())
        inner = len(rows) - leaves
        said = f"Level {n}: {inner:,} node{'s' * (inner != 1)} and {leaves:,} lea{'f' if leaves == 1 else 'ves'}."
        return BuildStep(said, largest(self.node_boxes[rows]), self.node_boxes[:1])


class CurveReplay(BuildReplay):
    """The primitives along the curve, and the runs of them whose codes begin with the same bits: a bit more a step. A
    run of more primitives than a leaf may have is a node."""

    title = "The Morton curve and its prefixes"

    def __init__(self, table: NodeTable, boxes: np.ndarray, code_bits: int, bounds: np.ndarray) -> None:
        super().__init__(table, boxes)
        self.code_bits = code_bits
        self.codes = morton_codes(self.boxes, code_bits, bounds)[table.references]
        self._along = self.boxes[table.references]
        self.first, self.count = ranges_of(table)
        self.steps = self._shared_bits()

    def _shared_bits(self) -> np.ndarray:
        """Of each node the most bits that all below it share; where codes are equal all of them."""
        found, rows = np.full(len(self.table), -1, np.int64), np.flatnonzero(self.count)
        differ = self.codes[self.first[rows]] ^ self.codes[self.first[rows] + self.count[rows] - 1]
        high, low = differ >> np.uint64(32), differ & np.uint64(0xFFFFFFFF)  # each is exact as float64
        length = np.where(high > 0, 32 + np.frexp(high.astype(np.float64))[1], np.frexp(low.astype(np.float64))[1])
        found[rows] = self.code_bits - length
        return found

    def __len__(self) -> int:
        return self.code_bits + 1

    def runs(self, bits: int) -> np.ndarray:
        """Where runs of the same first `bits` begin along the curve, and its end."""
        prefix = self.codes >> np.uint64(self.code_bits - bits)
        return np.concatenate([[0], np.flatnonzero(prefix[1:] != prefix[:-1]) + 1, [len(prefix)]])

    def __getitem__(self, n: int) -> BuildStep:
        ends = self.runs(n)
        first = ends[:-1]
        found = np.hstack(
            [np.minimum.reduceat(self._along[:, :3], first), np.maximum.reduceat(self._along[:, 3:], first)]
        )
        every = -(-len(self._along) // MOST_POINTS)
        centres = centres_of(self._along[::every])
        axis = "" if n == 0 else f", the last one of {'zyx'[(self.code_bits - n) % 3]}"
        said = f"The first {n} of {self.code_bits} bits{axis}: {len(first):,} run{'s' * (len(first) != 1)}"
        said += f" along the curve, the longest of {int(np.diff(ends).max()):,} primitives."
        return BuildStep(said, largest(found), lines=np.stack([centres[:-1], centres[1:]], axis=1))


class SplitReplay(BuildReplay):
    """Set after set, those nearest to the root first: what each plane would cost, and the one that was taken."""

    title = "Splits and their SAH costs"

    def __init__(self, table: NodeTable, boxes: np.ndarray, bins: int, sweep: int) -> None:
        super().__init__(table, boxes)
        self.bins, self.sweep = bins, sweep
        self.first, self.count = ranges_of(table)
        inner = np.flatnonzero(~table.is_leaf)
        self.nodes = inner[np.lexsort((self.first[inner], table.depth[inner]))]
        self.steps = np.full(len(table), -1, np.int64)
        self.steps[self.nodes] = np.arange(len(self.nodes))
        leaves = np.flatnonzero(table.is_leaf & (table.parent >= 0))
        self.steps[leaves] = self.steps[table.parent[leaves]]

    def __len__(self) -> int:
        return len(self.nodes)

    def inside(self, row: int) -> np.ndarray:
        """The primitives below a node."""
        return np.asarray(self.table.references[self.first[row] : self.first[row] + self.count[row]])

    def __getitem__(self, n: int) -> BuildStep:
        row = int(self.nodes[n])
        inside = self.boxes[self.inside(row)]
        costs = binned_costs(inside, self.bins) if len(inside) > self.sweep else swept_costs(inside)
        below = np.flatnonzero(self.table.parent == row)
        left, right = (int(self.count[child]) for child in below[:2])
        said = f"Split {n + 1:,} of {len(self):,}, level {self.table.depth[row]}: {len(inside):,} primitives, "
        if costs.chosen is None:
            return BuildStep(f"{said}which no plane splits: halved.", self.node_boxes[below], self.node_boxes[[row]],
                             costs=costs)  # fmt: skip
        axis, plane = costs.chosen
        planes = f"the bins {plane} and {plane + 1} of {self.bins}" if costs.is_binned else "two of them"
        share = float(costs.costs[axis, plane]) / costs.leaf if costs.leaf > 0.0 else 1.0
        said += f"cut between {planes} along {'xyz'[axis]} into {left:,} and {right:,}. "
        said += f"Their SAH cost, traversal left out, is {percent(share)} of a leaf's."
        return BuildStep(said, self.node_boxes[below], self.node_boxes[[row]], costs=costs)


class PairReplay(BuildReplay):
    """From the leaves up: clusters are joined in pairs, each as soon as both of its parts are there."""

    title = "Clusters joined from below"

    def __init__(self, table: NodeTable, boxes: np.ndarray) -> None:
        super().__init__(table, boxes)
        self.height = self.steps = heights_of(table)
        above = np.maximum(table.parent, 0)
        self.until = np.where(table.parent < 0, np.iinfo(np.int64).max, self.height[above])

    def __len__(self) -> int:
        return int(self.height.max(initial=-1)) + 1

    def clusters(self, n: int) -> np.ndarray:
        """The rows that are whole trees of their own after a step."""
        return np.flatnonzero((self.height <= n) & (self.until > n))

    def __getitem__(self, n: int) -> BuildStep:
        left = self.clusters(n)
        made = left[self.height[left] == n]
        if n == 0:
            return BuildStep(f"{len(left):,} leaves, each a cluster.", around=largest(self.node_boxes[left]))
        parts = np.flatnonzero(np.isin(self.table.parent, made))
        parts = parts[np.argsort(self.table.parent[parts], kind="stable")]
        centres = centres_of(self.node_boxes[parts])
        said = f"Step {n} of {len(self) - 1}: {len(made):,} pairs joined, {len(left):,} clusters left."
        around = self.node_boxes[left[self.height[left] < n]]
        return BuildStep(
            said, largest(self.node_boxes[made]), largest(around), np.stack([centres[::2], centres[1::2]], 1)
        )


def replay_of(hierarchy: Hierarchy, boxes: np.ndarray) -> BuildReplay:
    """How a structure that is built came to be; `boxes` (N, 6) are those of its primitives. An optimiser has changed
    the tree since: of such a one the levels are shown. Waits."""
    table, options = hierarchy.nodes(), hierarchy.options
    if hierarchy.choice.optimiser == "none" and len(table.references):
        if hierarchy.name == "lbvh":
            order = hierarchy.morton_order  # type: ignore[attr-defined]
            return CurveReplay(table, boxes, order.code_bits, hierarchy.target.download(order.bounds))
        if hierarchy.name == "binned_sah":
            return SplitReplay(table, boxes, options.bins, SWEEP)
        if hierarchy.name in ("hploc", "ploc"):
            return PairReplay(table, boxes)
    return LevelReplay(table, boxes)


# -- the builders' rules -----------------------------------------------------------------------------------------------
def morton_codes(boxes: np.ndarray, code_bits: int, bounds: np.ndarray) -> np.ndarray:
    """(N,) uint64, as gpu/hierarchy/morton_order.cu has them: of centres in the cube at the lower corner of `bounds`
    (6,) float32, which the builder found around all points."""
    half, one = np.float32(0.5), np.float32(1.0)
    is_active: np.ndarray = np.all(boxes[:, :3] <= boxes[:, 3:], axis=1)
    centres = centres_of(boxes)
    lower = bounds[:3] * half
    largest_side = np.float32((bounds[3:] * half - lower).max())
    scale = one / largest_side if largest_side > 0.0 else np.float32(0.0)
    unit = np.where(is_active[:, None], (centres * half - lower) * scale, one)
    bits = code_bits // 3
    cells = np.float32(1 << bits)
    places = np.clip(unit * cells, np.float32(0.0), cells - one).astype(np.uint64)
    codes = np.zeros(len(boxes), np.uint64)
    for bit in range(bits):
        for axis in range(3):
            codes |= (places[:, axis] >> np.uint64(bit) & np.uint64(1)) << np.uint64(3 * bit + 2 - axis)
    return codes


def binned_costs(boxes: np.ndarray, bins: int) -> SplitCosts:
    """Of the planes between bins over the centres of a set (gpu/hierarchy/bvh/binning.cuh)."""
    centres = centres_of(boxes)
    lower, extent = centres.min(axis=0), centres.max(axis=0) - centres.min(axis=0)
    costs = np.full((3, bins - 1), np.inf)
    for axis in range(3):
        if not extent[axis] > 0.0:
            continue
        scale = min(np.float32(bins) / extent[axis], np.finfo(np.float32).max)
        place = np.clip((centres[:, axis] - lower[axis]) * scale, 0, bins - 1).astype(np.int64)
        counts, low, high = np.bincount(place, minlength=bins), np.full((bins, 3), np.inf), np.full((bins, 3), -np.inf)
        np.minimum.at(low, place, boxes[:, :3])
        np.maximum.at(high, place, boxes[:, 3:])
        costs[axis] = _costs_between(counts, low, high)
    return SplitCosts(costs, _least(costs), float(_area(*_bounds(boxes))) * len(boxes), True)


def swept_costs(boxes: np.ndarray) -> SplitCosts:
    """Of the planes between each two of a small set, along each axis by their centres."""
    centres = centres_of(boxes)
    costs = np.full((3, max(len(boxes) - 1, 0)), np.inf)
    for axis in range(3):
        order = np.argsort(centres[:, axis], kind="stable")
        costs[axis] = _costs_between(np.ones(len(boxes), np.int64), boxes[order, :3], boxes[order, 3:])
    return SplitCosts(costs, _least(costs), float(_area(*_bounds(boxes))) * len(boxes), False)


def _costs_between(counts: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Of the planes behind each of a row of boxes but the last."""
    sides = []
    for order in (slice(None), slice(None, None, -1)):
        inside = np.cumsum(counts[order])
        area = _area(np.minimum.accumulate(low[order]), np.maximum.accumulate(high[order]))
        sides.append(np.where(inside > 0, area * inside, np.inf))
    below, above = sides[0][:-1], sides[1][::-1][1:]
    return np.asarray(below + above)


def _least(costs: np.ndarray) -> tuple[int, int] | None:
    """Of equal ones the lower axis, then the lower plane."""
    if not np.isfinite(costs).any():
        return None
    axis, plane = np.unravel_index(int(np.argmin(costs)), costs.shape)
    return int(axis), int(plane)


# -- trees -------------------------------------------------------------------------------------------------------------
def ranges_of(table: NodeTable) -> tuple[np.ndarray, np.ndarray]:
    """(N,) int64 each: where the references below each node begin, and how many there are; of trees whose nodes hold
    runs of them, as those that are split from above are."""
    none = np.int64(np.iinfo(np.int64).max)
    first = np.where(table.is_leaf, table.first_reference.astype(np.int64), none)
    count = np.where(table.is_leaf, table.reference_count, 0).astype(np.int64)
    for depth in range(int(table.depth.max(initial=0)), 0, -1):
        rows = np.flatnonzero(table.depth == depth)
        np.minimum.at(first, table.parent[rows], first[rows])
        np.add.at(count, table.parent[rows], count[rows])
    return first, count


def heights_of(table: NodeTable) -> np.ndarray:
    """(N,) int64: 0 of leaves, of a node one more than the higher of its children."""
    height = np.zeros(len(table), np.int64)
    for depth in range(int(table.depth.max(initial=0)), 0, -1):
        rows = np.flatnonzero(table.depth == depth)
        np.maximum.at(height, table.parent[rows], height[rows] + 1)
    return height


def centres_of(boxes: np.ndarray) -> np.ndarray:
    """(N, 3) float32, each half added."""
    return np.asarray(boxes[:, :3] * np.float32(0.5) + boxes[:, 3:] * np.float32(0.5))


def largest(boxes: np.ndarray) -> np.ndarray:
    """At most MOST_DRAWN, the largest, in their order."""
    if len(boxes) <= MOST_DRAWN:
        return boxes
    area = _area(boxes[:, :3], boxes[:, 3:])
    return np.asarray(boxes[np.sort(np.argpartition(-area, MOST_DRAWN)[:MOST_DRAWN])])


def _bounds(boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)


def _area(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Halved; 0 of what is inverted or none."""
    with np.errstate(invalid="ignore"):
        sides = np.asarray(upper, np.float64) - lower
    sides = np.where(np.isfinite(sides), np.maximum(sides, 0.0), 0.0)
    x, y, z = sides[..., 0], sides[..., 1], sides[..., 2]
    return np.asarray(x * y + y * z + z * x)

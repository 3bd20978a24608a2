"""For whom the rays of a picture wait: what each warp of 32 neighbouring rays takes in the traversal that runs, and how
many of its lanes are idle meanwhile.

Counted are steps of single rays, as a GPU traces them, in groups of 8 x 4 pixels. A traversal in which a lane takes a
node or a primitive in each step (bvh2) lasts as long as its longest ray; in the others all lanes go down until each has
a leaf, then through their leaves, and so on: a warp takes the sum of the longest ways and of the fullest leaves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ..brief import percent
from ..hierarchy.base import Hierarchy
from ..repeated_launches import RepeatedLaunches
from ..target.base import Target
from ..trace.trace import COUNTING_REGISTERS, TRACE_BLOCK, RaySource, Tracer
from .ray_log import ON_PRIMITIVE

LANES = 32
WIDTH, HEIGHT = 8, 4
"""Pixels of a warp of a picture."""
BY_STEPS = ("bvh2_stack", "bvh2_packet")
"""Traversals whose single rays take a node or a primitive in each step (if_if_traversal.cuh); rays of a packet are
counted as they go alone."""
FIRST_ROOM = 32


@dataclasses.dataclass(frozen=True, eq=False)
class Divergence:
    """By warp (W,) int64: `steps` that it takes, `node_steps` and `primitive_steps` in which any lane is at such a one;
    `nodes` and `primitives` that its lanes take together. Of a picture `tiles` says how many warps lie across and how
    many down, in rows; None of other rays."""

    steps: np.ndarray
    node_steps: np.ndarray
    primitive_steps: np.ndarray
    nodes: np.ndarray
    primitives: np.ndarray
    rays: str = "given"
    tiles: tuple[int, int] | None = None

    @property
    def mean(self) -> float:
        """Steps of a warp on average, of those that have rays in the structure."""
        taken = self.steps[self.steps > 0]
        return float(taken.mean()) if len(taken) else 0.0

    @property
    def longest(self) -> int:
        """Steps of the longest: a picture takes at least so long, however many warps run beside it."""
        return int(self.steps.max(initial=0))

    def last(self, share: float = 0.99) -> int:
        """Steps that the longest warp goes on when this share of the warps has ended, had all begun together."""
        taken = np.sort(self.steps[self.steps > 0])
        return self.longest - int(taken[min(len(taken) - 1, int(share * len(taken)))]) if len(taken) else 0

    @property
    def idle_at_nodes(self) -> float:
        """The share of lanes without a node in the steps in which others take one."""
        return _idle(self.nodes, self.node_steps)

    @property
    def idle_at_primitives(self) -> float:
        """The share of lanes without a primitive in the steps in which others take one."""
        return _idle(self.primitives, self.primitive_steps)

    @property
    def idle(self) -> float:
        """The share of lanes that do nothing, over all steps."""
        return _idle(self.nodes + self.primitives, self.steps)

    def order(self, count: int = 20) -> np.ndarray:
        """The longest warps first."""
        return np.argsort(-self.steps, kind="stable")[:count]

    def place(self, warp: int) -> tuple[int, int] | None:
        """Column and row of a warp among a picture's tiles of 8 x 4 pixels."""
        return None if self.tiles is None else (warp // 2 % self.tiles[0], warp // 2 // self.tiles[0] * 2 + warp % 2)

    def map(self) -> np.ndarray:
        """(rows, columns) int64 steps of the tiles of a picture."""
        assert self.tiles is not None, "these are no rays of a picture"
        across, down = self.tiles
        found = np.zeros((2 * -(-down // 2), across), np.int64)
        warp = np.arange(len(self.steps))
        found[warp // 2 // across * 2 + warp % 2, warp // 2 % across] = self.steps
        return found[:down]

    def __str__(self) -> str:
        return (
            f"{len(self.steps):,} warps, {self.mean:.1f} steps on average, the longest {self.longest:,}; it goes on "
            f"for {self.last():,} when 99 % have ended. Idle: {percent(self.idle)} of all lanes, "
            f"{percent(self.idle_at_nodes)} at nodes, {percent(self.idle_at_primitives)} at primitives."
        )


def _idle(used: np.ndarray, steps: np.ndarray) -> float:
    slots = LANES * int(steps.sum())
    return 1.0 - int(used.sum()) / slots if slots else 0.0


class WarpCounter:
    """Counts what the warps of rays take, again and again: its memory is kept. `count` launches only, once its kernels
    are compiled; `read` waits."""

    def __init__(self, target: Target) -> None:
        self.target, self._room, self._warps = target, FIRST_ROOM, 0
        self._launches = RepeatedLaunches(target)
        self._again: Callable[[], None] = lambda: None
        self._by_steps = False

    def count(self, hierarchy: Hierarchy, rays: RaySource, kind: str = "closest") -> None:
        """Of rays, as they lie, through a structure as it is."""
        traversal, warps = hierarchy.traversal(), rays.padded_count // LANES
        self._by_steps = hierarchy.traversal_name in BY_STEPS
        self._again = lambda: self.count(hierarchy, rays, kind)
        self._reserve(warps)
        constants = (("BY_STEPS", self._by_steps),)
        tracer, aliases = Tracer(self.target, traversal), (("OnPrimitive", ON_PRIMITIVE[kind]),)
        unit, view = tracer.unit("gpu/analysis/warp_steps.cu", rays, aliases, constants, COUNTING_REGISTERS, width=1)
        given = {"marks": self._marks, "room": self._room, "used": self._used}

        def launch() -> None:
            with self.target.phase("divergence"):
                self.target.fill(self._all, 0)
                count = rays.padded_count
                self.target.launch(unit, "hear_warps", count, input=view, ray_count=count, **given,
                                   longest=self._longest, block=TRACE_BLOCK)  # fmt: skip
                self.target.launch(unit, "sum_warps", warps, warp_count=warps, **given, found=self._found)

        self._launches.run((traversal.key, kind, self._by_steps, view.tobytes(), rays.padded_count), launch)

    def read(self, name: str = "given", tiles: tuple[int, int] | None = None) -> Divergence:
        """What was counted last. Where a ray took more steps than there was room for, it is counted once more."""
        while True:
            longest = int(self.target.download(self._longest)[0])
            needed = -(-longest // 32) if self._by_steps else longest
            if needed <= self._room:
                break
            self._room, self._warps = needed, 0
            self._again()
        steps, of_nodes, of_primitives, nodes, primitives = self.target.download(self._found).astype(np.int64)
        return Divergence(steps, of_nodes, of_primitives, nodes, primitives, name, tiles)

    def _reserve(self, warps: int) -> None:
        if warps == self._warps:
            return
        self._warps, marks = warps, 2 * self._room * warps
        self._all = self.target.zeros(marks + 2 * warps + 1, np.int32, "analysis")
        self._marks, self._used, self._longest = self._all[:marks], self._all[marks:-1], self._all[-1:]
        self._found = self.target.zeros((5, warps), np.int32, "analysis")
        self._launches.clear()


def divergence_of_rays(
    target: Target,
    hierarchy: Hierarchy,
    rays: RaySource,
    kind: str = "closest",
    name: str = "given",
    tiles: tuple[int, int] | None = None,
) -> Divergence:
    """Of rays, as they lie, through a structure as it is. Waits."""
    counter = WarpCounter(target)
    counter.count(hierarchy, rays, kind)
    return counter.read(name, tiles)

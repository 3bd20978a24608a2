"""Figures of a tree beside its SAH cost: end-point overlap, leaf-count variability, levels. On request: they cost more than a frame should.

Of large trees only some triangles are samples of the overlap, evenly taken, and the largest; leaves are counted on a fixed set of lines. A family
says how each is launched for its trees; what arrives is the same for all (gpu/device/tree_quality.cuh).
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from ..target.base import Array, Target
from .base import Primitives, StatisticsOptions

SAMPLES = {"cuda": 1 << 18, "host": 1 << 12}
"""Surfaces that stand for all others: at most so many of each so many-th, and as many of the largest."""

LINES = {"cuda": 1 << 16, "host": 1 << 12}
"""Lines on which leaves are counted."""

LEVELS = 256
"""Levels that are told apart."""

BLOCKS = 256
"""Of each launch: a sum a block."""

Tree = TypeVar("Tree")


@dataclasses.dataclass(frozen=True)
class Quality:
    """`end_point_overlap` is None where primitives have no surface to cut (spheres); `levels` holds inner nodes and leaves of each depth."""

    end_point_overlap: float | None = None
    leaf_variability: float | None = None
    levels: tuple[tuple[int, int], ...] = ()


class QualityMeasure(abc.ABC, Generic[Tree]):
    """Launches the measurement of a tree, and keeps what arrived last. A family gives the launches, each of which fills its sums."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._arrived = Quality()
        self._pending: tuple[Callable[[], np.ndarray | None], ...] = ()

    @abc.abstractmethod
    def count_leaves(self, tree: Tree, primitives: Primitives, depth: int, lines: int, sums: Array) -> None:
        """Launch it for so many lines: LineCounts of BLOCKS blocks."""

    @abc.abstractmethod
    def count_levels(self, tree: Tree, primitives: Primitives, depth: int, levels: Array) -> None:
        """Launch it: LevelCounts, zero before."""

    @abc.abstractmethod
    def measure_overlap(
        self, tree: Tree, primitives: Primitives, depth: int, options: StatisticsOptions, every: int, areas: Array | None, samples: int, sums: Array
    ) -> None:
        """Launch it over each `every`-th surface and the largest: two sums a block. `areas`: room for a sum a block where not all are samples."""

    def surfaces(self, tree: Tree, primitives: Primitives) -> int:
        """How many surfaces there are, from which samples are taken."""
        return primitives.count

    def start(self, tree: Tree, primitives: Primitives, depth: int, options: StatisticsOptions) -> None:
        """Measure a tree of at most `depth` inner nodes on a way from the root. Does not wait."""
        target, is_cut = self.target, primitives.kind == "triangle"
        if primitives.count == 0:
            self._arrived, self._pending = Quality(0.0 if is_cut else None, 0.0), ()
            return
        lines, samples = LINES[target.kind], SAMPLES[target.kind]
        line_sums, levels = target.scratch("quality.lines", (BLOCKS, 3), np.float64), target.scratch("quality.levels", (LEVELS, 2), np.int32)
        self.count_leaves(tree, primitives, depth, lines, line_sums)
        parts = [target.read_later(line_sums)]
        target.fill(levels, 0)
        self.count_levels(tree, primitives, depth, levels)
        parts.append(target.read_later(levels))
        if is_cut:
            every = max(1, -(-self.surfaces(tree, primitives) // samples))
            areas = target.scratch("quality.areas", BLOCKS, np.float64) if every > 1 else None
            sums = target.scratch("quality.overlap", (BLOCKS, 2), np.float64)
            self.measure_overlap(tree, primitives, depth, options, every, areas, samples, sums)
            parts.append(target.read_later(sums))
        self._pending = tuple(parts)

    def latest(self) -> Quality:
        """What has arrived; nothing known before that."""
        values = [read() for read in self._pending]
        if values and all(value is not None for value in values):
            self._arrived, self._pending = _quality(*(value for value in values if value is not None)), ()
        return self._arrived


def _quality(lines: np.ndarray, levels: np.ndarray, overlaps: np.ndarray | None = None) -> Quality:
    met, leaves, squares = lines.sum(axis=0)
    variance = squares / met - (leaves / met) ** 2 if met > 0.0 else 0.0
    deepest = int(np.flatnonzero(levels.sum(axis=1)).max(initial=-1))
    rows = tuple((int(inner), int(leaf)) for inner, leaf in levels[: deepest + 1])
    if overlaps is None:
        return Quality(None, math.sqrt(max(0.0, variance)), rows)
    overlap, area = overlaps.sum(axis=0)
    return Quality(float(overlap / area) if area > 0.0 else 0.0, math.sqrt(max(0.0, variance)), rows)

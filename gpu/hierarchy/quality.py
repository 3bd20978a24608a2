"""Figures of a tree beside its SAH cost: end-point overlap, leaf-count variability, levels. On request: they cost more
than a frame should.

In large trees the overlap is estimated from evenly spaced samples of the triangles and from the largest ones; leaves
are counted along a fixed set of lines. Each family launches its own kernels; their sums have one form
(gpu/device/tree_quality.cuh).
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
"""Most samples of the overlap: so many evenly spaced surfaces, and as many of the largest."""

LINES = {"cuda": 1 << 16, "host": 1 << 12}
"""Lines along which leaves are counted."""

LEVELS = 256
"""Most levels that are counted."""

BLOCKS = 256
"""Blocks of each launch; every block writes a sum."""

Tree = TypeVar("Tree")


@dataclasses.dataclass(frozen=True)
class Quality:
    """`end_point_overlap` is None where primitives have no surface to cut (spheres); `levels` holds inner nodes and
    leaves of each depth."""

    end_point_overlap: float | None = None
    leaf_variability: float | None = None
    levels: tuple[tuple[int, int], ...] = ()


class QualityMeasure(abc.ABC, Generic[Tree]):
    """Launches the measurement of a tree, and holds the newest results. Each family defines the launches, which fill
    the sums."""

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
        self,
        tree: Tree,
        primitives: Primitives,
        depth: int,
        options: StatisticsOptions,
        every: int,
        areas: Array | None,
        samples: int,
        sums: Array,
    ) -> None:
        """Launch it over each `every`-th surface and the largest: two sums a block. `areas`: room for a sum per block
        where not all are samples."""

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
        line_sums, levels = (
            target.scratch("quality.lines", (BLOCKS, 3), np.float64),
            target.scratch("quality.levels", (LEVELS, 2), np.int32),
        )
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
        """The newest results; before the first ones nothing is known."""
        values = [read() for read in self._pending]
        if values and all(value is not None for value in values):
            self._arrived, self._pending = _quality(*(value for value in values if value is not None)), ()
        return self._arrived


def _quality(lines: np.ndarray, levels: np.ndarray, overlaps: np.ndarray | None = None) -> Quality:
    line_count, leaves, squares = lines.sum(axis=0)
    variance = squares / line_count - (leaves / line_count) ** 2 if line_count > 0.0 else 0.0
    deepest = int(np.flatnonzero(levels.sum(axis=1)).max(initial=-1))
    rows = tuple((int(inner), int(leaf)) for inner, leaf in levels[: deepest + 1])
    if overlaps is None:
        return Quality(None, math.sqrt(max(0.0, variance)), rows)
    overlap, area = overlaps.sum(axis=0)
    return Quality(float(overlap / area) if area > 0.0 else 0.0, math.sqrt(max(0.0, variance)), rows)

"""Figures of a tree beside its SAH cost: end-point overlap, leaf-count variability, levels. On request: they cost more than a frame should.

Of large trees only some triangles are samples of the overlap, evenly taken along the references, and the largest; leaves are counted on a fixed set
of lines.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from ...target.base import Target
from ..base import Primitives, StatisticsOptions
from ..primitives import unit_source
from .tree import CanonicalTree

SAMPLES = {"cuda": 1 << 18, "host": 1 << 12}
"""Surfaces that stand for all others: at most so many of each so many-th, and as many of the largest."""

LINES = {"cuda": 1 << 16, "host": 1 << 12}
"""Lines on which leaves are counted."""

LEVELS = 256
"""Levels that are told apart."""

_BLOCKS = 256


@dataclasses.dataclass(frozen=True)
class Quality:
    """`end_point_overlap` is None where primitives have no surface to cut (spheres); `levels` holds inner nodes and leaves of each depth."""

    end_point_overlap: float | None = None
    leaf_variability: float | None = None
    levels: tuple[tuple[int, int], ...] = ()


class QualityMeasure:
    """Launches the measurement of a tree, and keeps what arrived last."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._arrived = Quality()
        self._pending: tuple[Callable[[], np.ndarray | None], ...] = ()

    def start(self, tree: CanonicalTree, primitives: Primitives, depth: int, options: StatisticsOptions) -> None:
        """Measure a tree of at most `depth` inner nodes on a way from the root. Does not wait."""
        if tree.count == 0:
            self._arrived, self._pending = Quality(0.0 if primitives.kind == "triangle" else None, 0.0), ()
            return
        parts = [self._count_leaves(tree, primitives, depth), self._count_levels(tree, primitives, depth)]
        if primitives.kind == "triangle":
            parts.append(self._overlap(tree, primitives, depth, options))
        self._pending = tuple(parts)

    def latest(self) -> Quality:
        """What has arrived; nothing known before that."""
        values = [read() for read in self._pending]
        if values and all(value is not None for value in values):
            self._arrived, self._pending = _quality(*(value for value in values if value is not None)), ()
        return self._arrived

    def _count_leaves(self, tree: CanonicalTree, primitives: Primitives, depth: int) -> Callable[[], np.ndarray | None]:
        target, lines = self._target, LINES[self._target.kind]
        unit = target.unit(unit_source("gpu/hierarchy/bvh/quality.cu", primitives, STACK_DEPTH=depth + 2, LEVELS=LEVELS))
        sums = target.scratch("quality.lines", (_BLOCKS, 3), np.float64)
        target.launch(unit, "count_leaves", lines, tree.records, tree.reference_boxes, tree.nodes, tree.root, lines, sums, blocks=_BLOCKS)
        return target.read_later(sums)

    def _count_levels(self, tree: CanonicalTree, primitives: Primitives, depth: int) -> Callable[[], np.ndarray | None]:
        target = self._target
        unit = target.unit(unit_source("gpu/hierarchy/bvh/quality.cu", primitives, STACK_DEPTH=depth + 2, LEVELS=LEVELS))
        levels = target.scratch("quality.levels", (LEVELS, 2), np.int32)
        target.fill(levels, 0)
        arguments = (tree.nodes, tree.parent, tree.flags, tree.node_capacity, tree.root, levels)
        target.launch(unit, "count_levels", tree.node_capacity, *arguments, blocks=_BLOCKS)
        return target.read_later(levels)

    def _overlap(self, tree: CanonicalTree, primitives: Primitives, depth: int, options: StatisticsOptions) -> Callable[[], np.ndarray | None]:
        target = self._target
        samples = SAMPLES[target.kind]
        every = max(1, -(-tree.count // samples))
        unit = target.unit(unit_source("gpu/hierarchy/bvh/overlap.cu", primitives, STACK_DEPTH=depth + 2, SAMPLE_EVERY=every))
        areas = target.scratch("quality.areas", _BLOCKS, np.float64) if every > 1 else None
        sums = target.scratch("quality.overlap", (_BLOCKS, 2), np.float64)
        surfaces, size = (primitives.view, tree.order, tree.records, tree.reference_boxes, tree.nodes), tree.node_capacity
        if areas is not None:
            target.launch(unit, "add_areas", size, *surfaces, tree.flags, size, areas, blocks=_BLOCKS)
        costs = (options.traversal_cost, options.intersection_cost)
        target.launch(unit, "measure_overlap", size, *surfaces, tree.parent, tree.flags, size, *costs, areas, samples, sums, blocks=_BLOCKS)
        return target.read_later(sums)


def _quality(lines: np.ndarray, levels: np.ndarray, overlaps: np.ndarray | None = None) -> Quality:
    met, leaves, squares = lines.sum(axis=0)
    variance = squares / met - (leaves / met) ** 2 if met > 0.0 else 0.0
    deepest = int(np.flatnonzero(levels.sum(axis=1)).max(initial=-1))
    rows = tuple((int(inner), int(leaf)) for inner, leaf in levels[: deepest + 1])
    if overlaps is None:
        return Quality(None, math.sqrt(max(0.0, variance)), rows)
    overlap, area = overlaps.sum(axis=0)
    return Quality(float(overlap / area) if area > 0.0 else 0.0, math.sqrt(max(0.0, variance)), rows)

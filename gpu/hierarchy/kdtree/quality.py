"""End-point overlap, leaf-count variability and levels of a kd-tree: what the family launches for them (gpu/hierarchy/quality.py)."""

from __future__ import annotations

from ...target.base import Array, Unit
from ..base import Primitives, StatisticsOptions
from ..primitives import unit_source
from ..quality import BLOCKS, LEVELS, QualityMeasure
from .tree import MOST_DEPTH, KdTree

STACK_DEPTH = MOST_DEPTH + 2


class KdTreeQuality(QualityMeasure[KdTree]):
    """See the module. Primitives are the surfaces, each one once."""

    def count_leaves(self, tree: KdTree, primitives: Primitives, depth: int, lines: int, sums: Array) -> None:
        self.target.launch(
            self._unit("quality.cu", primitives, LEVELS=LEVELS), "count_leaves", lines, tree.nodes, tree.box, lines, sums, blocks=BLOCKS
        )

    def count_levels(self, tree: KdTree, primitives: Primitives, depth: int, levels: Array) -> None:
        arguments = (tree.counts, tree.nodes, tree.parent, levels)
        self.target.launch(self._unit("quality.cu", primitives, LEVELS=LEVELS), "count_levels", primitives.count, *arguments, blocks=BLOCKS)

    def measure_overlap(
        self,
        tree: KdTree,
        primitives: Primitives,
        depth: int,
        options: StatisticsOptions,
        every: int,
        areas: Array | None,
        samples: int,
        sums: Array,
    ) -> None:
        unit, count = self._unit("overlap.cu", primitives, SAMPLE_EVERY=every), primitives.count
        if areas is not None:
            self.target.launch(unit, "add_areas", count, primitives.view, tree.records, areas, blocks=BLOCKS)
        walked = (tree.records, tree.nodes, tree.references, tree.box)
        measured = (options.traversal_cost, options.intersection_cost, areas, samples, sums)
        self.target.launch(unit, "measure_overlap", count, primitives.view, *walked, *measured, blocks=BLOCKS)

    def _unit(self, file: str, primitives: Primitives, **constants: int) -> Unit:
        return self.target.unit(unit_source(f"gpu/hierarchy/kdtree/{file}", primitives, STACK_DEPTH=STACK_DEPTH, **constants))

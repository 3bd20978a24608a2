"""End-point overlap, leaf-count variability and levels of a canonical tree: what the family launches for them (gpu/hierarchy/quality.py)."""

from __future__ import annotations

from ...target.base import Array, Unit
from ..base import Primitives, StatisticsOptions
from ..primitives import unit_source
from ..quality import BLOCKS, LEVELS, QualityMeasure
from .tree import CanonicalTree


class BvhQuality(QualityMeasure[CanonicalTree]):
    """See the module. References are the surfaces: where they are split, parts of triangles."""

    def surfaces(self, tree: CanonicalTree, primitives: Primitives) -> int:
        return tree.count

    def count_leaves(self, tree: CanonicalTree, primitives: Primitives, depth: int, lines: int, sums: Array) -> None:
        arguments = (tree.records, tree.reference_boxes, tree.long_leaves, tree.nodes, tree.root, lines, sums)
        self.target.launch(self._unit("quality.cu", primitives, depth, LEVELS=LEVELS), "count_leaves", lines, *arguments, blocks=BLOCKS)

    def count_levels(self, tree: CanonicalTree, primitives: Primitives, depth: int, levels: Array) -> None:
        arguments = (tree.nodes, tree.parent, tree.flags, tree.node_capacity, tree.root, levels)
        unit = self._unit("quality.cu", primitives, depth, LEVELS=LEVELS)
        self.target.launch(unit, "count_levels", tree.node_capacity, *arguments, blocks=BLOCKS)

    def measure_overlap(
        self,
        tree: CanonicalTree,
        primitives: Primitives,
        depth: int,
        options: StatisticsOptions,
        every: int,
        areas: Array | None,
        samples: int,
        sums: Array,
    ) -> None:
        unit = self._unit("overlap.cu", primitives, depth, SAMPLE_EVERY=every)
        surfaces, size = (primitives.view, tree.order, tree.records, tree.reference_boxes, tree.long_leaves, tree.nodes), tree.node_capacity
        if areas is not None:
            self.target.launch(unit, "add_areas", size, *surfaces, tree.flags, size, areas, blocks=BLOCKS)
        measured = (tree.parent, tree.flags, size, options.traversal_cost, options.intersection_cost, areas, samples, sums)
        self.target.launch(unit, "measure_overlap", size, *surfaces, *measured, blocks=BLOCKS)

    def _unit(self, file: str, primitives: Primitives, depth: int, **constants: int) -> Unit:
        return self.target.unit(unit_source(f"gpu/hierarchy/bvh/{file}", primitives, STACK_DEPTH=depth + 2, **constants))

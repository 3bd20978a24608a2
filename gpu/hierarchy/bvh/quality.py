"""End-point overlap, leaf-count variability and levels of a canonical tree: what the family launches for them
(gpu/hierarchy/quality.py)."""

from __future__ import annotations

from ...target.base import Array, Unit
from ..base import Primitives, StatisticsOptions
from ..quality import BLOCKS, LEVELS, QualityMeasure
from .tree import CanonicalTree


class BvhQuality(QualityMeasure[CanonicalTree]):
    """See the module. References are the surfaces: where they are split, parts of triangles."""

    def surfaces(self, tree: CanonicalTree, primitives: Primitives) -> int:
        return tree.count

    def count_leaves(self, tree: CanonicalTree, primitives: Primitives, depth: int, lines: int, sums: Array) -> None:
        self.target.launch(
            self._unit("quality.cu", tree, primitives, depth, LEVELS=LEVELS),
            "count_leaves",
            lines,
            **tree.leaf_boxes(),
            nodes=tree.nodes,
            root=tree.root,
            line_count=lines,
            sums=sums,
            blocks=BLOCKS,
        )

    def count_levels(self, tree: CanonicalTree, primitives: Primitives, depth: int, levels: Array) -> None:
        unit = self._unit("quality.cu", tree, primitives, depth, LEVELS=LEVELS)
        self.target.launch(
            unit,
            "count_levels",
            tree.node_capacity,
            **tree.links(),
            node_capacity=tree.node_capacity,
            root=tree.root,
            levels=levels,
            blocks=BLOCKS,
        )

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
        unit = self._unit("overlap.cu", tree, primitives, depth, SAMPLE_EVERY=every)
        surfaces, size = (
            {
                "primitives": primitives.view,
                "order": tree.order,
                **tree.leaf_boxes(),
                "nodes": tree.nodes,
            },
            tree.node_capacity,
        )
        if areas is not None:
            self.target.launch(
                unit, "add_areas", size, **surfaces, flags=tree.flags, node_capacity=size, areas=areas, blocks=BLOCKS
            )
        self.target.launch(
            unit,
            "measure_overlap",
            size,
            **surfaces,
            parent=tree.parent,
            flags=tree.flags,
            node_capacity=size,
            traversal_cost=options.traversal_cost,
            intersection_cost=options.intersection_cost,
            areas=areas,
            samples=samples,
            sums=sums,
            blocks=BLOCKS,
        )

    def _unit(self, file: str, tree: CanonicalTree, primitives: Primitives, depth: int, **constants: int) -> Unit:
        path = f"gpu/hierarchy/bvh/{file}"
        return self.target.unit(tree.unit_source(path, primitives, STACK_DEPTH=depth + 2, **constants))

"""Trees of cells that list a primitive in every leaf it reaches into (kd-trees, octrees): what their families share but
for the nodes.

A family's folder has `statistics.cu`, `quality.cu` and `overlap.cu`, which measure its nodes into the same rows.
"""

from __future__ import annotations

import abc

import numpy as np

from ..target.base import Array, Target, Unit
from .base import REGION_QUERIES, Capabilities, Primitives, StatisticsOptions, StructureChoice
from .growing import GrowingHierarchy
from .grown_tree import GrownTree
from .primitives import unit_source
from .quality import BLOCKS, LEVELS, Quality, QualityMeasure

CELL_SUMS = 6
"""What a block measures: cost, inner nodes, leaves, empty leaves, inactive primitives, depth."""
_MEASURE_BLOCKS = 256


class CellTreeHierarchy(GrowingHierarchy):
    """See the module. A family gives `family`, `layout_of_all`, `node_shape`, `max_depth`, `limits`, `first_capacity`,
    its traversals, and `quality_constants` where quality.cu and overlap.cu take some."""

    capabilities = Capabilities(
        refit=False,
        splits_references=True,
        splits_space=True,
        primitive_kinds=("triangle", "sphere", "mixed", "glyphs"),
        queries=(*REGION_QUERIES, "leaf"),
    )
    figures = (
        "sah_cost",
        "node_count",
        "leaf_count",
        "empty_leaf_count",
        "inactive_count",
        "depth",
        "reference_count",
        "status",
    )
    layout_of_all: str
    quality_constants: tuple[tuple[str, int], ...] = ()
    """Unit constants of the family's quality.cu and overlap.cu."""

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self._quality = CellTreeQuality(target, self.family, dict(self.quality_constants))

    @classmethod
    def layouts(cls) -> tuple[str, ...]:
        return (cls.layout_of_all,)

    @classmethod
    def default_layout(cls, target_kind: str, incoherent_lanes: int = 0) -> str:
        return cls.layout_of_all

    @abc.abstractmethod
    def max_depth(self) -> int:
        """The most inner nodes on a way from the root to a leaf."""

    def launch_measuring(self, primitives: Primitives, costs: StatisticsOptions) -> Array:
        tree, target = self.tree, self.target
        unit = target.unit(unit_source(f"gpu/hierarchy/{self.family}/statistics.cu", primitives))
        sums = target.scratch(f"{self.family}.sums", _MEASURE_BLOCKS * CELL_SUMS, np.float64)
        row = target.scratch(f"{self.family}.measured", len(self.figures), np.float64)
        target.launch(
            unit,
            "measure_blocks",
            primitives.count,
            record_data=tree.records,
            primitive_count=primitives.count,
            counts=tree.counts,
            nodes=tree.nodes,
            parent=tree.parent,
            box=tree.box,
            traversal_cost=costs.traversal_cost,
            intersection_cost=costs.intersection_cost,
            sums=sums,
            blocks=_MEASURE_BLOCKS,
        )
        target.launch(
            unit, "measure_tree", 1, counts=tree.counts, box=tree.box, sums=sums, sum_count=_MEASURE_BLOCKS, result=row
        )
        return row

    def start_quality(self, primitives: Primitives, costs: StatisticsOptions) -> None:
        self._quality.start(self.tree, primitives, self.max_depth(), costs)

    def latest_quality(self) -> Quality:
        return self._quality.latest()


class CellTreeQuality(QualityMeasure[GrownTree]):
    """End-point overlap, leaf-count variability and levels (quality.py). Primitives are the surfaces, each one once."""

    def __init__(self, target: Target, family: str, constants: dict[str, int]) -> None:
        super().__init__(target)
        self._folder, self._constants = f"gpu/hierarchy/{family}", constants

    def count_leaves(self, tree: GrownTree, primitives: Primitives, depth: int, lines: int, sums: Array) -> None:
        self.target.launch(
            self._unit("quality.cu", primitives, LEVELS=LEVELS),
            "count_leaves",
            lines,
            nodes=tree.nodes,
            root_box=tree.box,
            line_count=lines,
            sums=sums,
            blocks=BLOCKS,
        )

    def count_levels(self, tree: GrownTree, primitives: Primitives, depth: int, levels: Array) -> None:
        self.target.launch(
            self._unit("quality.cu", primitives, LEVELS=LEVELS),
            "count_levels",
            primitives.count,
            counts=tree.counts,
            nodes=tree.nodes,
            parent=tree.parent,
            levels=levels,
            blocks=BLOCKS,
        )

    def measure_overlap(
        self,
        tree: GrownTree,
        primitives: Primitives,
        depth: int,
        options: StatisticsOptions,
        every: int,
        areas: Array | None,
        samples: int,
        sums: Array,
    ) -> None:
        unit, count = self._unit("overlap.cu", primitives, SAMPLE_EVERY=every), primitives.count
        surfaces = {"primitives": primitives.view, "record_data": tree.records, "areas": areas, "blocks": BLOCKS}
        if areas is not None:
            self.target.launch(unit, "add_areas", count, **surfaces)
        self.target.launch(
            unit,
            "measure_overlap",
            count,
            **surfaces,
            nodes=tree.nodes,
            references=tree.references,
            root_box=tree.box,
            traversal_cost=options.traversal_cost,
            intersection_cost=options.intersection_cost,
            samples=samples,
            sums=sums,
        )

    def _unit(self, file: str, primitives: Primitives, **constants: int) -> Unit:
        return self.target.unit(unit_source(f"{self._folder}/{file}", primitives, **self._constants, **constants))

"""grid_two_level: a coarse grid whose cells are grids of their own.

Idea: Few large cells are passed quickly where space is empty; where things are, each of them is divided as finely as
what it lists asks for. So cells follow the scene a little, and one more step finds them.

Paper: Kalojanov, Billeter and Slusallek, Two-Level Grids for Ray Tracing on GPUs (2011), with their densities of 0.12
cells per primitive and 2.4 per reference in a cell: both levels are pairs that are counted, written and sorted. Other
than there a cell's division is bounded by how often it would list its primitives, and their test against triangles is
one of slices and rows first.

Cost: What a uniform grid takes, twice, with pairs of block and primitive in place of primitives the second time. A
thread counts a pair's cells, so that primitives much larger than a block take long alone.

Limits: Two levels are not enough where a detail is ten thousand times smaller than the scene. It cannot be refitted,
and it has no SAH cost. Deterministic.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from .....settings import option
from .....target.base import Array
from ....base import Primitives
from ....grown_tree import Capacity, Draft, Limits
from ...grid import FIRST_REFERENCES, MARGIN, GridHierarchy
from ...options import GridOptions

_EXTENT_SUMS = 4


@dataclasses.dataclass(frozen=True)
class TwoLevelOptions(GridOptions):
    """Those of a grid, whose density is the coarse one's, and how finely its cells are divided."""

    density: float = option(0.12, "Cells of the coarse grid per primitive.", minimum=0.001, maximum=100.0)
    cell_density: float = option(
        2.4, "Cells per reference into which a cell of the coarse grid is divided.", minimum=0.01, maximum=10_000.0
    )


class GridTwoLevel(GridHierarchy):
    """See the module."""

    name = "grid_two_level"
    title = "Two-level grid"
    Options = TwoLevelOptions
    layout = "blocks8"
    traversal_names = ("two_level_dda",)
    has_blocks = True
    registers, on_the_way = 128, 160  # a walk within a walk; with three blocks at a time it takes a fifth longer
    options: TwoLevelOptions

    # -- room -------------------------------------------------------------------------------------------------------
    @property
    def most_listed(self) -> float:
        """How often a primitive is listed on each level: together as often as was allowed."""
        return math.sqrt(self.options.references_per_primitive)

    def limits(self) -> Limits:
        whole, options = super().limits(), self.options
        nodes = math.ceil(options.density + options.cell_density * MARGIN * self.most_listed) + 1
        return dataclasses.replace(whole, nodes=nodes)

    def first_capacity(self, primitive_count: int) -> Capacity:
        options, n = self.options, primitive_count
        pairs = min(self.most_listed, FIRST_REFERENCES / 2)
        cells = options.cells(self.name, n, options.density + options.cell_density)
        references = int(min(options.references_per_primitive, FIRST_REFERENCES) * n) + 256
        return Capacity(nodes=self._blocks(n) + cells, references=references, working=int(pairs * n) + 256)

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        blocks = self._blocks(primitive_count)
        pairs = 8 * 2 * capacity.working + 4 * (capacity.working + 1) + 8 * (primitive_count + 1)
        return pairs + 8 * 2 * capacity.references + (8 * _EXTENT_SUMS + 4) * (blocks + 1)

    def _blocks(self, primitive_count: int) -> int:
        """The most of them."""
        return self.options.cells(self.name, primitive_count)

    # -- building ---------------------------------------------------------------------------------------------------
    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        blocks = self._blocks(primitives.count)
        counts = self.target.scratch("grid.pair_counts", 4, np.int32)
        self.choose_cells(primitives, draft, counts, blocks, self.most_listed)
        pairs = self.list_in_cells(primitives, draft, counts, draft.nodes, (blocks, capacity.working))
        self._divide(primitives, draft, capacity, counts, pairs)
        self.write_cells(self._list_in_blocks(primitives, draft, capacity, counts, pairs), draft, capacity)

    def _divide(
        self, primitives: Primitives, draft: Draft, capacity: Capacity, pair_counts: Array, pairs: Array
    ) -> None:
        """Launch what chooses the cells of each block, and says where they are."""
        target, blocks, unit = self.target, self._blocks(primitives.count), self.cell_unit("blocks", primitives)
        sums = target.scratch("grid.block_extents", (blocks, _EXTENT_SUMS), np.uint64)
        first_cells = target.scratch("grid.first_cells", blocks + 1, np.int32)
        with target.phase("build.blocks"):
            target.launch(unit, "clear_sums", _EXTENT_SUMS * blocks, pair_counts=pair_counts, sums=sums)
            target.launch(
                unit,
                "sum_blocks",
                capacity.working,
                primitives=primitives.view,
                box=draft.box,
                pair_counts=pair_counts,
                keys=pairs,
                sums=sums,
            )
            target.launch(
                unit,
                "choose_blocks",
                blocks + 1,
                box=draft.box,
                pair_counts=pair_counts,
                sums=sums,
                density=self.options.cell_density,
                most_references=self.most_listed,
                most_blocks=blocks,
                nodes=draft.nodes,
                first_cells=first_cells,
            )
            target.exclusive_scan(first_cells, first_cells, "grid.block_scan")
            target.launch(
                unit,
                "place_blocks",
                capacity.nodes,
                pair_counts=pair_counts,
                first_cells=first_cells,
                most_blocks=blocks,
                capacity=capacity.nodes,
                counts=draft.counts,
                nodes=draft.nodes,
            )

    def _list_in_blocks(
        self, primitives: Primitives, draft: Draft, capacity: Capacity, pair_counts: Array, pairs: Array
    ) -> Array:
        """Launch what lists the pairs in the cells of their blocks: keys of node and primitive, sorted."""
        target, unit = self.target, self.cell_unit("blocks", primitives)
        places = target.scratch("grid.block_places", capacity.working + 1, np.int32)
        keys = target.scratch("grid.block_keys", capacity.references, np.uint64)
        shared = {
            "primitives": primitives.view,
            "box": draft.box,
            "pair_counts": pair_counts,
            "keys": pairs,
            "nodes": draft.nodes,
            "counts": draft.counts,
            "most_pairs": capacity.working,
            "places": places,
        }
        with target.phase("build.block_keys"):
            target.launch(unit, "count_block_cells", capacity.working + 1, **shared)
            target.exclusive_scan(places, places, "grid.pair_scan")
            most = max(capacity.working, capacity.references)
            target.launch(unit, "write_block_keys", most, **shared, capacity=capacity.references, cell_keys=keys)
        with target.phase("build.block_sort"):
            return target.sort_keys(keys, (32, 33 + capacity.nodes.bit_length()), "grid.block_sort")

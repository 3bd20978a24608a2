"""The family of grids: everything but `emit`, which builders give.

How memory grows, drafts and measuring come from gpu/hierarchy/growing.py; what a cell is stands in nodes.cuh. How many
cells there are is decided where the primitives are (shape.cu), so that a frame that is replayed has the cells that it
needs: the host knows no more than how many they may be.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from ...rows import Ints, Struct
from ...target.base import Array, Unit, UnitSource
from ...target.structs import pack
from ..base import (
    REGION_QUERIES,
    Capabilities,
    NodeTable,
    Primitives,
    StatisticsOptions,
    Traversal,
    TreeView,
)
from ..growing import GrowingHierarchy
from ..grown_tree import Capacity, Draft, Limits, NodeShape
from ..large_primitives import by_blocks
from ..primitives import clipping_unit_source, query_records, querying_unit_source, unit_source
from ..runs import run_constants
from .node_table import read_node_table
from .options import BOX_TEST, CLIPPING, MOST_ALONG, SEPARATING_AXES, GridOptions

MAILBOXES = 8
MARGIN = 4
"""Where a grid gives up: at so many times the references that were allowed when its cells were chosen, which is by an
estimate."""

FIRST_REFERENCES = 4.0
"""Per primitive: what most closed surfaces need."""

SUMS = 4
"""What a block measures: divided cells, cells, empty cells, inactive primitives."""
_MEASURE_BLOCKS = 256
_EXTENT_SUMS = 4


@dataclasses.dataclass(frozen=True)
class GridArrays(Struct):
    """The grid as traversals have it."""

    nodes: Annotated[Array, "const int2*"]
    references: Ints
    box: Annotated[Array, "const float4*"]
    runs: Annotated[Array, "const float4*"]


class GridHierarchy(GrowingHierarchy):
    """See the module. A builder gives `name`, `title`, `Options` (a GridOptions), `layout`, `traversal_names`,
    `has_blocks`, the `registers` a thread of its traversal takes on CUDA, those `on_the_way` to lights and through
    glyphs, `emit` and `working_bytes`."""

    family = "grid"
    capabilities = Capabilities(
        refit=False,
        splits_references=True,
        splits_space=True,
        sah_cost=False,
        primitive_kinds=("triangle", "sphere", "mixed", "glyphs"),
        queries=(*REGION_QUERIES, "leaf"),
    )
    layout: ClassVar[str]
    traversal_names: ClassVar[tuple[str, ...]]
    has_blocks: ClassVar[bool]
    registers: ClassVar[int]
    on_the_way: ClassVar[int]
    node_shape = NodeShape(words=2, empty=(0, 0), has_runs=True)
    figures = (
        "node_count",
        "leaf_count",
        "empty_leaf_count",
        "inactive_count",
        "depth",
        "reference_count",
        "status",
    )
    options: GridOptions
    _keys: Array

    @classmethod
    def layouts(cls) -> tuple[str, ...]:
        return (cls.layout,)

    @classmethod
    def default_layout(cls, target_kind: str, incoherent_lanes: int = 0) -> str:
        return cls.layout

    @classmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        return cls.traversal_names

    @classmethod
    def titles(cls) -> Mapping[str, str]:
        return {
            "cells8": "Grid, 8 bytes per cell",
            "blocks8": "Two-level grid, 8 bytes per cell",
            "dda": "3D-DDA",
            "two_level_dda": "Two-level 3D-DDA",
        }

    # -- room -------------------------------------------------------------------------------------------------------
    def limits(self) -> Limits:
        return Limits(
            nodes=math.ceil(self.options.density) + 1,
            references=math.ceil(MARGIN * self.options.references_per_primitive),
            bytes=None,
            advice="too many of them reach across the cells. Lower density or references_per_primitive.",
        )

    def first_capacity(self, primitive_count: int) -> Capacity:
        share = min(self.options.references_per_primitive, FIRST_REFERENCES)
        cells = self.options.cells(self.name, primitive_count)
        return Capacity(nodes=cells, references=int(share * primitive_count) + 256, working=0)

    # -- what builders share ----------------------------------------------------------------------------------------
    def cell_unit(self, name: str, primitives: Primitives) -> Unit:
        """A unit of the family that tests primitives against cells, by what their kind offers."""
        by_axes = primitives.kind != "glyphs"  # whether those reach into a box takes many steps
        test = BOX_TEST if not self.options.exact else SEPARATING_AXES if by_axes else CLIPPING
        source = (unit_source, querying_unit_source, clipping_unit_source)[test]
        constants = {"CELL_TEST": test, "IS_SOLID": primitives.kind != "triangle"}
        return self.target.unit(source(f"gpu/hierarchy/grid/{name}.cu", primitives, **constants))

    def choose_cells(
        self, primitives: Primitives, draft: Draft, counts: Array, most_cells: int, most_references: float
    ) -> None:
        """Launch what finds the box and the number of cells, which are then in the draft's box and in `counts`."""
        target, n, options = self.target, primitives.count, self.options
        is_solid = primitives.kind != "triangle"
        unit = target.unit(unit_source("gpu/hierarchy/grid/shape.cu", primitives, IS_SOLID=is_solid))
        words = target.scratch("grid.box", 6, np.int32)
        sums = target.scratch("grid.extents", _EXTENT_SUMS, np.uint64)
        is_judged = options.resolution == "cost_model"
        with target.phase("build.bounds"):
            target.launch(unit, "clear_shape", _EXTENT_SUMS, box_words=words, extent_sums=sums)
            target.launch(unit, "find_box", n, primitives=primitives.view, box_words=words)
            target.launch(unit, "sum_extents", n, primitives=primitives.view, box_words=words, extent_sums=sums)
            target.launch(
                unit,
                "choose_cells",
                1,
                box_words=words,
                extent_sums=sums,
                most_cells=most_cells,
                most_along=MOST_ALONG,
                most_references=most_references,
                step_cost=options.step_cost if is_judged else 0.0,
                test_cost=options.test_cost if is_judged else 0.0,
                counts=counts,
                box=draft.box,
            )

    def list_in_cells(
        self, primitives: Primitives, draft: Draft, counts: Array, nodes: Array, most: tuple[int, int]
    ) -> Array:
        """Launch what lists primitives in the cells of the draft's box: their keys, sorted, at most `most` cells and
        references."""
        target, n, (most_cells, most_references) = self.target, primitives.count, most
        unit = self.cell_unit("references", primitives)
        places = target.scratch("grid.places", n + 1, np.int32)
        keys = target.scratch("grid.keys", most_references, np.uint64)
        large = target.scratch("grid.large", n + 1, np.int32)
        listed = {"primitives": primitives.view, "box": draft.box, "places": places}
        with target.phase("build.keys"):
            target.fill(large[:1], 0)
            target.launch(unit, "count_cells", n + 1, **listed, large=large)
            target.launch(unit, "count_cells_of_large", n, **listed, **by_blocks(large, n))
            target.exclusive_scan(places, places, "grid.scan")
            target.launch(
                unit,
                "write_keys",
                max(n, most_references, most_cells),
                **listed,
                capacity=most_references,
                counts=counts,
                keys=keys,
                nodes=nodes,
            )
            target.launch(unit, "write_keys_of_large", n, **listed, **by_blocks(large, n), counts=counts, keys=keys)
        with target.phase("build.sort"):
            return target.sort_keys(keys, (32, 33 + most_cells.bit_length()), "grid.sort")

    def write_cells(self, keys: Array, draft: Draft, capacity: Capacity) -> None:
        """Launch what writes where the references of each node begin and end, and the references."""
        target = self.target
        with target.phase("build.nodes"):
            target.launch(
                target.unit(UnitSource("gpu/hierarchy/grid/cells.cu")),
                "write_cells",
                capacity.references,
                keys=keys,
                counts=draft.counts,
                nodes=draft.nodes,
                references=draft.references,
            )
        self._keys = keys

    def finish(self, primitives: Primitives, draft: Draft) -> None:
        with self.target.phase("build.runs"):
            self.tree.bound_runs(draft, primitives, self._keys)

    # -- what others read -------------------------------------------------------------------------------------------
    def traversal(self) -> Traversal:
        tree = self.tree
        records = self.traversed.of_traversal(self.last_built(), tree.records)
        header, type_name = self.traversal_source()
        registers = self.on_the_way if self.last_built().kind == "glyphs" else self.registers
        view = TreeView(header, type_name, self._view(), self._constants(), registers, self.on_the_way)
        return Traversal(view, records)

    def query_traversal(self) -> Traversal:
        built, name = self.last_built(), self.layout_name
        header, type_name = f"gpu/hierarchy/grid/queries/{name}.cuh", f"Visited{name.capitalize()}"
        return Traversal(TreeView(header, type_name, self._view()), query_records(built, self.tree.records))

    def _view(self) -> np.ndarray:
        return pack(GridArrays(self.tree.nodes, self.tree.references, self.tree.box, self.tree.runs))

    def _constants(self) -> tuple[tuple[str, int], ...]:
        return (("MAILBOXES", MAILBOXES if self.options.mailboxes else 0), *run_constants())

    def launch_measuring(self, primitives: Primitives, costs: StatisticsOptions) -> Array:
        tree, target = self.tree, self.target
        unit = target.unit(unit_source("gpu/hierarchy/grid/statistics.cu", primitives))
        sums = target.scratch("grid.sums", _MEASURE_BLOCKS * SUMS, np.float64)
        row = target.scratch("grid.measured", len(self.figures), np.float64)
        target.launch(
            unit,
            "measure_blocks",
            primitives.count,
            record_data=tree.records,
            primitive_count=primitives.count,
            counts=tree.counts,
            nodes=tree.nodes,
            box=tree.box,
            has_blocks=int(self.has_blocks),
            sums=sums,
            blocks=_MEASURE_BLOCKS,
        )
        target.launch(
            unit, "measure_grid", 1, counts=tree.counts, box=tree.box, sums=sums, sum_count=_MEASURE_BLOCKS, row=row
        )
        return row

    def nodes(self) -> NodeTable:
        return read_node_table(self.target, self.tree, self.last_built(), self.has_blocks)

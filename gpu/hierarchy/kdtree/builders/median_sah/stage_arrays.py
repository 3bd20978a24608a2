"""What the kernels of both stages have in common, by value: one argument instead of thirty, as the host packs them at
every launch."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from .....rows import Float, Int, Struct
from .....target.base import Array

MadeInts = Annotated[Array, "int*"]
MadeInt2s = Annotated[Array, "int2*"]
MadeInt4s = Annotated[Array, "int4*"]
MadeUint4s = Annotated[Array, "uint4*"]
MadeFloats = Annotated[Array, "float*"]
MadeFloat4s = Annotated[Array, "float4*"]


@dataclasses.dataclass(frozen=True)
class LargeArrays(Struct):
    """What LargeStage of stage.cuh holds. Arrays of nodes are there twice, for even and for odd levels."""

    levels: MadeInts
    totals: MadeInts
    counts: MadeInts
    draft_nodes: MadeInt2s
    draft_parent: MadeInts
    references: MadeFloat4s
    cells: MadeFloat4s
    cells_too: MadeFloat4s
    ranges: MadeInt4s
    ranges_too: MadeInt4s
    boxes: MadeInts
    boxes_too: MadeInts
    side_counts: MadeInts
    side_counts_too: MadeInts
    plans: MadeInt4s
    offsets: MadeInt4s
    node_additions: MadeInt4s
    root_cells: MadeFloat4s
    root_ranges: MadeInt4s
    chunk_boxes: MadeFloats
    sums: MadeInts
    empty_fraction: Float
    max_depth: Int
    small_count: Int
    node_capacity: Int
    working_capacity: Int
    slot_capacity: Int
    root_capacity: Int
    chunk_capacity: Int


@dataclasses.dataclass(frozen=True)
class SmallArrays(Struct):
    """What SmallStage of rounds.cu holds. Nodes are there for even and for odd rounds."""

    totals: MadeInts
    counts: MadeInts
    references: MadeFloat4s
    root_cells: MadeFloat4s
    root_ranges: MadeInt4s
    firsts: MadeInts
    """Where a root's references begin in planes, sets and prim_ids."""
    planes: MadeFloats
    sets: MadeUint4s
    prim_ids: MadeInts
    small_nodes: MadeFloat4s
    small_nodes_too: MadeFloat4s
    rounds: MadeInts
    candidates: MadeInts
    small_additions: MadeInts
    root_places: MadeInt2s
    draft_nodes: MadeInt2s
    draft_parent: MadeInts
    draft_references: MadeInts
    traversal_cost: Float
    intersection_cost: Float
    empty_factor: Float
    by_cost: Int
    max_leaf_size: Int
    max_depth: Int
    root_capacity: Int
    slot_capacity: Int
    node_capacity: Int
    reference_capacity: Int

"""The 8-wide layout: 256 bytes per node, the boxes of up to eight children in full precision. bvh8.cuh draws it,
collapse.cu chooses the nodes.

Idea: Of all ways to join nodes the one with the least sum of areas. Children lie in slots by direction: the octant of a
ray gives their order without a sort.

Paper: Ylitie, Karras and Laine, Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs (2017), without
the compression.

Cost: 256 bytes per node, at most 1 + a quarter as many as leaves. Two launches and a scan choose the nodes after every
build, in 69 bytes of scratch memory per reference; a refit keeps the choice. On the host leaves' triangles lie in rows
too, 48 bytes each: its rays take a step in turn, and each tests a leaf's triangles at once.

Limits: Coherent rays gain nothing by it. On the host incoherent ones go two to three times as fast in closed scenes as
in bvh4 where packs have sixteen rays (AVX-512), and slower where they have eight. Slots are chosen one child after the
other, not by the published auction.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ....target.base import Array, Target
from ...base import NOT_TOLD, Primitives, Records
from ...primitives import reserved
from ..collapse import CHOICE_SCRATCH, COLLAPSE_CHUNKS, choose_wide_nodes, has_wide_groups, most_wide_nodes
from ..leaf_rows import LeafRows
from ..tree import CanonicalTree
from . import Layout

WIDTH = 8


class Bvh8(Layout):
    """Nodes without gaps, in canonical order."""

    name = "bvh8"
    title = "8-wide (BVH8)"
    node_dtype: ClassVar[np.dtype] = np.dtype(
        [("x", "f4", (2, 8)), ("y", "f4", (2, 8)), ("z", "f4", (2, 8)), ("children", "i4", 8), ("unused", "i4", 8)]
    )
    waiting_per_level = WIDTH - 1
    scratch_per_reference = CHOICE_SCRATCH
    traversal_registers = 80
    lanes_as_children = ("bvh8_single",)
    traversals_interleaved = ("bvh8_stack",)

    _chosen: dict[str, Array]
    """Whether an id is a wide node, and which."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._leaf_rows = LeafRows(target)

    def reserve(self, primitive_count: int) -> None:
        self._nodes = reserved(
            self.target, self._nodes, (most_wide_nodes(primitive_count, WIDTH), 64), np.float32, "hierarchy"
        )

    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        target, capacity = self.target, tree.node_capacity
        if capacity > 0:
            wide_ids = self.keep("wide_ids", capacity, np.int32)
            is_wide = choose_wide_nodes(target, tree, WIDTH, wide_ids, self.keep)
            self._chosen = {"is_wide": is_wide, "wide_ids": wide_ids}
            target.exclusive_scan(wide_ids, wide_ids, "bvh.scan")
        self.rewrite(tree, primitives)

    def rewrite(self, tree: CanonicalTree, primitives: Primitives) -> None:
        self._leaf_rows.update(tree, primitives)
        target, capacity = self.target, tree.node_capacity
        if capacity == 0:
            return
        chunk = COLLAPSE_CHUNKS[target.kind]
        unit = target.unit(tree.unit_source("gpu/hierarchy/bvh/layouts/bvh8.cu", primitives, CHUNK=chunk))
        target.launch(
            unit,
            "write_bvh8_nodes",
            capacity,
            **tree.leaf_boxes(),
            nodes=tree.nodes,
            **self._chosen,
            node_capacity=capacity,
            bvh8=self.nodes,
            blocks=-(-capacity // chunk),
        )

    def read_children(self, tree: CanonicalTree, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = self.target.download(self.nodes[first : first + count]).view(self.node_dtype).reshape(-1)
        lower, upper = (np.stack([rows[axis][:, side] for axis in "xyz"], axis=-1) for side in (0, 1))
        return rows["children"], lower, upper

    def indices(self, tree: CanonicalTree) -> np.ndarray | None:
        if tree.node_capacity == 0:
            return None
        is_wide, wide_ids = (self.target.download(self._chosen[name]) for name in ("is_wide", "wide_ids"))
        return np.where(is_wide[: tree.node_capacity] != 0, wide_ids[: tree.node_capacity], NOT_TOLD)

    def traversal_constants(self) -> tuple[tuple[str, int], ...]:
        return (has_wide_groups(len(self.nodes)),)

    def traversal_records(self, tree: CanonicalTree, records: Records) -> Records:
        return self._leaf_rows.beside(tree, records)

    @property
    def bytes(self) -> int:
        return super().bytes + self._leaf_rows.bytes

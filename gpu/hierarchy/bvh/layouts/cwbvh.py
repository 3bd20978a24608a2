"""The compressed 8-wide layout: 80 bytes per node, boxes of 8 bits per plane. cwbvh.cuh draws it, greedy_collapse.cu
chooses the nodes.

Idea: Children's boxes are whole numbers on a grid of the node's own, rounded outwards: eight of them in little more
room than one node of bvh2.

Paper: Ylitie, Karras and Laine, Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs (2017).

Cost: 80 bytes per node, and 32 of leaf words beside it, read only where a ray enters a leaf. A refit
keeps the choice of the build and writes anew.

Limits: Boxes are looser, and 48 planes are unpacked at each node. Nodes are joined greedily, some steps more per ray
than the best choice (bvh8).
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar

import numpy as np

from ....rows import Ints, Struct
from ....target.base import Array
from ....target.structs import pack
from ...base import NOT_TOLD, Primitives
from ...primitives import reserved
from ..collapse import GREEDY_CHUNKS, LIST_SHARE, QUICK_SCRATCH, choose_quickly, has_wide_groups
from ..tree import EMPTY_CHILD, CanonicalTree
from . import Layout

WIDTH = 8
META_INNER, META_LEAF, META_RANK = 128, 64, 7
"""Of a slot's byte, as cwbvh.cuh has them."""


@dataclasses.dataclass(frozen=True)
class CompressedNodes(Struct):
    """What CwbvhStack holds."""

    nodes: Annotated[Array, "const CwbvhNode*"]
    root: Ints
    leaf_words: Ints


class Cwbvh(Layout):
    """Nodes without gaps, the wide children of one node side by side."""

    name = "cwbvh"
    title = "8-wide, compressed (CWBVH)"
    node_dtype: ClassVar[np.dtype] = np.dtype(
        [("origin", "f4", 3), ("exponents", "u1", 3), ("used", "u1"), ("child_base", "i4"), ("unused", "i4")]
        + [("meta", "u1", 8), ("planes", "u1", (6, 8))]
    )
    waiting_per_level = 1
    scratch_per_reference = QUICK_SCRATCH
    lanes_as_children = ("cwbvh_stack",)

    _leaf_words: Array | None = None
    _chosen: dict[str, Array]
    """What choose_quickly found, with the sums of the counts, by the kernel's names."""

    def reserve(self, primitive_count: int) -> None:
        most = 1 + primitive_count // 2  # pieces of absorption, of which some are opened
        self._nodes = reserved(self.target, self._nodes, (most, 20), np.float32, "hierarchy")
        self._leaf_words = reserved(self.target, self._leaf_words, (most, WIDTH), np.int32, "hierarchy")

    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        target, capacity = self.target, tree.node_capacity
        if capacity == 0:
            return
        found = choose_quickly(target, tree, self.keep)
        counts = found.pop("child_counts")
        target.exclusive_scan(counts, counts, "bvh.scan")
        self._chosen = {**found, "child_bases": counts}
        self.rewrite(tree, primitives)

    def rewrite(self, tree: CanonicalTree, primitives: Primitives) -> None:
        target, capacity = self.target, tree.node_capacity
        if capacity == 0:
            return
        chunk = GREEDY_CHUNKS[target.kind]
        unit = target.unit(
            tree.unit_source("gpu/hierarchy/bvh/layouts/cwbvh.cu", primitives, CHUNK=chunk, LIST_SHARE=LIST_SHARE)
        )
        target.launch(
            unit,
            "write_cwbvh_nodes",
            capacity,
            **tree.leaf_boxes(),
            nodes=tree.nodes,
            **self._chosen,
            node_capacity=capacity,
            cwbvh=self.nodes,
            leaf_words=self.leaf_words,
            blocks=-(-capacity // chunk),
        )

    def read_children(self, tree: CanonicalTree, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Boxes as the traversal unpacks them."""
        rows = self.target.download(self.nodes[first : first + count]).view(self.node_dtype).reshape(-1)
        leaves = self.target.download(self.leaf_words[first : first + count])
        inner = rows["child_base"][:, None] + (rows["meta"] & META_RANK)
        words = np.where(rows["meta"] & META_INNER, inner, np.where(rows["meta"] & META_LEAF, leaves, EMPTY_CHILD))
        size = np.ldexp(1.0, rows["exponents"].astype(np.int32) - 127)[:, :, None, None]
        with np.errstate(invalid="ignore", over="ignore"):  # places that no node is in
            planes = (
                rows["origin"][:, :, None, None].astype(np.float64) + rows["planes"].reshape(-1, 3, 2, WIDTH) * size
            )
            corners = planes.astype(np.float32).transpose(2, 0, 3, 1)
        return words.astype(np.int32), corners[0], corners[1]

    def traversal_view(self, tree: CanonicalTree) -> np.ndarray:
        return pack(CompressedNodes(nodes=self.nodes, root=tree.root, leaf_words=self.leaf_words))

    def indices(self, tree: CanonicalTree) -> np.ndarray | None:
        if tree.node_capacity == 0:
            return None
        names = ("is_wide", "places", "child_bases")
        is_wide, places, bases = (self.target.download(self._chosen[name])[: tree.node_capacity] for name in names)
        is_there = is_wide != 0
        places = np.where(is_there & (np.arange(len(places)) > 0), places, 0)
        found = 1 + bases[places >> 3] + (places & 7)
        found[0] = 0
        return np.where(is_there, found, NOT_TOLD)

    def traversal_constants(self) -> tuple[tuple[str, int], ...]:
        return (has_wide_groups(len(self.nodes)),)

    @property
    def leaf_words(self) -> Array:
        """Eight words per node: leaves as the canonical tree writes them."""
        assert self._leaf_words is not None, "reserve() comes first"
        return self._leaf_words

    @property
    def bytes(self) -> int:
        return 0 if self._nodes is None else int(self._nodes.nbytes + self.leaf_words.nbytes)

"""What H-PLOC's builders have in common: chunks of references in Morton order whose nearest neighbours are paired (pairing.cuh)."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any

import numpy as np

from ...target.base import Array, Target, Unit
from ..base import Primitives
from ..primitives import unit_source
from .bvh import BvhHierarchy
from .clusters import ClusterOptions, plant_root
from .morton_order import MortonOrder

THREADS = 32
"""Of a block, on CUDA: a warp alone, which waits for nobody, and what it holds is free again as soon as it is done."""

HALF = 16
"""Clusters that a range of references is paired down to; pairing.cuh has the same."""

LARGE_COUNT = 4_000_000
"""So many primitives, and more, keep a GPU busy whatever the chunk: larger ones then leave less to global memory."""


@dataclasses.dataclass(frozen=True)
class Pairing:
    """What a build hands to its kernels: its primitives, their keys in Morton order, what chunks begin with, and where nodes go."""

    primitives: Primitives
    keys: Array
    beginning: tuple[Any, ...]
    outputs: tuple[Any, ...]


class PairingBuilder(BvhHierarchy):
    """A builder gives `join`, its `max_depth`, and its folder."""

    ids_follow_references = True
    options: ClusterOptions

    def __init__(self, target: Target, options: ClusterOptions, layout: str = "auto", traversal: str = "auto") -> None:
        super().__init__(target, options, layout, traversal)
        self.code_bits = int(options.code_bits)
        self.morton_order = MortonOrder(target, self.code_bits)

    @abc.abstractmethod
    def join(self, pairing: Pairing) -> None:
        """Make one tree of the references: chunks, and what lies above them."""

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n, bvh2 = self.target, self.tree, primitives.count, self.direct_nodes
        keys, prim_ids = self.morton_order.sort(primitives)
        slots = target.scratch("pairing.slots", (n, 8), np.float32)
        outputs = (tree.nodes, tree.parent, tree.flags, tree.roots, bvh2, slots)
        self.join(Pairing(primitives, keys, (primitives.view, keys, prim_ids, tree.order, tree.records, *outputs), outputs))
        return bvh2 is not None

    def plant(self, pairing: Pairing) -> None:
        """Move the root to id 0."""
        plant_root(self.target, self.tree, pairing.primitives, self.direct_nodes, self._constants())

    def chunk_unit(self, file: str, pairing: Pairing, most: int, kept: int, **constants: float) -> Unit:
        """A unit that works on chunks of at most `most` references, which leave `kept` clusters: file of gpu/hierarchy/bvh/builders."""
        return self.pairing_unit(file, pairing, MOST=most, KEPT=kept, THREADS=THREADS, RADIUS=self.options.radius, **constants)

    def pairing_unit(self, file: str, pairing: Pairing, **constants: float) -> Unit:
        """A unit over clusters: file of gpu/hierarchy/bvh/builders."""
        return self.target.unit(unit_source(f"gpu/hierarchy/bvh/builders/{file}", pairing.primitives, **self._constants(), **constants))

    def _constants(self) -> dict[str, float]:
        """Those of clusters.cuh."""
        leaves = {"MAX_LEAF_SIZE": self.options.max_leaf_size, "LEAVES_IN_ORDER": True, "TRAVERSAL_COST": self.options.traversal_cost}
        return {"CODE_BITS": self.code_bits, **leaves, "WRITES_BVH2": self.direct_nodes is not None}

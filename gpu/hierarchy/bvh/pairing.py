"""What H-PLOC's builders have in common: chunks of references in Morton order whose nearest neighbours are paired
(pairing.cuh)."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any

import numpy as np

from ...target.base import Array, Unit
from ..base import Primitives
from ..primitives import unit_source
from .clusters import ClusterOptions, link_root
from .morton_builder import MortonBuilder

THREADS = 32
"""Of a block, on CUDA: a warp alone, which waits for nobody, and what it holds is free again as soon as it is done."""

HALF = 16
"""Clusters that a range of references is paired down to."""

LARGE_COUNT = 4_000_000
"""So many primitives, and more, keep a GPU busy whatever the chunk: larger ones then leave less to global memory."""


@dataclasses.dataclass(frozen=True)
class Pairing:
    """What a build hands to its kernels: its primitives, their keys in Morton order, what chunks begin with, and where
    nodes go, both by the names that the kernels call it."""

    primitives: Primitives
    keys: Array
    beginning: dict[str, Any]
    outputs: dict[str, Any]


class PairingBuilder(MortonBuilder):
    """A builder gives `join`, its `max_depth`, and its folder."""

    ids_follow_references = True
    options: ClusterOptions

    @abc.abstractmethod
    def join(self, pairing: Pairing) -> None:
        """Make one tree of the references: chunks, and what lies above them."""

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n, bvh2 = self.target, self.tree, primitives.count, self.direct_nodes
        keys, prim_ids = self.sort(primitives)
        slots = target.scratch("pairing.slots", (n, 8), np.float32)
        outputs = {**tree.links(), "root": tree.roots, "bvh2": bvh2, "slots": slots}
        inputs = {"primitives": primitives.view, "keys": keys, "prim_ids": prim_ids}
        self.join(
            Pairing(primitives, keys, {**inputs, "order": tree.order, "record_data": tree.records, **outputs}, outputs)
        )
        return bvh2 is not None

    def link_root(self, pairing: Pairing) -> None:
        """Move the root to id 0."""
        link_root(self.target, self.tree, pairing.primitives, self.direct_nodes, self._constants())

    def chunk_unit(self, file: str, pairing: Pairing, most: int, kept: int, **constants: float) -> Unit:
        """A unit that works on chunks of at most `most` references, which leave `kept` clusters: file of
        gpu/hierarchy/bvh/builders."""
        return self.pairing_unit(
            file, pairing, MOST=most, KEPT=kept, THREADS=THREADS, RADIUS=self.options.radius, **constants
        )

    def pairing_unit(self, file: str, pairing: Pairing, **constants: float) -> Unit:
        """A unit over clusters: file of gpu/hierarchy/bvh/builders."""
        return self.target.unit(
            unit_source(f"gpu/hierarchy/bvh/builders/{file}", pairing.primitives, **self._constants(), **constants)
        )

    def _constants(self) -> dict[str, float]:
        """Those of clusters.cuh."""
        leaves = {
            "MAX_LEAF_SIZE": self.options.max_leaf_size,
            "LEAVES_IN_ORDER": True,
            "TRAVERSAL_COST": self.options.traversal_cost,
        }
        return {"CODE_BITS": self.code_bits, **leaves, "WRITES_BVH2": self.direct_nodes is not None}

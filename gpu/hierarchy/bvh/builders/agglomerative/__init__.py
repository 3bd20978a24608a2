"""Agglomerative clustering: the two clusters nearest to each other are joined, until one is left. PLOC without its
window.

Idea: From below, a tree joins what belongs together: of all pairs the one with the smallest common box. From any
cluster a chain of nearest neighbours leads to two that are each other's nearest, and those may be joined at once,
whatever the rest does: the tree is that of always taking the nearest pair of all, without a list of all pairs.

Paper: Walter, Bala, Kulkarni and Pingali, Fast Agglomerative Clustering for Rendering (2008); chains of nearest
neighbours go back to Benzecri (1982). Clusters become leaves as in ploc.

Cost: Three searches per primitive, each past the bounds of groups of neighbouring clusters: a second or two for 100,000
on the host. One block does everything, so a GPU is slower at it than one core, and it takes fewer primitives there.

Limits: At most 131,072 primitives on the host, 32,768 on a GPU. What is nearest at the bottom is not best at the top:
on the demos its trees cost an eighth to a fifth more than those of binned_sah, and more than those of ploc and hploc,
which can join near neighbours only. Nested boxes would make a tree as high as their number: where a pair would pass 62
levels, what is left is paired from the lowest upwards, and the tree keeps below that. The number of launches is fixed
by the number of primitives. Deterministic.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np

from .....rows import Int, Struct
from .....settings import option
from .....target.base import Target
from ....base import Primitives, StructureChoice
from ....morton_order import MortonOrder
from ....primitives import unit_source
from ...clusters import finish_leaves, leaves_bytes, reserve_leaves
from ...limited import LimitedBuilder

GROUP = 64
"""Clusters that searches pass over together."""
STEPS = 16384
"""Most searches of one launch."""
MOST_HEIGHT = 62
"""Of a tree: a sum of 2^height of all clusters may not pass 2^62 (Kraft's inequality)."""


@dataclasses.dataclass(frozen=True)
class StateRow(Struct):
    """Of agglomerative.cu, by which one launch goes on where the one before ended."""

    kraft: Annotated[int, "uint64"]
    slot_count: Int
    alive_count: Int
    chain_length: Int
    is_done: Int


@dataclasses.dataclass(frozen=True)
class AgglomerativeOptions:
    """Options of exact clustering."""

    max_leaf_size: int = option(
        4, "Most primitives in a leaf; they are joined only where that lowers the SAH cost.", minimum=1, maximum=15
    )


class Agglomerative(LimitedBuilder):
    """See the module."""

    name = "agglomerative"
    title = "Agglomerative (nearest pairs, exact)"
    construction = "bottom_up"
    Options = AgglomerativeOptions
    options: AgglomerativeOptions
    most_primitives = {"host": 1 << 17, "cuda": 1 << 15}
    instead = "hploc or ploc, which search near neighbours alone"

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self._morton_order = MortonOrder(target, 30)

    def max_depth(self) -> int:
        return MOST_HEIGHT

    def scratch_bytes(self) -> int:
        count = max(1, self.tree.count)
        return (
            self._morton_order.scratch_bytes(count)
            + count * (32 + 4 + 4 + 4)
            + leaves_bytes(count, self.options.max_leaf_size)
            + (count // GROUP + 1) * 32
            + 4 * StateRow.words()
        )

    def emit(self, primitives: Primitives) -> bool:
        target, tree, n, bvh2 = self.target, self.tree, primitives.count, self.direct_nodes
        keys, prim_ids = self._morton_order.sort(primitives)
        size = self.options.max_leaf_size
        chosen: dict[str, Any] = {"MAX_LEAF_SIZE": size, "LEAVES_IN_ORDER": False, "TRAVERSAL_COST": 1}
        shared = {"CODE_BITS": 30, **chosen, "WRITES_BVH2": bvh2 is not None}
        unit = target.unit(
            unit_source("gpu/hierarchy/bvh/builders/agglomerative/agglomerative.cu", primitives, GROUP=GROUP, **shared)
        )
        leaves = reserve_leaves(target, n, size)
        slots = target.scratch("agglomerative.slots", (n, 8), np.float32)
        alive, chain, moved_to = (
            target.scratch(f"agglomerative.{name}", n, np.int32) for name in ("alive", "chain", "moved_to")
        )
        groups = target.scratch("agglomerative.groups", (n // GROUP + 1, 8), np.float32)
        state = target.scratch("agglomerative.state", StateRow.words() // 2, np.uint64)
        with target.phase("build.clusters"):
            target.launch(
                unit,
                "start_clusters",
                n,
                primitives=primitives.view,
                keys=keys,
                prim_ids=prim_ids,
                slots=slots,
                alive=alive,
                leaves=leaves,
                state_data=state,
            )
            for launch in range(-(-3 * n // STEPS)):
                target.launch(
                    unit,
                    "join_nearest",
                    1,
                    step_count=STEPS,
                    is_first=int(launch == 0),
                    slots=slots,
                    alive=alive,
                    groups=groups,
                    chain=chain,
                    moved_to=moved_to,
                    state_data=state,
                    **tree.links(),
                    root=tree.roots,
                    leaves=leaves,
                    bvh2=bvh2,
                    block=256,
                    blocks=1,
                )
        finish_leaves(target, tree, primitives, keys, prim_ids, leaves, bvh2, shared)
        return bvh2 is not None


__all__ = ["Agglomerative", "AgglomerativeOptions"]

"""What builders from clusters have in common on the host: options, the counts of leaves, and the last step
(clusters.cu)."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...settings import option
from ...target.base import Array, Target
from ..base import Primitives
from ..morton_order import MortonOptions
from ..primitives import unit_source
from .tree import CanonicalTree

MOST_WIDE_LEAF = 6
"""Of trees of 2^26 references and more: what a cluster has room for (clusters.cuh)."""


@dataclasses.dataclass(frozen=True)
class ClusterOptions(MortonOptions):
    """Where the nearest cluster is looked for, and which clusters become leaves."""

    radius: int = option(3, "How many clusters on each side are searched for the nearest one.", minimum=1, maximum=16)
    max_leaf_size: int = option(
        4, "Most primitives in a leaf; they are joined only where that lowers the SAH cost.", minimum=1, maximum=15
    )
    traversal_cost: float = option(
        1.0,
        "Cost of visiting a node, in tests of a primitive, where that is decided. More makes larger leaves.",
        minimum=0.0,
        maximum=100.0,
    )


SPANS = {"cuda": 1024, "host": 1024}
"""Places whose leaves one block finishes."""

LARGE_COUNT, LARGE_SPAN = 4_000_000, 2048
"""From so many primitives on more: every block goes through all spans before its own."""


def link_root(
    target: Target, tree: CanonicalTree, primitives: Primitives, bvh2: Array | None, constants: dict[str, float]
) -> None:
    """Move the root to id 0: all that is left to do where leaves are in order (LEAVES_IN_ORDER). `constants` are those
    of clusters.cu."""
    unit = target.unit(unit_source("gpu/hierarchy/bvh/clusters.cu", primitives, SPAN=SPANS[target.kind], **constants))
    target.launch(
        unit,
        "link_root_and_count",
        1,
        n=primitives.count,
        leaf_data=None,
        span_counts=None,
        root=tree.roots,
        **tree.links(),
        bvh2=bvh2,
        blocks=1,
    )


def reserve_leaves(target: Target, count: int, max_leaf_size: int) -> Array | None:
    """Scratch for each leaf's word and who links it, by its smallest place; none where every leaf has one reference."""
    return target.scratch("clusters.leaves", (count, 2), np.int32) if max_leaf_size > 1 else None


def leaves_bytes(count: int, max_leaf_size: int) -> int:
    """Scratch bytes of those, and of the counts of spans."""
    return 8 * count + 4 * (count // SPANS["cuda"] + 1) if max_leaf_size > 1 else 0


def finish_leaves(
    target: Target,
    tree: CanonicalTree,
    primitives: Primitives,
    keys: Array,
    prim_ids: Array | None,
    leaves: Array | None,
    bvh2: Array | None,
    constants: dict[str, float],
) -> None:
    """Give leaves their place in the order, write their final links and the records (phase build.leaves), unless they
    are in order from the beginning (link_root). `constants` are those of clusters.cu."""
    n = primitives.count
    span = LARGE_SPAN if n >= LARGE_COUNT else SPANS[target.kind]
    unit = target.unit(unit_source("gpu/hierarchy/bvh/clusters.cu", primitives, SPAN=span, **constants))
    blocks = -(-n // span)
    with target.phase("build.leaves"):
        counts = target.scratch("clusters.span_counts", blocks, np.int32)
        target.launch(
            unit,
            "link_root_and_count",
            n,
            n=n,
            leaf_data=leaves,
            span_counts=counts,
            root=tree.roots,
            **tree.links(),
            bvh2=bvh2,
            blocks=1 if leaves is None else blocks,
        )
        target.launch(
            unit,
            "finish_leaves",
            n,
            primitives=primitives.view,
            keys=keys,
            prim_ids=prim_ids,
            leaf_data=leaves,
            span_counts=counts,
            nodes=tree.nodes,
            root=tree.roots,
            bvh2=bvh2,
            order=tree.order,
            record_data=tree.records,
            blocks=blocks,
        )

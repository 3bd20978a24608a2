"""What builders from clusters have in common on the host: options, the counts of leaves, and the last step (clusters.cu)."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...settings import option
from ...target.base import Array, Target
from ..base import Primitives
from ..primitives import unit_source
from .morton_order import MortonOptions
from .tree import CanonicalTree


@dataclasses.dataclass(frozen=True)
class ClusterOptions(MortonOptions):
    """Where the nearest cluster is looked for, and which clusters become leaves."""

    radius: int = option(3, "How many clusters on each side are searched for the nearest one.", minimum=1, maximum=16)
    max_leaf_size: int = option(4, "Most primitives in a leaf; they are joined only where that lowers the SAH cost.", minimum=1, maximum=15)
    traversal_cost: float = option(
        1.0,
        "Cost of visiting a node, in tests of a primitive, where that is decided. Rays gain from 2, which makes larger leaves.",
        minimum=0.0,
        maximum=100.0,
    )


def reserve_leaf_counts(target: Target, count: int, max_leaf_size: int) -> Array | None:
    """Scratch for the number of references of each leaf, by its smallest place; none where every leaf has one."""
    return target.scratch("clusters.leaf_counts", count, np.int32) if max_leaf_size > 1 else None


def finish_leaves(
    target: Target,
    tree: CanonicalTree,
    primitives: Primitives,
    keys: Array,
    prim_ids: Array | None,
    leaf_counts: Array | None,
    bvh2: Array | None,
    constants: dict[str, float],
) -> None:
    """Put the root at id 0, give leaves their place in the order, write final links (phase build.leaves), then records (build.records). `constants`
    are those of clusters.cu."""
    unit = target.unit(unit_source("gpu/hierarchy/bvh/clusters.cu", primitives, **constants))
    with target.phase("build.leaves"):
        target.launch(unit, "plant_root", 1, tree.root, tree.nodes, tree.parent, tree.flags, bvh2)
        if leaf_counts is not None:
            target.exclusive_scan(leaf_counts, leaf_counts, "clusters.scan")
        arguments = (keys, prim_ids, leaf_counts, tree.flags, tree.nodes, tree.root, bvh2, tree.order)
        target.launch(unit, "finish_leaves", primitives.count, primitives.count, *arguments)
    with target.phase("build.records"):
        target.launch(unit, "write_leaf_records", primitives.count, primitives.view, tree.order, tree.records)

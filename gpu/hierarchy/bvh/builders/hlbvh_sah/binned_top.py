"""The splits above the clusters as published: binned at every level, by a queue of tasks (binned_top.cu)."""

from __future__ import annotations

import numpy as np

from .....target.base import Target, Unit
from ...tree import CanonicalTree
from .clusters import ClusterBinRow, Clusters, TopTask, bin_bytes

SAH_LEVELS = 24
"""Levels of planes of least cost; below them the longest row of bins is split in its middle."""


def levels_above(cluster_bits: int) -> int:
    """Levels that tasks may have: after those by cost each one halves a row of 2^(cluster_bits / 3) bins at most."""
    return SAH_LEVELS + cluster_bits


def scratch_bytes(most: int, bins: int) -> int:
    """Bytes beside the list of at most `most` clusters."""
    tasks = max(1, most // 2)
    return 4 * most + tasks * (2 * 4 * TopTask.words() + 16 + bin_bytes(bins))


def split_by_bins(
    target: Target, tree: CanonicalTree, unit: Unit, clusters: Clusters, bins: int, levels: int, max_leaf_size: int
) -> None:
    """The nodes above the clusters; `unit` is that of binned_top.cu with so many `bins`."""
    most, most_tasks, scratch = clusters.most, max(1, clusters.most // 2), target.scratch
    tasks = [scratch(f"hlbvh.queue{side}", (most_tasks, TopTask.words()), np.int32) for side in (0, 1)]
    splits = scratch("hlbvh.queue_splits", (most_tasks, 4), np.int32)
    task_of = scratch("hlbvh.task_of", most, np.int32)
    counts = scratch("hlbvh.queue_counts", levels + 1, np.int32)
    bin_data = scratch("hlbvh.queue_bins", (most_tasks * 3 * bins, ClusterBinRow.words()), np.float32)
    of_clusters = {"cluster_count": clusters.count, "ranges": clusters.ranges}
    places = {"cells": clusters.cells, "task_of": task_of}
    written = {**tree.links(), "root": tree.root}
    leaf = {"max_leaf_size": max_leaf_size}
    target.fill(counts, 0)
    target.launch(
        unit,
        "begin_binned_top",
        most,
        **of_clusters,
        most_clusters=most,
        **leaf,
        task_of=task_of,
        task_data=tasks[0],
        counts=counts,
        **written,
    )
    for level in range(levels):
        here, there = tasks[:: -1 if level % 2 else 1]
        bound = min(1 << min(level, 30), most_tasks)
        target.launch(unit, "reset_bins", bound * 3 * bins, level=level, counts=counts, bin_data=bin_data)
        target.launch(
            unit, "bin_clusters_of_level", most, **of_clusters, **places, boxes=clusters.boxes, bin_data=bin_data
        )
        target.launch(
            unit,
            "split_tasks_of_level",
            bound,
            level=level,
            first_halved=SAH_LEVELS,
            counts=counts,
            task_data=here,
            bin_data=bin_data,
            ranges=clusters.ranges,
            **written,
            splits=splits,
            next_task_data=there,
            block=128,
            blocks=bound,
        )
        target.launch(unit, "distribute_clusters", most, **of_clusters, **places, **leaf, splits=splits, **written)

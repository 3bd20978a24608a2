"""Hierarchical linear BVH with a SAH top: clusters of the Morton curve, best planes above them, spatial medians below.

Idea: A few thousand cells of a coarse grid, found from the first bits of the sorted Morton codes, stand for all
primitives. Above them the tree is split where the surface area heuristic is least; that decides most of the cost of a
ray, and clusters are few. Below them the queues of `hlbvh_median` are fast.

Paper: Garanzha, Pantaleoni, McAllister, Simpler and Faster HLBVH with Work Queues (2011), as Meister, Methods for Fast
Construction of Bounding Volume Hierarchies (2014), describes it in 5.4.2 and 6.1.2. Here in each of a few rounds all
tasks are binned, split and distributed at once, and a task's number is its way from the root, so that nothing is
counted or waited for; tasks of up to 64 clusters are finished by a block each, which tries every cluster as a plane.
`top_splits` = bins bins them at every level, down to single clusters, by a queue, as published.
`launches` = levels is the thesis' loop for the rest: a launch a level below the clusters, and one a level for the boxes
of all nodes.

Cost: That of `hlbvh_median`, one more pass over the primitives for the clusters' boxes, and some 25 small launches for
the top. Phases are those of Meister's table 7.7: sort, clusters, SAH splits, median splits, refit (here nodes: those
below clusters, clusters and all above them, with the records of the triangles), other (bounds, codes).

Limits: Below the clusters splits lie on a fixed grid: in a scene of very many primitives most levels do. Clusters of at
most 2^cluster_bits cells: with 18 bits trees of many primitives cost 2 to 7 % less in most scenes than with 15, as
published, and take a quarter to a third longer on a GPU (half a millisecond in all; of millions no longer), 1.2 to 2.3
times as long on a CPU. The depth is bounded: sets are halved once the heuristic has gone deep. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from .....target.base import Array, Target, Unit, UnitSource
from ....base import Primitives, StructureChoice
from ....morton_order import MortonOptions
from ....primitives import unit_source
from ...median_levels import Levels, Listed, MedianLevels, launches_option
from ...median_splits import TASK, MedianSplits, Queues
from ...morton_builder import MortonBuilder
from ...stopping import leaf_size_by_kind_option
from ...tree import MAX_WIDE_LEAF_SIZE
from . import binned_top
from .clusters import ClusterBinRow, Clusters, TopTask, bin_bytes

_FOLDER = "gpu/hierarchy/bvh/builders/hlbvh_sah/"

ROUNDS = {"6": 4, "9": 6, "12": 8, "15": 10, "18": 12}
"""Rounds of binning by cluster bits: tasks double from one to the next."""

SMALL = 64
"""Clusters of the largest task that one block finishes by sweeps."""

TILE = 256
"""Neighbours in Morton order that a block bins at once."""

MANY = {"cuda": 1 << 16}
"""Kinds of targets that build by smaller clusters, and primitives from which on: there an eighth of a millisecond more
is little beside a frame. On a CPU a build takes longer by more than rays gain."""

LEAF_OF_TRIANGLES = 2
"""What costs the least by the surface area heuristic."""

SAH_LEVELS = 24
"""Levels of sweeps below which sets are halved."""

REFERENCES_A_BLOCK = 2048
MOST_BLOCKS = 2048


@dataclasses.dataclass(frozen=True)
class HlbvhSahOptions(MortonOptions):
    """Options of the SAH top."""

    cluster_bits: str = option(
        "auto",
        "First bits of the codes that primitives of a cluster share: more bits, smaller clusters. auto takes 15, "
        f"and 18 of {MANY['cuda']:,} primitives and more on a GPU.",
        choices=("auto", *ROUNDS),
    )
    bins: int = option(
        32,
        "Bins per axis over a task's clusters; with fewer bins than cells along an axis (64 for 18 bits) some "
        "planes are skipped.",
        minimum=4,
        maximum=64,
    )
    max_leaf_size: int = leaf_size_by_kind_option(LEAF_OF_TRIANGLES)
    launches: str = launches_option()
    top_splits: str = option(
        "sweeps",
        "How clusters are split: by bins in a few rounds, then, 64 clusters and fewer, by every plane (sweeps), or, as "
        "published, by bins at every level, as many as an axis has cells (bins). Bins at 18 bits take much memory.",
        choices=("sweeps", "bins"),
    )


class HlbvhSah(MortonBuilder):
    """See the module."""

    name = "hlbvh_sah"
    title = "HLBVH, SAH top (clusters)"
    construction = "linear"
    most_wide_leaf = MAX_WIDE_LEAF_SIZE
    leaf_of_triangles = LEAF_OF_TRIANGLES
    Options = HlbvhSahOptions
    options: HlbvhSahOptions

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self.splits = MedianSplits(target, self.code_bits)
        self.median_levels = MedianLevels(target, self.code_bits)

    @property
    def cluster_bits(self) -> int:
        """Of the primitives that the tree is of."""
        if self.options.cluster_bits == "auto":
            many, count = MANY.get(self.target.kind), self.target.planned_primitives or self.tree.count
            return 18 if many is not None and count >= many else 15
        return int(self.options.cluster_bits)

    @property
    def rounds(self) -> int:
        """Of binning, where sweeps end the splits."""
        return ROUNDS[str(self.cluster_bits)]

    @property
    def bins(self) -> int:
        """Per axis."""
        cells = 1 << self.cluster_bits // 3
        return cells if self.options.top_splits == "bins" else min(self.options.bins, cells)

    def max_depth(self) -> int:
        """Of any number of primitives: what traces is compiled once."""
        known = self.options.cluster_bits
        depths = (self._most_above(bits) - bits for bits in ((15, 18) if known == "auto" else (int(known),)))
        return max(depths) + self.code_bits + self.tree.reference_bits

    def _most_above(self, bits: int) -> int:
        """Levels of nodes above clusters of so many bits."""
        if self.options.top_splits == "bins":
            return binned_top.levels_above(bits)
        return ROUNDS[str(bits)] + bits + SAH_LEVELS + SMALL.bit_length()

    def scratch_bytes(self) -> int:
        cells, slots = 1 << self.cluster_bits, 1 << self.rounds
        of_clusters = 16 * cells + 48 * min(self.tree.count, cells)
        splits = self.median_levels if self.options.launches == "levels" else self.splits
        in_order = self.morton_order.scratch_bytes(self.tree.count) + splits.scratch_bytes(self.tree.count)
        if self.options.top_splits == "bins":
            return in_order + of_clusters + binned_top.scratch_bytes(min(self.tree.count, cells), self.bins)
        return in_order + of_clusters + slots * (4 + 8 * TopTask.words() + 2 * bin_bytes(self.bins))

    def emit(self, primitives: Primitives) -> bool:
        target = self.target
        self.splits.max_leaf_size = self.median_levels.max_leaf_size = self.leaf_size
        keys, prim_ids = self.sort(primitives)
        with target.phase("build.clusters"):
            clusters, tasks = self._find_clusters(primitives, keys, prim_ids)
        with target.phase("build.sah_splits"):
            if self.options.top_splits == "bins":
                unit, levels = self._unit("binned_top.cu"), self._most_above(self.cluster_bits)
                binned_top.split_by_bins(target, self.tree, unit, clusters, self.bins, levels, self.leaf_size)
            else:
                self._split_above(clusters)
        with target.phase("build.median_splits"):
            if isinstance(tasks, Queues):
                self.splits.split(keys, self.tree, tasks, clusters.most)
            else:
                self.median_levels.split(keys, self.tree, tasks)
        if isinstance(tasks, Queues):
            return self.compute_bounds(primitives)
        above = self._list_above(clusters)
        return self.median_levels.compute_bounds(primitives, self.tree, tasks, self.direct_nodes, above)

    def _list_above(self, clusters: Clusters) -> Listed:
        """The nodes above the clusters with their levels."""
        scratch, most = self.target.scratch, clusters.most
        count, node_ids, levels = (
            scratch(f"hlbvh.listed_{name}", size, np.int32)
            for name, size in {"count": 1, "nodes": most, "levels": most}.items()
        )
        with self.target.phase("build.sah_splits"):
            self.target.launch(
                self._unit("top_levels.cu"),
                "list_top_nodes",
                most,
                cluster_count=clusters.count,
                ranges=clusters.ranges,
                parent=self.tree.parent,
                listed_count=count,
                node_ids=node_ids,
                levels=levels,
            )
        return Listed(count, node_ids, levels, most, self._most_above(self.cluster_bits))

    def _make_clusters(self, most: int, cell_count: int) -> Clusters:
        scratch = self.target.scratch
        return Clusters(
            most,
            scratch("hlbvh.count", 1, np.int32),
            scratch("hlbvh.cells", most, np.int32),
            scratch("hlbvh.ranges", (most, 2), np.int32),
            scratch("hlbvh.boxes", (most, 6), np.int32),
            scratch("hlbvh.places", cell_count, np.int32),
        )

    def _find_clusters(
        self, primitives: Primitives, keys: Array, prim_ids: Array | None
    ) -> tuple[Clusters, Queues | Levels]:
        """The list of clusters, and queues, or levels, that begin with those that are nodes."""
        target, tree, n, scratch = self.target, self.tree, self.tree.count, self.target.scratch
        cell_count, most = 1 << self.cluster_bits, min(self.tree.count, 1 << self.cluster_bits)
        by_levels = self.options.launches == "levels"
        constants = {
            "CODE_BITS": self.code_bits,
            "CLUSTER_BITS": self.cluster_bits,
            "TASK": 0 if by_levels else TASK,
        }
        unit = target.unit(unit_source(_FOLDER + "clusters.cu", primitives, **constants))
        is_cell, ranges = (
            scratch("hlbvh.is_cell", cell_count, np.int32),
            scratch("hlbvh.cell_ranges", (cell_count, 2), np.int32),
        )
        clusters = self._make_clusters(most, cell_count)
        first_tasks, tasks = self._first_tasks(n, most)
        target.fill(is_cell, 0)
        target.launch(
            unit,
            "begin_references",
            n,
            n=n,
            keys=keys,
            prim_ids=prim_ids,
            order=tree.order,
            flags=tree.flags,
            is_cell=is_cell,
            cell_ranges=ranges,
        )
        target.exclusive_scan(is_cell, clusters.places, "hlbvh.scan")
        target.launch(
            unit,
            "begin_clusters",
            cell_count,
            is_cell=is_cell,
            places=clusters.places,
            cell_ranges=ranges,
            max_leaf_size=self.leaf_size,
            cells=clusters.cells,
            ranges=clusters.ranges,
            boxes=clusters.boxes,
            cluster_count=clusters.count,
            **first_tasks,
        )
        blocks = min(-(-n // REFERENCES_A_BLOCK), MOST_BLOCKS)
        target.launch(
            unit,
            "bound_clusters",
            n,
            primitives=primitives.view,
            keys=keys,
            order=tree.order,
            places=clusters.places,
            boxes=clusters.boxes,
            blocks=blocks,
        )
        return clusters, tasks

    def _first_tasks(self, n: int, most: int) -> tuple[dict[str, Array], Queues | Levels]:
        """Where clusters that are nodes go, by the kernel's names for it, and what those are of."""
        bits = self.code_bits - self.cluster_bits
        if self.options.launches == "levels":
            levels = self.median_levels.levels(n, bits, most)
            only = {"wide": levels.tasks, "wide_count": levels.counts, "small": None, "small_count": None}
            return only, levels
        queues = self.splits.queues(n, bits, most)
        self.target.fill(queues.counts, 0)
        small_count = queues.counts[queues.launches + 1 :]
        wide = {"wide": queues.wide[0], "wide_count": queues.counts}
        return {**wide, "small": queues.small, "small_count": small_count}, queues

    def _split_above(self, clusters: Clusters) -> None:
        """The nodes above the clusters."""
        target, tree, scratch, unit = self.target, self.tree, self.target.scratch, self._unit("sah_splits.cu")
        slots, most = 1 << self.rounds, clusters.most
        tasks = [scratch(f"hlbvh.tasks{side}", (slots, TopTask.words()), np.int32) for side in (0, 1)]
        bins = [
            scratch(f"hlbvh.bins{side}", (slots * 3 * self.bins, ClusterBinRow.words()), np.float32) for side in (0, 1)
        ]
        splits, task_of = scratch("hlbvh.splits", slots, np.int32), scratch("hlbvh.task_of", most, np.int32)
        target.launch(
            unit,
            "begin_splits",
            most,
            cluster_count=clusters.count,
            most_clusters=most,
            task_of=task_of,
            task_data=tasks[0],
            bin_data=bins[0],
        )
        for number in range(self.rounds):
            here, there = number % 2, 1 - number % 2
            target.launch(
                unit,
                "bin_clusters",
                most,
                cluster_count=clusters.count,
                cells=clusters.cells,
                ranges=clusters.ranges,
                boxes=clusters.boxes,
                is_first_round=int(number == 0),
                splits=splits,
                task_data=tasks[here],
                task_of=task_of,
                bin_data=bins[here],
                blocks=-(-most // TILE),
            )
            target.launch(
                unit,
                "split_tasks",
                1 << number,
                task_count=1 << number,
                task_data=tasks[here],
                bin_data=bins[here],
                ranges=clusters.ranges,
                **tree.links(),
                root=tree.root,
                splits=splits,
                next_task_data=tasks[there],
                next_bin_data=bins[there],
                block=128,
                blocks=1 << number,
            )
        self._finish_above(clusters, unit, tasks[self.rounds % 2], {"splits": splits, "task_of": task_of})

    def _finish_above(self, clusters: Clusters, unit: Unit, tasks: Array, found: dict[str, Array]) -> None:
        """The nodes above the clusters of each task that is left, by one block."""
        target, tree, slots, most = self.target, self.tree, 1 << self.rounds, clusters.most
        keys = target.scratch("hlbvh.keys", most, np.uint32)
        listed = {"cluster_count": clusters.count, "most_clusters": most, "cells": clusters.cells}
        target.launch(unit, "list_clusters", most, **listed, **found, keys=keys)
        keys = target.sort_keys(keys, (32 - self.rounds, 32), "hlbvh.sort")
        target.launch(
            self._unit("finish_clusters.cu"),
            "finish_clusters",
            slots,
            cluster_count=clusters.count,
            task_count=slots,
            task_data=tasks,
            list=keys,
            ranges=clusters.ranges,
            boxes=clusters.boxes,
            **tree.links(),
            root=tree.root,
            max_leaf_size=self.leaf_size,
            block=3 * SMALL,
            blocks=slots,
        )

    def _unit(self, file: str) -> Unit:
        constants = {
            "REFERENCE_BITS": self.tree.reference_bits,
            "CODE_BITS": self.code_bits,
            "CLUSTER_BITS": self.cluster_bits,
            "BINS": self.bins,
            "SMALL": SMALL,
            "ROUNDS": self.rounds,
        }
        return self.target.unit(UnitSource(_FOLDER + file, constants=(*constants.items(), ("SAH_LEVELS", SAH_LEVELS))))


__all__ = ["HlbvhSah", "HlbvhSahOptions"]

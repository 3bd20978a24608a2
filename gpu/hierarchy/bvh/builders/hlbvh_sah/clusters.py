"""What the clusters of `hlbvh_sah` and the splits above them are made of."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from .....rows import Int, Struct
from .....target.base import Array


@dataclasses.dataclass(frozen=True)
class ClusterBinRow(Struct):
    """`ClusterBin` of cluster_bins.cuh: what fell into a bin, the box as ordered integers."""

    box: Annotated[Any, "int[6]"]
    reference_count: Int
    cluster_count: Int


@dataclasses.dataclass(frozen=True)
class TopTask(Struct):
    """A task of the splits above: `count` clusters of the list from `start` on, the number of its node, and where it
    hangs: 2 * node id + side, or NO_PARENT (clusters.cuh)."""

    start: Int
    count: Int
    top: Int
    link: Int


@dataclasses.dataclass(frozen=True)
class Clusters:
    """The list of clusters on the target: their number, and at most `most` cells, ranges of references, boxes;
    `places`: cell -> cluster."""

    most: int
    count: Array
    cells: Array
    ranges: Array
    boxes: Array
    places: Array


def bin_bytes(bins: int) -> int:
    """Bytes of a task's bins, with so many an axis."""
    return 4 * ClusterBinRow.words() * 3 * bins

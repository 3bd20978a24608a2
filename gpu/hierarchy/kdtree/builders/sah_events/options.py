"""Options of sah_events."""

from __future__ import annotations

import dataclasses

from .....settings import option
from ...options import KdTreeOptions
from .listed import SEGMENTED


@dataclasses.dataclass(frozen=True)
class SahEventsOptions(KdTreeOptions):
    """Options of the builder by events. Those behind the costs bring back what the thesis optimised; the tree is the
    same.
    """

    reduction: str = option(
        "hybrid",
        "How the best split of a node is found: whole tiles and warps first, then by atomics (hybrid), by an "
        "atomic per thread (atomics), or by a block per node, which scans, judges and reduces (nodes). As in the "
        "thesis, from a list of candidates: by a block per node (segments), or on the first levels by many blocks for "
        "each node and below by one (whole_and_segments).",
        choices=("hybrid", "atomics", "nodes", *SEGMENTED),
    )
    whole_levels: int = option(
        6,
        "Levels from the root whose candidates many blocks reduce for each node, for reduction = whole_and_segments.",
        minimum=0,
        maximum=60,
    )
    candidates: str = option(
        "shuffle",
        "How the threads of a block find the best of their splits: by shuffles of lanes, or through shared memory.",
        choices=("shuffle", "shared"),
    )
    flags: str = option(
        "bytes",
        "Sides of references, and kinds of events where candidates are listed: a byte each, four a load, or a word "
        "each.",
        choices=("bytes", "words"),
    )
    boxes: str = option(
        "aos",
        "Boxes of references: 32 bytes side by side, or an array for each of their words.",
        choices=("aos", "soa"),
    )
    triangles: str = option(
        "alone",
        "Triangles for their boxes: each thread reads its own (alone), or a block's numbers of vertices are read by "
        "neighbours and shared (staged), or the vertices, too, as in the thesis (vertices).",
        choices=("alone", "staged", "vertices"),
    )
    moving: str = option(
        "once",
        "How events reach the next level: once, to places counted first; by way of lists with gaps; or by way of "
        "a byte for each place of those "
        "lists (masks).",
        choices=("once", "gaps", "masks"),
    )
    cascading: bool = option(True, "Let each thread take eight neighbours of a list instead of one.")
    clipping: str = option(
        "small_nodes",
        "Along which axes boxes are cut to a node's cell: along the split's alone, as in the thesis (split_axis); "
        "along all in small nodes, which "
        "then need no events (small_nodes); along all in all nodes, with events sorted anew in every level (all; "
        "Wu, Zhao and Liu 2011), which takes "
        "far longer.",
        choices=("small_nodes", "split_axis", "all"),
    )
    small_node_size: int = option(
        256,
        "References of a small node at most, for clipping = small_nodes: larger ones cost little less and take longer.",
        minimum=1,
        maximum=1024,
    )

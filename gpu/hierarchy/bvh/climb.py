"""The launches of a climb over a tree (climb.cuh): what optimisers that visit every node from below have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...target.base import Target, Unit
from .tree import CanonicalTree

CLIMB_SCRATCH = 1
"""Bytes of scratch memory per node id, beside what visits keep."""


def launch_climb(target: Target, unit: Unit, tree: CanonicalTree, mark: str, visit: str, **arguments: Any) -> None:
    """Mark where climbs start, by the kernel `mark`, and go up from there by `visit`, which gets `arguments` too."""
    capacity = tree.node_capacity
    starts = target.scratch("optimise.starts", capacity, np.uint8)
    begun = {"nodes": tree.nodes, "node_capacity": capacity, "starts": starts}
    target.launch(unit, mark, capacity, **begun, flags=tree.flags)
    climbing = {"parent": tree.parent, "waiting": tree.waiting, **arguments}
    target.launch(unit, visit, capacity, **begun, **tree.leaf_boxes(), **climbing)

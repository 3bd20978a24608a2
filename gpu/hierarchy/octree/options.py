"""Options that builders of octrees have in common, and where all of them end."""

from __future__ import annotations

import dataclasses

from ...settings import option
from ..grown_tree import NodeShape

MOST_LEVELS = 21
"""Inner nodes on a way from the root to a leaf at most: nodes.cuh has as many bits an axis."""

MOST_REFERENCES = 16
"""References per primitive at most, whatever the option says."""

MOST_NODES = 64
"""Nodes per primitive at most."""

NODE_SHAPE = NodeShape(words=2, empty=(0, -1), has_parents=True, has_runs=True)
"""As nodes.cuh draws them."""


@dataclasses.dataclass(frozen=True)
class OctreeOptions:
    """When a cell becomes a leaf, and what traversals remember."""

    leaf_primitives: int = option(16, "Cells that so many primitives meet become leaves.", minimum=1, maximum=1024)
    references_per_primitive: float = option(
        8.0, "Memory: most references per primitive.", minimum=1.0, maximum=float(MOST_REFERENCES)
    )
    mailboxes: bool = option(
        False, "Let traversals remember the last primitives they tested, which several leaves may hold."
    )

"""Options that builders of kd-trees have in common."""

from __future__ import annotations

import dataclasses
import math

from ...settings import option
from .tree import MOST_DEPTH, MOST_REFERENCES


@dataclasses.dataclass(frozen=True)
class KdTreeOptions:
    """When a node becomes a leaf, what a split costs, and what traversals remember."""

    max_leaf_size: int = option(8, "Nodes of so many references become leaves at once.", minimum=1, maximum=1024)
    stop: str = option(
        "sah",
        "When larger nodes become leaves too: where the best split costs more than testing all references (sah), "
        "or at the greatest depth (size).",
        choices=("sah", "size"),
    )
    traversal_cost: float = option(1.0, "Cost of visiting a node, as splits are judged.", minimum=0.0, maximum=100.0)
    intersection_cost: float = option(
        1.0, "Cost of testing a primitive, as splits are judged.", minimum=0.01, maximum=100.0
    )
    empty_factor: float = option(
        0.8,
        "Factor on the cost of splits that cut off empty space: below 1 they are preferred (Wald and Havran 2006).",
        minimum=0.1,
        maximum=1.0,
    )
    references_per_primitive: float = option(
        6.0,
        "Memory: most references per primitive. Each node has its share of them, and becomes a leaf where a split "
        "would need more.",
        minimum=1.0,
        maximum=float(MOST_REFERENCES),
    )
    max_depth: int = option(
        0, "Greatest depth; 0 takes 8 + 1.3 log2 of the number of primitives.", minimum=0, maximum=MOST_DEPTH
    )
    mailboxes: bool = option(
        False, "Let traversals remember the last primitives they tested, which several leaves may hold."
    )

    def levels(self, primitive_count: int) -> int:
        """The greatest depth: Pharr and Humphreys' 8 + 1.3 log2 n (Kolodzey 2014, 4.1) unless the option says another
        one."""
        if self.max_depth > 0 or primitive_count < 1:
            return self.max_depth
        return min(MOST_DEPTH, math.ceil(8 + 1.3 * math.floor(math.log2(primitive_count))))

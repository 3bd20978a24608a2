"""Where parting ends: options that builders from the top have in common, spelled alike, and what kernels get of them (stopping.cuh)."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...settings import option
from .tree import MAX_LEAF_SIZE

MOST_LEVELS = 60
LEVELS = 40
"""Levels of the builders that part all sets of a level in one launch: sets that would be too large for those that are left are halved."""


DEPTH = "Depth: sets there become leaves, however many primitives they have, and nothing else changes."


def memory_option() -> Any:
    """A field: the share of the nodes that a builder may make."""
    sentence = (
        "Memory: most inner nodes a primitive. Each set has its share of them, and becomes a leaf when that is used up; larger sets than leaves can "
        "hold are halved all the same, which takes up to 1/16."
    )
    return option(1.0, sentence, minimum=0.0, maximum=1.0)


def depth_option(levels: int, more: str = "") -> Any:
    """A field: the bound of the depth, by default the `levels` that are enough for any tree of the builder."""
    return option(levels, " ".join((DEPTH, more)).strip(), minimum=1, maximum=levels)


@dataclasses.dataclass(frozen=True)
class StoppingOptions:
    """The rules of Meister's thesis (4.2): size, cost, depth and memory."""

    max_leaf_size: int = option(
        8, "Most primitives in a leaf: larger leaves make a smaller tree and more intersection tests.", minimum=1, maximum=MAX_LEAF_SIZE
    )
    stop: str = option(
        "sah",
        "When a set that fits into a leaf becomes one: at once (size), or where the best split costs more than testing all of its primitives (sah).",
        choices=("size", "sah"),
    )
    traversal_cost: float = option(1.0, "Cost of visiting a node, k_T, as the rule sah counts it.", minimum=0.0, maximum=100.0)
    intersection_cost: float = option(1.0, "Cost of testing a primitive, k_I, as the rule sah counts it.", minimum=0.01, maximum=100.0)
    nodes_per_primitive: float = memory_option()

    @property
    def leaf_at_once(self) -> int:
        """Sets of so many primitives need not be looked at to know that they are leaves."""
        return self.max_leaf_size if self.stop == "size" else 1

    def device_values(self) -> tuple[int, int, float, float]:
        """The arguments of a kernel that makes a Stopping of them."""
        return self.max_leaf_size, int(self.stop == "sah"), self.traversal_cost, self.intersection_cost

    def budget(self, count: int) -> int:
        """Inner nodes that a set of `count` primitives may become."""
        return int(self.nodes_per_primitive * max(0, count - 1))


@dataclasses.dataclass(frozen=True)
class LevelOptions(StoppingOptions):
    """Options of builders that part all sets of a level in one launch."""

    max_depth: int = option(
        LEVELS,
        f"{DEPTH} Every level is a launch; sets that would need more than {LEVELS}, or more than this where it is more, are halved in time.",
        minimum=1,
        maximum=MOST_LEVELS,
    )

    def levels(self, count: int) -> int:
        """Levels that may have sets to be parted, were there no bound of the depth: never fewer than halving needs."""
        return max(self.max_depth, LEVELS) if count > 1 else 0

    @property
    def may_have_long_leaves(self) -> bool:
        """Whether the depth may end before sets are small enough for leaves' words."""
        return self.max_depth < LEVELS

"""When splitting ends: options that top-down builders share, and what kernels get of them
(stopping.cuh)."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...settings import option
from .tree import MAX_LEAF_SIZE

MOST_LEVELS = 60
LEVELS = 40
"""Levels of the builders that split all sets of a level in one launch: sets that would need more levels are halved."""

LEAF_SIZE = "Most primitives in a leaf: larger leaves make a smaller tree and more intersection tests"
LEAF_OF_TRIANGLES = 4
SMALLER_LEAVES = {"sphere": 1}
"""Kinds of primitives whose leaves are best smaller than those of triangles: a sphere's box is hardly larger than the
sphere, so that it spares most tests and costs less. On an H200 1M of them in `lbvh`'s leaves of 4 were traced at 1.05
GRays/s, in leaves of 1 at 1.62 (docs/performance/particles.md)."""


def leaf_size_option(default: int) -> Any:
    """A field: the most primitives of a leaf."""
    return option(default, LEAF_SIZE + ".", minimum=1, maximum=MAX_LEAF_SIZE)


def leaf_size_by_kind_option(default: int = LEAF_OF_TRIANGLES, leaf: str = "a leaf") -> Any:
    """The same, of which 0 leaves it to the kind of primitives (`leaf_size_of`)."""
    smaller = ", ".join(f"{size} for {kind}s" for kind, size in SMALLER_LEAVES.items())
    sentence = f"{LEAF_SIZE.replace('a leaf', leaf, 1)}; 0 takes {default}, but {smaller}."
    return option(0, sentence, minimum=0, maximum=MAX_LEAF_SIZE)


def leaf_size_of(chosen: int, kind: str, default: int) -> int:
    """The most primitives of a leaf where `leaf_size_by_kind_option` says `chosen`."""
    return chosen or SMALLER_LEAVES.get(kind, default)


DEPTH = "The greatest depth: nodes there become leaves, however many primitives they have, and nothing else changes."


def memory_option() -> Any:
    """A field: the share of the nodes that a builder may make."""
    sentence = (
        "Memory: most inner nodes per primitive. Each set has its share of them, and becomes a leaf when that is "
        "used up; larger sets than leaves can "
        "hold are halved all the same, which takes up to 1/16."
    )
    return option(1.0, sentence, minimum=0.0, maximum=1.0)


def depth_option(levels: int, more: str = "") -> Any:
    """A field: the bound of the depth, by default the `levels` that are enough for any tree of the builder."""
    return option(levels, " ".join((DEPTH, more)).strip(), minimum=1, maximum=levels)


@dataclasses.dataclass(frozen=True)
class LeafOptions:
    """Which sets become leaves, by size and by cost."""

    max_leaf_size: int = leaf_size_option(8)
    stop: str = option(
        "sah",
        "When a set that fits into a leaf becomes one: at once (size), or where the best split costs more than "
        "testing all of its primitives (sah).",
        choices=("size", "sah"),
    )
    traversal_cost: float = option(
        1.0, "Cost of visiting a node, k_T, as the rule sah counts it.", minimum=0.0, maximum=100.0
    )
    intersection_cost: float = option(
        1.0, "Cost of testing a primitive, k_I, as the rule sah counts it.", minimum=0.01, maximum=100.0
    )

    def device_sizes(self) -> dict[str, int]:
        """Kernel arguments, by name, for a Stopping that never asks for costs."""
        return {"max_leaf_size": self.max_leaf_size, "by_cost": int(self.stop == "sah")}

    def device_values(self) -> dict[str, Any]:
        """Kernel arguments, by name, for a Stopping."""
        costs = {"traversal_cost": self.traversal_cost, "intersection_cost": self.intersection_cost}
        return {**self.device_sizes(), **costs}


@dataclasses.dataclass(frozen=True)
class StoppingOptions(LeafOptions):
    """The rules of Meister's thesis (4.2): size, cost, depth and memory."""

    nodes_per_primitive: float = memory_option()

    @property
    def leaf_at_once(self) -> int:
        """Sets of so many primitives need not be looked at to know that they are leaves."""
        return self.max_leaf_size if self.stop == "size" else 1

    def budget(self, count: int) -> int:
        """Inner nodes that a set of `count` primitives may become."""
        return int(self.nodes_per_primitive * max(0, count - 1))


@dataclasses.dataclass(frozen=True)
class LevelOptions(StoppingOptions):
    """Options of builders that split all sets of a level in one launch."""

    max_depth: int = option(
        LEVELS,
        f"{DEPTH} Every level is a launch; sets that would need more than {LEVELS}, or more than this where it is "
        f"more, are halved in time.",
        minimum=1,
        maximum=MOST_LEVELS,
    )

    def levels(self, count: int) -> int:
        """Levels that may have sets to be split, were there no bound of the depth: never fewer than halving needs."""
        return max(self.max_depth, LEVELS) if count > 1 else 0

    @property
    def may_have_long_leaves(self) -> bool:
        """Whether the depth may end before sets are small enough for leaves' words."""
        return self.max_depth < LEVELS

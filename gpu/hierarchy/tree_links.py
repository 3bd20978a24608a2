"""The links of a structure's nodes from below, on its target: for sums over what lies under a node, of a tree that
nobody reads.

A family that has them has a module `linked.py` with the function `links`."""

from __future__ import annotations

import dataclasses
import importlib.util
from typing import Any

from ..target.base import Array
from .base import Hierarchy

INNER_ROW, LEAF_ROW = 1, 2


@dataclasses.dataclass(frozen=True, eq=False)
class TreeLinks:
    """A row each node: what a traversal's events call it is row's number, or ~ (row - `leaf_rows`) of a leaf that they
    call by its first reference. `kinds` (rows,) uint8: INNER_ROW, LEAF_ROW, or 0 where no node is; `parents` int32, -1
    of the root; `firsts` and `counts` int32, references of a leaf, 0 of others; `references` int32 are the primitives,
    by their own numbers where there are no `scene_ids`."""

    kinds: Array
    parents: Array
    firsts: Array
    counts: Array
    leaf_rows: int
    references: Array
    scene_ids: Array | None

    @property
    def rows(self) -> int:
        """How many there are, used or not."""
        return len(self.kinds)


def tree_links(hierarchy: Hierarchy) -> TreeLinks | None:
    """Those of a structure that is built, in scratch memory; None where its family or its layout has none. Launches
    only."""
    name = f"{__package__}.{hierarchy.family}.linked"
    if importlib.util.find_spec(name) is None:
        return None
    module: Any = importlib.import_module(name)
    found: TreeLinks | None = module.links(hierarchy)
    return found

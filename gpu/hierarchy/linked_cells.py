"""The links of kd-trees and octrees from below, which keep their nodes' parents."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..target.base import UnitSource
from .grown_tree import NODES_NOW
from .tree_links import TreeLinks


def links_of_cells(hierarchy: Any, leaf_axis: int = -1) -> TreeLinks | None:
    """See tree_links.py. A row each node, by its place. `leaf_axis`: what says that a node of a kd-tree is a leaf."""
    tree, primitives, target = hierarchy.tree, hierarchy.last_built(), hierarchy.target
    if primitives.count == 0 or (primitives.scene_ids is not None and primitives.kind != "triangle"):
        return None
    rows = tree.capacity.nodes
    kinds = target.scratch("links.kinds", rows, np.uint8)
    firsts, counts = target.scratch("links.cells", (2, rows), np.int32)
    unit = target.unit(UnitSource("gpu/hierarchy/linked_cells.cu", constants=(("LEAF_AXIS", leaf_axis),)))
    now = tree.counts[NODES_NOW : NODES_NOW + 1]
    found = {"kinds": kinds, "firsts": firsts, "counts": counts}
    target.launch(unit, "link_cells", rows, words=tree.nodes, node_count=now, row_count=rows, **found)
    return TreeLinks(kinds, tree.parent, firsts, counts, rows, tree.references, primitives.scene_ids)

"""The links of bounding volume hierarchies from below, of layouts that call nodes by their canonical ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...target.base import UnitSource
from ..tree_links import TreeLinks
from .layouts import Layout


def links(hierarchy: Any) -> TreeLinks | None:
    """See tree_links.py. A row each inner node, by its id, then one each reference that a leaf may begin at."""
    tree, layout, primitives, target = hierarchy.tree, hierarchy.layout, hierarchy.last_built(), hierarchy.target
    has_own_ids = type(layout).indices is not Layout.indices
    if has_own_ids or (primitives.scene_ids is not None and primitives.kind != "triangle"):
        return None
    leaf_rows = layout.node_count(tree)
    rows = leaf_rows + max(1, tree.count)
    kinds = target.scratch("links.kinds", rows, np.uint8)
    parents, firsts, counts = target.scratch("links.rows", (3, rows), np.int32)
    target.fill(kinds, 0)
    unit = target.unit(UnitSource("gpu/hierarchy/bvh/linked.cu", constants=(("REFERENCE_BITS", tree.reference_bits),)))
    target.launch(
        unit,
        "link_rows",
        max(1, tree.node_capacity),
        nodes=tree.nodes,
        flags=tree.flags,
        long_leaves=tree.long_leaves,
        root=tree.root,
        node_capacity=tree.node_capacity,
        leaf_rows=leaf_rows,
        kinds=kinds,
        parents=parents,
        firsts=firsts,
        counts=counts,
    )
    return TreeLinks(kinds, parents, firsts, counts, leaf_rows, tree.order, primitives.scene_ids)

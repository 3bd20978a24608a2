"""From a canonical tree to the nodes of an 8-wide layout, chosen by cost: the least there is (collapse.cu), or quickly
(greedy_collapse.cu)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...target.base import Array, Target, UnitSource
from .tree import CanonicalTree

COLLAPSE_CHUNKS = {"cuda": 512, "host": 1024}
"""Node ids that one block collapses in shared memory before it goes on in global memory."""

GREEDY_CHUNKS = {"cuda": 1024, "host": 1024}
"""Node ids whose pieces, then wide nodes, one block gathers: one in five of them is a piece, one in sixteen a wide
node."""

CHOICE_SCRATCH, QUICK_SCRATCH = 8 * 8 + 4 + 1, 4 + 1
"""Bytes of scratch memory per node id that choose_wide_nodes takes for a width of 8, and choose_quickly."""

MOST_NARROW_NODES = 1 << 24
"""So many nodes have numbers that lie in a word beside a byte of children."""

LIST_SHARE = 4
"""A chunk's list has room for one in so many of its ids."""


Room = Callable[[str, Any, Any], Array]
"""Memory by name, rows and type, as `Target.scratch` lends it."""


def choose_wide_nodes(
    target: Target, tree: CanonicalTree, width: int, wide_count: Array | None = None, room: Room | None = None
) -> Array:
    """A byte an id, 1 for the nodes of `tree` that become nodes of `width` children; the same as numbers in
    `wide_count` (int32). In `room`, or in scratch memory."""
    capacity, chunk = tree.node_capacity, COLLAPSE_CHUNKS[target.kind]
    bits = ("REFERENCE_BITS", tree.reference_bits)
    unit = target.unit(
        UnitSource("gpu/hierarchy/bvh/collapse.cu", constants=(bits, ("WIDTH", width), ("CHUNK", chunk)))
    )
    costs = target.scratch("bvh.collapse_costs", (capacity, width), np.uint64)
    closed, is_wide = (
        target.scratch("bvh.closed", capacity, np.uint8),
        (room or target.scratch)("is_wide", capacity, np.uint8),
    )
    shares = target.scratch("bvh.shares", capacity, np.int32)
    target.launch(
        unit,
        "collapse_costs",
        capacity,
        **tree.links(),
        node_capacity=capacity,
        costs=costs,
        closed=closed,
        shares=shares,
        waiting=tree.waiting,
        blocks=-(-capacity // chunk),
    )
    target.launch(
        unit,
        "mark_wide_nodes",
        capacity,
        parent=tree.parent,
        flags=tree.flags,
        closed=closed,
        shares=shares,
        node_capacity=capacity,
        is_wide=is_wide,
        wide_count=wide_count,
    )
    return is_wide


def choose_quickly(target: Target, tree: CanonicalTree, room: Room | None = None) -> dict[str, Array]:
    """By the kernels' names: `is_wide`, a byte an id, 1 for the nodes that become 8-wide nodes; `child_counts`, how
    many of them are children of each; `places`, each one's parent << 3 and rank there; and `list_counts`, `list_ids`
    and `list_children`, lists of the wide nodes with all their children, chunk by chunk of ids, where a chunk has few
    enough (collapse.cuh). In `room`, or in scratch memory."""
    capacity, chunk = tree.node_capacity, GREEDY_CHUNKS[target.kind]
    blocks = -(-capacity // chunk)
    constants = (("REFERENCE_BITS", tree.reference_bits), ("CHUNK", chunk), ("LIST_SHARE", LIST_SHARE))
    unit = target.unit(UnitSource("gpu/hierarchy/bvh/greedy_collapse.cu", constants=constants))
    is_chosen, above = (
        target.scratch("bvh.closed", capacity, np.uint8),
        target.scratch("bvh.shares", capacity, np.int32),
    )
    take, listed = room or target.scratch, blocks * (chunk // LIST_SHARE)
    made = {
        "is_wide": take("is_wide", capacity, np.uint8),
        "child_counts": take("wide_ids", capacity, np.int32),
        "places": take("wide_places", capacity, np.int32),
        "list_counts": take("list_counts", blocks, np.int32),
        "list_ids": take("list_ids", listed, np.uint32),
        "list_children": take("list_children", (listed, 8), np.int32),
    }
    chosen = {
        "nodes": tree.nodes,
        "flags": tree.flags,
        "node_capacity": capacity,
        "is_chosen": is_chosen,
        "above": above,
    }
    target.launch(unit, "choose_pieces", capacity, **chosen, blocks=blocks)
    target.launch(unit, "number_wide_nodes", capacity, **chosen, **made, blocks=blocks)
    return made


def most_wide_nodes(reference_count: int, width: int) -> int:
    """A bound of the wide nodes over that many leaves, the root included."""
    return 1 + reference_count // (width // 2)


def has_wide_groups(most_nodes: int) -> tuple[str, int]:
    """The constant that says whether traversals that go from node to node by groups of children (octant_groups.cuh)
    need more bits for so many nodes than a word of 32 has."""
    return "HAS_WIDE_GROUPS", int(most_nodes > MOST_NARROW_NODES)

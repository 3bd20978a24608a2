"""What people call layouts, traversals and update policies in few words; layouts and traversals have only names where
they are written: `bvh8_single` is "One ray at a time". A name that is not listed (a plug-in's) is read as words."""

from __future__ import annotations

LAYOUTS = {
    "bvh2": "BVH2",
    "bvh2_compact": "BVH2, compact",
    "bvh2_soa": "BVH2, arrays",
    "bvh4": "BVH4",
    "bvh8": "BVH8",
    "cwbvh": "CWBVH",
    "kd8": "Kd nodes, 8 bytes",
    "octree8": "Octree nodes, 8 bytes",
    "cells8": "Cells, 8 bytes",
    "blocks8": "Blocks of cells, 8 bytes",
    "records": "Records",
}
TRAVERSALS = {
    **dict.fromkeys(("bvh2_stack", "bvh2_compact_stack", "bvh2_soa_stack", "bvh4_stack", "bvh8_stack"), "Stack"),
    "cwbvh_stack": "Stack of words",
    "bvh8_single": "One ray at a time",
    "full_stack": "Full stack",
    "short_stack": "Short stack",
    "restart": "Restart",
    "dda": "3D-DDA",
    "two_level_dda": "3D-DDA of two levels",
    "parametric": "Parametric",
    "every_primitive": "Every primitive",
}
UPDATES = {"rebuild": "Rebuild", "refit": "Refit", "auto": "Adaptive"}
"""Update policies where there is little room."""


def update_title(name: str, title: str) -> str:
    """What people call an update policy in a word or two; `title` is what it is called where there is more room."""
    return UPDATES.get(name, title)


def layout_title(name: str) -> str:
    """What people call a layout."""
    return LAYOUTS.get(name) or _as_words(name)


def traversal_title(name: str) -> str:
    """What people call a traversal."""
    return TRAVERSALS.get(name) or _as_words(name)


def short_title(title: str) -> str:
    """A title without what it says in brackets: "H-PLOC (nearest neighbours ...)" is "H-PLOC"."""
    return title.partition(" (")[0]


def _as_words(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]

"""The links of kd-trees from below."""

from __future__ import annotations

from typing import Any

from ..linked_cells import links_of_cells
from ..tree_links import TreeLinks
from .tree import LEAF_AXIS


def links(hierarchy: Any) -> TreeLinks | None:
    """See tree_links.py."""
    return links_of_cells(hierarchy, LEAF_AXIS)

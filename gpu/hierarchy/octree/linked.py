"""The links of octrees from below."""

from __future__ import annotations

from typing import Any

from ..linked_cells import links_of_cells
from ..tree_links import TreeLinks


def links(hierarchy: Any) -> TreeLinks | None:
    """See tree_links.py."""
    return links_of_cells(hierarchy)

"""What a kd-tree is to those who hold it (gpu/hierarchy/grown_tree.py) and those who read its nodes (nodes.cuh): 8
bytes per node, the root in front, children side by side and behind their parent, so that left ones have odd numbers.
"""

from __future__ import annotations

from ..grown_tree import NodeShape

MOST_REFERENCES = 8
"""References per primitive at most; a scene that needs more has to be built with larger or cheaper leaves."""

MOST_BYTES, MOST_BYTES_LEAF = 400, 64
"""Bytes per primitive in all, those of building included, for trees with leaves of so many or more. Smaller leaves take
what 8 references take."""

PREFERRED_BYTES = 390
"""Bytes per primitive that trees with leaves of any size stay below where what they need allows it. Arrays that grow do
so by eighths, which comes to a few bytes more."""

MOST_DEPTH = 60
"""Levels at most: traversals keep a bit a level."""

LEAF_AXIS = 3

NODE_SHAPE = NodeShape(words=2, empty=(0, LEAF_AXIS), has_parents=True, free_in_front=1)
"""With one place free in front the two children of a node lie in 16 bytes of their own: one fetch."""

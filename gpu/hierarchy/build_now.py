"""A structure of this instant, whatever room it needs: for questions outside a frame, where waiting is allowed."""

from __future__ import annotations

from ..target.base import Target
from .base import Hierarchy, Primitives


def build_now(target: Target, hierarchy: Hierarchy, primitives: Primitives) -> None:
    """Build, and build again with more room where that was too little; frames would do so one by one. Waits. Raises
    HierarchyError where there cannot be enough."""
    if hierarchy.lacks_room(primitives):
        hierarchy.make_room(primitives)
    hierarchy.prepare(primitives, "rebuild")
    hierarchy.build(primitives)
    for _ in range(3):  # what an earlier build lacked, and this one, arrives late, one after the other
        target.synchronize()
        if hierarchy.lacks_room(primitives):
            hierarchy.make_room(primitives)

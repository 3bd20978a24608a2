"""Refit every frame in which anything moved."""

from __future__ import annotations

from typing import Any

from ..hierarchy.base import Hierarchy
from .base import UpdatePolicy, check_refits
from .history import Decision, UpdateHistory


class Refit(UpdatePolicy):
    """The tree that was built first, with new boxes: cheap, and worse the farther things move."""

    name = "refit"
    title = "Refit every frame"
    sentence = "computes the boxes of the same tree again in every frame"
    is_fixed = True

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        check_refits(hierarchy)
        return Decision("refit", "refit is chosen")

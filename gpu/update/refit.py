"""Refit every frame in which anything moved."""

from __future__ import annotations

from typing import Any

from ..hierarchy.base import CannotRefitError, Hierarchy
from .base import UpdatePolicy
from .history import Decision, UpdateHistory


class Refit(UpdatePolicy):
    """The tree that was built first, with new boxes: cheap, and worse the farther things move."""

    name = "refit"
    title = "Refit every frame"
    sentence = "computes the boxes of the same tree again in every frame"
    is_fixed = True

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        if not hierarchy.capabilities.refit:
            raise CannotRefitError(
                f"{hierarchy.title} cannot be refitted: choose update rebuild or auto, or another structure."
            )
        return Decision("refit", "refit is chosen")

"""Rebuild every frame in which anything moved."""

from __future__ import annotations

from typing import Any

from ..hierarchy.base import Hierarchy
from .base import UpdatePolicy
from .history import Decision, UpdateHistory


class Rebuild(UpdatePolicy):
    """Trees as good as the builder makes them, at the price of a build a frame."""

    name = "rebuild"
    title = "Rebuild every frame"
    sentence = "builds the structure again in every frame"
    refits = False
    is_fixed = True

    def at_rest(self, history: UpdateHistory) -> Decision:
        # A scene at rest, whose tree was refitted until then.
        return super().at_rest(history) if history.is_as_built else Decision("rebuild", "rebuild is chosen")

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        return Decision("rebuild", "rebuild is chosen")

"""Rebuild or refit, whichever costs less: measured times decide as soon as there are some (costs.py); until then, and
where nothing is traced, the SAH cost alone. docs/decisions/when-to-rebuild.md tells why."""

from __future__ import annotations

from typing import Any

from ..hierarchy.base import Hierarchy
from .base import UpdatePolicy, by_cost_ratio
from .history import Decision, UpdateHistory


class Auto(UpdatePolicy):
    """See the module."""

    name = "auto"
    title = "Adaptive"
    sentence = "chooses rebuild or refit by measured times and costs"
    needs_times = True

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        if not hierarchy.capabilities.refit:
            return Decision("rebuild", f"{hierarchy.title} cannot be refitted")
        if history.costs.is_known:
            return Decision(*history.costs.choose())
        return by_cost_ratio(history, options.cost_ratio)

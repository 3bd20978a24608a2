"""Rebuild or refit, whichever costs less: measured times decide as soon as there are some (costs.py); until then, and
where nothing is traced, the SAH cost alone. docs/decisions/when-to-rebuild.md tells why."""

from __future__ import annotations

from typing import Any

from ..hierarchy.base import Hierarchy
from .base import UpdatePolicy
from .history import Decision, UpdateHistory


class Auto(UpdatePolicy):
    """See the module."""

    name = "auto"
    title = "Automatic"
    sentence = "chooses rebuild or refit by measured times and costs"
    needs_times = True

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        if not hierarchy.capabilities.refit:
            return Decision("rebuild", f"{hierarchy.title} cannot be refitted")
        if history.costs.is_known:
            return Decision(*history.costs.choose())
        if not history.has_base:
            return Decision("rebuild", "no SAH cost has been measured since the last build")
        ratio = history.cost_ratio
        if ratio is None:
            return Decision("refit", "its SAH cost since the last build is not known yet")
        return Decision(
            "rebuild" if ratio >= options.cost_ratio else "refit",
            f"its SAH cost is {ratio:.2f} times that of the last build",
        )

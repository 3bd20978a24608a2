"""Rebuild when the tree's SAH cost has grown by a factor: the usual rule where no times are measured."""

from __future__ import annotations

from typing import Any

from ..hierarchy.base import Hierarchy
from .base import UpdatePolicy, check_refits
from .history import Decision, UpdateHistory


class CostRatio(UpdatePolicy):
    """See the module. The SAH cost is measured ten times a second at most, and known a frame or two later."""

    name = "cost_ratio"
    title = "Rebuild when the cost has grown"
    sentence = "refits until the SAH cost is update.cost_ratio times that of the last build, then rebuilds"

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        check_refits(hierarchy)
        if not history.has_base:
            return Decision("rebuild", "no SAH cost has been measured since the last build")
        ratio = history.cost_ratio
        if ratio is None:
            return Decision("refit", "its SAH cost since the last build is not known yet")
        return Decision(
            "rebuild" if ratio >= options.cost_ratio else "refit",
            f"its SAH cost is {ratio:.2f} times that of the last build, the limit is {options.cost_ratio:g}",
        )

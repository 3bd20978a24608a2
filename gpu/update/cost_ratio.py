"""Rebuild when the tree's SAH cost has grown by a factor: the usual rule where no times are measured."""

from __future__ import annotations

from typing import Any

from ..hierarchy.base import Hierarchy
from .base import UpdatePolicy, by_cost_ratio, check_refits
from .history import Decision, UpdateHistory


class CostRatio(UpdatePolicy):
    """See the module. The SAH cost is measured ten times a second at most, and known a frame or two later."""

    name = "cost_ratio"
    title = "Rebuild when the cost has grown"
    sentence = "refits until the SAH cost is update.cost_ratio times that of the last build, then rebuilds"

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        check_refits(hierarchy)
        return by_cost_ratio(history, options.cost_ratio)

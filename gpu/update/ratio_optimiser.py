"""So many refits for each rebuild, the number adapted to the scene while it runs (ratio.py).

A rival of `auto`, named for arXiv 2601.15633 (2026), which has a real-time optimiser of the ratio of updates to
rebuilds. We know one sentence of it at second hand: how the ratio is found here is our own.
"""

from __future__ import annotations

from typing import Any

from ..brief import filled
from ..hierarchy.base import Hierarchy
from .base import UpdatePolicy
from .history import Decision, UpdateHistory


class RatioOptimiser(UpdatePolicy):
    """See the module."""

    name = "ratio_optimiser"
    title = "Ratio of refits to rebuilds"
    sentence = "adapts the number of refits for each rebuild to measured times (our own, named for arXiv 2601.15633)"
    needs_times = True

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        if not hierarchy.capabilities.refit:
            return Decision("rebuild", f"{hierarchy.title} cannot be refitted")
        ratio, age = history.ratio.refits_for_each_rebuild(), history.age
        said = "{age} refits since the last build, {ratio} are the best ratio as times have been"
        reason = filled(said, age=age, ratio=ratio)
        return Decision("refit" if age < ratio else "rebuild", reason)

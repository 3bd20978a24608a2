"""Rebuild every so many frames, whatever happens between: what engines do that cannot measure."""

from __future__ import annotations

from typing import Any

from ..brief import filled
from ..hierarchy.base import Hierarchy
from .base import UpdatePolicy, check_refits
from .history import Decision, UpdateHistory


class EveryN(UpdatePolicy):
    """See the module. Frames in which nothing moved do not count."""

    name = "every_n"
    title = "Rebuild every so many frames"
    sentence = "rebuilds every n-th frame and refits in those between (update.n)"

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        check_refits(hierarchy)
        is_due = history.age + 1 >= options.n
        said = "{age} refits since the last build, every {n} frames one rebuilds"
        reason = filled(said, age=history.age, n=options.n)
        return Decision("rebuild" if is_due else "refit", reason)

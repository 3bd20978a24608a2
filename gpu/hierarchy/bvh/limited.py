"""Builders of the family whose work grows faster than the number of primitives, or that one thread does: they say how many they take."""

from __future__ import annotations

from typing import ClassVar

from ..base import HierarchyError, Primitives
from .bvh import BvhHierarchy


class LimitedBuilder(BvhHierarchy):
    """See the module. Whoever chooses scenes for all builders asks `most_primitives`."""

    most_primitives: ClassVar[dict[str, int]]
    """By the kind of target."""
    instead: ClassVar[str]
    """What to choose for more of them."""

    def build(self, primitives: Primitives) -> None:
        most = self.most_primitives[self.target.kind]
        if primitives.count > most:
            raise HierarchyError(
                f"The structure {self.name} takes at most {most:,} primitives on the {self.target.kind} target, for its time grows too fast beyond; "
                f"the scene has {primitives.count:,}. Choose {self.instead}."
            )
        super().build(primitives)

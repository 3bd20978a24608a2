"""Builders of the family whose work grows faster than the number of primitives, or that one thread does: they say how
many they take."""

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
        self.check_count(primitives.count)
        super().build(primitives)

    def check_count(self, count: int, of: str = "the scene") -> None:
        """Raise HierarchyError where it does not take so many, which `of` has. Whoever emits without `build` asks."""
        most = self.most_primitives[self.target.kind]
        if count > most:
            raise HierarchyError(
                f"The structure {self.name} takes at most {most:,} primitives on the {self.target.kind} target, "
                f"for its time grows too fast beyond; {of} has {count:,}. Choose {self.instead}."
            )

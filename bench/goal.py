"""One promise of the project, and whether it is kept."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Goal:
    """One promise: what, the bar, the figure measured (None: not measured, `note` says why). `at_most` or else at least."""

    what: str
    bar: float
    measured: float | None
    unit: str
    at_most: bool = True
    note: str = ""

    @property
    def is_reached(self) -> bool | None:
        """Whether the bar was met; None where there is no figure."""
        if self.measured is None:
            return None
        return self.measured <= self.bar if self.at_most else self.measured >= self.bar

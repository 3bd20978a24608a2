"""Options that builders of grids have in common, and what follows from them."""

from __future__ import annotations

import dataclasses
import math

from ...settings import option
from ..base import HierarchyError

MOST_ALONG = 4096
"""Cells along an axis at most."""

BOX_TEST, SEPARATING_AXES, CLIPPING = range(3)
"""How a primitive is tested against a cell that its box touches (cell_tests.cuh): not at all, by the axes that may part
them, by what is left of it in the cell."""


@dataclasses.dataclass(frozen=True)
class GridOptions:
    """How many cells there are, and what they list."""

    resolution: str = option(
        "density",
        "How many cells: as many per primitive as density says, or at most so many and as few as a ray is expected "
        "to be cheapest with (cost_model).",
        choices=("density", "cost_model"),
    )
    density: float = option(
        5.0,
        "Cells per primitive. More of them are smaller, so that fewer primitives are tested and more cells passed.",
        minimum=0.01,
        maximum=10_000.0,
    )
    most_cells: int = option(
        1 << 28, "A scene that would have more cells is refused.", minimum=1, maximum=(1 << 29) - 1024
    )
    references_per_primitive: float = option(
        16.0,
        "Memory: about so many references per primitive at most. The grid is coarser where more would be needed.",
        minimum=1.0,
        maximum=256.0,
    )
    exact: bool = option(
        True, "List triangles and spheres only in cells that they reach into, not in all that their boxes touch."
    )
    step_cost: float = option(
        1.0, "Cost of passing a cell, as cost_model judges resolutions.", minimum=0.01, maximum=100.0
    )
    test_cost: float = option(
        1.0, "Cost of testing a primitive, as cost_model judges resolutions.", minimum=0.01, maximum=100.0
    )
    mailboxes: bool = option(
        False, "Let traversals remember the last primitives they tested, which several cells may list."
    )

    def cells(self, structure: str, primitive_count: int, density: float | None = None) -> int:
        """The most cells that so many primitives have; HierarchyError where that is more than allowed."""
        wanted = max(1, math.ceil((self.density if density is None else density) * primitive_count))
        if wanted > self.most_cells:
            raise HierarchyError(
                f"The structure {structure} would have {wanted:,} cells for this scene of {primitive_count:,} "
                f"primitives, and most_cells allows {self.most_cells:,}: lower density, or raise most_cells."
            )
        return wanted

"""Refit every frame in which anything moved, and mend the tree by rotations after each refit (Kopta et al. 2012)."""

from __future__ import annotations

from typing import Any

from ..hierarchy.base import CannotRefitError, Hierarchy
from .base import UpdatePolicy, check_refits
from .history import Decision, UpdateHistory


class RefitRotations(UpdatePolicy):
    """The tree that was built first, with new boxes, its subtrees exchanged where that makes boxes smaller. The
    structure is made with the optimiser `rotations`, whose options say how much is mended."""

    name = "refit_rotations"
    title = "Refit and rotate every frame"
    sentence = "refits in every frame and mends the tree by rotations (Kopta et al. 2012)"
    is_fixed = True
    optimiser = "rotations"

    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        check_refits(hierarchy)
        made = hierarchy.choice
        if made.optimiser != self.optimiser:
            raise CannotRefitError(
                f"{hierarchy.title} is not mended by rotations here (its optimiser is {made.optimiser}): choose update "
                f"refit or auto, or a structure that the optimiser rotations improves."
            )
        if made.optimiser_options is not None and not made.optimiser_options.in_refits:
            raise CannotRefitError(
                "update.mode refit_rotations rotates after refits, and optimiser.rotations.in_refits is off: turn it "
                "on, or choose update refit."
            )
        return Decision("refit", "refit_rotations is chosen")

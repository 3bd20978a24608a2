"""Forces by the direct sum over all pairs: exact but for rounding, and the oracle of the others. O(N^2)."""

from __future__ import annotations

from ..target.base import Target, UnitSource
from .bodies import Bodies

TILE = 256
"""Bodies of a block, as direct.cu has it."""


class DirectSum:
    """See the module. `softening` is Plummer's, in scene units."""

    def __init__(self, target: Target, softening: float) -> None:
        self.target, self.softening = target, softening
        self._unit = target.unit(UnitSource("gpu/nbody/direct.cu", rays_per_thread=0))

    def find(self, bodies: Bodies) -> None:
        """Write the field of all bodies. Launches only."""
        with self.target.phase("nbody.direct"):
            self.target.launch(
                self._unit,
                "sum_directly",
                bodies.count,
                bodies=bodies.places,
                n=bodies.count,
                softening2=self.softening**2,
                field=bodies.field,
                blocks=max(1, -(-bodies.count // TILE)),
            )

    def make_room(self) -> None:
        """Nothing is ever lacking."""

"""Options of collisions marked in the picture."""

from __future__ import annotations

import dataclasses

from raygrove.gpu.settings import option

BETWEEN = ("all", "selected")


@dataclasses.dataclass(frozen=True)
class CollisionOptions:
    """Triangles and spheres of different objects that touch one another, found in every frame by the structure."""

    show: bool = option(False, "Mark the primitives that touch one of another object, and count the pairs.")
    between: str = option(
        "all",
        "Pairs of which objects: all, or selected, the object that is selected with all others (of all where none is). "
        "Hidden objects collide with nothing, so that two can be isolated.",
        choices=BETWEEN,
    )
    opacity: float = option(0.7, "How much of a primitive the mark covers.", minimum=0.0, maximum=1.0)

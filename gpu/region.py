"""A box or a ball in the scene whose contents are counted and marked. Plain values."""

from __future__ import annotations

import dataclasses

from .rows import Vector

SHAPES = ("ball", "box")
COLOR = (43, 230, 107)
"""sRGB bytes of what is in a region."""


@dataclasses.dataclass(frozen=True)
class Region:
    """A ball around `centre` of the radius `size`, or a cube along the axes with half its side, in scene units; of no
    size there is none."""

    shape: str = SHAPES[0]
    centre: Vector = (0.0, 0.0, 0.0)
    size: float = 0.0

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise ValueError(f"A region is a {' or a '.join(SHAPES)}, and {self.shape!r} was asked for.")

    @property
    def is_there(self) -> bool:
        """Whether there is anything to count in."""
        return self.size > 0.0

    @property
    def corners(self) -> tuple[Vector, Vector]:
        """The lower and the upper corner of the box, or of the box around the ball."""
        (x, y, z), far = self.centre, self.size
        return (x - far, y - far, z - far), (x + far, y + far, z + far)


@dataclasses.dataclass(frozen=True)
class RegionContents:
    """How many primitives of a picture's scene are in `region`, each once: among spheres alone by their centres (`of`
    centres), else those whose surface, or ball, has a point in common with it. None where the structure cannot say, and
    `sentence` says why."""

    region: Region
    of: str = "surfaces"
    count: int | None = None
    sentence: str = ""

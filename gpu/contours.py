"""Contours over a finished picture: options of silhouettes and of halos that tell depths apart. Plain values."""

from __future__ import annotations

import dataclasses

from .camera import Vector
from .settings import option


@dataclasses.dataclass(frozen=True)
class ContourOptions:
    """Lines and halos behind what stands in front, which tell depths apart where shading does not: dense spheres above
    all. They lie over the picture of any ray type."""

    silhouettes: bool = option(False, "Draw a line round everything that stands in front of something else.")
    width: int = option(1, "Width of the lines.", minimum=1, maximum=4, unit="pixels")
    step: float = option(
        0.005, "How far behind another a surface lies, as a share of the scene's diagonal, for a full line between "
        "them; nearer, it is fainter.",
        minimum=1e-6, maximum=1.0,
    )  # fmt: skip
    halos: bool = option(False, "Darken what lies behind, round everything that stands in front of it.")
    radius: int = option(12, "How far halos reach.", minimum=1, maximum=64, unit="pixels")
    depth: float = option(
        0.1, "How far behind another a surface lies, as a share of the scene's diagonal, for the full halo.",
        minimum=1e-6, maximum=10.0,
    )  # fmt: skip
    strength: float = option(0.7, "How much lines and halos cover of the picture.", minimum=0.0, maximum=1.0)
    color: Vector = option(
        (0.0, 0.0, 0.0), "Linear colour of lines and halos.", minimum=0.0, maximum=1.0, is_color=True
    )

    @property
    def are_on(self) -> bool:
        """Whether anything is drawn."""
        return (self.silhouettes or self.halos) and self.strength > 0.0

"""A material as kernels read it (gpu/shade/shading.cuh), and what of materials a scene may have."""

from __future__ import annotations

import dataclasses
import enum

from ..rows import Row, Vector

NO_TEXTURE = -1
ALPHA_IS_IGNORED, ALPHA_IS_A_SHARE = -1.0, 0.0
"""Rules of alpha; any other is what it must reach, for all or nothing."""


@dataclasses.dataclass(frozen=True)
class MaterialRow(Row):
    """A material. Textures are indices, NO_TEXTURE for none."""

    base_color: Vector
    alpha: float
    emission: Vector
    base_color_texture: int
    metallic: float
    roughness: float
    transmission: float
    ior: float
    absorption: Vector
    """Shares a unit of length, by Beer's law: what is left after a distance d is exp(-absorption d)."""
    alpha_rule: float
    roughness_texture: int
    normal_texture: int
    emission_texture: int
    normal_scale: float
    is_thin: bool
    is_double_sided: bool
    """Whether its back shines as well."""
    unused: tuple[float, float] = (0.0, 0.0)


class MaterialFeatures(enum.IntFlag):
    """What any material of a scene needs: what none has costs nothing."""

    ALPHA = 1
    GLASS = 2
    NORMAL_MAPS = 4
    OTHER_MAPS = 8
    ONE_SIDED_LAMPS = 16

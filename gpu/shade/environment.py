"""Light from far away as kernels read it: the picture of all directions, and running sums of its brightness, by which
directions are sampled."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..rows import Float, Floats, Int, Struct
from ..scene import Environment
from ..target.base import Array, Target
from ..target.structs import pack

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


@dataclasses.dataclass(frozen=True)
class EnvironmentArrays(Struct):
    """What EnvironmentView of environment.cuh holds."""

    texels: Floats
    """width * height * 3."""
    rows: Floats
    """height sums of brightness, the last is 1."""
    columns: Floats
    """In each row, width of them."""
    width: Int
    height: Int
    """0: there is none."""
    strength: Float
    turn: Float
    """In whole turns around +y."""


class EnvironmentMap:
    """On the target: `texels` (H, W, 3) float32 and the tables of `sampling_tables`; nothing where the scene has no
    environment."""

    def __init__(self, target: Target, environment: Environment | None) -> None:
        self.texels: Array = None
        self.rows: Array = None
        self.columns: Array = None
        self.width = self.height = 0
        if environment is not None:
            pixels = np.ascontiguousarray(environment.pixels, np.float32)
            rows, columns = sampling_tables(pixels)
            self.height, self.width = pixels.shape[:2]
            self.texels, self.rows, self.columns = (
                target.upload(values, "environment") for values in (pixels, rows, columns)
            )

    @property
    def is_there(self) -> bool:
        """Whether the scene has an environment."""
        return self.texels is not None

    def view(self, strength: float = 1.0, turn: float = 0.0) -> np.ndarray:
        """The by-value struct; `turn` in whole turns."""
        arrays = (self.texels, self.rows, self.columns)
        return pack(EnvironmentArrays(*arrays, self.width, self.height, strength, turn))


def sampling_tables(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of brightness times solid angle: of rows (H,), and within each row (H, W); float32, ascending, each ends
    with 1. Black pixels are never chosen, except in rows, or in a picture, that are black all over."""
    height, width = pixels.shape[:2]
    bright = np.maximum(pixels.astype(np.float64) @ LUMINANCE, 0.0)
    of_rows = bright.sum(axis=1) * np.sin(np.pi * (np.arange(height) + 0.5) / height)
    of_rows = of_rows if of_rows.sum() > 0.0 else np.ones(height)
    bright[bright.sum(axis=1) <= 0.0] = 1.0
    rows, columns = np.cumsum(of_rows) / of_rows.sum(), np.cumsum(bright, axis=1) / bright.sum(axis=1, keepdims=True)
    rows[-1], columns[:, -1] = 1.0, 1.0
    return rows.astype(np.float32), columns.astype(np.float32)

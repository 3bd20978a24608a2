"""Scratch memory of a build as a table of names: what is held, and how many bytes that is, from one place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..target.base import Array, Target

Shapes = dict[str, tuple[tuple[int, ...], Any]]
"""Shape and numpy type of each array, by the name that a builder has for it."""


def scratch_arrays(target: Target, owner: str, shapes: Shapes) -> dict[str, Array]:
    """The arrays, under `owner`.name in the target's scratch memory: good until the next build."""
    return {name: target.scratch(f"{owner}.{name}", shape, dtype) for name, (shape, dtype) in shapes.items()}


def bytes_of(shapes: Shapes) -> int:
    """Of all of them."""
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes.values())

"""Spheres splatted in two passes: near ones first, then those of the others that they do not hide."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..target.base import Target, Unit
from ..trace.trace import CameraRays
from .tile_lists import Boxes, make_input

CELL = 4
"""Pixels of a side of the cells in which it is known what is hidden."""

PARTS = ("all", "near", "rest")
"""Part of covered.cuh."""

_BLOCK = 1024


def splat_in_parts(
    target: Target,
    unit: Unit,
    rays: CameraRays,
    tile_input: np.ndarray,
    boxes: Boxes | None,
    splat: Callable[[np.ndarray, str], None],
) -> None:
    """Draw both passes by `splat`, which is given the tiles' input and which part; `boxes` where these were written.
    Launches only."""
    cells = -(-rays.width // CELL) * -(-rays.height // CELL)
    bound = target.scratch("glyphs.near_bound", 1, np.uint32)
    covered = target.scratch("glyphs.covered", max(1, cells), np.uint32)
    made = make_input(tile_input, order_keys=boxes and boxes.order_keys, near_bound=bound, covered=covered)
    target.launch(
        unit, "choose_near", _BLOCK, frame=rays.frame, input=made, pixels=rays.width * rays.height, bound=bound,
        block=_BLOCK, blocks=1,
    )  # fmt: skip
    splat(made, "near")
    target.launch(unit, "find_covered", cells, frame=rays.frame, input=made, covered=covered)
    splat(made, "rest")

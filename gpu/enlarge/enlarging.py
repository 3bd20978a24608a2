"""A picture that was drawn smaller than its place is enlarged on the target, with its edges kept: what moves on a slow
machine is drawn at half of each side, and a display that interpolates shows edges as steps that are blurred."""

from __future__ import annotations

import numpy as np

from ..target.base import Array, Target, UnitSource

UNIT = UnitSource("gpu/enlarge/enlarge.cu", rays_per_thread=0)


class Enlarger:
    """Enlarges pictures on a target. Compiles its unit where the cache has none."""

    def __init__(self, target: Target) -> None:
        self._target, self._unit = target, target.unit(UNIT)

    def keep(self, picture: Array) -> Array:
        """A copy (h, w, 4) of a picture, until the next one; its place may be written then. Launches only. Its memory
        stays: at 3840 x 2160 it is 8 MB at half of each side, and with each drag pictures are small again, which would
        allocate between two of them."""
        height, width, _ = picture.shape
        kept = self._target.scratch("enlarge.picture", (height, width, 4), np.uint8)
        self._target.launch(
            self._unit, "keep_picture", height * width, picture=picture, pixel_count=height * width, kept=kept
        )
        return kept

    def enlarge(self, picture: Array, enlarged: Array) -> None:
        """Write a picture (h, w, 4) uint8, sRGB, as one of (H, W, 4) of no fewer pixels a side, another array. Launches
        only."""
        (height, width, _), (high, wide, _) = picture.shape, enlarged.shape
        self._target.launch(
            self._unit,
            "enlarge_picture",
            -(-wide // self._target.lane_count) * high,
            picture=picture,
            width=width,
            height=height,
            wide=wide,
            high=high,
            enlarged=enlarged,
        )

"""A picture in few colours, for the sanitizers."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.quantise.palette import quantise
from raygrove.gpu.target.base import Target


def run_palettes(target: Target) -> None:
    """Of a small picture."""
    image = np.random.default_rng(1).integers(0, 256, (10, 15, 4), np.uint8)
    assert len(quantise(target, image, 5).palette) == 5

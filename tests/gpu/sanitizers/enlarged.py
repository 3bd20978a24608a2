"""A small picture enlarged, for the sanitizers."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.enlarge.enlarging import Enlarger
from raygrove.gpu.target.base import Target


def run_enlarged(target: Target) -> None:
    """To sides that are no multiples of its own, with plain parts and edges."""
    image = np.random.default_rng(1).integers(0, 256, (7, 11, 4), np.uint8)
    image[:, :4] = 90
    enlarger, enlarged = Enlarger(target), target.empty((12, 21, 4), np.uint8, "test")
    enlarger.enlarge(enlarger.keep(target.upload(image, "test")), enlarged)
    found = target.download(enlarged)
    assert (found[..., 3] == 255).all() and (found[1:-1, 0:4, :3] == 90).all()

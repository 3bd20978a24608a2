"""Colours of particles: files hold them as screens show them (sRGB), scenes hold them linear."""

from __future__ import annotations

import numpy as np

PALETTE = np.array(
    [[31, 119, 180], [255, 127, 14], [44, 160, 44], [214, 39, 40], [148, 103, 189], [140, 86, 75], [227, 119, 194],
     [127, 127, 127], [188, 189, 34], [23, 190, 207]], np.uint8,
)  # fmt: skip
"""One for each kind of particle, then from the start again: the ten of Tableau, that most plots have."""


def linear_from_display(values: np.ndarray) -> np.ndarray:
    """Linear float32 colours of (..., 3) bytes, 16-bit numbers or floats from 0 to 1."""
    values = np.asarray(values)
    if values.dtype.kind in "ui":
        top = 65535.0 if values.size and values.max() > 255 else 255.0
        display = values.astype(np.float32) / np.float32(top)
    else:
        display = np.nan_to_num(values.astype(np.float32))
        display = display / np.float32(255.0) if display.size and display.max() > 1.0 else display
    display = display.clip(0.0, 1.0)
    return np.where(display <= 0.04045, display / 12.92, ((display + 0.055) / 1.055) ** 2.4).astype(np.float32)


def of_kinds(kinds: np.ndarray) -> np.ndarray:
    """A colour (N, 3) for each whole number (N,)."""
    return linear_from_display(PALETTE)[np.asarray(kinds, np.int64) % len(PALETTE)]

"""The sRGB transfer function (IEC 61966-2-1) as tables: what kernels look up, computed here in float64."""

from __future__ import annotations

import numpy as np

ENCODE_STEPS = 4096


def decode(encoded: np.ndarray) -> np.ndarray:
    """sRGB values in [0, 1] to linear, float64."""
    values = np.asarray(encoded, np.float64)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def encode(linear: np.ndarray) -> np.ndarray:
    """Linear values in [0, 1] to sRGB, float64."""
    values = np.clip(np.asarray(linear, np.float64), 0.0, 1.0)
    return np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1.0 / 2.4) - 0.055)


def encode_tables() -> tuple[np.ndarray, np.ndarray]:
    """`first_level` (4096,) uint8 and `thresholds` (257,) float32 of `encode_srgb` in color.cuh: rounding to the
    nearest level, exact for float32."""
    levels = np.arange(1, 256)
    exact = decode((levels - 0.5) / 255.0)
    rounded = exact.astype(np.float32)
    # A threshold is the smallest float32 at or above the exact one, so that >= decides as real numbers would.
    rounded = np.where(rounded.astype(np.float64) < exact, np.nextafter(rounded, np.float32(2.0)), rounded)
    thresholds = np.concatenate([[0.0], rounded, [np.inf]]).astype(np.float32)
    starts = np.arange(ENCODE_STEPS, dtype=np.float32) / np.float32(ENCODE_STEPS)
    first_level = np.searchsorted(thresholds[1:256], starts, side="right")
    return first_level.astype(np.uint8), thresholds


def decode_table() -> np.ndarray:
    """(512,) float32: the linear value of each byte, first of plain bytes, then of sRGB bytes."""
    bytes_ = np.arange(256) / 255.0
    return np.concatenate([bytes_, decode(bytes_)]).astype(np.float32)

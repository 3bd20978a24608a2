"""Morton codes against bits interleaved one by one."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.target.base import Target

from .units import run_kernel


def interleaved(points: np.ndarray, bits: int) -> np.ndarray:
    """x in the highest place of each group of three bits."""
    cells = np.clip((points * np.float32(2**bits)).astype(np.int64), 0, 2**bits - 1)
    codes = np.zeros(len(points), np.int64)
    for bit in range(bits):
        for axis in range(3):
            codes |= (cells[:, axis] >> bit & 1) << (3 * bit + 2 - axis)
    return codes


def test_codes_are_interleaved_bits(target: Target) -> None:
    points = np.random.default_rng(1).uniform(0, 1, (5000, 3)).astype(np.float32)
    points[:8] = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, 8).T
    points[8:10] = [[-0.5, 2, 0.5], [1e-9, 1 - 1e-7, 0.25]]
    n = len(points)
    _, codes_30, codes_60 = run_kernel(
        target, "morton", "compute_codes", n, points, n, np.zeros(n, np.uint32), np.zeros(n, np.uint64)
    )
    np.testing.assert_array_equal(codes_30, interleaved(points, 10))
    np.testing.assert_array_equal(codes_60, interleaved(points, 20))


@pytest.mark.parametrize("bits", [10, 20])
def test_each_bit_of_each_axis_lands_alone(target: Target, bits: int) -> None:
    points = np.zeros((3 * bits, 3), np.float32)
    for place in range(3 * bits):
        points[place, 2 - place % 3] = 2.0 ** (place // 3 - bits)
    n = len(points)
    codes = run_kernel(target, "morton", "compute_codes", n, points, n, np.zeros(n, np.uint32), np.zeros(n, np.uint64))[
        1 if bits == 10 else 2
    ]
    np.testing.assert_array_equal(codes.astype(np.int64), 1 << np.arange(n, dtype=np.int64))

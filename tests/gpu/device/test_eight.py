"""Eight numbers worked as one, against numpy, by every body that this machine can run."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.target.base import Target

from .test_lanes import processors  # noqa: F401  (a fixture)
from .units import run_kernel

COUNT = 600


def test_numbers(processors: Target) -> None:  # noqa: F811
    random = np.random.default_rng(1)
    a, b = (random.normal(size=(COUNT, 8)).astype(np.float32) for _ in range(2))
    a[::5, 3], b[::7] = np.nan, a[::7]
    rows = run_kernel(
        processors, "eight", "compute_eights", COUNT, a, b, COUNT, np.zeros((COUNT, 5, 9), np.float32), width=1
    )[-1]
    with np.errstate(invalid="ignore"):
        smaller, larger = np.where(a < b, a, b), np.where(a > b, a, b)
        expected = np.stack([a * b, a - b, smaller, larger, np.repeat(a[:, :1], 8, 1)], axis=1).astype(np.float32)
        bits = ((expected <= 0).astype(np.int64) << np.arange(8)).sum(-1)
    np.testing.assert_array_equal(rows[..., :8], expected)
    np.testing.assert_array_equal(rows[..., 8], bits)


def test_the_chosen_stand_side_by_side(processors: Target) -> None:  # noqa: F811
    random = np.random.default_rng(2)
    integers = random.integers(-(2**31), 2**31, (COUNT, 8)).astype(np.int32)
    turned, chosen = (random.integers(0, most, COUNT).astype(np.int32) for most in (8, 256))
    chosen[:2] = 0, 255
    outputs = (np.zeros(COUNT, np.int32), np.zeros((COUNT, 8), np.int32))
    *_, bits, written = run_kernel(
        processors, "eight", "choose_of_eight", COUNT, integers, turned, chosen, COUNT, *outputs, width=1
    )
    np.testing.assert_array_equal(bits, ((integers < 0).astype(np.int64) << np.arange(8)).sum(1))
    for item in range(COUNT):
        expected = [integers[item, place ^ turned[item]] for place in range(8) if chosen[item] >> place & 1]
        assert written[item, : len(expected)].tolist() == expected

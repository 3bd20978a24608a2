"""Vectors and boxes against numpy, degenerate ones among them."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.target.base import Target

from .units import run_kernel

N = 500


def vectors(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=5, size=(N, 3)).astype(np.float32)


def unit(v: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.divide(v, length, out=v.copy(), where=length > 0)


def test_vectors(target: Target) -> None:
    a, b = vectors(1), vectors(2)
    a[0], b[1] = 0, 0
    a[2] = [np.nan, 1, 1]
    a[3] = [1, np.inf, 1]
    out = np.zeros((12, N, 3), np.float32), np.zeros((4, N), np.float32)
    _, _, found, numbers = run_kernel(target, "geometry", "compute_vectors", N, a, b, N, *out)
    finite = np.isfinite(a).all(1)
    np.testing.assert_array_equal(numbers[3], finite)
    x, y = a[finite].astype(np.float64), b[finite].astype(np.float64)
    mirror = unit(y)
    expected = [
        x + y,
        x - y,
        x * y,
        x * 2,
        x / 2,
        -x,
        np.cross(x, y),
        unit(x),
        x + (y - x) / 4,
        np.minimum(x, y),
        np.maximum(x, y),
    ]
    expected.append(x - 2 * np.sum(x * mirror, 1, keepdims=True) * mirror)
    for row, wanted in enumerate(expected):
        np.testing.assert_allclose(found[row][finite], wanted, atol=2e-5, err_msg=f"row {row}")
    np.testing.assert_allclose(numbers[0][finite], np.sum(x * y, 1), atol=2e-5)
    np.testing.assert_allclose(numbers[1][finite], np.linalg.norm(x, axis=1), rtol=1e-6)
    np.testing.assert_array_equal(numbers[2][finite], np.clip(a[finite, 0], -1, 1))


def test_boxes(target: Target) -> None:
    a, b, points = vectors(3), vectors(4), vectors(5)
    b[:10] = a[:10]
    out = np.zeros((11 * N, 3), np.float32), np.zeros((10, N), np.float32)
    _, _, _, boxes, numbers = run_kernel(target, "geometry", "compute_boxes", N, a, b, points, N, *out)
    lower, upper = np.minimum(a, b), np.maximum(a, b)
    found = boxes[: 10 * N].reshape(5, N, 2, 3)
    np.testing.assert_array_equal(found[0], np.stack([lower, upper], 1))
    grown = np.stack([np.minimum(lower, points), np.maximum(upper, points)], 1)
    np.testing.assert_array_equal(found[1], grown)
    np.testing.assert_array_equal(found[2], grown)
    np.testing.assert_array_equal(found[3], found[0])
    np.testing.assert_array_equal(numbers[5:], [[0] * N] * 4 + [[1] * N])
    size = grown[:, 1] - grown[:, 0]
    np.testing.assert_allclose(
        numbers[1], size[:, 0] * size[:, 1] + size[:, 1] * size[:, 2] + size[:, 2] * size[:, 0], rtol=1e-5
    )
    assert np.all(numbers[4] == 0) and np.all(numbers[0, :10] == 0)
    np.testing.assert_allclose(boxes[10 * N :], (lower + upper) / 2, atol=1e-6)


def test_an_empty_box_changes_nothing(target: Target) -> None:
    point = np.full((1, 3), 3e38, np.float32)
    out = np.zeros((11, 3), np.float32), np.zeros((10, 1), np.float32)
    boxes = run_kernel(target, "geometry", "compute_boxes", 1, point, point, point, 1, *out)[3]
    np.testing.assert_array_equal(boxes[6:8], np.repeat(point, 2, 0))
    assert np.all(boxes[8] > boxes[9])

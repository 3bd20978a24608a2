"""Transforms and interpolated rotations against a float64 reference."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.target.base import Target

from .units import run_kernel

N = 400


def quaternions(seed: int) -> np.ndarray:
    q = np.random.default_rng(seed).normal(size=(N, 4))
    return (q / np.linalg.norm(q, axis=1, keepdims=True)).astype(np.float32)


def rotated(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """v turned by the unit quaternions q (x, y, z, w): v + 2 w (u x v) + 2 u x (u x v)."""
    u, w = q[:, :3], q[:, 3:]
    side = np.cross(u, v)
    return v + 2 * w * side + 2 * np.cross(u, side)


def reference_slerp(a: np.ndarray, b: np.ndarray, t: np.ndarray) -> np.ndarray:
    b = np.where(np.sum(a * b, 1, keepdims=True) < 0, -b, b)
    angle = np.arccos(np.clip(np.sum(a * b, 1, keepdims=True), -1, 1))
    small = angle < 1e-6
    sine = np.where(small, 1, np.sin(angle))
    mixed = np.where(small, a * (1 - t) + b * t, (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / sine)
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def matrices(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N, 3, 4)).astype(np.float32)


def test_compose_moves_turns_and_scales(target: Target) -> None:
    random = np.random.default_rng(1)
    moves, scales = (random.normal(scale=3, size=(N, 3)).astype(np.float32) for _ in range(2))
    rotations = quaternions(2)
    lengths = random.uniform(0.5, 2, (N, 1)).astype(np.float32)
    found = run_kernel(
        target,
        "transforms",
        "compose_transforms",
        N,
        moves,
        rotations * lengths,
        scales,
        N,
        np.zeros((N, 3, 4), np.float32),
    )[-1]
    for point in np.vstack([np.eye(3), [[1.0, -2.0, 3.0]]]):
        expected = rotated(rotations.astype(np.float64), scales.astype(np.float64) * point) + moves
        np.testing.assert_allclose(found[:, :, :3] @ point + found[:, :, 3], expected, atol=3e-5)


def test_products_points_and_normals(target: Target) -> None:
    outer, inner = matrices(3), matrices(4)
    outer[0, :, :3] = np.diag([-1, 1, 1])
    points = np.random.default_rng(5).normal(size=(N, 3)).astype(np.float32)
    out = np.zeros_like(outer), np.zeros_like(outer), np.zeros((N, 2, 3), np.float32)
    _, _, _, products, normals, results = run_kernel(
        target, "transforms", "apply_transforms", N, outer, inner, points, N, *out
    )
    bottom = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (N, 1, 4))
    a, b = (np.concatenate([m.astype(np.float64), bottom], 1) for m in (outer, inner))
    np.testing.assert_allclose(products, (a @ b)[:, :3], atol=1e-5)
    np.testing.assert_allclose(
        results[:, 0], (a[:, :3] @ np.append(points, np.ones((N, 1)), 1)[:, :, None])[:, :, 0], atol=1e-5
    )
    np.testing.assert_allclose(results[:, 1], (a[:, :3, :3] @ points[:, :, None])[:, :, 0], atol=1e-5)
    # Normals turn by the inverse transpose, up to a positive factor: the absolute determinant.
    linear = a[:, :3, :3]
    expected = np.linalg.inv(linear).transpose(0, 2, 1) * np.abs(np.linalg.det(linear))[:, None, None]
    np.testing.assert_allclose(normals[:, :, :3], expected, atol=1e-4)
    np.testing.assert_array_equal(normals[:, :, 3], 0)


def test_slerp(target: Target) -> None:
    a, b = quaternions(6), quaternions(7)
    b[:50] = a[:50]
    b[50:100] = -a[50:100]
    nearly = a[100:150] + np.float32(1e-4) * b[100:150]
    b[100:150] = nearly / np.linalg.norm(nearly, axis=1, keepdims=True)
    # Half a turn apart: the four-vectors are at right angles.
    b[150:200] = a[150:200][:, [1, 0, 3, 2]] * np.float32([1, -1, 1, -1])
    alphas = np.random.default_rng(8).uniform(0, 1, N).astype(np.float32)
    alphas[::9], alphas[4::9] = 0, 1
    found = run_kernel(target, "transforms", "interpolate_rotations", N, a, b, alphas, N, np.zeros_like(a))[-1]
    expected = reference_slerp(a.astype(np.float64), b.astype(np.float64), alphas[:, None].astype(np.float64))
    # At right angles both ways round are the shorter one.
    other = reference_slerp(a.astype(np.float64), -b.astype(np.float64), alphas[:, None].astype(np.float64))
    error = np.abs(found - expected).max(1)
    error[150:200] = np.minimum(error, np.abs(found - other).max(1))[150:200]
    assert error.max() < 2e-6
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6

"""Scenes made to break builders, by name; `crafted` gives the first so many triangles of one."""

from __future__ import annotations

import functools

import numpy as np

from raygrove.testing.scenes import TriangleScene, scene_of, soup

MANY = 100_000
FEW = 1_000


def _coplanar() -> np.ndarray:
    corners = soup(FEW, seed=2).corners()
    corners[:, :, 1] = 0.5
    return corners


def _slivers() -> np.ndarray:
    random = np.random.default_rng(3)
    start, along = random.random((FEW, 1, 3)), random.standard_normal((FEW, 1, 3))
    return start + along * np.array([0.0, 1.0, 0.5])[None, :, None] + 1e-6 * random.standard_normal((FEW, 3, 3))


def _nested() -> np.ndarray:
    """Nine decades of size about one point."""
    sizes = 10.0 ** -np.linspace(0, 9, FEW)
    return 0.5 + sizes[:, None, None] * np.random.default_rng(4).standard_normal((FEW, 3, 3))


def _ties() -> np.ndarray:
    """So far from one more triangle that all the others share a Morton code."""
    return np.concatenate([soup(FEW, seed=6).corners(), 1e7 + soup(1).corners()])


def _random_bits() -> np.ndarray:
    return np.random.default_rng(7).integers(0, 2**32, (MANY, 3, 3), dtype=np.uint64).astype(np.uint32).view(np.float32)


def _not_finite() -> np.ndarray:
    """NaN and both infinities, in most triangles but not in all."""
    random, corners = np.random.default_rng(8), soup(FEW).corners()
    broken = random.choice([np.nan, np.inf, -np.inf], corners.shape)
    return np.where(random.random(corners.shape) < 0.2, broken, corners)


CRAFTED = {
    "three": lambda: soup(3, size=0.5).corners(),
    "identical": lambda: np.tile(soup(1, size=0.5).corners(), (MANY, 1, 1)),
    "coplanar": _coplanar,
    "collinear": lambda: np.linspace(0, 1, 3 * FEW).reshape(FEW, 3, 1) * np.ones(3),
    "no area": lambda: np.repeat(soup(FEW).corners()[:, :1], 3, axis=1),
    "not finite": _not_finite,
    "huge": lambda: soup(FEW).corners() * 1e38,
    "tiny": lambda: soup(FEW).corners() * 1e-38,
    "denormal": lambda: soup(FEW).corners() * 1e-41,
    "ties": _ties,
    "slivers": _slivers,
    "nested": _nested,
    "random bits": _random_bits,
}


@functools.cache
def crafted(name: str, most: int) -> TriangleScene:
    with np.errstate(all="ignore"):
        return scene_of(np.asarray(CRAFTED[name]()[:most], np.float32))

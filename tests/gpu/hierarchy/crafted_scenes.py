"""Twenty scenes made to break builders, by name; `crafted` gives the first so many triangles of one."""

from __future__ import annotations

import functools

import numpy as np

from raygrove.testing.scenes import TriangleScene, scene_of, soup

MANY = 100_000
USUAL = 20_000
"""As many triangles of the largest scenes do for tests that are run always."""
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


_LARGE = np.array([[[-50.0, -60.0, 0.4], [70.0, -40.0, 0.5], [10.0, 90.0, 0.6]]])


def _fan() -> np.ndarray:
    """All share a corner."""
    rim = np.random.default_rng(9).random((FEW + 1, 3))
    return np.stack([np.full((FEW, 3), 0.5), rim[:-1], rim[1:]], axis=1)


def _lattice() -> np.ndarray:
    """Squares in a row and column, whose edges lie where bins and cells are divided."""
    x, y = np.divmod(np.arange(484), 22)
    corner = np.stack([x, y, np.full(484, 11.0)], axis=1)[:, None, :] / 22.0
    right, up = np.array([1 / 22, 0, 0]), np.array([0, 1 / 22, 0])
    halves = [corner + np.stack([np.zeros(3), right, right + up]), corner + np.stack([np.zeros(3), right + up, up])]
    return np.concatenate(halves)


def _signed_zeros() -> np.ndarray:
    """In the plane x = 0, which is written both ways."""
    corners = soup(FEW, seed=11).corners()
    corners[:, :, 0] = np.where(np.random.default_rng(11).random((FEW, 3)) < 0.5, -0.0, 0.0)
    return corners


def _ever_farther() -> np.ndarray:
    """Each twice as far from a corner as the one before, and twice as large: halving splits off one at a time."""
    sizes = 2.0 ** -np.arange(60.0)
    return sizes[:, None, None] * (0.3 + 0.4 * np.random.default_rng(12).random((60, 3, 3)))


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
    "one over many": lambda: np.concatenate([soup(FEW).corners(), _LARGE]),
    "fan": _fan,
    "lattice": _lattice,
    "layers": lambda: soup(FEW, seed=10).corners() * [1.0, 1.0, 1e-7] + [0.0, 0.0, 0.5],
    "signed zeros": _signed_zeros,
    "two crowds": lambda: np.concatenate([soup(FEW // 2, seed=n).corners() * 1e-3 + 0.2 + 0.6 * n for n in (0, 1)]),
    "ever farther": _ever_farther,
}


@functools.cache
def crafted(name: str, most: int) -> TriangleScene:
    with np.errstate(all="ignore"):
        return scene_of(np.asarray(CRAFTED[name]()[:most], np.float32))

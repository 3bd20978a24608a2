"""The table of what gloss reflects: the integrals that it is made of, by another rule, and what kernels read between
its nodes."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from raygrove.gpu.shade.gloss import (
    GLOSS_COSINES,
    GLOSS_INDICES,
    GLOSS_LARGEST,
    GLOSS_ROUGHNESSES,
    fresnel,
    gloss_table,
    make_gloss_table,
    smooth_mean,
)


@functools.cache
def quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Finding the places takes longer than any integral with them."""
    points, weights = np.polynomial.legendre.leggauss(400)
    return points, weights


def reflected(cosine: float, alpha: float, index: float) -> float:
    """The GGX lobe with Fresnel's term, integrated over directions (not over normals): Walter et al. 2007, Heitz
    2014."""
    points, weights = quadrature()
    z, turn = np.meshgrid((points + 1.0) / 2.0, (points + 1.0) / 2.0 * np.pi, indexing="ij")
    side = np.sqrt(1.0 - z * z)
    half = np.stack([side * np.cos(turn) + np.sqrt(1.0 - cosine**2), side * np.sin(turn), z + cosine])
    half /= np.linalg.norm(half, axis=0)
    normals = alpha**2 / np.pi / ((alpha**2 - 1.0) * half[2] ** 2 + 1.0) ** 2
    hidden = sum((np.sqrt(1.0 + alpha**2 * (1.0 / c**2 - 1.0)) - 1.0) / 2.0 for c in (cosine, z))
    share = fresnel(np.array(index), half[0] * np.sqrt(1.0 - cosine**2) + half[2] * cosine)
    value = share * normals / (4.0 * cosine * (1.0 + hidden))
    return float((value * np.outer(weights, weights)).sum() * np.pi / 2.0)


def read(cosine: float, roughness: float, index: float) -> float:
    """What gloss.cuh reads, in float64; of all cosines together where `cosine` is negative."""
    side = np.sqrt((index - 1.0) / (index + 1.0) / GLOSS_LARGEST) * (GLOSS_INDICES - 1)
    i, r = int(side), min(int(roughness * (GLOSS_ROUGHNESSES - 1)), GLOSS_ROUGHNESSES - 2)
    rough = roughness * (GLOSS_ROUGHNESSES - 1) - r
    row = sum(
        gloss_table()[i + a, r + b].astype(np.float64)
        * (side - i if a else 1.0 - side + i)
        * (rough if b else 1.0 - rough)
        for a in (0, 1)
        for b in (0, 1)
    )
    if cosine < 0.0:
        return float(row[GLOSS_COSINES] * smooth_mean(np.array(index)))
    return float(
        np.interp(np.sqrt(cosine), np.linspace(0.0, 1.0, GLOSS_COSINES), row[:GLOSS_COSINES])
        * fresnel(np.array(index), cosine)
    )


@pytest.mark.parametrize("index", [1.1, 1.33, 1.5, 2.42])
@pytest.mark.parametrize("roughness", [0.45, 0.7, 1.0])
def test_the_table_has_the_integrals(roughness: float, index: float) -> None:
    for cosine in (0.06, 0.2, 0.5, 0.9):
        assert read(cosine, roughness, index) == pytest.approx(reflected(cosine, roughness**2, index), abs=0.006)


@pytest.mark.parametrize("index", [1.02, 1.33, 1.5, 2.42, 9.0])
def test_smooth_gloss_is_fresnels(index: float) -> None:
    cosines = np.linspace(0.01, 1.0, 100)
    assert [read(c, 0.0, index) for c in cosines] == pytest.approx(fresnel(np.array(index), cosines), abs=1e-6)
    assert read(-1.0, 0.0, index) == pytest.approx(
        2.0 * np.mean(fresnel(np.array(index), cosines) * cosines), abs=0.012
    )


@pytest.mark.parametrize("index", [1.1, 1.5, 3.0])
@pytest.mark.parametrize("roughness", [0.0, 0.3, 0.77])
def test_the_base_gets_all_that_the_gloss_leaves(roughness: float, index: float) -> None:
    cosines = (np.arange(4000) + 0.5) / 4000
    left = 1.0 - 2.0 * np.mean([read(c, roughness, index) * c for c in cosines])
    assert left / (1.0 - read(-1.0, roughness, index)) == pytest.approx(1.0, abs=0.004)


def test_the_kept_table_is_what_the_integrals_give() -> None:
    kept = gloss_table()
    assert kept.shape == (GLOSS_INDICES, GLOSS_ROUGHNESSES, GLOSS_COSINES + 1) and kept.dtype == np.float32
    assert kept == pytest.approx(make_gloss_table(), abs=1e-5)

"""How much of even light the gloss of a dielectric reflects: the table that gloss.cuh reads, made of integrals in
float64.

E(cosine, roughness, index) is the integral over all directions of the GGX lobe with Fresnel's term: its mean over the
normals that are seen from the eye (Dupuy and Benyoub 2023), by Gauss and Legendre's rule. The table has E as a share of
what a smooth surface reflects, and after each row's cosines the mean over the half sphere (by the cosine) as a share of
Kulla and Conty's fit of a smooth surface's. `python -m raygrove.gpu.shade.gloss` writes it anew.
"""

from __future__ import annotations

import functools
import pathlib

import numpy as np

KEPT = pathlib.Path(__file__).with_name("gloss.npy")
GLOSS_INDICES, GLOSS_ROUGHNESSES, GLOSS_COSINES = 8, 33, 33
"""Nodes: even steps of the root of (index - 1) / (index + 1) up to GLOSS_LARGEST's, of roughness, and of the root of
the cosine."""
GLOSS_LARGEST = 0.82
"""Index 10 and a little more."""
NO_INDEX = 1.0005
"""Nothing is reflected at an index of 1: there the shares are those of one beside it."""


def fresnel(index: np.ndarray, cosine: np.ndarray | float) -> np.ndarray:
    """The share of unpolarised light that a dielectric reflects; 1 beyond the critical angle."""
    other = np.sqrt(np.maximum(1.0 - (1.0 - np.square(cosine)) / index**2, 0.0))
    a = (index * cosine - other) / np.maximum(index * cosine + other, 1e-12)
    b = (cosine - index * other) / np.maximum(cosine + index * other, 1e-12)
    return np.minimum(0.5 * (a * a + b * b), 1.0)


def smooth_mean(index: np.ndarray) -> np.ndarray:
    """The mean of `fresnel` over the half sphere, for indices from 1 (Kulla and Conty, Revisiting Physically Based
    Shading at Imageworks, 2017)."""
    return (index - 1.0) / (4.08567 + 1.00071 * index)


def _hidden(alpha: float, cosine: float | np.ndarray) -> np.ndarray:
    """Smith's Lambda of GGX."""
    tangent2 = (1.0 - np.square(cosine)) / np.maximum(np.square(cosine), 1e-12)
    return np.asarray((np.sqrt(1.0 + alpha**2 * tangent2) - 1.0) * 0.5)


def visible_reflections(cosine: float, alpha: float, points: int) -> tuple[np.ndarray, np.ndarray]:
    """The normals seen from a direction, as its cosines with them, and how much each counts: its weight, times what is
    seen of what it reflects."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    u, v = np.meshgrid((nodes + 1.0) / 2.0, (nodes + 1.0) / 2.0, indexing="ij")
    out = np.array([np.sqrt(1.0 - cosine**2), 0.0, cosine])
    stretched = out * [alpha, alpha, 1.0]
    stretched /= np.linalg.norm(stretched)
    z = (1.0 - v) * (1.0 + stretched[2]) - stretched[2]
    side = np.sqrt(np.maximum(1.0 - z * z, 0.0))
    normals = (
        np.stack([side * np.cos(np.pi * u), side * np.sin(np.pi * u), z], axis=-1) + stretched
    )  # the other half is its mirror image
    normals *= [alpha, alpha, 1.0]
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    half = np.clip(normals @ out, 0.0, 1.0)
    height = 2.0 * half * normals[..., 2] - cosine
    seen = 1.0 + _hidden(alpha, cosine)
    return half, np.where(height > 0.0, seen / (seen + _hidden(alpha, np.abs(height))), 0.0) * np.outer(
        weights, weights
    ) / 4.0


def reflected_share(cosine: float, roughness: float, indices: np.ndarray, points: int = 48) -> np.ndarray:
    """E for each of `indices` (N,)."""
    if roughness == 0.0:
        return fresnel(indices, cosine)
    half, counts = visible_reflections(cosine, roughness**2, points)
    return np.asarray(np.tensordot(fresnel(indices[:, None, None], half), counts, axes=2))


def make_gloss_table() -> np.ndarray:
    """(GLOSS_INDICES, GLOSS_ROUGHNESSES, GLOSS_COSINES + 1) float32."""
    side = np.linspace(0.0, 1.0, GLOSS_INDICES) ** 2 * GLOSS_LARGEST
    indices = np.maximum((1.0 + side) / (1.0 - side), NO_INDEX)
    roots = np.linspace(0.0, 1.0, GLOSS_COSINES)
    cosines = np.maximum(roots**2, 1e-4)
    table = np.empty((GLOSS_INDICES, GLOSS_ROUGHNESSES, GLOSS_COSINES + 1))
    for r, roughness in enumerate(np.linspace(0.0, 1.0, GLOSS_ROUGHNESSES)):
        for c, cosine in enumerate(cosines):
            table[:, r, c] = reflected_share(float(cosine), float(roughness), indices) / fresnel(indices, float(cosine))
    # The mean of what the kernels interpolate, so that the base gets all that the gloss leaves.
    fine = (np.arange(4096) + 0.5) / 4096
    smooth = fresnel(indices[:, None], fine**2) * 4.0 * fine**3 / 4096
    for r in range(GLOSS_ROUGHNESSES):
        shares = np.array([np.interp(fine, roots, table[i, r, :GLOSS_COSINES]) for i in range(GLOSS_INDICES)])
        table[:, r, GLOSS_COSINES] = (shares * smooth).sum(axis=1) / smooth_mean(indices)
    return table.astype(np.float32)


@functools.cache
def gloss_table() -> np.ndarray:
    """The kept table."""
    found: np.ndarray = np.load(KEPT, allow_pickle=False)
    return found


if __name__ == "__main__":
    np.save(KEPT, make_gloss_table(), allow_pickle=False)

"""Points on surfaces, as evenly as blue noise is: no two of one surface are near each other, and nowhere is a gap.

Idea: Candidates lie on the surface by area, five for each point that is wanted, each with a rank drawn at random. One
that has the best rank of all within a radius stays and removes the others there, all such at once, until none is left
(a parallel form of dart throwing). The radius is as large as leaves enough of them.

Paper: Cook, Stochastic Sampling in Computer Graphics (1986), for the distribution; Luby, A Simple Parallel Algorithm
for the Maximal Independent Set Problem (1986), for the rounds.
"""

from __future__ import annotations

import dataclasses

import numpy as np

CANDIDATES = 5
"""For each point that is wanted."""
RADIUS = 0.80
"""Of the side of a square as large as a point's share of the area: what leaves a few points more than are wanted."""
SAME_SIDE = 0.5
"""The cosine of two normals above which points keep away from each other: not round an edge, nor through a sheet."""
MOST_TRIES = 12


@dataclasses.dataclass(frozen=True, eq=False)
class SurfaceSamples:
    """N points of triangles: `prim_id` (N,) int32, `u`, `v` (N,) float32 weigh the corners 1 and 2, `area` (N,) float32
    is the share of the surface that each stands for."""

    prim_id: np.ndarray
    u: np.ndarray
    v: np.ndarray
    area: np.ndarray


def sample_surface(
    corners: np.ndarray, groups: np.ndarray, weights: np.ndarray, count: int, seed: int = 0
) -> SurfaceSamples:
    """`count` points of triangles with `corners` (T, 3, 3), in ascending order of the triangles; none where there is no
    area.

    Triangles of one of the `groups` (T,) int share its whole area among its points, so that a lamp shines as much as it
    is large, however few points it has; how many follows from its area times its entry in `weights` (G,), at least one.
    Triangles that are not finite are left out. The same values give the same points."""
    random = np.random.default_rng(seed)
    corners = np.asarray(corners, np.float64)
    edges = corners[:, 1:] - corners[:, :1]
    cross = np.cross(edges[:, 0], edges[:, 1])
    areas = np.linalg.norm(cross, axis=1) * 0.5
    areas = np.where(np.isfinite(areas), areas, 0.0)
    of_group = np.bincount(groups, areas, minlength=len(weights))
    shares = shares_of(of_group * weights, count)
    found = []
    for group in np.flatnonzero(shares):
        members = np.flatnonzero((groups == group) & (areas > 0.0))
        normals = cross[members] / (2.0 * areas[members, None])
        prim, u, v, parts = _blue_noise(corners[members], normals, areas[members], int(shares[group]), random)
        found.append((members[prim], u, v, parts * of_group[group]))
    if not found:
        none = np.zeros(0, np.float32)
        return SurfaceSamples(np.zeros(0, np.int32), none, none, none)
    prim, u, v, area = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(prim, kind="stable")
    return SurfaceSamples(*(x[order].astype(t) for x, t in ((prim, "i4"), (u, "f4"), (v, "f4"), (area, "f4"))))


def shares_of(weights: np.ndarray, count: int) -> np.ndarray:
    """Whole numbers that add up to `count` and are as the weights, by the largest remainder; at least one where the
    weight is above 0, even if that makes more."""
    total = float(weights.sum())
    if not total > 0.0 or count < 1:
        return np.zeros(len(weights), np.int64)
    exact = weights / total * count
    shares = np.floor(exact).astype(np.int64)
    most = np.argsort(shares - exact, kind="stable")[: count - int(shares.sum())]
    shares[most] += 1
    return np.asarray(np.where((shares == 0) & (weights > 0.0), 1, shares))


def _blue_noise(
    corners: np.ndarray, normals: np.ndarray, areas: np.ndarray, count: int, random: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """Triangle, u and v of `count` points, and the share of the area that each stands for."""
    total = float(areas.sum())
    prim, u, v = _candidates(areas, CANDIDATES * count + 8, random)
    a, b, c = (corners[prim, i] for i in range(3))
    points = a + (b - a) * u[:, None] + (c - a) * v[:, None]
    ranks = random.permutation(len(points))
    radius = RADIUS * np.sqrt(total / count)
    for _ in range(MOST_TRIES):
        pairs = _pairs_of_one_side(points, normals[prim], radius)
        kept = _far_apart(*pairs, ranks)
        if len(kept) >= count:
            break
        radius *= 0.97 * np.sqrt(len(kept) / count)
    else:
        kept = np.argsort(ranks)
    kept = kept[np.argsort(ranks[kept])][:count]
    return prim[kept], u[kept], v[kept], _parts(points, kept, *pairs, radius)


def _parts(points: np.ndarray, kept: np.ndarray, first: np.ndarray, second: np.ndarray, radius: float) -> np.ndarray:
    """The share of the area of each point that is kept: its own candidate's, and of those within the radius the more
    the nearer. Points crowd at the edges of a surface, where nothing keeps them away from one side; there each is
    less."""
    place = np.full(len(points), -1)
    place[kept] = np.arange(len(kept))
    crossing = (place[first] >= 0) != (place[second] >= 0)
    first, second = first[crossing], second[crossing]
    to, of = np.where(place[first] >= 0, (first, second), (second, first))
    between = points[to] - points[of]
    near = np.maximum(1.0 - np.einsum("ij,ij->i", between, between) / radius**2, 1e-9)
    sums = np.bincount(of, near, minlength=len(points))
    parts = 1.0 + np.bincount(place[to], near / sums[of], minlength=len(kept))
    return np.asarray(parts / parts.sum())


def _candidates(areas: np.ndarray, count: int, random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Triangle, u and v of places by area, one in each of as many equal shares of it."""
    sums = np.cumsum(areas)
    at = (np.arange(count) + random.random(count)) / count * sums[-1]
    prim = np.minimum(np.searchsorted(sums, at, side="right"), len(areas) - 1)
    root, other = np.sqrt(random.random(count)), random.random(count)
    return prim, root * (1.0 - other), root * other


def _pairs_of_one_side(points: np.ndarray, normals: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Both indices of each pair of points within the radius whose normals are alike."""
    first, second = neighbours_within(points, radius)
    same = np.einsum("ij,ij->i", normals[first], normals[second]) > SAME_SIDE
    return first[same], second[same]


def _far_apart(first: np.ndarray, second: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Indices of points no two of which are one of these pairs, while each of the others is paired with one of them."""
    is_open, is_kept = np.ones(len(ranks), bool), np.zeros(len(ranks), bool)
    while len(first):
        beaten = np.zeros(len(ranks), bool)
        beaten[np.where(ranks[first] < ranks[second], second, first)] = True
        best = is_open & ~beaten
        is_kept |= best
        is_open &= beaten
        is_open[first[best[second]]] = False
        is_open[second[best[first]]] = False
        left = is_open[first] & is_open[second]
        first, second = first[left], second[left]
    return np.flatnonzero(is_kept | is_open)


def neighbours_within(points: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Both indices of every pair of points that are at most `radius` apart, each pair once."""
    cells = np.floor((points - points.min(axis=0)) / radius).astype(np.int64) + 1
    sizes = cells.max(axis=0) + 2
    keys = (cells[:, 0] * sizes[1] + cells[:, 1]) * sizes[2] + cells[:, 2]
    order = np.argsort(keys, kind="stable")
    sorted_keys, found = keys[order], []
    for offset in range(14):  # half of the 27 cells around, the own one first
        x, y, z = (offset + 13) // 9 - 1, (offset + 13) // 3 % 3 - 1, (offset + 13) % 3 - 1
        wanted = sorted_keys + (x * sizes[1] + y) * sizes[2] + z
        begin = np.searchsorted(sorted_keys, wanted, side="left")
        end = np.searchsorted(sorted_keys, wanted, side="right")
        if offset == 0:
            begin = np.arange(len(points)) + 1
        counts = np.maximum(end - begin, 0)
        first = np.repeat(np.arange(len(points)), counts)
        second = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(begin, counts)
        first, second = order[first], order[second]
        between = points[first] - points[second]
        near = np.einsum("ij,ij->i", between, between) <= radius * radius
        found.append((first[near], second[near]))
    return np.concatenate([pair[0] for pair in found]), np.concatenate([pair[1] for pair in found])


def sample_spheres(radii: np.ndarray, count: int, seed: int = 0) -> SurfaceSamples:
    """`count` points of spheres with `radii` (S,), by their areas; those that are not above 0 get none. On each sphere
    they lie along a spiral, turned at random (Gonzalez, Measurement of Areas on a Sphere Using Fibonacci and
    Latitude-Longitude Lattices, 2010); `u` and `v` are octahedral (gpu/octahedral.py)."""
    random = np.random.default_rng(seed)
    areas = 4.0 * np.pi * np.maximum(np.nan_to_num(np.asarray(radii, np.float64)), 0.0) ** 2
    if count < 1 or not areas.sum() > 0.0:
        none = np.zeros(0, np.float32)
        return SurfaceSamples(np.zeros(0, np.int32), none, none, none)
    sums = np.cumsum(areas)
    at = (np.arange(count) + random.random(count)) / count * sums[-1]
    prim = np.minimum(np.searchsorted(sums, at, side="right"), len(areas) - 1)
    shares = np.bincount(prim, minlength=len(areas))
    place = np.arange(count) - (np.cumsum(shares) - shares)[prim]
    height = 1.0 - (2.0 * place + 1.0) / shares[prim]
    turn = place * np.pi * (3.0 - np.sqrt(5.0)) + random.random(len(areas))[prim] * 2.0 * np.pi
    ring = np.sqrt(1.0 - height**2)
    axis = random.permutation(3)
    direction = np.stack([ring * np.cos(turn), ring * np.sin(turn), height], axis=1)[:, axis]
    u, v = _octahedral_place(direction)
    return SurfaceSamples(prim.astype("i4"), u, v, np.full(count, sums[-1] / count, np.float32))


def _octahedral_place(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As octahedral_place of gpu/device/octahedral.cuh."""
    x, y, z = (direction / np.abs(direction).sum(axis=1, keepdims=True)).T
    a = np.where(z < 0.0, np.where(x < 0.0, np.abs(y) - 1.0, 1.0 - np.abs(y)), x)
    b = np.where(z < 0.0, np.where(y < 0.0, np.abs(x) - 1.0, 1.0 - np.abs(x)), y)
    return (a * 0.5 + 0.5).astype(np.float32), (b * 0.5 + 0.5).astype(np.float32)

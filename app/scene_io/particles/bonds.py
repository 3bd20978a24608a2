"""Bonds between atoms: pairs that stand closer than the sum of their covalent radii and a tolerance, found by cells of
space; and ball and stick.

Covalent radii in angstrom: B. Cordero and others, "Covalent radii revisited", Dalton Transactions 2008; elements that
are not named have 0.75. The rule and its tolerance of 0.45 are those of the Cambridge Structural Database (E. C. Meng
and R. A. Lewis, J. Comput. Chem. 12, 1991).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from raygrove.gpu.brief import brief
from raygrove.gpu.glyph_shapes import GlyphLinks, Glyphs
from raygrove.gpu.scene import Object, Scene

from .periodic import to_nearest_images

TOLERANCE = 0.45
LEAST = 0.4
"""Atoms that are nearer are one atom told twice (Meng and Lewis 1991)."""

OTHER_RADIUS = 0.75
COVALENT_RADII = {
    **{1: 0.31, 3: 1.28, 4: 0.96, 5: 0.84, 6: 0.76, 7: 0.71, 8: 0.66, 9: 0.57, 11: 1.66, 12: 1.41, 13: 1.21, 14: 1.11},
    **{15: 1.07, 16: 1.05, 17: 1.02, 19: 2.03, 20: 1.76, 22: 1.60, 24: 1.39, 25: 1.39, 26: 1.32, 27: 1.26, 28: 1.24},
    **{29: 1.32, 30: 1.22, 33: 1.19, 34: 1.20, 35: 1.20, 47: 1.45, 48: 1.44, 53: 1.39, 78: 1.36, 79: 1.36, 80: 1.32},
}
"""Of atomic numbers."""

BALL_SHARE = 0.25
"""Of an atom's radius, as ball and stick."""

MOST_CELLS = 1_000_000
"""Along an axis, so that a cell has a number of 64 bits however far atoms are apart."""

MOST_NEAR, MOST_BONDS = 1000, 16
"""Atoms that are tried for each one on average, about ten times what solids in angstrom have, and bonds that each has:
where there are more, lengths are in another unit."""

PAIRS_AT_ONCE = 1 << 21
"""A hundred bytes each while they are tried."""

STICK_RADIUS = 0.15
STRETCH = 1.5
"""A bond goes through a periodic box, and is not drawn, where it is so many times as long as the longest was at first;
lengths at first are those to the nearest image."""


class TooDenseError(ValueError):
    """Atoms stand too near one another for lengths in angstrom; the message is how near, as a part of a sentence."""


def covalent_radii(elements: np.ndarray) -> np.ndarray:
    """(N,) float64 of atomic numbers (N,)."""
    table = np.full(256, OTHER_RADIUS)
    table[list(COVALENT_RADII)] = list(COVALENT_RADII.values())
    numbers = np.nan_to_num(np.asarray(elements, np.float64))
    return np.asarray(table[np.where((numbers >= 0) & (numbers < 256), numbers, 0).astype(np.int64)])


def bonds_within(positions: np.ndarray, radii: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
    """(B, 2) int32, the smaller number first, ascending: atoms at `positions` (N, 3) nearer than the sum of their
    covalent radii (N,) and the tolerance, and not nearer than LEAST. What is not finite has no bonds. Raises
    TooDenseError before all pairs of a file in nanometres are tried."""
    there = np.flatnonzero(np.isfinite(positions).all(axis=1) & (radii > 0.0))
    if len(there) < 2:
        return np.zeros((0, 2), np.int32)
    places, reach = positions[there].astype(np.float64), radii[there].astype(np.float64)
    side = max(2.0 * float(reach.max()) + tolerance, float(np.ptp(places, axis=0).max()) / MOST_CELLS)
    cells = np.floor((places - places.min(axis=0)) / side).astype(np.int64)
    extent = cells.max(axis=0) + 3
    keys = ((cells[:, 0] + 1) * extent[1] + cells[:, 1] + 1) * extent[2] + cells[:, 2] + 1
    order = np.argsort(keys, kind="stable")
    ordered, found, tried, bonded = keys[order], [], 0, 0
    for step in [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) >= (0, 0, 0)]:
        beside = keys + (step[0] * extent[1] + step[1]) * extent[2] + step[2]
        first, last = np.searchsorted(ordered, beside), np.searchsorted(ordered, beside, side="right")
        tried += int((last - first).sum())
        if tried > MOST_NEAR * len(keys):
            raise TooDenseError(f"each has more than {MOST_NEAR:,} others within {brief(side, 2)} on average")
        for one, other in _pairs(order, first, last - first):
            if step == (0, 0, 0):
                one, other = one[one < other], other[one < other]
            apart = np.linalg.norm(places[one] - places[other], axis=1)
            is_bond = (apart <= reach[one] + reach[other] + tolerance) & (apart >= LEAST)
            found.append(np.sort(there[np.stack([one[is_bond], other[is_bond]], axis=1)], axis=1))
            bonded += 2 * len(found[-1])
            if bonded > MOST_BONDS * len(keys):
                raise TooDenseError(f"each would have more than {MOST_BONDS} bonds on average")
    pairs = np.concatenate(found)
    return np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], np.int32)


def _pairs(order: np.ndarray, first: np.ndarray, counts: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each atom with the `counts` (N,) that stand in `order` from `first` on, not too many at once."""
    total = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        before = int(total[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + PAIRS_AT_ONCE, side="right")))
        part = counts[begin:end]
        one = np.repeat(np.arange(begin, end), part)
        place = np.arange(len(one)) - np.repeat(total[begin:end] - part - before, part)
        yield one, order[place + np.repeat(first[begin:end], part)]
        begin = end


def ball_and_stick(scene: Scene, group: int, pairs: np.ndarray, radius: float = STICK_RADIUS) -> Scene:
    """The scene with smaller atoms in one of its groups of spheres and a stick for each of `pairs` (B, 2), half of it
    in the colour of either atom. Sticks follow atoms in every key frame."""
    atoms = scene.spheres[group]
    keys = atoms.key_frames
    if keys is not None and keys.radii is not None:
        keys = dataclasses.replace(keys, radii=np.where(keys.radii > 0.0, keys.radii * BALL_SHARE, keys.radii))
    smaller = np.where(atoms.radii > 0.0, atoms.radii * BALL_SHARE, atoms.radii).astype(np.float32)
    atoms = dataclasses.replace(atoms, radii=smaller, key_frames=keys)
    spheres = (*scene.spheres[:group], atoms, *scene.spheres[group + 1 :])
    halves = np.ascontiguousarray(np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2), np.int32)
    if not len(halves):
        return dataclasses.replace(scene, spheres=spheres)
    away = to_nearest_images(atoms.centres[pairs[:, 1]] - atoms.centres[pairs[:, 0]], atoms.box)
    apart = np.linalg.norm(away, axis=1)
    links = GlyphLinks(group, halves, 0.5, STRETCH * float(apart.max()))
    sizes = np.full((len(halves), 3), radius, np.float32)
    centres = atoms.centres[halves[:, 0]].astype(np.float32)
    sticks = Glyphs("bonds", "cylinder", centres, sizes, material_id=atoms.material_id, links=links)
    nodes = [thing.node for thing in scene.objects if thing.spheres == group]
    objects = (*scene.objects, *(Object(node, glyphs=len(scene.glyphs)) for node in nodes[:1]))
    return dataclasses.replace(scene, spheres=spheres, glyphs=(*scene.glyphs, sticks), objects=objects)

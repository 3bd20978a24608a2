"""Whether two structures find the same hits: distances compared ray by ray, ties told apart from mismatches."""

from __future__ import annotations

import dataclasses

import numpy as np

TOLERANCE = 1e-5
"""Distances that differ by a smaller share are equal: triangle tests are compiled with other code around them and
round in other places."""
MOST_SHOWN = 8


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """A ray that found something else: the pixel of a frame, and distance and primitive of both; no hit is inf
    and -1."""

    frame: int
    x: int
    y: int
    t: float
    prim_id: int
    true_t: float
    true_prim_id: int


@dataclasses.dataclass(frozen=True)
class HitProof:
    """Hits beside those of a reference: `rays` compared, `hits` of these, `ties` (another primitive at an equal
    distance), `mismatches` (another distance, or a hit where there is none), and the first of them. Of the mismatches
    `one_sided` are those where one hits and the other does not; where both do, their distances are up to `most_apart`
    from each other."""

    rays: int = 0
    hits: int = 0
    ties: int = 0
    mismatches: int = 0
    first: tuple[Mismatch, ...] = ()
    one_sided: int = 0
    most_apart: float = 0.0

    def __add__(self, other: HitProof) -> HitProof:
        rays, hits = self.rays + other.rays, self.hits + other.hits
        ties, mismatches = self.ties + other.ties, self.mismatches + other.mismatches
        one_sided, most_apart = self.one_sided + other.one_sided, max(self.most_apart, other.most_apart)
        return HitProof(rays, hits, ties, mismatches, (self.first + other.first)[:MOST_SHOWN], one_sided, most_apart)


def compared(
    t: np.ndarray,
    prim_id: np.ndarray,
    true_t: np.ndarray,
    true_prim_id: np.ndarray,
    frame: int = 0,
    slack: np.ndarray | float = 0.0,
) -> tuple[HitProof, np.ndarray]:
    """Compare pictures of hits, each (H, W), and give the mask (H, W) of mismatches. Distances may be along the rays or
    along the axis of view, as all are for one pixel alike. `slack` is what they may differ by besides: a ray that
    begins on a surface meets it at a distance that is rounding alone."""
    is_hit, is_true_hit = prim_id >= 0, true_prim_id >= 0
    both = is_hit & is_true_hit
    ours, theirs = (np.where(both, values, 0.0).astype(np.float64) for values in (t, true_t))
    near = np.abs(ours - theirs) <= TOLERANCE * np.maximum(np.abs(ours), np.abs(theirs)) + slack
    one_sided, apart = is_hit != is_true_hit, both & ~near
    mask = one_sided | apart
    ties = both & near & (prim_id != true_prim_id)
    first = tuple(
        Mismatch(frame, int(x), int(y), float(t[y, x]), int(prim_id[y, x]), float(true_t[y, x]),
                 int(true_prim_id[y, x]))
        for y, x in np.argwhere(mask)[:MOST_SHOWN]
    )  # fmt: skip
    most_apart = float(np.abs(ours - theirs)[apart].max(initial=0.0))
    counts = (int(is_hit.sum()), int(ties.sum()), int(mask.sum()))
    return HitProof(prim_id.size, *counts, first, int(one_sided.sum()), most_apart), mask

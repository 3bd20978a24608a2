"""What the rays of a race's contestants found, beside each other: hits compared, and the steps of two subtracted."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.analysis.hit_proof import HitProof, compared
from raygrove.gpu.analysis.racing import oracle_of
from raygrove.gpu.buffers import Buffers
from raygrove.gpu.engine import View

ENDS = ((0x21, 0x66, 0xAC), (0xF7, 0xF7, 0xF7), (0xB3, 0x58, 0x06))
"""Colours of fewer steps, as many, and more."""
MARK = (0xFF, 0x2D, 0x55)
"""The outline of rays that found something else."""
SHARE = 0.99
"""Of the rays that differ, so many lie within the range of the colours."""


@dataclasses.dataclass(frozen=True, eq=False)
class ComparedHits:
    """A proof and a mask (H, W) of mismatches for each contestant, no masks of rays that belong to no pixel; `against`
    is the place of the one that the others are compared with. `steps` are nodes visited and primitives tested by a ray
    of each on average; none of rays that belong to no pixel, which are not counted here."""

    proofs: tuple[HitProof, ...]
    masks: tuple[np.ndarray, ...]
    against: int
    steps: tuple[tuple[float, float], ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class StepDifference:
    """Nodes visited and primitives tested by the rays of one contestant less those of another, (H, W) int; and where
    the two found another hit."""

    steps: np.ndarray
    mask: np.ndarray

    @property
    def most(self) -> int:
        """The end of the range of colours, which is symmetric about 0."""
        sizes = np.abs(self.steps[self.steps != 0])
        return max(1, int(np.quantile(sizes, SHARE))) if sizes.size else 1

    @property
    def total(self) -> int:
        """The sum over all rays."""
        return int(self.steps.sum(dtype=np.int64))


def compared_hits(found: Sequence[Buffers], views: Sequence[View]) -> ComparedHits:
    """Compare what the rays of contestants found at one instant with brute force's, where it takes part, else with the
    first one's."""
    against = oracle_of([view.settings.hierarchy for view in views])
    true = found[against]
    pairs = [compared(one["depth"], one["prim_id"], true["depth"], true["prim_id"]) for one in found]
    steps = tuple((float(one["steps"].mean()), float(one["tests"].mean())) for one in found)
    return ComparedHits(tuple(proof for proof, _ in pairs), tuple(mask for _, mask in pairs), against, steps)


def step_difference(first: Buffers, second: Buffers) -> StepDifference:
    """The steps of one less those of the other."""
    steps = [one["steps"].astype(np.int64) + one["tests"] for one in (first, second)]
    _, mask = compared(first["depth"], first["prim_id"], second["depth"], second["prim_id"])
    return StepDifference(steps[0] - steps[1], mask)


def colored(found: StepDifference) -> np.ndarray:
    """A picture of a difference, (H, W, 4) uint8: blue where the first takes fewer steps, brown where it takes more;
    pixels beside those where the hits differ are outlined."""
    low, middle, high = (np.array(color, np.float64) for color in ENDS)
    share = np.clip(found.steps / found.most, -1.0, 1.0)[..., None]
    mixed = middle + np.where(share < 0.0, low - middle, high - middle) * np.abs(share)
    picture = np.full((*found.steps.shape, 4), 255, np.uint8)
    picture[..., :3] = np.round(mixed).astype(np.uint8)
    return outlined(picture, found.mask)


def outlined(picture: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """A copy of a picture (H, W, 4) with the pixels around those of a mask marked."""
    height, width = mask.shape
    padded, around = np.pad(mask, 1), np.zeros_like(mask)
    for down in range(3):
        for across in range(3):
            around |= padded[down : down + height, across : across + width]
    marked = picture.copy()
    marked[around & ~mask, :3] = MARK
    return marked

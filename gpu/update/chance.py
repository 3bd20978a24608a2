"""How good a tree is by chance, and what another one would save. Fresh trees of one builder over poses that hardly
differ are some per cent better or worse to trace, for as long as they live: one that turned out dear is worth replacing
though it has not worn out, and a good one is worth keeping though it has.

What tracing takes is told apart into a level, which all trees share and which follows the pose, and the share of the
tree at hand, drawn anew with every rebuild. Both are estimated from noisy times one by one, each with its doubt: a
Kalman filter of two numbers, over logarithms.
"""

from __future__ import annotations

import math

SPREAD = 0.025
"""The standard deviation of what fresh trees take to trace, as a share of it."""

LASTS = 30
"""Frames that a tree which is better or worse by chance is taken to last."""

LEVEL_MOVES = 0.005
"""How much what tracing takes follows the pose from one frame to the next, a standard deviation."""

MOST_BY_CHANCE = 0.175
"""A time farther from what is expected than that shows another picture, not chance: a camera that has jumped, other
light, a tree that was quite worn out."""

LEAST_NOISE, UNKNOWN_NOISE = 0.01, 0.03
"""Times are taken for no surer than that, as a share of them; and for so sure before their noise is known."""


class Chance:
    """`share`: how much dearer the tree is to trace than others of its builder by chance, as a share of that; `doubt`:
    the standard deviation of what is known of it. Both are of the tree at hand, and `trees` says how many were seen: of
    the first nothing is known."""

    def __init__(self) -> None:
        self.trees = 0
        self.share = self._level = 0.0
        self._var_level, self._var_share, self._covariance = math.inf, SPREAD**2, 0.0

    def begin(self) -> None:
        """Another tree."""
        self.trees += 1
        self.share, self._var_share, self._covariance = 0.0, SPREAD**2, 0.0

    def add(self, log_time: float, noise: float) -> None:
        """The logarithm of a time of this tree, without what it has worn out; `noise` is the standard deviation of a
        time, as a share, 0 where that is not known."""
        of_noise = max(noise or UNKNOWN_NOISE, LEAST_NOISE) ** 2
        surprise = log_time - self._level - self.share
        if math.isinf(self._var_level) or abs(surprise) > MOST_BY_CHANCE:
            self.trees = min(self.trees, 1)
            self.share, self._level = 0.0, log_time
            self._var_level, self._var_share, self._covariance = SPREAD**2 + of_noise, SPREAD**2, -(SPREAD**2)
            return
        level, share, both = self._var_level + LEVEL_MOVES**2, self._var_share, self._covariance
        total = level + share + 2.0 * both + of_noise
        to_level, to_share = (level + both) / total, (share + both) / total
        self._level += to_level * surprise
        self.share += to_share * surprise
        self._var_level = level - to_level * (level + both)
        self._var_share = share - to_share * (share + both)
        self._covariance = both - to_level * (share + both)

    @property
    def doubt(self) -> float:
        """See the class."""
        return math.sqrt(self._var_share)


def saving(excess: float, wear: float, frames: float = LASTS) -> float:
    """What a new tree is expected to save within so many frames, used for as long as it is cheaper to trace than a tree
    that costs `excess` more than the mean of fresh ones; `wear` is what a refit adds. All are shares of tracing.

    A rebuild is worth its premium where this is more: where all trees were alike, where excess passes the
    sqrt(2 premium wear) of the best cycle, and where none wears out, the rule for buying one of many offers that differ
    by chance, each seen at a price."""
    if wear * frames < 1e-3 * SPREAD:
        return frames * SPREAD * _mean_above(excess / SPREAD)
    last = excess - wear * frames
    return SPREAD**2 / wear * (_integral(excess / SPREAD) - _integral(last / SPREAD))


def _mean_above(z: float) -> float:
    """The mean of what normal numbers are below z."""
    return z * _below(z) + _density(z)


def _integral(z: float) -> float:
    """Of that mean, up to z."""
    return 0.5 * ((z * z + 1.0) * _below(z) + z * _density(z))


def _below(z: float) -> float:
    return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))


def _density(z: float) -> float:
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)

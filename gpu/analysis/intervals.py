"""Medians with intervals that hold whatever the samples are distributed like, and rank correlation.

The interval of a median by order statistics: Conover, Practical Nonparametric Statistics, third edition 1999, section
3.2; why it suits measured times, which are skewed: Hoefler and Belli, Scientific Benchmarking of Parallel Computing
Systems, SC 2015. Rank correlation after Spearman 1904; its p value counts orders there could have been, all of few
values, drawn ones of many (a permutation test; the one found counts as drawn, so that p is never 0: Phipson and Smyth,
Permutation P-values Should Never Be Zero, 2010).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np

CONFIDENCE = 0.95
LEAST_SAMPLES = 6
"""Of fewer samples not even the smallest and the largest enclose the median with a probability of 0.95."""
MOST_PERMUTED = 8
"""Values whose orders are all tried: 40,320 of them."""
DRAWN_ORDERS = 20_000
"""Orders of more values, drawn from one seed so that the same figures have the same p."""


def nth(number: int) -> str:
    """An ordinal: 3rd."""
    end = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{end}"


@dataclasses.dataclass(frozen=True)
class Measured:
    """A median and the interval from `low` to `high` that encloses the true one with a probability of `CONFIDENCE` or
    more; `samples` are what was measured, in its order."""

    median: float
    low: float
    high: float
    samples: tuple[float, ...]

    def overlaps(self, other: Measured) -> bool:
        """Whether no difference is shown."""
        return self.low <= other.high and other.low <= self.high


def measured(samples: Sequence[float]) -> Measured:
    """The median of samples and its interval. ValueError for fewer than LEAST_SAMPLES."""
    if len(samples) < LEAST_SAMPLES:
        raise ValueError(f"A median has an interval with {LEAST_SAMPLES} samples or more; these are {len(samples)}.")
    ordered = sorted(samples)
    skipped = outside(len(samples))
    return Measured(float(np.median(ordered)), ordered[skipped], ordered[-1 - skipped], tuple(map(float, samples)))


def outside(count: int) -> int:
    """How many of `count` samples may lie outside the interval at either end: most of which a fair coin comes up fewer
    times with a probability of half the error at most."""
    below, skipped = 0.0, -1
    while True:
        below += math.comb(count, skipped + 1) / 2.0**count
        if 2.0 * below > 1.0 - CONFIDENCE:
            return skipped
        skipped += 1


def ranks(values: Sequence[float]) -> np.ndarray:
    """Ranks from 1, smallest first; equal values share the mean of theirs."""
    rows = np.asarray(values, np.float64)
    smaller, equal = rows[:, None] > rows[None, :], rows[:, None] == rows[None, :]
    return np.asarray(smaller.sum(axis=1) + (equal.sum(axis=1) + 1) / 2.0)


def spearman(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Rank correlation from -1 to 1, and the probability of one at least as far from 0 by chance; both nan where `a` or
    `b` has one value alone."""
    x, y = (_centred(ranks(values)) for values in (a, b))
    if not x.any() or not y.any():
        return float("nan"), float("nan")
    length = float(np.sqrt((x @ x) * (y @ y)))
    found = float(x @ y) / length
    orders, known = _orders(len(x))
    as_far = np.abs(y[orders] @ x) / length >= abs(found) - 1e-12
    return found, float((as_far.sum() + known) / (len(orders) + known))


def _orders(count: int) -> tuple[np.ndarray, int]:
    """Orders of so many values: all with 0, or drawn ones with 1 for that which was found."""
    if count <= MOST_PERMUTED:
        return np.array(list(itertools.permutations(range(count)))), 0
    rows = np.broadcast_to(np.arange(count), (DRAWN_ORDERS, count))
    return np.random.default_rng(count).permuted(rows, axis=1), 1


def _centred(values: np.ndarray) -> np.ndarray:
    return np.asarray(values - values.mean())

"""How much noise is left in a film: the standard error of its pixels, as a screen shows them, by the samples
themselves.

Idea: The mean of the first samples and that of those since then are two estimates of one picture. Where they differ by
d, the mean of all n samples, k of them first, is off by about d times the root of k (n - k) / n^2: half of d for equal
parts. The sums of the first are kept at 4, 8, 16 ... samples, so that a picture of n samples is judged about
2 log2(n) times. Samples that cover a pixel evenly are better than random ones, and then this says too much, never too
little.

Paper: Dammertz, Hanika, Keller and Lensch, A Hierarchical Automatic Error Estimation for Global Illumination (2010),
for the error by two parts of the samples.
"""

from __future__ import annotations

import math

import numpy as np

from ..target.base import Array, Target
from ..trace.trace import TILE_RAYS, rays_of_picture
from .film import Film, Resolver

FEWEST_SAMPLES = 8
"""Two parts of fewer samples may agree by luck."""

JUDGED_SHARE = 0.95
"""Of the tiles of a picture: so many have less noise than is said. A mean would be that of the empty background."""


class NoiseMeter:
    """See the module. One of a view; `take` is called after every whole sample."""

    def __init__(self, target: Target, resolver: Resolver) -> None:
        self._target, self._resolver = target, resolver
        self._kept: Array = None
        self._begun = self._kept_count = self._judged_count = 0
        self._noise: float | None = None

    def take(self, film: Film) -> float | None:
        """Standard error of the film's pixels as a part of the screen's range (0 to 1), which JUDGED_SHARE of its tiles
        stay below; that of the last judgement, None while there are too few samples. Waits where it judges."""
        count = film.samples
        if film.begun != self._begun or count < self._kept_count:
            self._begun, self._kept_count, self._judged_count, self._noise = film.begun, 0, 0, None
        if count >= FEWEST_SAMPLES and count in (self._kept_count * 3 // 2, self._kept_count * 2):
            self._judge(film)
        if count >= max(FEWEST_SAMPLES // 2, 2 * self._kept_count) and not count & (count - 1):
            self._keep(film)
        return self._noise

    def forget(self) -> None:
        """The film's sums are no sums of independent samples: begin with those to come."""
        self._begun = 0

    def _keep(self, film: Film) -> None:
        size = len(film.sums)
        if self._kept is None or len(self._kept) < size:
            self._kept = self._target.empty(size, np.float32, "film")
        self._target.launch(
            self._resolver.unit, "keep_sums", size, sums=film.sums, float_count=size, kept=self._kept[:size]
        )
        self._kept_count = film.samples

    def _judge(self, film: Film) -> None:
        count, first = film.samples, self._kept_count
        if count == self._judged_count:
            return
        tiles = rays_of_picture(film.width, film.height) // TILE_RAYS
        found = self._target.scratch("film.noise", tiles, np.float32)
        self._target.launch(
            self._resolver.unit,
            "compare_samples",
            tiles,
            frame=film.frame,
            sums=film.sums,
            kept=self._kept[: len(film.sums)],
            kept_count=first,
            tile_count=tiles,
            differences=found,
        )
        apart = self._target.download(found)
        known = apart[apart >= 0.0]
        share = math.sqrt(first * (count - first)) / count
        self._noise = share * float(np.quantile(known, JUDGED_SHARE)) if len(known) else 0.0
        self._judged_count = count

"""How far a measurement can be trusted: rounds of its samples, and what speaks against them, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from raygrove.gpu.analysis.intervals import LEAST_SAMPLES, measured

WIDE = 0.05
"""Half of an interval over its median, from which a measurement is called noisy."""
DRIFT = 0.05
"""By which a clock may change meanwhile."""
OTHERS = 1.0
"""Programs that wait for a processor beside as many as there are processors, which may be one's own."""
MAIN = {"build": ("build_ms", "refit_ms"), "trace": ("trace_ms",), "frame": ("frame_ms",)}
"""The samples of each measure that are compared, and by which noise is judged."""


def rounds_of(samples: Sequence[float], repeat: int, *, moments_first: bool) -> list[float]:
    """One figure for each of `repeat` repetitions: the mean over the instants, whose costs differ without any noise.
    `moments_first` says that all repetitions of an instant stand together. What is no whole number of repetitions is
    given back as it is."""
    values = np.asarray(samples, np.float64)
    if not len(values) or len(values) % repeat:
        return values.tolist()
    table = values.reshape(-1, repeat).T if moments_first else values.reshape(repeat, -1)
    means: list[float] = table.mean(axis=1).tolist()
    return means


def noise_of(
    rounds: Mapping[str, Sequence[float]],
    load: float | None,
    processors: int,
    clocks: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {}),
) -> list[str]:
    """What makes a measurement doubtful: wide intervals, other programs (the load before it), and clocks (in MHz,
    before and after, by name) that changed. Nothing: it is as quiet as can be told."""
    found = []
    for name, values in rounds.items():
        if len(values) < LEAST_SAMPLES:
            continue
        one = measured(values)
        part = (one.high - one.low) / 2.0 / one.median if one.median > 0.0 else math.inf
        if part > WIDE:
            found.append(f"the median of {name} is known to ±{100.0 * part:.0f} % only")
    if load is not None and load > processors + OTHERS:
        found.append(f"the load before it was {load:.1f} on {processors} processors")
    before, after = clocks
    for name in before.keys() & after.keys():
        if before[name] > 0.0 and abs(after[name] / before[name] - 1.0) > DRIFT:
            found.append(f"the clock {name} went from {before[name]:.0f} to {after[name]:.0f} MHz")
    return sorted(found)

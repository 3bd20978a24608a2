"""What frames have shown of a contestant of a race: its figures, but for those of its tree."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from ..stats import ViewStatistics
from .hit_proof import HitProof
from .intervals import measured
from .race import Contestant


def contestant_of(
    letter: str, configuration: str, rows: Sequence[Sequence[ViewStatistics]], proof: HitProof
) -> Contestant:
    """What frames have shown of a configuration, without figures of its tree: a sample is the mean of each of `rows`,
    which are frames of equal numbers, 6 rows or more."""
    update, trace, shade, total = (
        measured([statistics.fmean(part(one) for one in frames) for frames in rows])
        for part in (_update, lambda one: one.trace_ms, lambda one: one.shade_ms, _total)
    )
    everything = [one for frames in rows for one in frames]
    rates = [sum(one.rays for one in frames) / max(sum(one.trace_ms for one in frames), 1e-9) for frames in rows]
    return Contestant(
        letter, configuration, everything[-1].layout, total, update, trace, shade,
        tuple(statistics.median(_total(one) for one in column) for column in zip(*rows, strict=True)),
        sum(one.update == "rebuild" for one in everything), sum(one.update == "refit" for one in everything),
        round(statistics.fmean(one.rays for one in everything)), statistics.median(rates) / 1000.0, proof,
    )  # fmt: skip


def _update(one: ViewStatistics) -> float:
    return one.build_ms + one.refit_ms


def _total(one: ViewStatistics) -> float:
    return _update(one) + one.trace_ms + one.shade_ms

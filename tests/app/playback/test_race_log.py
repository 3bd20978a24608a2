"""What contestants cost over the clip: medians by place."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.app.playback.race_log import KEPT, PLACES, RaceLog
from raygrove.app.playback.timeline import Span
from tests.gpu.analysis.race_views import view

SPAN = Span(2.0, 30.0, (0.0, 1.0, 2.0))
STEP = 2.0 / (PLACES - 1)


def test_each_place_has_the_median_of_its_newest_samples() -> None:
    log = RaceLog()
    log.begin(SPAN, 2)
    assert log.is_empty
    costs = np.random.default_rng(3).uniform(1.0, 9.0, (KEPT + 4, 2))
    for first, second in costs:
        log.take(10 * STEP + 0.4 * STEP, [view(first, 2.0), view(second, 5.0)])
    log.take(0.0, [view(4.0, 1.0), view(6.0, 1.0)])
    for contestant, trace in enumerate((2.0, 5.0)):
        times, totals = log.line(contestant, "total")
        known = np.isfinite(totals)
        assert times[known].tolist() == pytest.approx([0.0, 10 * STEP]) and not log.is_empty
        updates = log.line(contestant, "update")[1]
        assert updates[10] == pytest.approx(np.median(costs[-KEPT:, contestant]))
        assert log.line(contestant, "trace")[1][10] == trace


def test_another_size_another_race_and_what_stands_still() -> None:
    log = RaceLog()
    log.begin(SPAN, 1)
    log.take(0.5, [view(1.0, 1.0)])
    log.take(1.5, [view(1.0, 1.0, size=(8, 8))])
    times, totals = log.line(0, "total")
    assert times[np.isfinite(totals)] == pytest.approx(1.5, abs=STEP / 2), "costs of two sizes are not comparable"
    log.take(0.5, [view(1.0, 1.0, size=(16, 16))], at_rest=True)
    assert np.isfinite(log.line(0, "total")[1]).sum() == 1, "a larger picture of a clip that stands"
    log.take(0.5, [view(1.0, 1.0), view(1.0, 1.0)])
    assert np.isfinite(log.line(0, "total")[1]).sum() == 1, "figures of another race"
    log.begin(Span(), 1)
    log.take(0.0, [view(1.0, 1.0)])
    assert log.is_empty and len(log.line(0, "trace")[0]) == 0

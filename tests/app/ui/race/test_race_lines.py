"""The lines of a race over the clip, as they are drawn of what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from raygrove.app.playback.timeline import Span
from raygrove.app.ui.race.race_lines import RaceLines
from tests.gpu.analysis.race_views import view


def test_a_line_goes_on_through_places_that_were_skipped_and_ends_where_nobody_knows(qtbot: Any) -> None:
    lines = RaceLines()
    qtbot.addWidget(lines)
    lines.begin(Span(6.0), 1)
    for seconds in (0.0, 0.7, 1.4, 4.0, 4.6):
        lines.log.take(seconds, (view(2.0, 1.0),))
    lines.show_latest()
    (line,) = lines.chart.lines
    (gap,) = np.flatnonzero(np.isnan(line.values))
    assert len(line.values) == 6 and line.times[gap - 1] < 1.5 and line.times[gap + 1] > 3.9
    assert (np.diff(line.times) >= 0.0).all()

"""Who races in the window."""

from __future__ import annotations

import pytest

from raygrove.app.settings.race_options import RaceOptions, checked_contestants, joined


@pytest.mark.parametrize(
    ("there", "after"),
    [
        ("lbvh@refit, hploc@auto", "lbvh, sbvh"),  # nobody chose these
        ("ploc@refit", "ploc@refit, lbvh, sbvh"),
        ("lbvh, ploc", "lbvh, ploc, sbvh"),
        ("ploc, lbvh, hploc, binned_sah", "lbvh, hploc, binned_sah, sbvh"),
        ("ploc, hploc, binned_sah, median_sah", "binned_sah, median_sah, lbvh, sbvh"),
        ("ploc, sbvh, hploc, lbvh", "ploc, sbvh, hploc, lbvh"),
    ],
)
def test_a_remedy_joins_who_races_already(there: str, after: str) -> None:
    options = RaceOptions(contestants=checked_contestants(there))
    assert ", ".join(joined(options, ["lbvh@rebuild", "sbvh@rebuild"])) == checked_contestants(after)

"""A race while it is run: the same statistics as a finished one, of the last frames."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.gpu.analysis.contestant_figures import contestant_of
from raygrove.gpu.analysis.hit_proof import HitProof
from raygrove.gpu.analysis.intervals import LEAST_SAMPLES
from raygrove.gpu.analysis.live_race import FRAMES, MOST_IN_SAMPLE, LiveRace
from raygrove.gpu.analysis.race import judged
from tests.gpu.analysis.race_views import view

NAMES = ("lbvh@refit", "hploc", "lbvh/bvh2")


def raced(frames: int) -> LiveRace:
    live = LiveRace(NAMES)
    for number in range(frames):
        jitter = 0.01 * (number % 5)
        live.take([view(2.0 + jitter, 4.0), view(1.0 + jitter, 4.0), view(1.002 + jitter, 4.0)])
    return live


def test_ranks_and_reasons_are_those_of_a_finished_race() -> None:
    live = raced(FRAMES)
    a, b, c = live.standing()
    assert (a.rank, b.rank, c.rank) == (3, 1, 1)
    assert a.reason.startswith("A builds 1 ms slower than B") and c.reason.startswith("C shows no difference from B")
    assert a.ms.median == pytest.approx(7.02, abs=0.02) and a.ms.low <= a.ms.median <= a.ms.high
    rows = [[view(2.0 + 0.01 * (k % 5), 4.0) for k in range(first, first + MOST_IN_SAMPLE)]
            for first in range(0, FRAMES, MOST_IN_SAMPLE)]  # fmt: skip
    alone = contestant_of("A", NAMES[0], rows, HitProof())
    assert a.ms == alone.ms and a.frame_ms == alone.frame_ms
    assert judged([a, b, c]) == (a, b, c)


def test_no_one_is_ranked_before_an_interval_is_known() -> None:
    assert raced(5).standing() == () and len(raced(6).standing()) == 3
    assert all(one.rank == 1 or one.ms.low > 0.0 for one in raced(6).standing())


def test_rare_rebuilds_are_charged_for() -> None:
    """A median of single frames would say that a policy which rebuilds every fourth frame never does."""
    live = LiveRace(["lbvh@refit", "lbvh@every_n:n=4"])
    for number in range(FRAMES):
        live.take([view(0.0, 4.0, refit=1.0), view(8.0, 4.0) if number % 4 == 0 else view(0.0, 4.0, refit=1.0)])
    first, second = live.standing()
    assert second.ms.median == pytest.approx(4.0 + 1.0 + (8.0 + 3 * 1.0) / 4) and second.rank == 2
    assert (second.rebuilds, second.refits) == (FRAMES // 4, 3 * FRAMES // 4) and first.rebuilds == 0
    assert live.parts(1) == {"build": 2.0, "refit": 0.75, "trace": 4.0, "shade": 1.0}


@given(st.lists(st.tuples(*[st.floats(0.01, 500.0)] * 2), min_size=1, max_size=FRAMES))
def test_a_contestants_phases_add_up_to_what_the_ranking_says(times: list[tuple[float, float]]) -> None:
    """A few slow frames, of a busy machine, are in the mean of all and not in the median."""
    live = LiveRace(["lbvh", "hploc"])
    for build, trace in times:
        live.take([view(build, trace), view(trace, build)])
    sums = [sum(live.parts(place).values()) for place in range(2)]
    standing = live.standing()
    means = [sum(map(sum, times)) / len(times) + 1.0] * 2
    assert sums == pytest.approx([one.ms.median for one in standing] if standing else means)
    assert (len(times) >= LEAST_SAMPLES) == bool(standing) and LiveRace(["lbvh"]).parts(0) == {}


def test_only_the_last_frames_count_and_one_size() -> None:
    live = raced(FRAMES + 50)
    assert live.count == FRAMES
    live.take([view(1.0, 1.0, size=(16, 8))] * 3)
    assert live.count == 1 and live.size == (16, 8) and live.standing() == ()
    with pytest.raises(ValueError, match="3 contestants"):
        live.take([view(1.0, 1.0)] * 2)


def test_mismatches_add_up_apart_from_ties() -> None:
    live = raced(8)
    live.prove([HitProof(10, 5), HitProof(10, 5, 2, 0), HitProof(10, 4, 0, 1)])
    live.prove([HitProof(10, 5), HitProof(10, 5, 1, 0), HitProof(10, 5, 0, 0)])
    assert [(one.proof.ties, one.proof.mismatches) for one in live.standing()] == [(0, 0), (3, 0), (0, 1)]
    assert live.proofs[2].rays == 20


def test_frames_that_need_no_update_are_neither_rebuilds_nor_refits() -> None:
    drawn = [
        dataclasses.replace(view(1.0, 1.0), update=update) for update in ("rebuild", "refit", "nothing", "nothing")
    ]
    found = contestant_of("A", NAMES[0], [drawn] * 6, HitProof())
    assert (found.rebuilds, found.refits) == (6, 6)

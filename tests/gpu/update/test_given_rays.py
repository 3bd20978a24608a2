"""Rays of a set stand in for the picture's: update policies learn from them alone."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.update.costs import Ticket
from raygrove.gpu.update.given_rays import MOST_WAITING, GivenRays
from raygrove.gpu.update.history import Decision, UpdateHistory


class Moving:
    """Primitives that move, as far as a history asks."""

    topology_version, shape_version = 1, 0


def updated(history: UpdateHistory, update: str) -> Ticket:
    history.note(Decision(update, ""), Moving())  # type: ignore[arg-type]
    return history.ticket


@pytest.mark.parametrize("is_early", (True, False), ids=("update first", "rays first"))
def test_a_policy_learns_from_given_rays_in_either_order(is_early: bool) -> None:
    """The picture's rays take 50 ms, the given ones 2; who learnt from the picture would see 50."""
    history = UpdateHistory()
    history.learn(updated(history, "rebuild"), 5.0, 50.0, 1000)
    assert history.costs.is_known is False and history.costs._cycle is not None
    history.learn_given(2.0, 100)
    assert history.costs._cycle is None and not history.costs._rebuilds, "what pictures taught is forgotten"
    for update, ms in (("rebuild", 5.0), ("refit", 1.0), ("refit", 1.0)):
        ticket = updated(history, update)
        if is_early:
            history.learn(ticket, ms, 50.0, 1000)
            history.learn_given(2.0 + history.age, 100)
        else:
            history.learn_given(2.0 + history.age, 100)
            history.learn(ticket, ms, 50.0, 1000)
    costs = history.costs
    assert costs.is_known and (costs.rebuild_ms, costs.refit_ms) == (5.0, 1.0)
    assert costs._cycle is not None and (costs._cycle.fresh_ms, costs._cycle.rays) == (2.0, 100)
    assert list(costs._cycle.latest) == [3.0, 4.0]
    np.testing.assert_allclose(history.ratio.slope, 1.0)


def test_pictures_count_again_once_no_rays_are_given() -> None:
    history = UpdateHistory()
    history.learn_given(2.0, 100)
    history.learn(updated(history, "rebuild"), 5.0, 50.0, 1000)
    history.learn_given(2.0, 100)
    assert history.costs._cycle is not None and history.costs._cycle.rays == 100
    history.learn_pictures()
    assert history.costs._cycle is None
    history.learn(updated(history, "rebuild"), 5.0, 50.0, 1000)
    assert history.costs._cycle is not None and history.costs._cycle.rays == 1000
    known = history.costs
    history.learn_pictures()
    assert history.costs is known, "where they count already nothing is forgotten"


def test_times_that_never_come_are_let_go_of() -> None:
    given = GivenRays()
    for age in range(3 * MOST_WAITING):
        assert given.take_trace(Ticket("refit", 1, age), 1.0, 10) is None
    assert given.take_update(Ticket("refit", 1, 0), 3.0) is None
    assert given.take_update(Ticket("refit", 1, 3 * MOST_WAITING - 1), 3.0) == (3.0, 1.0, 10)
    assert len(given._traces) < MOST_WAITING

"""The best schedule of a clip, against all there are; and policies that are played against measured costs."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from raygrove.gpu.analysis.schedules import ClipCosts, cost_of, every_nth, offline_optimum, played
from raygrove.gpu.update.history import UpdateHistory
from raygrove.gpu.update.options import UpdateOptions

FRAMES = 12


def made_up(seed: int, frames: int = FRAMES, switching: float = 0.0) -> ClipCosts:
    """Costs of no particular scene: tracing becomes dearer with age, by steps that differ."""
    random = np.random.default_rng(seed)
    wear = np.cumsum(random.uniform(-0.1, 0.6, (frames, frames)), axis=1)
    return ClipCosts(
        rebuild_ms=random.uniform(1.0, 4.0, frames),
        refit_ms=random.uniform(0.2, 1.0, frames),
        trace_ms=2.0 + wear,
        sah=10.0 + 4.0 * wear,
        rebuild_after_refit_ms=switching,
        refit_after_rebuild_ms=0.5 * switching,
    )


def line(frames: int, premium: float, slope: float) -> ClipCosts:
    """A tree that wears out by a line."""
    ages = np.arange(frames, dtype=float)
    trace = np.broadcast_to(5.0 + slope * ages, (frames, frames))
    return ClipCosts(np.full(frames, 1.0 + premium), np.full(frames, 1.0), trace, 10.0 + ages * np.ones((frames, 1)))


@pytest.mark.each_value("seed switching")
@pytest.mark.parametrize("switching", [0.0, 1.5])
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_the_best_of_all_schedules_of_12_frames(seed: int, switching: float) -> None:
    costs = made_up(seed, switching=switching)
    everything = [(True, *rest) for rest in itertools.product((False, True), repeat=FRAMES - 1)]
    best = min(everything, key=lambda schedule: cost_of(costs, schedule))
    found = offline_optimum(costs)
    assert cost_of(costs, found) == pytest.approx(cost_of(costs, best), abs=1e-9)
    assert found == best


def test_switching_costs_what_is_said_and_changes_the_optimum() -> None:
    costs = line(4, premium=2.0, slope=0.0)
    dear = dataclasses.replace(costs, rebuild_after_refit_ms=0.25, refit_after_rebuild_ms=0.5)
    schedule = (True, False, False, True)
    assert cost_of(costs, schedule) == pytest.approx(2 * 3.0 + 2 * 1.0 + 4 * 5.0)
    assert cost_of(dear, schedule) - cost_of(costs, schedule) == pytest.approx(0.75)
    assert cost_of(dear, (True,) * 4) == cost_of(costs, (True,) * 4)
    slightly = line(6, premium=0.1, slope=0.0)
    assert offline_optimum(slightly) == (True, *[False] * 5)
    assert offline_optimum(dataclasses.replace(slightly, refit_after_rebuild_ms=9.0)) == (True,) * 6


def test_a_line_of_wear_is_rebuilt_in_even_cycles() -> None:
    found = offline_optimum(line(70, premium=2.0, slope=0.08))
    # sqrt(2 * 2 / 0.08) = 7 frames a cycle
    assert found == every_nth(line(70, 2.0, 0.08), 7)


@pytest.mark.parametrize("frames", [1, 2])
def test_short_clips_begin_with_a_rebuild(frames: int) -> None:
    assert offline_optimum(made_up(0, frames))[0] is True
    with pytest.raises(ValueError, match="the first is a rebuild"):
        cost_of(made_up(0, frames), (False,) * frames)


def test_policies_do_in_a_clip_what_they_are_chosen_for() -> None:
    costs = line(60, premium=2.0, slope=0.08)

    def shown(mode: str, **options: float) -> str:
        chosen = UpdateOptions(mode, **options)  # type: ignore[arg-type]
        return "".join("B" if one else "r" for one in played(costs, chosen, 30.0, 1000))

    assert shown("rebuild") == "B" * 60 and shown("refit") == "B" + "r" * 59
    assert shown("every_n", n=4) == "Brrr" * 15
    # The cost grows by a tenth of the built tree's a frame; it is measured every 0.1 s, three frames.
    assert 4 <= shown("cost_ratio", cost_ratio=1.5).count("B") <= 12
    assert shown("cost_ratio", cost_ratio=50.0).count("B") < shown("cost_ratio", cost_ratio=1.5).count("B")


@pytest.mark.parametrize("mode", ["auto", "ratio_optimiser"])
@pytest.mark.parametrize(("premium", "slope"), [(2.0, 0.08), (2.0, 0.0), (0.4, 1.0)])
def test_learning_policies_come_near_the_optimum_of_a_line(mode: str, premium: float, slope: float) -> None:
    costs = line(200, premium, slope)
    cost = cost_of(costs, played(costs, UpdateOptions(mode), 30.0, 1000))
    best = cost_of(costs, offline_optimum(costs))
    assert best <= cost <= 1.05 * best


def test_times_are_learnt_two_frames_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: what a policy does in a frame cannot go by that frame's time, nor by the one before."""
    learnt: list[float] = []
    monkeypatch.setattr(UpdateHistory, "learn", lambda self, ticket, update_ms, *rest: learnt.append(update_ms))
    costs = line(9, premium=2.0, slope=0.1)
    refits = np.arange(9) / 100.0 + 1.0
    played(dataclasses.replace(costs, refit_ms=refits, rebuild_ms=refits), UpdateOptions("refit"), 30.0, 100)
    assert learnt == pytest.approx(refits[:7])

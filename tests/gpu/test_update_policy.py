"""When a tree is rebuilt, refitted or left alone."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from gpu.hierarchy.base import CannotRefitError, Capabilities, Primitives
from gpu.stats import HierarchyStatistics
from gpu.update_policy import UpdateOptions, UpdatePolicy


class Structure:
    """A hierarchy that only remembers; `cost` is what it would measure."""

    title = "Pretender"

    def __init__(self, can_refit: bool = True) -> None:
        self.capabilities = Capabilities(refit=can_refit)
        self.cost = 10.0

    def stats(self) -> HierarchyStatistics:
        return HierarchyStatistics(sah_cost=self.cost)


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def primitives(topology: int = 1, shape: int = 1) -> Primitives:
    return Primitives("triangle", "", "", np.zeros(()), 1, topology_version=topology, shape_version=shape)


def step(policy: UpdatePolicy, structure: Any, shape: int, options: UpdateOptions, topology: int = 1) -> str:
    decision = policy.decide(structure, primitives(topology, shape), options)
    policy.note(decision, primitives(topology, shape))
    policy.wants_measurement()
    assert decision.reason
    return decision.update


def test_each_mode_on_a_scene_that_moves_and_stops() -> None:
    for mode, wanted in (("rebuild", ["rebuild"] * 3), ("refit", ["rebuild", "refit", "refit"]), ("auto", ["rebuild", "refit", "refit"])):
        policy, structure, options = UpdatePolicy(Clock()), Structure(), UpdateOptions(mode)
        assert [step(policy, structure, shape, options) for shape in (1, 2, 3)] == wanted
        assert step(policy, structure, 3, options) == "nothing"
        assert step(policy, structure, 3, dataclasses.replace(options, always=True)) == wanted[1]


def test_other_triangles_are_always_rebuilt() -> None:
    policy, structure, options = UpdatePolicy(Clock()), Structure(), UpdateOptions("refit")
    assert [step(policy, structure, 1, options, topology) for topology in (1, 1, 2)] == ["rebuild", "nothing", "rebuild"]


def test_refit_chosen_for_a_structure_without_it_is_an_error() -> None:
    policy, structure = UpdatePolicy(Clock()), Structure(can_refit=False)
    step(policy, structure, 1, UpdateOptions("refit"))
    with pytest.raises(CannotRefitError, match="Pretender cannot be refitted"):
        step(policy, structure, 2, UpdateOptions("refit"))
    assert step(policy, structure, 2, UpdateOptions("auto")) == "rebuild"


def test_auto_rebuilds_at_the_ratio_and_starts_afresh() -> None:
    clock = Clock()
    policy, structure, options = UpdatePolicy(clock), Structure(), UpdateOptions("auto", cost_ratio=1.5)
    seen = []
    for shape, cost in enumerate((10.0, 10.0, 12.0, 14.9, 15.0, 15.0, 20.0, 14.0, 22.4), 1):
        seen.append(step(policy, structure, shape, options))
        structure.cost = cost
        clock.now += 0.2
    # The cost that decides was measured on the tree of the frame before: 15.0 / 10.0 rebuilds, and the new tree's cost is the new measure.
    assert seen == ["rebuild", "refit", "refit", "refit", "refit", "rebuild", "refit", "refit", "refit"]


class Spoilt(Structure):
    """Costs 10 as built and 1 more after each refit; tells what it cost when it was measured last."""

    measured: float | None = None

    def stats(self) -> HierarchyStatistics:
        return HierarchyStatistics(sah_cost=self.measured)

    def follow(self, policy: UpdatePolicy, shape: int, mode: str) -> str:
        """One frame."""
        decision = policy.decide(self, primitives(shape=shape), UpdateOptions(mode))  # type: ignore[arg-type]
        self.cost = 10.0 if decision.update == "rebuild" else self.cost + 1.0
        policy.note(decision, primitives(shape=shape))
        if policy.wants_measurement():
            self.measured = self.cost
        return decision.update


@pytest.mark.parametrize("before", ["rebuild", "refit"])
def test_auto_compares_with_a_tree_as_it_was_built(before: str) -> None:
    # Turned on in the middle of another mode, between two measurements: the base must not be a tree that refits have spoilt.
    clock = Clock()
    policy, structure, seen = UpdatePolicy(clock), Spoilt(), []
    for shape in range(1, 66):
        update = structure.follow(policy, shape, before if shape <= 25 else "auto")
        clock.now += 0.01
        if shape > 25:
            seen.append(update)
    if before == "refit":
        assert seen[0] == "rebuild", "that the refits before have spoilt the tree is known at once"
        assert "refit" in seen[1:10]
    else:
        first_refit = seen.index("refit")
        assert first_refit <= 10, "rebuilt only until the next measurement may be made"
        assert "rebuild" in seen[first_refit : first_refit + 25], "10 refits make it twice as dear, and that is seen"


def test_quality_is_measured_ten_times_a_second_at_most() -> None:
    clock = Clock()
    policy, structure = UpdatePolicy(clock), Structure()
    measured = 0
    for frame in range(300):
        decision = policy.decide(structure, primitives(shape=frame), UpdateOptions())
        policy.note(decision, primitives(shape=frame))
        measured += policy.wants_measurement()
        clock.now += 0.01
    assert 25 <= measured <= 30
    assert not policy.is_measured
    policy.mark_measured()
    clock.now += 1.0
    assert not policy.wants_measurement()


def test_a_refitted_tree_is_rebuilt_once_that_is_chosen_though_nothing_moves() -> None:
    policy, structure = UpdatePolicy(), Structure()
    assert [step(policy, structure, shape, UpdateOptions("refit")) for shape in (1, 2, 2)] == ["rebuild", "refit", "nothing"]
    assert [step(policy, structure, 2, UpdateOptions("rebuild")) for _ in range(2)] == ["rebuild", "nothing"]

"""When a tree is rebuilt, refitted or left alone."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import CannotRefitError, Capabilities, Primitives, StructureChoice
from raygrove.gpu.hierarchy.bvh.optimisers.rotations import RotationsOptions
from raygrove.gpu.stats import HierarchyStatistics
from raygrove.gpu.update import registry
from raygrove.gpu.update.history import UpdateHistory
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.update.registry import policies, policy


class Structure:
    """A hierarchy that only remembers; `cost` is what it would measure."""

    title = "Pretender"

    def __init__(self, can_refit: bool = True) -> None:
        self.capabilities = Capabilities(refit=can_refit)
        self.choice = StructureChoice()
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


def step(history: UpdateHistory, structure: Any, shape: int, options: UpdateOptions, topology: int = 1) -> str:
    decision = policy(options.mode).decide(history, structure, primitives(topology, shape), options)
    history.note(decision, primitives(topology, shape))
    history.take_measurement_turn()
    assert decision.reason
    return decision.update


def test_each_mode_on_a_scene_that_moves_and_stops() -> None:
    for mode, wanted in (
        ("rebuild", ["rebuild"] * 3),
        ("refit", ["rebuild", "refit", "refit"]),
        ("auto", ["rebuild", "refit", "refit"]),
    ):
        history, structure, options = UpdateHistory(Clock()), Structure(), UpdateOptions(mode)
        assert [step(history, structure, shape, options) for shape in (1, 2, 3)] == wanted
        assert step(history, structure, 3, options) == "nothing"
        assert step(history, structure, 3, dataclasses.replace(options, always=True)) == wanted[1]


def test_other_triangles_are_always_rebuilt() -> None:
    history, structure, options = UpdateHistory(Clock()), Structure(), UpdateOptions("refit")
    assert [step(history, structure, 1, options, topology) for topology in (1, 1, 2)] == [
        "rebuild",
        "nothing",
        "rebuild",
    ]


def test_refit_chosen_for_a_structure_without_it_is_an_error() -> None:
    history, structure = UpdateHistory(Clock()), Structure(can_refit=False)
    step(history, structure, 1, UpdateOptions("refit"))
    with pytest.raises(CannotRefitError, match="Pretender cannot be refitted"):
        step(history, structure, 2, UpdateOptions("refit"))
    assert step(history, structure, 2, UpdateOptions("auto")) == "rebuild"


def test_the_ratio_begins_with_two_refits_and_follows_what_cannot_refit() -> None:
    history, structure, options = UpdateHistory(Clock()), Structure(), UpdateOptions("ratio_optimiser")
    assert [step(history, structure, shape, options) for shape in range(4)] == ["rebuild", "refit", "refit", "rebuild"]
    structure.capabilities = Capabilities(refit=False)
    assert step(history, structure, 5, options) == "rebuild"


def test_every_nth_frame_is_rebuilt() -> None:
    for n, wanted in ((1, "BBBBBBB"), (3, "BrrBrrB"), (100, "Brrrrrr")):
        history, structure, options = UpdateHistory(Clock()), Structure(), UpdateOptions("every_n", n=n)
        done = [step(history, structure, shape, options) for shape in range(7)]
        assert "".join("B" if update == "rebuild" else "r" for update in done) == wanted


@pytest.mark.parametrize("mode", ["every_n", "cost_ratio", "refit_rotations"])
def test_policies_that_refit_say_what_cannot(mode: str) -> None:
    history, structure = UpdateHistory(Clock()), Structure(can_refit=False)
    step(history, structure, 1, UpdateOptions(mode))
    with pytest.raises(CannotRefitError, match="Pretender cannot be refitted"):
        step(history, structure, 2, UpdateOptions(mode))


def test_rotations_are_added_where_the_structure_knows_them_and_none_is_chosen() -> None:
    rotating, plain = policy("refit_rotations"), StructureChoice(layout="bvh2")
    assert rotating.fitted(plain, {"rotations"}) == StructureChoice(layout="bvh2", optimiser="rotations")
    assert rotating.fitted(plain, set()) == plain and policy("refit").fitted(plain, {"rotations"}) == plain
    other = StructureChoice(optimiser="reinsertion")
    assert rotating.fitted(other, {"rotations", "reinsertion"}) == other
    history, structure = UpdateHistory(Clock()), Structure()
    for choice, sentence in (
        (other, "its optimiser is reinsertion"),
        (
            StructureChoice(optimiser="rotations", optimiser_options=RotationsOptions(in_refits=False)),
            "is off: turn it on",
        ),
    ):
        structure.choice = choice
        step(history, structure, 1, UpdateOptions("refit"))
        with pytest.raises(CannotRefitError, match=sentence):
            step(history, structure, 2, UpdateOptions("refit_rotations"))


@pytest.mark.parametrize("mode", ["auto", "cost_ratio"])
def test_the_cost_ratio_rebuilds_and_starts_afresh(mode: str) -> None:
    clock = Clock()
    history, structure, options = UpdateHistory(clock), Structure(), UpdateOptions(mode, cost_ratio=1.5)
    seen = []
    for shape, cost in enumerate((10.0, 10.0, 12.0, 14.9, 15.0, 15.0, 20.0, 14.0, 22.4), 1):
        seen.append(step(history, structure, shape, options))
        structure.cost = cost
        clock.now += 0.2
    # The cost that decides was measured on the tree of the frame before: 15.0 / 10.0 rebuilds, and the new tree's cost
    # is the new measure.
    assert seen == ["rebuild", "refit", "refit", "refit", "refit", "rebuild", "refit", "refit", "refit"]


class Spoilt(Structure):
    """Costs 10 as built and 1 more after each refit; tells what it cost when it was measured last."""

    measured: float | None = None

    def stats(self) -> HierarchyStatistics:
        return HierarchyStatistics(sah_cost=self.measured)

    def follow(self, history: UpdateHistory, shape: int, mode: str) -> str:
        """One frame."""
        decision = policy(UpdateOptions(mode).mode).decide(history, self, primitives(shape=shape), UpdateOptions(mode))  # type: ignore[arg-type]
        self.cost = 10.0 if decision.update == "rebuild" else self.cost + 1.0
        history.note(decision, primitives(shape=shape))
        if history.take_measurement_turn():
            self.measured = self.cost
        return decision.update


@pytest.mark.parametrize("before", ["rebuild", "refit"])
def test_auto_compares_with_a_tree_as_it_was_built(before: str) -> None:
    # Turned on in the middle of another mode, between two measurements: the base must not be a tree that refits have
    # spoilt.
    clock = Clock()
    history, structure, seen = UpdateHistory(clock), Spoilt(), []
    for shape in range(1, 66):
        update = structure.follow(history, shape, before if shape <= 25 else "auto")
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
    history, structure = UpdateHistory(clock), Structure()
    measured = 0
    for frame in range(300):
        decision = policy(UpdateOptions().mode).decide(history, structure, primitives(shape=frame), UpdateOptions())
        history.note(decision, primitives(shape=frame))
        measured += history.take_measurement_turn()
        clock.now += 0.01
    assert 25 <= measured <= 30
    assert not history.is_measured
    history.mark_measured()
    clock.now += 1.0
    assert not history.take_measurement_turn()


def test_a_refitted_tree_is_rebuilt_once_that_is_chosen_though_nothing_moves() -> None:
    history, structure = UpdateHistory(), Structure()
    assert [step(history, structure, shape, UpdateOptions("refit")) for shape in (1, 2, 2)] == [
        "rebuild",
        "refit",
        "nothing",
    ]
    assert [step(history, structure, 2, UpdateOptions("rebuild")) for _ in range(2)] == ["rebuild", "nothing"]


def test_policies_are_found_by_their_files() -> None:
    names = ["auto", "cost_ratio", "every_n", "ratio_optimiser", "rebuild", "refit", "refit_rotations"]
    assert list(policies()) == names
    assert all(one.title and one.sentence and one.name == name for name, one in policies().items())
    with pytest.raises(LookupError, match="no update policy 'sometimes'; there are auto, cost_ratio, every_n"):
        policy("sometimes")


def test_a_policy_without_a_title_and_a_name_taken_twice_are_refused() -> None:
    bare = type("Bare", (registry.UpdatePolicy,), {"name": "bare"})
    with pytest.raises(TypeError, match="Bare lacks title, sentence"):
        registry._check(bare, "bare", {})
    with pytest.raises(TypeError, match="'refit' is taken by raygrove.gpu.update.refit"):
        registry._check(type(policy("refit")), "other", dict(policies()))

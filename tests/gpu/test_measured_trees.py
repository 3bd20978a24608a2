"""Trees are measured now and then: the statistics say which tree a cost is of, while modes and instants change under
it."""

from __future__ import annotations

import contextlib
import dataclasses

import pytest

from raygrove.gpu.engine import Engine, ViewSettings
from raygrove.gpu.scene import Moment
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.target.base import Target
from raygrove.gpu.update import history
from raygrove.gpu.update.options import UpdateOptions
from tests.gpu.moving_scene import moving_scene, view_of


def cost_of_a_rebuild(target: Target, hierarchy: str, instant: float) -> float:
    """The SAH cost of a tree built for an instant, by an engine that has seen nothing else."""
    with contextlib.closing(Engine(target, moving_scene())) as fresh:
        fresh.render_frame(Moment(instant), [view_of(target, hierarchy=hierarchy, update=UpdateOptions("rebuild"))])
        cost = fresh.flush().views[0].structure.sah_cost
    assert cost is not None
    return cost


@pytest.mark.parametrize("hierarchy", ["lbvh", "binned_sah"])
def test_a_cost_is_of_the_tree_that_the_statistics_name(
    target: Target, hierarchy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[FrameStatistics] = []
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        engine.tell_of_every_frame(seen.append)
        for number in range(40):
            mode = "refit" if number < 15 else "rebuild"
            # Not at 17: on a GPU the statistics of 15 and 16 may be told after it.
            monkeypatch.setattr(history, "MEASURE_INTERVAL", 0.0 if number % 4 == 1 and number != 17 else 1e9)
            engine.render_frame(Moment(number / 16), [view_of(target, hierarchy=hierarchy, update=UpdateOptions(mode))])
        engine.flush()
    assert [one.views[0].update_mode for one in seen] == ["refit"] * 15 + ["rebuild"] * 25
    after = [(one.time, one.views[0].structure) for one in seen if one.views[0].update_mode == "rebuild"]
    assert any(tree.measured_mode == "refit" for _, tree in after), (
        "the first frames of a mode know the tree before alone"
    )
    rebuilt = {tree.measured_time: tree.sah_cost for _, tree in after if tree.measured_mode == "rebuild"}
    assert len(rebuilt) > 2 and any(tree.measured_time != instant for instant, tree in after)
    for instant, cost in rebuilt.items():
        assert instant is not None and cost == pytest.approx(cost_of_a_rebuild(target, hierarchy, instant), rel=1e-4)


def test_a_tree_that_is_kept_is_measured_for_the_frames_that_show_it(target: Target) -> None:
    seen: list[FrameStatistics] = []
    scene = dataclasses.replace(moving_scene(), clips=())
    still = [view_of(target, hierarchy="lbvh", update=UpdateOptions("rebuild"))]
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.tell_of_every_frame(seen.append)
        for instant in (2.0, 2.5, 3.0):
            engine.render_frame(Moment(instant), still)
            engine.flush()
    assert [one.views[0].update for one in seen] == ["rebuild", "nothing", "nothing"]
    assert [one.views[0].structure.measured_time for one in seen[1:]] == [2.5, 3.0]


def test_another_structure_starts_unmeasured(target: Target) -> None:
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        engine.render_frame(Moment(0.5), [view_of(target, hierarchy="lbvh")])
        engine.flush()
        engine.render_frame(Moment(0.5), [view_of(target, **vars(ViewSettings(hierarchy="median_sah")))])
        structure = engine.flush().views[0].structure
    assert structure.measured_time == 0.5 and structure.sah_cost == pytest.approx(
        cost_of_a_rebuild(target, "median_sah", 0.5), rel=1e-4
    )


@pytest.mark.parametrize("hierarchy", ["grid", "grid_two_level"])
def test_who_has_no_sah_cost_is_measured_too(target: Target, hierarchy: str) -> None:
    """Counts and depth arrive, the cost stays None, and `auto` rebuilds and says why."""
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        view = view_of(target, hierarchy=hierarchy, layout="auto", update=UpdateOptions("auto"))
        for number in range(6):
            engine.render_frame(Moment(number / 16), [view])
            shown = engine.flush().views[0]
    tree = shown.structure
    assert shown.update == "rebuild" and "cannot be refitted" in shown.reason
    assert tree.sah_cost is None and tree.depth in (1, 2) and tree.measured_time == 5 / 16
    assert tree.leaf_count > tree.empty_leaf_count > 0 and not tree.is_stale

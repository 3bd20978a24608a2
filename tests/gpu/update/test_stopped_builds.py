"""A build that nobody wants any more is left on its way; the structure is made anew before it is used again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy.base import Hierarchy, HierarchyError, Primitives
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.stopping import StopFlag, Stopped
from raygrove.gpu.update.history import Decision
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.view import View
from tests.gpu.moving_scene import moving_scene, shown, view_of

BEFORE, INSTANT = 0.2, 0.7
STOPPED_AT = 3
"""Launches of a build until somebody stops it, at the earliest."""


def stop_in_builds(target: HostTarget, builds: bool, patch: pytest.MonkeyPatch, at: int = STOPPED_AT) -> list[int]:
    """Stop whatever is built, from its launch `at` on; how many launches each build has had is told."""
    launched: list[int] = []
    is_building = [False]
    do, launch = Decision.do, HostTarget._launch

    def noted_do(self: Decision, hierarchy: Hierarchy, primitives: Primitives) -> None:
        is_building[0] = True
        launched.append(0)
        try:
            do(self, hierarchy, primitives)
        finally:
            is_building[0] = False

    def noted_launch(self: HostTarget, *given: object) -> None:
        if is_building[0]:
            launched[-1] += 1
            if launched[-1] == at:
                target.stop(builds=builds)
        launch(self, *given)  # type: ignore[arg-type]

    patch.setattr(Decision, "do", noted_do)
    patch.setattr(HostTarget, "_launch", noted_launch)
    return launched


def stop_behind(target: HostTarget, of_builds: bool, patch: pytest.MonkeyPatch, count: int) -> None:
    """Stop builds, or rays, behind so many of their launches, in replayed frames, too."""
    launched, look = [0], StopFlag.look

    def noted_look(self: StopFlag) -> None:
        look(self)
        launched[0] += self._watched == int(of_builds)
        if launched[0] == count:
            target.stop(builds=of_builds)

    patch.setattr(StopFlag, "look", noted_look)


def replayed(target: HostTarget, view: View, others: Sequence[View] = ()) -> Engine:
    """An engine whose next frame that rebuilds is a replay."""
    engine = Engine(target, moving_scene())
    for number in range(5):
        engine.render_frame(Moment(BEFORE + 0.01 * number), [view, *others])
    assert engine._launches is not None and engine._launches._captured
    return engine


def stop_frame(engine: Engine, views: Sequence[View], of_builds: bool, behind: int = STOPPED_AT) -> None:
    """Draw a frame that is stopped on its way: `behind` so many launches, 0: before it."""
    target = engine.target
    assert isinstance(target, HostTarget)
    with pytest.MonkeyPatch.context() as patch:
        if behind:
            stop_behind(target, of_builds, patch, behind)
        else:
            target.stop(builds=of_builds)
        with pytest.raises(Stopped):
            engine.render_frame(Moment(INSTANT), views)
    target.go_on()


def pictures(engine: Engine, view: View) -> list[np.ndarray]:
    """What an engine, which is closed then, shows of the instant whose tree there was, and of another one."""
    found = []
    with engine:
        for time in (INSTANT, BEFORE):
            engine.render_frame(Moment(time), [view])
            found.append(shown(view).copy())
    return found


def launches(target: HostTarget, hierarchy: str) -> int:
    """How many a build has."""
    with pytest.MonkeyPatch.context() as patch, Engine(target, moving_scene()) as engine:
        launched = stop_in_builds(target, True, patch, at=-1)
        engine.render_frame(Moment(INSTANT), [view_of(target, hierarchy=hierarchy)])
    return launched[-1]


@pytest.mark.parametrize("share", (0.0, 0.5, 0.9))
@pytest.mark.parametrize("hierarchy", ("hploc", "two_level", "incremental", "grid", "octree_top_down", "sbvh"))
def test_a_stopped_build_leaves_nothing_to_the_next(host_target: HostTarget, hierarchy: str, share: float) -> None:
    at = max(STOPPED_AT, int(share * launches(host_target, hierarchy)))
    engine, view = Engine(host_target, moving_scene()), view_of(host_target, hierarchy=hierarchy)
    view.borrows = True
    engine.render_frame(Moment(INSTANT), [view])
    view.borrows, torn = False, engine.drawn_slot(view).hierarchy
    with pytest.MonkeyPatch.context() as patch:
        launched = stop_in_builds(host_target, True, patch, at)
        with pytest.raises(Stopped):
            engine.render_frame(Moment(INSTANT), [view])
    assert launched == [at], "what comes behind the launch that was stopped would read what is not there"
    host_target.go_on()
    view.borrows = True
    engine.render_frame(Moment(INSTANT), [view])
    assert engine.drawn_slot(view).hierarchy is not torn
    assert np.array_equal(pictures(engine, view), pictures(Engine(host_target, moving_scene()), view))


def test_a_tree_that_is_still_of_use_is_built_to_its_end(host_target: HostTarget) -> None:
    """Where only the picture is stopped: another camera needs the same tree."""
    engine, view = Engine(host_target, moving_scene()), view_of(host_target, hierarchy="hploc")
    engine.render_frame(Moment(BEFORE), [view])
    kept = engine.drawn_slot(view).hierarchy
    with pytest.MonkeyPatch.context() as patch:
        launched = stop_in_builds(host_target, False, patch)
        with pytest.raises(Stopped):
            engine.render_frame(Moment(INSTANT), [view])
    assert launched[0] > STOPPED_AT
    host_target.go_on()
    engine.render_frame(Moment(INSTANT), [view])
    assert engine.drawn_slot(view).hierarchy is kept
    engine.close()


@pytest.mark.parametrize("hierarchy", ("hploc", "lbvh", "two_level"))
@pytest.mark.parametrize("mode", ("rebuild", "refit"))
@pytest.mark.parametrize("behind", (0, STOPPED_AT))
def test_a_build_that_is_stopped_in_a_replay_leaves_nothing_either(
    host_target: HostTarget, hierarchy: str, mode: str, behind: int
) -> None:
    """A replay does what was recorded, and nothing of what stood around it."""
    view = view_of(host_target, hierarchy=hierarchy, update=UpdateOptions(mode="rebuild"))
    engine = replayed(host_target, view)
    torn = engine.drawn_slot(view).hierarchy
    stop_frame(engine, [view], True, behind)
    view.settings = dataclasses.replace(view.settings, update=UpdateOptions(mode=mode))
    engine.render_frame(Moment(INSTANT), [view])
    now = engine.drawn_slot(view).hierarchy
    assert np.array_equal(pictures(engine, view), pictures(Engine(host_target, moving_scene()), view))
    assert now is not torn


@pytest.mark.parametrize("is_first", (True, False))
def test_each_view_is_whole_after_one_of_their_builds_was_stopped_in_a_replay(
    host_target: HostTarget, is_first: bool
) -> None:
    rebuild = UpdateOptions(mode="rebuild")
    names = ("hploc", "lbvh") if is_first else ("lbvh", "hploc")
    views = [view_of(host_target, name, hierarchy=name, update=rebuild) for name in names]
    engine = replayed(host_target, views[0], views[1:])
    of_first = 0 if is_first else launches(host_target, "lbvh") + 1  # its end is looked at, too
    stop_frame(engine, views, True, of_first + STOPPED_AT)
    with Engine(host_target, moving_scene()) as fresh:
        for view in views:
            view.settings = dataclasses.replace(view.settings, update=UpdateOptions(mode="refit"))
            engine.render_frame(Moment(INSTANT), [view])
            found = shown(view).copy()
            fresh.render_frame(Moment(INSTANT), [view])
            assert np.array_equal(found, shown(view)), view.name
    engine.close()


def test_rays_that_are_stopped_in_a_replay_leave_the_tree(host_target: HostTarget) -> None:
    view = view_of(host_target, hierarchy="hploc")
    engine = replayed(host_target, view)
    kept = engine.drawn_slot(view).hierarchy
    stop_frame(engine, [view], False, behind=0)
    engine.render_frame(Moment(INSTANT), [view])
    assert engine.drawn_slot(view).hierarchy is kept
    engine.close()


def test_nothing_is_asked_of_a_tree_that_is_half_built(host_target: HostTarget) -> None:
    view = view_of(host_target, hierarchy="hploc")
    engine = replayed(host_target, view)
    stop_frame(engine, [view], True)
    for ask in (lambda: engine.pick(view, 48, 36), lambda: engine.nodes(view), lambda: engine.steps(view, 48, 36)):
        with pytest.raises(HierarchyError, match="tree of 'main' was stopped .* Draw it once more"):
            ask()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(engine._slots["main"].hierarchy), "measure", lambda *given: pytest.fail("a torn tree"))
        engine.flush()
    engine.render_frame(Moment(INSTANT), [view])
    with Engine(host_target, moving_scene()) as fresh:
        fresh.render_frame(Moment(INSTANT), [view])
        assert engine.pick(view, 48, 36) == fresh.pick(view, 48, 36)
    engine.close()

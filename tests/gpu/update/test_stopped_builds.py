"""A build that nobody wants any more is left on its way; the structure is made anew before it is used again."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy.base import Hierarchy, Primitives
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.stopping import Stopped
from raygrove.gpu.update.history import Decision
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

"""Before its first frame a structure is built to know what it needs; a picture that must come soon is drawn by that
tree, and the next frame builds its own, which is timed."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy import registry as structures
from raygrove.gpu.hierarchy.base import Primitives
from raygrove.gpu.hierarchy.growing import GrowingHierarchy
from raygrove.gpu.hierarchy.grown_tree import Capacity
from raygrove.gpu.hierarchy.measured import MeasuredHierarchy
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target, Unit
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.update import history
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.view import View
from tests.gpu.moving_scene import moving_scene, shown, view_of

INSTANT = 0.5


def begun(target: Target, borrows: bool, hierarchy: str) -> tuple[Engine, View]:
    """An engine that has drawn the instant by another structure, and a view of this one."""
    engine = Engine(target, moving_scene())
    engine.render_frame(Moment(INSTANT), [view_of(target)])
    view = view_of(target, hierarchy=hierarchy, samples=3)
    view.borrows = borrows
    return engine, view


@pytest.mark.parametrize("hierarchy", ("hploc", "median_sah", "grid"))
def test_the_first_picture_is_the_same_and_the_second_frame_builds(target: Target, hierarchy: str) -> None:
    pictures: dict[bool, list[np.ndarray]] = {}
    for borrows in (False, True):
        engine, view = begun(target, borrows, hierarchy)
        updates, builds_ms, pictures[borrows] = [], [], []
        for _ in range(3):
            engine.render_frame(Moment(INSTANT), [view])
            view.borrows = False
            drawn = engine.flush().views[0]
            updates.append(drawn.update)
            builds_ms.append(drawn.build_ms)
            pictures[borrows].append(shown(view))
        engine.close()
        built = 1 if borrows else 0
        assert updates == ["rebuild" if frame == built else "nothing" for frame in range(3)]
        assert builds_ms[built] > 0.0 and sum(builds_ms) == builds_ms[built]
    for ordinary, borrowed in zip(pictures[False], pictures[True], strict=True):
        assert np.array_equal(ordinary, borrowed)


def test_what_has_moved_since_is_built_anew(target: Target) -> None:
    engine, view = begun(target, True, "hploc")
    engine.render_frame(Moment(INSTANT + 0.2), [view])
    assert engine.flush().views[0].update == "rebuild"
    moved = shown(view)
    engine.close()
    engine, view = begun(target, False, "hploc")
    engine.render_frame(Moment(INSTANT + 0.2), [view])
    assert np.array_equal(shown(view), moved)
    engine.close()


@pytest.mark.parametrize("hierarchy", ("hploc", "median_sah", "grid"))
def test_a_borrowed_tree_is_measured_behind_its_picture(
    target: Target, hierarchy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits for the picture does not wait for what is told of its tree; before the next frame, as that may have to
    compile."""
    measured, measure = list[str](), MeasuredHierarchy.measure

    def noted(self: MeasuredHierarchy, *given: Any, **named: Any) -> None:
        measured.append(self.name)
        measure(self, *given, **named)

    monkeypatch.setattr(MeasuredHierarchy, "measure", noted)
    for borrows in (False, True):
        engine, view = begun(target, borrows, hierarchy)
        monkeypatch.setattr(history, "MEASURE_INTERVAL", 1e9)
        measured.clear()
        engine.render_frame(Moment(INSTANT), [view])
        assert measured == ([] if borrows else [hierarchy] * 2), "kernels are made ready, and the tree is measured"
        view.borrows = False
        engine.render_frame(Moment(INSTANT), [view])
        assert measured == [hierarchy] * 2, "both, before and behind the second picture"
        assert engine.flush().views[0].structure.depth is not None
        engine.close()


def test_a_tree_that_has_taken_its_place_keeps_what_is_told_of_it(target: Target) -> None:
    """The scene had moved on, so that the first picture had a tree of its own, which was measured with its instant."""
    engine, view = begun(target, True, "hploc")
    engine.render_frame(Moment(INSTANT + 0.2), [view])
    assert engine.flush().views[0].structure.measured_time == INSTANT + 0.2
    view.borrows = False
    engine.render_frame(Moment(INSTANT + 0.2), [view])
    assert engine.flush().views[0].structure.measured_time == INSTANT + 0.2
    engine.close()


def test_a_surface_that_stands_is_not_placed_again(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """A structure that has to find its room at the instant that is shown moves nothing for it."""
    engine, view = begun(host_target, True, "grid")
    engine.render_frame(Moment(INSTANT), [view_of(host_target)])
    version, launched = engine._animator.surface.version, list[str]()
    launch = HostTarget.launch

    def noted(self: HostTarget, unit: Unit, kernel: str, *given: Any, **named: Any) -> None:
        launched.append(kernel)
        launch(self, unit, kernel, *given, **named)

    monkeypatch.setattr(HostTarget, "launch", noted)
    engine.render_frame(Moment(INSTANT), [view])
    assert "transform_vertices" not in launched and engine._animator.surface.version == version
    engine.render_frame(Moment(INSTANT + 0.2), [view])
    assert "transform_vertices" in launched
    engine.close()


def test_finding_room_is_the_first_build(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not followed by another one, of the same tree."""
    built: list[bool] = []
    finding = [False]
    fill, find = GrowingHierarchy._filled, GrowingHierarchy._find_room

    def noted_fill(self: GrowingHierarchy, *given: object) -> object:
        built.append(finding[0])
        return fill(self, *given)  # type: ignore[arg-type]

    def noted_find(self: GrowingHierarchy, *given: object) -> None:
        finding[0] = True
        find(self, *given)  # type: ignore[arg-type]
        finding[0] = False

    monkeypatch.setattr(GrowingHierarchy, "_filled", noted_fill)
    monkeypatch.setattr(GrowingHierarchy, "_find_room", noted_find)
    engine, view = begun(host_target, True, "grid")
    engine.render_frame(Moment(INSTANT), [view])
    assert built == [True], "what is built is copied to where there is headroom"
    view.borrows = False
    engine.render_frame(Moment(INSTANT), [view])
    assert built.count(False) == 1
    engine.close()


def test_a_tree_that_was_there_before_has_its_room_at_once(
    host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who goes back to a structure builds it once, whatever its first tree took, into as much memory."""
    engine, view = begun(host_target, True, "octree_bottom_up")
    fill, counted = GrowingHierarchy._filled, list[int]()

    def noted(self: GrowingHierarchy, primitives: Primitives, capacity: Capacity) -> object:
        counted.append(primitives.count)
        return fill(self, primitives, capacity)

    monkeypatch.setattr(GrowingHierarchy, "_filled", noted)
    kind = structures.structure("octree_bottom_up")
    monkeypatch.setattr(kind, "first_capacity", lambda self, count: Capacity(1, 1, 1), raising=False)
    engine.render_frame(Moment(INSTANT), [view])
    first, memory = len(counted), engine.flush().views[0].structure.bytes
    assert first > 2
    other = dataclasses.replace(view, settings=dataclasses.replace(view.settings, hierarchy="hploc"))
    engine.render_frame(Moment(INSTANT), [other])
    engine.render_frame(Moment(INSTANT), [view])
    assert len(counted) == first + 1 and 0 < engine.flush().views[0].structure.bytes <= memory
    engine.close()


def test_a_borrowed_tree_is_of_the_mode_in_which_it_was_chosen(target: Target) -> None:
    """As any other; figures of a tree without one are of no structure that could be chosen."""
    engine = Engine(target, moving_scene())
    engine.render_frame(Moment(INSTANT), [view_of(target)])
    for name, hierarchy, mode in (("new", "lbvh", "refit"), ("new", "hploc", "rebuild"), ("newer", "hploc", "refit")):
        view = view_of(target, name, hierarchy=hierarchy, update=UpdateOptions(mode))
        view.borrows, found = True, []
        for _ in range(3):
            engine.render_frame(Moment(INSTANT), [view])
            found.append(engine.flush().views[0])
        assert [one.update for one in found] == ["nothing"] * 3 and {one.update_mode for one in found} == {mode}
        engine.render_frame(Moment(INSTANT + 0.1), [view])
        trees = [one.structure for one in (*found, engine.flush().views[0])]
        assert {tree.measured_mode for tree in trees if tree.measured_time is not None} <= {mode}
        engine.render_frame(Moment(INSTANT), [view_of(target)])
    engine.close()

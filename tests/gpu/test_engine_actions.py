"""Any sequence of what a person can change leaves the right picture, and no frame waits: engine_actions.py as a state
machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Array, Target
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.view import View, ViewSettings

from .engine_actions import World
from .engine_changes import ACTIONS
from .engine_choices import CAMERAS, FRAMES, LIGHTS, Common
from .engine_questions import QUESTIONS
from .engine_scenes import SCENES
from .target.in_frame import FrameTarget

RAY_TYPES = ("flat", "ids")
"""Two are compiled for every structure anyway; the command line of engine_actions.py takes all."""


@pytest.mark.parametrize("sequences", [7, pytest.param(40, marks=pytest.mark.full)])
def test_any_sequence_of_changes_leaves_the_right_picture(target: Target, sequences: int) -> None:
    class Machine(RuleBasedStateMachine):
        @hypothesis.stateful.initialize(seed=st.integers(0, 1 << 30))
        def open(self, seed: int) -> None:
            self.world = World(target, seed, RAY_TYPES, every_choice=False)

        @rule(action=st.sampled_from(sorted(ACTIONS)), frames=st.sampled_from(FRAMES))
        def act(self, action: str, frames: int) -> None:
            self.world.act(action, frames)

        @rule(action=st.sampled_from(["hide", "size", "time", "materials", "back"]), frames=st.sampled_from(FRAMES))
        def often(self, action: str, frames: int) -> None:
            self.world.act(action, frames)

        @rule()
        def back(self) -> None:
            self.world.act("back", 4)

        def teardown(self) -> None:
            if hasattr(self, "world"):
                self.world.close()

    unchecked = list(hypothesis.HealthCheck)
    quick = hypothesis.settings(
        max_examples=sequences, stateful_step_count=40, deadline=None, suppress_health_check=unchecked
    )
    run_state_machine_as_test(Machine, settings=quick)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
def test_so_do_many_changes_at_random(target: Target, seed: int) -> None:
    """Longer sequences than hypothesis likes: engine_actions.py has a command line for very long ones, of all ray
    types."""
    with contextlib.closing(World(target, seed, RAY_TYPES, every_choice=False)) as world:
        for _ in range(100):
            world.act()
        assert len(world.history) == 100


@pytest.mark.parametrize(
    "scene", ["long", "mixed", *(pytest.param(name, marks=pytest.mark.full) for name in ("balls", "particles"))]
)
def test_questions_are_answered_for_the_present(target: Target, scene: str) -> None:
    """What touches, what lies in a region, what is under a pixel: after each change, as brute force answers."""
    with contextlib.closing(World(target, 3, RAY_TYPES, every_choice=False)) as world:
        world.reopen(Common(scene))
        for name in ("lbvh", "grid_two_level"):
            world.change("main", hierarchy=name, mode="rebuild")
            for change in ("time", "hide", "time", "camera"):
                world.act(change, 2)
                for question in QUESTIONS:
                    world.ask("main", question)


@pytest.mark.parametrize("time", [1.0, 0.25])
def test_lights_and_time_may_change_at_once(target: Target, time: float) -> None:
    """The structure follows the motion and is left alone where only the light is another; the picture is that of an
    engine made for it."""
    pictures, updates = [], []
    for moments in ((0.25, 0.25, time), (time,)):
        with contextlib.closing(Engine(target, SCENES["long"]())) as made:
            pixels = ArrayPixels(target, 64, 48)
            view = View(ViewSettings(hierarchy="lbvh", ray_type="smooth"), CAMERAS[0], pixels)
            for number, moment in enumerate(moments):
                if number == len(moments) - 1:
                    made.take_lights(LIGHTS[0])
                made.render_frame(Moment(moment), [view])
            updates.append(made.flush().views[0].update)
            pictures.append((pixels.download().copy(), made.totals(view)))
    assert np.array_equal(pictures[0][0], pictures[1][0]) and pictures[0][1] == pictures[1][1]
    assert updates[0] == ("rebuild" if time != 0.25 else "nothing")


class UnwaitingTarget(FrameTarget):
    """A host target on which a frame that reads back raises, as one that is captured does on every target."""

    def download(self, array: Array) -> np.ndarray:
        assert not self.is_in_frame, "a frame waits for the target"
        return super().download(array)

    def synchronize(self) -> None:
        assert not self.is_in_frame, "a frame waits for the target"
        super().synchronize()


@pytest.fixture
def unwaiting() -> Iterator[UnwaitingTarget]:
    with contextlib.closing(UnwaitingTarget()) as made:
        yield made


@pytest.mark.parametrize("name", structures())
def test_no_frame_waits_whatever_is_hidden_and_shown(unwaiting: UnwaitingTarget, name: str) -> None:
    """The first frames of a structure, of others primitives and of a scene that moves; and after each the picture is
    whole."""
    with contextlib.closing(Engine(unwaiting, SCENES["long"]())) as engine:
        settings = ViewSettings(hierarchy=name, ray_type="ids", update=UpdateOptions(always=True))
        view = View(settings, CAMERAS[0], ArrayPixels(unwaiting, 33, 17))
        hits = []
        for hidden in ((0,), (), (0, 1, 2, 3), (), (1, 2)):
            engine.hide(hidden)
            for number in range(5):
                engine.render_frame(Moment(0.3 * number, 0, number), [view])
            structure = engine.flush().views[0].structure
            assert not structure.is_stale
            hits.append(engine.totals(view).hits)
        assert hits[1] == hits[3] > hits[0] > 0 == hits[2]


def test_what_is_asked_of_a_structure_that_tiles_left_aside_is_of_this_instant(target: Target) -> None:
    """Spheres of other sizes need more room in an octree than it has; nothing builds it before it is asked for."""
    world = World(target, 1, ("ids",), False)
    try:
        world.reopen(Common(scene="particles", time=0.5, spheres=0))
        world.change("main", ray_type="ids", mode="rebuild", hierarchy="octree_bottom_up", camera=2, size=(33, 17))
        world.change("main", primary="tiles")
        for spheres in (0, 1):
            world.share(spheres=spheres)
            world._give_to(world.engine)
            world.draw(3)
    finally:
        world.close()

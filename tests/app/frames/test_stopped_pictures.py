"""A picture at rest is stopped by what is wanted next, with a real engine on the host: also where its samples are drawn
whole, as the filter of paths needs them."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from raygrove.app.document.opening import cameras_of
from raygrove.app.document.state import State, replaced
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.pixel_slots import HostSlot, PixelSlot, SlotExchange
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.problems.problem import Problem
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.base import Hierarchy, Primitives
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.stopping import Stopped
from raygrove.gpu.update.history import Decision
from tests.waiting import EVENT_S

SIZE = 400, 300
STOPS_WITHIN_MS = 50.0


class NotedMaker(FrameMaker):
    """Notes when pictures begin, by the processor seconds of all threads, and which were stopped."""

    begun: list[tuple[bool, float]] = []
    stopped: list[bool] = []

    def draw(self, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot], is_moving: bool) -> Outcome:
        self.begun.append((is_moving, time.process_time()))
        try:
            return super().draw(scene, state, moment, slots, is_moving)
        except Stopped:
            self.stopped.append(is_moving)
            raise


class Watched:
    """A render thread that is heard."""

    def __init__(self) -> None:
        self.frames: list[FinishedFrame] = []
        self.problems: list[Problem] = []
        self.exchange = SlotExchange((HostSlot(*SIZE), HostSlot(*SIZE)))
        self.thread = RenderThread(self.frames.append, self.problems.append, make_maker=NotedMaker)
        self.picture = np.zeros(0, np.uint8)
        NotedMaker.begun.clear()
        NotedMaker.stopped.clear()
        self.thread.start()

    def ask(self, state: State, moving: bool = False) -> FrameRequest:
        request = FrameRequest(scene(), state, Moment(0.0), (self.exchange,), moving)
        self.thread.submit(request)
        return request

    def until(self, is_so: Callable[[], object]) -> None:
        end = time.monotonic() + EVENT_S
        while not is_so():
            assert not self.problems and time.monotonic() < end, self.problems
            self.take()
            time.sleep(0.001)

    def until_begun(self, count: int) -> None:
        """Until so many pictures have begun."""
        self.until(lambda: len(NotedMaker.begun) >= count)

    def take(self) -> None:
        """The newest picture."""
        if (slot := self.exchange.newest_finished()) is not None:
            assert isinstance(slot, HostSlot)
            self.picture = slot.pixels.copy()
            self.exchange.give_back(slot)


@functools.cache
def scene() -> Scene:
    return make_demo("room", 500)


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched()
    yield made
    assert made.thread.stop(EVENT_S)


@pytest.fixture
def slow() -> State:
    """Filtered paths: each sample is drawn at once."""
    settings = set_option(set_option(Settings(), "render.device", "cpu"), "render.ray_type", "path")
    for name, value in (("filtered", True), ("bounces", 16), ("roulette_from", 16)):
        settings = set_option(settings, f"ray_type.path.{name}", value)
    return State(settings=set_option(settings, "display.adapt_resolution", False), cameras=cameras_of(scene()))


def begin_one_more(watched: Watched, share: float) -> float:
    """Wait until so much of a sample at rest has been drawn; the milliseconds of all processors that a whole one
    takes."""
    begun = NotedMaker.begun
    watched.until(lambda: len(begun) >= 4)
    sample_ms = (begun[-1][1] - begun[-2][1]) * 1000.0
    watched.until(lambda: (time.process_time() - begun[-1][1]) * 1000.0 > share * sample_ms)
    return sample_ms


def test_a_drag_stops_a_slow_sample(watched: Watched, slow: State) -> None:
    watched.ask(slow)
    sample_ms = begin_one_more(watched, 0.1)
    asked = time.process_time()
    watched.ask(slow, moving=True)
    watched.until(lambda: any(is_moving for is_moving, _ in NotedMaker.begun))
    took_ms = (next(at for is_moving, at in NotedMaker.begun if is_moving) - asked) * 1000.0
    threads = choose("cpu").threads
    assert sample_ms > 4.0 * threads * STOPS_WITHIN_MS, "too quick a sample to see anything"
    assert NotedMaker.stopped == [False] and took_ms / threads < STOPS_WITHIN_MS, (took_ms, sample_ms)


def test_who_changes_a_setting_again_and_again_sees_every_other_picture(watched: Watched, slow: State) -> None:
    """Were all stopped, nothing would ever be shown."""
    watched.ask(slow)
    begin_one_more(watched, 0.2)
    seen = len(watched.frames)
    for exposure in (0.1, 0.2, 0.3):
        begun = len(NotedMaker.begun)
        watched.ask(replaced(slow, "settings.ray_type.path.exposure", exposure))
        watched.until_begun(begun + 1)
    watched.until(lambda: len(watched.frames) > seen + 1)
    exposures = [frame.request.state.settings.ray_type_options("path").exposure for frame in watched.frames[seen:]]
    assert exposures[:2] == [0.1, 0.3] and NotedMaker.stopped == [False, False]


def test_what_was_stopped_leaves_nothing_in_the_next_picture(
    watched: Watched, slow: State, host_target: Target
) -> None:
    plain = replaced(slow, "settings.ray_type.path.filtered", False)
    for name, value in (("refine_samples", 1), ("still_samples", 1), ("filter_samples", 0)):
        plain = replaced(plain, f"settings.display.{name}", value)
    watched.ask(slow)
    begin_one_more(watched, 0.2)
    watched.ask(slow, moving=True)
    watched.until(lambda: watched.frames[-1].request.is_moving)
    last = watched.ask(plain)
    watched.until(lambda: watched.frames[-1].request is last and watched.thread._is_complete)
    watched.take()
    plain = replaced(replaced(plain, "settings.render.width", SIZE[0]), "settings.render.height", SIZE[1])
    (expected,) = render_frames(host_target, scene(), plain, [(0, 0.0)])
    assert NotedMaker.stopped == [False]
    assert np.array_equal(watched.picture, expected.pixels)


@functools.cache
def scattered() -> Scene:
    return make_demo("explode", 20_000)


@pytest.mark.parametrize(
    "chosen, value, is_stopped",
    (
        ("settings.render.hierarchy", "lbvh", True),
        ("settings.render.ray_type", "smooth", False),
        ("settings.render.triangle_test", "watertight", True),
        ("views.0.hierarchy", "lbvh", True),
        ("views.0.camera", 1, False),
        ("views.0.ray_type", "smooth", False),
        ("hidden", (0,), True),
    ),
)
def test_another_structure_stops_the_build_of_the_one_before(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, chosen: str, value: object, is_stopped: bool
) -> None:
    """Its first picture was by a tree that was built for its kernels; the second builds its own, which nobody waits
    for who has chosen another structure or test of triangles, or hidden something. Another camera or ray type goes
    through that tree."""
    monkeypatch.setattr("tests.app.frames.test_stopped_pictures.scene", scattered)
    monkeypatch.setattr(NotedMaker, "compiles_ahead", False)
    ended, do = list[bool](), Decision.do

    def noted(self: Decision, hierarchy: Hierarchy, primitives: Primitives) -> None:
        is_slow = self.update == "rebuild" and hierarchy.name == "agglomerative"
        if is_slow:
            ended.append(False)
            watched.ask(after)
        do(self, hierarchy, primitives)
        if is_slow:
            ended[-1] = True

    monkeypatch.setattr(Decision, "do", noted)
    settings = set_option(set_option(Settings(), "render.device", "cpu"), "render.hierarchy", "agglomerative")
    cameras = (cameras_of(scattered())[0], Camera())
    state = State(settings=set_option(settings, "render.ray_type", "flat"), cameras=cameras)
    after = replaced(state, chosen, value)
    watched.ask(state)
    watched.until(lambda: watched.frames and watched.frames[-1].request.state == after)
    assert NotedMaker.stopped == [False] and ended[0] != is_stopped

"""Frames that are captured and replayed draw what frames that are launched draw, and nothing but launches is
captured."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.animate.animate import Surface
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.repeated_launches import FRAMES_BEFORE_CAPTURE, MAX_CAPTURED, RepeatedLaunches
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target, TargetOptions
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.update.options import UpdateOptions
from raygrove.gpu.view_slot import ViewSlot

from .engine_choices import CAMERAS, LIGHTS
from .engine_scenes import SCENES, colours
from .moving_scene import moving_scene


class CountingTarget(HostTarget):
    """A host target that counts what it captures and replays."""

    def __init__(self) -> None:
        super().__init__(TargetOptions(threads=2))
        self.captured = self.replayed = 0

    def capture(self, body: Callable[[], None]) -> Callable[[], None]:
        own = super().capture(body)
        self.captured += 1

        def replay() -> None:
            self.replayed += 1
            own()

        return replay


@pytest.fixture
def replaying() -> Iterator[CountingTarget]:
    with contextlib.closing(CountingTarget()) as made:
        yield made


@contextlib.contextmanager
def both_engines(target: Target) -> Iterator[tuple[Engine, Engine]]:
    """One that replays and one that launches."""
    with (
        contextlib.closing(Engine(target, moving_scene())) as replays,
        contextlib.closing(Engine(target, moving_scene(), repeats=False)) as launches,
    ):
        yield replays, launches


def views_on(target: Target) -> list[View]:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("smooth", {"layout": "bvh4"}),
        ("flat", {"layout": "bvh2", "update": UpdateOptions("refit")}),
        ("steps", {"hierarchy": "brute_force"}),
    ]
    camera = Camera(eye=(0.5, 1.2, 4.5))
    return [
        View(ViewSettings(ray_type=name, **more), camera, ArrayPixels(target, 61, 47), name) for name, more in cases
    ]


def pictures(engine: Engine, views: list[View], times: list[float]) -> list[np.ndarray]:
    drawn = []
    for frame, time in enumerate(times):
        for view in views:
            view.camera = Camera(eye=(0.5 + 0.01 * frame, 1.2, 4.5))
        engine.render_frame(Moment(time), views)
        drawn += [view.pixels.download() for view in views]  # type: ignore[attr-defined]
    return drawn


def test_replayed_frames_equal_launched_ones(replaying: CountingTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[ViewSlot] = []
    draw = ViewSlot.draw

    def counted(slot: ViewSlot, surface: Surface) -> None:
        bodies.append(slot)
        draw(slot, surface)

    monkeypatch.setattr(ViewSlot, "draw", counted)
    times = [0.1 * frame for frame in range(8)]
    with (
        contextlib.closing(Engine(replaying, moving_scene())) as engine,
        contextlib.closing(Engine(replaying, moving_scene(), repeats=False)) as plain,
    ):
        replayed = pictures(engine, views_on(replaying), times)
        # The first frame rebuilds everything; of the seven alike, two are launched and one is captured.
        assert (replaying.captured, replaying.replayed) == (1, 5)
        assert len(bodies) == 3 * 5, "capturing runs a body twice"
        assert engine.flush().views[0].structure.sah_cost is not None
        launched = pictures(plain, views_on(replaying), times)
    assert all(np.array_equal(a, b) for a, b in zip(replayed, launched, strict=True))


def test_every_way_a_frame_can_change_is_seen(replaying: CountingTarget) -> None:
    # The same steps with and without capture: sizes, choices, options, a scene that stops and goes on.
    def steps(engine: Engine) -> list[np.ndarray]:
        drawn = []
        (view, *_), other = views_on(replaying), ArrayPixels(replaying, 40, 90)
        changes: list[tuple[str, Any]] = [
            ("pixels", other),
            ("settings", ViewSettings(ray_type="smooth", layout="bvh2")),
            ("settings", ViewSettings(ray_type="smooth", layout="bvh2", update=UpdateOptions("refit"))),
            ("settings", ViewSettings(ray_type="flat")),
            ("settings", ViewSettings(ray_type="steps", hierarchy="brute_force")),
            ("settings", ViewSettings(ray_type="smooth")),
            ("pixels", ArrayPixels(replaying, 200, 120)),
        ]
        times = iter(np.arange(100) * 0.013)
        for field, value in [("name", "main"), *changes]:
            setattr(view, field, value)
            for _ in range(5):
                engine.render_frame(Moment(float(next(times))), [view])
                drawn.append(view.pixels.download())  # type: ignore[attr-defined]
            engine.render_frame(Moment(1.0), [view])
            engine.render_frame(Moment(1.0), [view])
            drawn.append(view.pixels.download())  # type: ignore[attr-defined]
        return drawn

    with (
        contextlib.closing(Engine(replaying, moving_scene())) as engine,
        contextlib.closing(Engine(replaying, moving_scene(), repeats=False)) as plain,
    ):
        replayed = steps(engine)
        assert replaying.captured >= 6
        launched = steps(plain)
    assert all(np.array_equal(a, b) for a, b in zip(replayed, launched, strict=True))


@pytest.mark.parametrize("ray_type", ["smooth", "path"])
def test_materials_and_lights_are_never_replayed_as_they_were(replaying: CountingTarget, ray_type: str) -> None:
    """What is seen through and what shines from its front alone need other kernels, lamps, hidden or not, other
    arrays."""
    some_light = tuple(
        dataclasses.replace(one, base_color=(0.9, 0.9, 0.9, 0.4), alpha_mode="blend") for one in colours(0)
    )
    one_side = tuple(dataclasses.replace(one, is_double_sided=False) for one in colours(1))

    def steps(engine: Engine) -> list[np.ndarray]:
        view = View(ViewSettings(ray_type=ray_type), CAMERAS[0], ArrayPixels(replaying, 33, 17))
        drawn, times = [], iter(np.arange(100) * 0.013)
        changes: tuple[Callable[[], None], ...] = (
            lambda: engine.take_materials(some_light),
            lambda: engine.take_materials(colours(1)),
            lambda: engine.take_materials(one_side),
            lambda: engine.hide((1,)),
            lambda: engine.take_lights(LIGHTS[1]),
            lambda: engine.take_materials(colours(0)),
        )
        for change in (lambda: None, *changes):
            change()
            for _ in range(5):
                engine.render_frame(Moment(float(next(times))), [view])
                drawn.append(view.pixels.download())  # type: ignore[attr-defined]
        return drawn

    with (
        contextlib.closing(Engine(replaying, SCENES["short"]())) as engine,
        contextlib.closing(Engine(replaying, SCENES["short"](), repeats=False)) as plain,
    ):
        replayed = steps(engine)
        assert replaying.replayed >= 7
        launched = steps(plain)
    assert all(np.array_equal(a, b) for a, b in zip(replayed, launched, strict=True))


def test_what_repeats_is_captured_and_the_oldest_dropped(replaying: CountingTarget) -> None:
    launches, ran = RepeatedLaunches(replaying), []
    for key in range(MAX_CAPTURED + 1):
        for _ in range(FRAMES_BEFORE_CAPTURE + 2):
            launches.run(key, lambda key=key: ran.append(key))  # type: ignore[misc]
    assert ran.count(0) == FRAMES_BEFORE_CAPTURE + 2 and replaying.captured == MAX_CAPTURED + 1
    launches.run(0, lambda: ran.append("again"))  # type: ignore[arg-type]
    launches.run(MAX_CAPTURED, lambda: ran.append("never"))  # type: ignore[arg-type]
    assert "again" in ran and "never" not in ran
    for turn in range(10):
        launches.run(f"alternating {turn % 2}", lambda: None)
    assert replaying.captured == MAX_CAPTURED + 3, (
        "keys that take turns are captured too: a mode that rebuilds now and then"
    )
    for width in range(300):
        launches.run(f"dragged to {width % 100}", lambda: None)
    assert replaying.captured == MAX_CAPTURED + 3, "those that come once in a while are not"


@pytest.mark.cuda
def test_graphs_on_the_device_draw_the_same(cuda_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    # Trees are measured by the clock, so that a busy machine would measure one engine's in its last frame.
    monkeypatch.setattr(ViewSlot, "measure_now_and_then", lambda slot: False)
    times = [0.1 * frame for frame in range(12)]
    with (
        contextlib.closing(Engine(cuda_target, moving_scene())) as engine,
        contextlib.closing(Engine(cuda_target, moving_scene(), repeats=False)) as plain,
    ):
        replayed, launched = (
            pictures(engine, views_on(cuda_target), times),
            pictures(plain, views_on(cuda_target), times),
        )
        assert engine.flush().launches == plain.flush().launches
    assert all(np.array_equal(a, b) for a, b in zip(replayed, launched, strict=True))

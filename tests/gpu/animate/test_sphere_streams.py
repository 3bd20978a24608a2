"""Key frames of spheres that stream: centres, radii, colours and periodic boxes are byte for byte those of resident
ones at every time, by copies and in mapped memory, and nothing is shown before it has arrived."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

from raygrove.gpu.animate import key_sources
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.animate.key_schedule import LEAST_SLOTS
from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import ABSENT, Attribute, Moment, Node, Object, PeriodicBox, Scene, SphereKeys, Spheres
from raygrove.gpu.target.base import Target
from tests.gpu.test_repeated_launches import CountingTarget

from .delayed import DelayedTarget
from .test_streaming import keyed

KEYS = 40
TIMES = np.arange(KEYS, dtype=np.float32)
WAYS = pytest.mark.parametrize("key_stream", ["copies", "mapped"])
MOMENTS = (*np.arange(0.0, 12.0, 0.5), 12.0, 30.5, 3.25, *np.arange(39.0, 28.0, -0.75), -1.0, 99.0, 17.0, 17.0)


def changing(seed: int, count: int, times: np.ndarray) -> Spheres:
    """All that key frames can have, and spheres that some of them lack."""
    random, keys = np.random.default_rng(seed), len(times)
    centres = random.uniform(-2.0, 2.0, (keys, count, 3)).astype(np.float32)
    radii = random.uniform(0.1, 0.4, (keys, count)).astype(np.float32)
    radii[random.random((keys, count)) < 0.2] = ABSENT
    colours = random.random((keys, count, 3)).astype(np.float32)
    vectors = np.array([np.diag(random.uniform(3.0, 5.0, 3)) for _ in range(keys)], np.float32)
    box = PeriodicBox(np.zeros((keys, 3), np.float32), vectors)
    frames = SphereKeys(times, centres, radii, colours)
    return Spheres("changing", centres[0], radii[0], colours[0], key_frames=frames, box=box)


def drifting(seed: int, count: int, times: np.ndarray) -> Spheres:
    """Centres alone change."""
    random = np.random.default_rng(seed)
    centres = random.uniform(-2.0, 2.0, (len(times), count, 3)).astype(np.float32)
    return Spheres("drifting", centres[0], np.full(count, 0.2, np.float32), key_frames=SphereKeys(times, centres))


def long_scene() -> Scene:
    """A mesh and two groups of one sequence, one of them placed twice; a group of other times, and a still one."""
    uneven = np.cumsum(np.random.default_rng(0).uniform(0.2, 2.0, KEYS // 2)).astype(np.float32)
    groups = changing(1, 50, TIMES), drifting(2, 30, uneven), drifting(3, 20, TIMES)
    still = Spheres("still", np.zeros((5, 3), np.float32), np.ones(5, np.float32), np.ones((5, 3), np.float32))
    objects = (Object(0, 0), *(Object(1, spheres=group) for group in (0, 1, 3, 2)), Object(0, spheres=0))
    nodes = Node(), Node("", 0, (1.0, 0.0, 0.0), scale=(2.0, 2.0, 2.0))
    return Scene("long", nodes, (keyed(4, 33, TIMES),), objects, (*groups, still))


SCENE = long_scene()
KEY_BYTES = 50 * (12 + 4 + 12) + 84 + 30 * 12 + 20 * 12 + 36 * 24


def bytes_at(target: Target, animator: Animator, seconds: float) -> list[bytes]:
    spheres = animator.at(Moment(float(seconds))).spheres
    assert spheres is not None
    arrays = (spheres.centres, spheres.previous, spheres.radii, spheres.colours, animator.surface.positions)
    return [target.download(values).tobytes() for values in arrays]


@WAYS
@pytest.mark.parametrize("delay", [0, 2, 5])
@pytest.mark.parametrize("slots", [LEAST_SLOTS, 9])
def test_streams_are_resident_keys_byte_for_byte(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, key_stream: str, delay: int, slots: int
) -> None:
    with contextlib.closing(Animator(host_target, SCENE)) as resident:
        expected = [bytes_at(host_target, resident, seconds) for seconds in MOMENTS]
        whole = resident.streaming()
    monkeypatch.setattr(key_sources, "key_budget", lambda target: slots * KEY_BYTES)
    with (
        contextlib.closing(DelayedTarget(delay, key_stream)) as target,
        contextlib.closing(Animator(target, SCENE)) as animator,
    ):
        for seconds, wanted in zip(MOMENTS, expected, strict=True):
            target.tick()
            assert bytes_at(target, animator, seconds) == wanted, seconds
            assert animator.not_finite_count() == 0, "a key was shown before it had arrived"
        facts = animator.streaming()
    assert facts is not None and whole is not None
    assert (whole.keys, whole.slots, whole.bytes_streamed) == (KEYS + KEYS // 2,) * 2 + (0,)
    assert facts.slots == 2 * slots and facts.slot_bytes == slots * KEY_BYTES and facts.bytes_streamed > 0


@WAYS
def test_attributes_find_their_own_key_frames(
    host_target: Target, monkeypatch: pytest.MonkeyPatch, key_stream: str
) -> None:
    """They lie on the device whole, whichever slots centres have."""
    force = np.random.default_rng(9).random((KEYS, 50, 3), np.float32)
    group = dataclasses.replace(SCENE.spheres[0], attributes=(Attribute("force", force),))
    scene = dataclasses.replace(SCENE, spheres=(group, *SCENE.spheres[1:]))
    options, colors = SphereOptions(color_by="force", size_by="force.x"), np.random.default_rng(1).random((256, 3))
    with contextlib.closing(Animator(host_target, scene)) as resident:
        resident.take_sphere_options(options, colors)
        expected = [bytes_at(host_target, resident, seconds) for seconds in MOMENTS]
    monkeypatch.setattr(key_sources, "key_budget", lambda target: LEAST_SLOTS * KEY_BYTES)
    with (
        contextlib.closing(DelayedTarget(0, key_stream)) as target,
        contextlib.closing(Animator(target, scene)) as animator,
    ):
        animator.take_sphere_options(options, colors)
        for seconds, wanted in zip(MOMENTS, expected, strict=True):
            target.tick()
            assert bytes_at(target, animator, seconds) == wanted, seconds


def test_steady_play_of_spheres_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_sources, "key_budget", lambda target: 12 * KEY_BYTES)
    with contextlib.closing(DelayedTarget(2)) as target, contextlib.closing(Animator(target, SCENE)) as animator:
        for number in range(400):
            target.tick()
            animator.at(Moment(0.5 * number % 39.0))
        facts = animator.streaming()
        assert facts is not None and facts.stalls == 0 and facts.bytes_streamed > 4 * KEYS * KEY_BYTES // 2


def test_what_streams_takes_the_memory_of_its_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    for slots in (KEYS, 10):
        monkeypatch.setattr(key_sources, "key_budget", lambda target, slots=slots: slots * KEY_BYTES)
        with contextlib.closing(DelayedTarget()) as target, contextlib.closing(Animator(target, SCENE)):
            taken.append(target.memory()["animation"])
    # each array is counted in steps of some bytes, and the group of other times has fewer keys than slots to begin with
    saved = (KEYS - 10) * (KEY_BYTES - 360) + (KEYS // 2 - 10) * 360
    assert abs(taken[0] - taken[1] - saved) <= 6 * 64


@WAYS
def test_replayed_frames_draw_streamed_spheres(monkeypatch: pytest.MonkeyPatch, key_stream: str) -> None:
    """Slots are read from the target's memory, so a replayed frame shows the spheres of its own moment."""
    drawn: list[list[np.ndarray]] = []
    for slots, replays in ((KEYS, False), (6, True)):
        monkeypatch.setattr(key_sources, "key_budget", lambda target, slots=slots: slots * KEY_BYTES)
        drawn.append([])
        with contextlib.closing(CountingTarget()) as target:
            target.options = dataclasses.replace(target.options, key_stream=key_stream)
            with contextlib.closing(Engine(target, SCENE, repeats=replays)) as engine:
                pixels = ArrayPixels(target, 31, 23)
                view = View(ViewSettings(ray_type="flat", hierarchy="brute_force"), Camera(eye=(0.5, 1.2, 9.0)), pixels)
                for seconds in (*np.arange(0.5, 9.0, 0.7), 30.0, 29.5, 3.0):
                    engine.render_frame(Moment(float(seconds)), [view])
                    drawn[-1].append(pixels.download())
                assert (target.replayed > 8) == replays
    assert all(np.array_equal(a, b) for a, b in zip(*drawn, strict=True))
    assert len({picture.tobytes() for picture in drawn[0]}) > 10


@pytest.mark.cuda
@WAYS
def test_streams_of_spheres_on_a_device(cuda_target: Target, monkeypatch: pytest.MonkeyPatch, key_stream: str) -> None:
    """Copies of several blocks beside the launches, or launches that read the host's memory: every time shows its own
    keys."""
    count = 500_000
    centres = np.broadcast_to(TIMES[:, None, None], (KEYS, count, 3))
    spheres = Spheres(
        "large",
        centres[0].copy(),
        np.ones(count, np.float32),
        key_frames=SphereKeys(TIMES, np.ascontiguousarray(centres)),
    )
    before = cuda_target.options
    monkeypatch.setattr(key_sources, "key_budget", lambda target: 8 * 12 * count)
    cuda_target.options = dataclasses.replace(before, key_stream=key_stream)
    try:
        scene = Scene("large", objects=(Object(0, spheres=0),), spheres=(spheres,))
        with contextlib.closing(Animator(cuda_target, scene)) as animator:
            random = np.random.default_rng(0)
            for seconds in (*random.uniform(0, KEYS - 1, 30), *np.arange(0.0, 39.0, 0.5), *np.arange(39.0, 0.0, -0.7)):
                surface = animator.at(Moment(float(seconds))).spheres
                assert surface is not None
                found = cuda_target.download(surface.centres)
                assert np.allclose(found, np.float32(seconds), atol=1e-5), (seconds, found.min(), found.max())
            assert ("mapped" in cuda_target.memory()) == (key_stream == "mapped")
    finally:
        cuda_target.options = before

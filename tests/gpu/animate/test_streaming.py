"""Key frames that stream: the surface is that of resident ones at every time, nothing is used before it has arrived,
steady play never waits."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import time
from collections.abc import Callable, Iterator

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from raygrove.gpu.animate import key_sources
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.animate.key_stream import COPIES_AT_ONCE
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.glyph_shapes import GlyphKeys, Glyphs
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import KeyFrames, Mesh, Moment, Node, Object, Scene
from raygrove.gpu.stats import KeyStreaming
from raygrove.gpu.target.base import Target
from tests.gpu.test_repeated_launches import CountingTarget

from .delayed import DelayedTarget
from .scenes import random_mesh, random_morph

KEYS, SECONDS = 60, 59.0
SLOTS = 12


def keyed(seed: int, vertices: int, times: np.ndarray) -> Mesh:
    mesh = random_mesh(np.random.default_rng(seed), vertices, keys=len(times))
    assert mesh.key_frames is not None
    return dataclasses.replace(mesh, key_frames=dataclasses.replace(mesh.key_frames, times=times))


def long_scene(keys: int = KEYS) -> Scene:
    """Two meshes of one sequence, the second with targets too, one of a shorter and uneven one, and a still one."""
    times = np.linspace(0.0, keys - 1.0, keys, dtype=np.float32)
    uneven = np.cumsum(np.random.default_rng(0).uniform(0.05, 2.0, keys // 2)).astype(np.float32)
    bent = dataclasses.replace(keyed(2, 21, times), morph_targets=random_morph(np.random.default_rng(3), 21, 2))
    meshes = (keyed(1, 33, times), bent, keyed(4, 10, uneven), random_mesh(np.random.default_rng(5), 9))
    return Scene(
        "long",
        (Node(), Node("", 0, (1.0, 0.0, 0.0))),
        meshes,
        (Object(0, 0), Object(1, 1), Object(0, 2), Object(1, 0), Object(0, 3)),
    )


SCENE = long_scene()
KEY_BYTES = 24 * (36 + 24 + 12)
BUDGET = SLOTS * KEY_BYTES


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def set_budget(size: int = BUDGET) -> None:
        monkeypatch.setattr(key_sources, "key_budget", lambda target: size)

    return set_budget


@pytest.fixture(scope="module")
def resident(host_target: Target) -> Animator:
    return Animator(host_target, SCENE)


@contextlib.contextmanager
def delayed(delay: int = 2, scene: Scene = SCENE) -> Iterator[tuple[DelayedTarget, Animator]]:
    with contextlib.closing(DelayedTarget(delay)) as target, contextlib.closing(Animator(target, scene)) as animator:
        yield target, animator


def surface_at(target: Target, animator: Animator, seconds: float) -> list[np.ndarray]:
    shown = animator.at(Moment(seconds))
    return [target.download(shown.positions), target.download(shown.normals)]


def play(target: DelayedTarget, animator: Animator, times: np.ndarray) -> KeyStreaming:
    for seconds in times:
        target.tick()
        animator.at(Moment(float(seconds)))
        assert animator.not_finite_count() == 0, "a key was shown before it had arrived"
    facts = animator.streaming()
    assert facts is not None
    return facts


MOVES = strategies.lists(
    strategies.tuples(strategies.sampled_from(["forward", "back", "jump"]), strategies.floats(0.0, 1.0),
    strategies.integers(1, 12)),
    min_size=1, max_size=6,
)  # fmt: skip


@hypothesis.given(moves=MOVES, delay=strategies.integers(0, 5))
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_the_surface_is_that_of_resident_keys(
    resident: Animator, host_target: Target, small: Callable[..., None], moves: list, delay: int
) -> None:
    small()
    now = 0.0
    with delayed(delay) as (target, animator):
        for kind, amount, frames in moves:
            if kind == "jump":
                now = amount * (SECONDS + 2.0) - 1.0
            for _ in range(frames):
                target.tick()
                now = float(
                    np.clip(now + {"forward": 3.0, "back": -3.0, "jump": 0.0}[kind] * amount, -1.0, SECONDS + 1.0)
                )
                found, expected = surface_at(target, animator, now), surface_at(host_target, resident, now)
                assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True)), (kind, now)


def looped(speed: float, frames: int) -> np.ndarray:
    return (speed * np.arange(frames)) % SECONDS


def ping_pong(speed: float, frames: int) -> np.ndarray:
    period = (speed * np.arange(frames)) % (2.0 * SECONDS)
    return np.minimum(period, 2.0 * SECONDS - period)


@pytest.mark.parametrize("speed", [0.05, 0.37, 1.0, 1.7])
@pytest.mark.parametrize(
    "way", [looped, ping_pong, lambda *how: SECONDS - looped(*how)], ids=["loop", "ping-pong", "reverse"]
)
def test_steady_play_never_waits(
    small: Callable[..., None], way: Callable[[float, int], np.ndarray], speed: float
) -> None:
    small()
    frames = min(2500, int(2.5 * SECONDS / speed))
    with delayed(2) as (target, animator):
        times = way(speed, frames)
        begun = play(target, animator, times[:4])
        done = play(target, animator, times[4:])
        assert (
            done.stalls == begun.stalls <= 2
            and target.queues[0].waited <= 4
            and target.queues[0].most <= 2 * (COPIES_AT_ONCE + 2)
        )
        rounds = frames * speed / SECONDS
        assert done.bytes_streamed < (rounds + 1.0) * 1.5 * KEYS * KEY_BYTES, "keys are copied that nobody sees"


def test_play_at_uneven_times_never_waits(small: Callable[..., None]) -> None:
    """A window's frames: 30 keys per second at about 60 frames, some of them dropped or late."""
    small()
    steps = np.random.default_rng(1).choice([0.4, 0.5, 0.6, 1.0, 1.5, 3.0], 600, p=[0.25, 0.25, 0.25, 0.1, 0.1, 0.05])
    with delayed(2) as (target, animator):
        assert play(target, animator, np.cumsum(steps) % SECONDS).stalls == 0


def test_to_and_fro_with_frames_that_come_very_late_hardly_waits(small: Callable[..., None]) -> None:
    small(2 * BUDGET)
    steps = np.random.default_rng(1).choice([0.4, 0.6, 1.0, 3.0, 6.0], 1000, p=[0.4, 0.4, 0.1, 0.06, 0.04])
    period = np.cumsum(steps) % (2.0 * SECONDS)
    with delayed(2) as (target, animator):
        done = play(target, animator, np.minimum(period, 2.0 * SECONDS - period))
        assert done.stalls <= 5 and done.bytes_streamed < 1.2 * steps.sum() * KEY_BYTES


def test_a_jump_waits_once_and_play_goes_on(small: Callable[..., None]) -> None:
    small()
    with delayed(2) as (target, animator):
        assert play(target, animator, np.arange(8.0)).stalls == 0
        jumped = play(target, animator, np.array([40.0]))
        assert jumped.stalls == 1 and jumped.waited
        paused = play(target, animator, np.array([40.0, 40.0]))
        assert paused.stalls == 1
        assert play(target, animator, 40.0 + 0.5 * np.arange(1, 30)).stalls <= 2


def test_memory_stays_within_the_budget_and_does_not_grow(small: Callable[..., None]) -> None:
    taken = []
    for budget in (1 << 30, BUDGET):
        small(budget)
        with delayed(1) as (target, animator):
            facts = animator.streaming()
            assert facts.slot_bytes <= budget and facts.keys == KEYS + KEYS // 2
            assert facts.slots == (facts.keys if budget > BUDGET else 2 * SLOTS)
            before = target.memory()
            play(target, animator, np.arange(80.0) % SECONDS)
            assert target.memory() == before
            taken.append(before["animation"])
    saved = 24 * ((36 + 24) * (KEYS - SLOTS) + 12 * (KEYS // 2 - SLOTS))
    assert taken[0] - taken[1] == saved


def test_four_keys_are_the_least_and_are_enough(
    small: Callable[..., None], resident: Animator, host_target: Target
) -> None:
    small(1)
    with delayed(1) as (target, animator):
        assert animator.streaming().slots == 2 * 4
        for seconds in (*np.arange(0.0, 20.0, 0.5), 3.0, 58.5, 0.0):
            target.tick()
            found, expected = (
                surface_at(target, animator, float(seconds)),
                surface_at(host_target, resident, float(seconds)),
            )
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_keys_that_fit_do_not_stream_and_what_has_none_says_nothing(host_target: Target) -> None:
    with contextlib.closing(Animator(host_target, SCENE)) as animator:
        animator.at(Moment(30.5))
        assert animator.streaming() == KeyStreaming(90, 90, 24 * (60 * 60 + 12 * 30))
    still = dataclasses.replace(SCENE, meshes=SCENE.meshes[3:], objects=(Object(0, 0),))
    assert Animator(host_target, still).streaming() is None


def test_the_budget_is_the_setting_or_half_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(DelayedTarget()) as target:
        monkeypatch.setattr(target, "free_bytes", lambda: 1000)
        assert key_sources.key_budget(target) == 500
        target.options = dataclasses.replace(target.options, key_memory_mib=3)
        assert key_sources.key_budget(target) == 3 << 20


def test_the_queue_is_closed_with_the_animator_or_when_it_is_garbage(small: Callable[..., None]) -> None:
    small()
    with delayed() as (target, animator):
        animator.at(Moment(30.0))
        animator.close()
        assert target.queues[0].is_closed
        Animator(target, SCENE).at(Moment(3.0))
        gc.collect()
        assert target.queues[1].is_closed


def large_scene(vertices: int, keys: int) -> Scene:
    """One mesh whose every vertex is at (key, key, key)."""
    shapes = np.broadcast_to(np.arange(keys, dtype=np.float32)[:, None, None], (keys, vertices, 3))
    frames = KeyFrames(np.arange(keys, dtype=np.float32), np.ascontiguousarray(shapes), np.ascontiguousarray(shapes))
    triangles = np.arange(vertices - vertices % 3, dtype=np.int32).reshape(-1, 3)
    mesh = Mesh("", shapes[0].copy(), triangles, np.zeros(len(triangles), np.int32), key_frames=frames)
    return Scene("large", (Node(),), (mesh,), (Object(0, 0),))


@pytest.mark.cuda
def test_streams_of_a_device(cuda_target: Target, small: Callable[..., None]) -> None:
    """Copies of several blocks each, at once with the launches; every time shows its own keys; play at a pace does not
    wait."""
    vertices, keys = 400_000, 40
    small(10 * 24 * vertices)
    with contextlib.closing(Animator(cuda_target, large_scene(vertices, keys))) as animator:
        random = np.random.default_rng(0)
        for seconds in (*random.uniform(0, keys - 1, 30), *np.arange(0.0, 39.0, 0.5), *np.arange(39.0, 0.0, -0.7)):
            surface = animator.at(Moment(float(seconds)))
            found = cuda_target.download(surface.positions)
            assert np.allclose(found, np.float32(seconds), atol=1e-5), (seconds, found.min(), found.max())
        before = animator.streaming()
        for seconds in 0.25 * np.arange(1, 4 * 38):
            animator.at(Moment(float(seconds)))
            time.sleep(1.0 / 120.0)
        after = animator.streaming()
        assert after.stalls - before.stalls <= 2 and after.bytes_streamed > before.bytes_streamed


def test_captured_frames_of_streamed_keys_draw_what_launched_ones_of_resident_keys_draw(
    small: Callable[..., None],
) -> None:
    """Slots are read from the target's memory, so a replayed frame shows the keys of its own moment."""
    drawn = []
    for budget, replays in ((1 << 30, False), (BUDGET, True)):
        small(budget)
        with (
            contextlib.closing(CountingTarget()) as target,
            contextlib.closing(Engine(target, SCENE, repeats=replays)) as engine,
        ):
            pixels = ArrayPixels(target, 31, 23)
            view = View(ViewSettings(ray_type="flat", hierarchy="brute_force"), Camera(eye=(0.5, 1.2, 4.5)), pixels)
            for seconds in (*np.arange(0.5, 12.0, 0.7), 50.0, 49.5, 3.0):
                engine.render_frame(Moment(float(seconds)), [view])
                drawn.append(pixels.download())
            assert (target.replayed > 10) == replays
            facts = engine.flush().key_frames
            assert (facts.bytes_streamed > 0) == (facts.stalls > 0) == (budget == BUDGET)
    half = len(drawn) // 2
    assert all(np.array_equal(a, b) for a, b in zip(drawn[:half], drawn[half:], strict=True))
    assert len({picture.tobytes() for picture in drawn[:half]}) > 10


def glyph_scene(keys: int = KEYS) -> Scene:
    """Arrows placed twice that turn, grow and change their colours, some of them missing from some key frames; boxes
    that move alone, and some that stand still."""
    random = np.random.default_rng(12)
    times = np.arange(keys, dtype=np.float32)
    turns = random.normal(size=(keys, 5, 4)).astype(np.float32)
    turns /= np.linalg.norm(turns, axis=2, keepdims=True)
    sizes = random.uniform(0.1, 1.0, (keys, 5, 3)).astype(np.float32)
    sizes[::5, 2] = -1.0
    centres, colours = (random.random((keys, 5, 3)).astype(np.float32) for _ in range(2))
    of_arrows, of_boxes = GlyphKeys(times, centres, turns, sizes, colours), GlyphKeys(times, centres[:, :3])
    arrows = Glyphs("arrows", "arrow", centres[0], sizes[0], turns[0], colours[0], key_frames=of_arrows)
    boxes = Glyphs("boxes", "box", centres[0, :3], abs(sizes[0, :3]), turns[0, :3], key_frames=of_boxes)
    still = Glyphs("still", "disc", centres[0], abs(sizes[0]), colours=colours[0])
    objects = tuple(Object(0, glyphs=group) for group in (0, 1, 2, 0))
    return Scene("glyphs", (Node(),), glyphs=(arrows, boxes, still), objects=objects)


def glyphs_at(target: Target, animator: Animator, seconds: float) -> list[np.ndarray]:
    shown = animator.at(Moment(seconds)).glyphs
    assert shown is not None and shown.colours is not None
    return [target.download(array).copy() for array in (shown.rows, shown.colours)]


@pytest.mark.parametrize("key_stream", ["copies", "mapped"])
def test_glyphs_stream_as_resident_ones_are_drawn(
    host_target: Target, small: Callable[..., None], key_stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, seen = glyph_scene(), set()
    small(1 << 30)
    whole = Animator(host_target, scene)
    assert whole.streaming() is not None and whole.streaming().bytes_streamed == 0  # type: ignore[union-attr]
    small(5 * 12 * 4 * 6)
    with delayed(2, scene) as (target, _):
        monkeypatch.setattr(target, "options", dataclasses.replace(target.options, key_stream=key_stream))
        with contextlib.closing(Animator(target, scene)) as animator:
            for seconds in (*np.arange(0.0, KEYS - 1.0, 0.35), 2.5, KEYS - 1.5, 0.0):
                target.tick()
                found, expected = (glyphs_at(*of, float(seconds)) for of in ((target, animator), (host_target, whole)))
                assert all(np.array_equal(a, b, True) for a, b in zip(found, expected, strict=True)), seconds
                seen.add(found[0].tobytes())
            facts = animator.streaming()
    assert facts is not None and facts.bytes_streamed > 0 and facts.slots < facts.keys and len(seen) > 20
    whole.close()

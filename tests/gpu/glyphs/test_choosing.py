"""What `auto` takes: the rule where nothing may be tried, else the candidate whose frames took least."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.glyphs.caster import RAY_PIXELS
from raygrove.gpu.glyphs.choosing import (
    CANDIDATES,
    PATIENCE,
    TIMED,
    UNTIMED,
    Chooser,
    Situation,
    candidates_of,
    typical_radius,
)
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.glyphs.tile_lists import Tiling
from raygrove.gpu.target.base import Target

HERE = Situation(100_000, 3.0, 512 * 512)


class AnyTarget:
    """All that a chooser asks of a target."""

    kind = "cuda"


class AnyScene:
    """All that a chooser asks of a scene: which it is."""


SCENE = AnyScene()


def chooser(options: GlyphOptions | None = None, target: AnyTarget | None = None, scene: AnyScene = SCENE) -> Chooser:
    """One for a target of its own."""
    return Chooser(target or AnyTarget(), options or GlyphOptions(), scene)  # type: ignore[arg-type]


def run_trial(of: Chooser, times_ms: Sequence[float], situation: Situation = HERE) -> list[str]:
    """Draw by every candidate in turn, each frame taking its candidate's time; the arrangements drawn by. Times come
    after all frames were issued."""
    drawn, tickets = [], []
    for frame in range(len(times_ms) * (UNTIMED + TIMED)):
        options, _, next_frame = of.choose(situation, True)
        drawn.append(options.arrangement)
        tickets.append((next_frame(), times_ms[frame // (UNTIMED + TIMED)]))
    for ticket, ms in tickets:
        if ticket is not None:
            ticket.took({"trace.primary": ms, "shade": 100.0})
    return drawn


@pytest.mark.parametrize(("kind", "rule"), [("cuda", "splat"), ("host", "spheres_by_pixels")])
def test_candidates_are_options_and_the_rule_is_the_first(kind: str, rule: str) -> None:
    made = [dataclasses.replace(GlyphOptions(), **candidate) for candidate in CANDIDATES[kind]]
    assert len(set(made)) == len(made)
    assert made[0].arrangement == rule and made[0].near_first
    target = AnyTarget()
    target.kind = kind
    of = chooser(target=target)
    for radius in (1.0, 2.8, 12.0):
        assert of.choose(dataclasses.replace(HERE, radius=radius), False)[0].arrangement == rule
    assert of.choose(HERE, True)[0].arrangement == rule, "the rule's is tried first"


@pytest.mark.parametrize("size", [(512, 512), (1920, 1080), (3840, 2160), (2000, 200), (83, 61), (1, 1)])
def test_rays_of_a_tile_have_room_on_a_host(size: tuple[int, int]) -> None:
    """Without it every test would make its ray anew, and nothing would be known of what lies before."""
    for candidate in candidates_of("host", size[0] * size[1]):
        options = dataclasses.replace(GlyphOptions(), **candidate)
        if options.arrangement != "splat":
            assert options.ray_setup == "tile" and options.local_buffer
            tiling = Tiling.of(options, *size)
            assert tiling.pixels <= RAY_PIXELS
            assert tiling.pixels >= min(size[0] * size[1], RAY_PIXELS // 2)


def test_nothing_is_tried_where_it_must_not_be() -> None:
    """Pictures that are rendered hang on no clock, even where another view of the target has measured."""
    target, options = AnyTarget(), GlyphOptions(intrinsics="fast")
    run_trial(chooser(target=target), (5.0, 1.0, 4.0, 4.0, 4.0))
    of = chooser(options, target)
    found, reason, next_frame = of.choose(HERE, False)
    assert found == dataclasses.replace(options, **CANDIDATES["cuda"][0]) and next_frame() is None
    assert reason == "auto: the rule for GPUs" and found.intrinsics == "fast"


def test_the_fastest_is_taken_and_said() -> None:
    of = chooser()
    drawn = run_trial(of, (5.0, 4.0, 1.0, 3.0, 2.0))
    assert drawn[:: UNTIMED + TIMED] == [candidate["arrangement"] for candidate in CANDIDATES["cuda"]]
    assert of.needs_times
    options, reason, next_frame = of.choose(HERE, True)
    assert options.arrangement == "pixels_by_pixels" and options.lists == "front_to_back" and next_frame() is None
    assert reason == "auto: fastest of 5 measured here for about 131,072 spheres of 2.8 px, 1 ms"
    assert not of.needs_times


def test_the_rule_stays_where_little_is_gained() -> None:
    of = chooser()
    run_trial(of, (1.0, 0.97, 2.0, 2.0, 2.0))
    options, reason, _ = of.choose(HERE, True)
    assert options.arrangement == "splat" and options.near_first
    assert "none of 5 measured here is faster" in reason


def test_times_that_never_come_are_not_waited_for_for_ever() -> None:
    of = chooser()
    for _ in range(5 * (UNTIMED + TIMED) + PATIENCE + 1):
        _, _, next_frame = of.choose(HERE, True)
        ticket = next_frame()
        if ticket is not None and ticket._number in (0, 1):
            ticket.took({"trace.primary": 3.0 - ticket._number})
    assert not of.choose(HERE, True)[0].near_first
    nothing = chooser()
    for _ in range(5 * (UNTIMED + TIMED) + PATIENCE + 1):
        nothing.choose(HERE, True)[2]()
    assert nothing.choose(HERE, True)[0].arrangement == "splat"


def test_a_picture_on_the_border_of_a_class_stays_in_it() -> None:
    """Zooming to and fro changes nothing; far in, another trial begins, and the first one's outcome is kept."""
    of = chooser()
    run_trial(of, (5.0, 1.0, 4.0, 4.0, 4.0))
    assert not of.choose(HERE, True)[0].near_first
    for radius in (3.3, 2.6, 3.4):
        assert "fastest" in of.choose(dataclasses.replace(HERE, radius=radius), True)[1]
    assert "trying 1 of 5" in of.choose(dataclasses.replace(HERE, radius=12.0), True)[1]
    assert "fastest" in of.choose(HERE, True)[1]


def test_each_scene_has_its_own() -> None:
    """The same spheres in another order in memory are another scene; views of one scene share what was measured."""
    target, other = AnyTarget(), AnyScene()
    run_trial(chooser(target=target), (5.0, 1.0, 4.0, 4.0, 4.0))
    assert "fastest" in chooser(target=target).choose(HERE, True)[1]
    of = chooser(target=target, scene=other)
    assert of.choose(HERE, True)[1] == "auto: trying 1 of 5"
    run_trial(of, (5.0, 4.0, 1.0, 4.0, 4.0))
    assert of.choose(HERE, True)[0].arrangement == "pixels_by_pixels"
    assert not chooser(target=target).choose(HERE, True)[0].near_first


def test_what_was_chosen_is_not_tried(host_target: Target) -> None:
    options = GlyphOptions(arrangement="spheres_by_spheres")
    assert Chooser(host_target, options, SCENE).choose(HERE, True)[:2] == (options, "chosen")


def test_a_radius_in_pixels_is_that_at_the_middle() -> None:
    camera = Camera(eye=(0.0, 0.0, 10.0), look_at=(0.0, 0.0, 0.0), fov=90.0)
    assert typical_radius(camera, 200, 0.1, (0.0, 0.0, 0.0), 1.0) == pytest.approx(1.0)
    assert typical_radius(camera, 200, 0.1, (0.0, 0.0, 10.0), 8.0) == pytest.approx(5.0)
    flat = Camera(orthographic=True, height=4.0)
    assert typical_radius(flat, 200, 0.1, (0.0, 0.0, 0.0), 1.0) == pytest.approx(5.0)

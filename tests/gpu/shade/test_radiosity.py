"""Radiosity beside what is known: a closed grey ball, a lamp over a floor, shadows, colours that bleed; bounces that
come frame by frame; scenes that move, are hidden, or are dark."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.radiosity import hierarchical
from raygrove.gpu.scene import Attribute, KeyFrames, Light, Material, Mesh, Moment, Scene, Spheres
from raygrove.gpu.scene import Object as Placed
from raygrove.gpu.shade.radiosity import Radiosity, RadiosityOptions
from raygrove.gpu.shade.radiosity_points import SampledPoints
from raygrove.gpu.target.base import Array, Target

from .pictures import mesh_of, scene_of
from .test_ao import ball, bounded, plane

SIZE = (24, 24)
ABOVE = Camera(eye=(0.0, 6.0, 0.01), look_at=(0.0, 0.0, 0.0))
LAMP = Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=(20.0, 20.0, 20.0), is_double_sided=False)
GREY = Material("grey", (0.5, 0.5, 0.5, 1.0), emission=(1.0, 1.0, 1.0))
FLOOR = Material("floor", (0.8, 0.8, 0.8, 1.0))


def view_of(target: Target, camera: Camera, samples: int = 1, **options: Any) -> View:
    """A view that draws radiosity."""
    chosen = RadiosityOptions(**{"points": 1500, **options})
    settings = ViewSettings(ray_type="radiosity", ray_type_options=chosen, samples=samples)
    return View(settings, camera, ArrayPixels(target, *SIZE))


def light(target: Target, scene: Scene, camera: Camera, **options: Any) -> np.ndarray:
    """(height, width, 3): linear light of one sample."""
    view = view_of(target, camera, **options)
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.render_frame(Moment(), [view])
        return engine.linear(view)


def inside_out(mesh: Mesh) -> Mesh:
    """The same, seen from within."""
    return dataclasses.replace(mesh, triangles=mesh.triangles[:, ::-1].copy())


def facing_down(half: float, height: float) -> Mesh:
    """A square that shines downwards."""
    return dataclasses.replace(inside_out(plane(half, height)), material_ids=np.ones(2, np.int32))


@pytest.mark.each_value
def test_a_closed_grey_ball_is_as_bright_as_the_series_says(target: Target) -> None:
    scene = bounded(scene_of(inside_out(ball(1.0, (0.0, 0.0, 0.0), 24)), materials=(GREY,)))
    camera = Camera(eye=(0.2, 0.1, 0.3), look_at=(1.0, 0.2, 0.0))
    shown = light(target, scene, camera, bounces=14, bounces_per_frame=14)
    assert shown.mean() == pytest.approx(1.0 / (1.0 - 0.5), rel=0.01)
    np.testing.assert_allclose(shown, 2.0, rtol=0.04)
    once = light(target, scene, camera, bounces=1)
    assert once.mean() == pytest.approx(1.5, rel=0.01)


@pytest.mark.parametrize(
    "hierarchy", ["octree_top_down", *(pytest.param(name, marks=pytest.mark.full) for name in ("median_sah", "grid"))]
)
def test_a_closed_grey_ball_is_as_bright_in_structures_of_cells(target: Target, hierarchy: str) -> None:
    """Their traversals and the points' octree are compiled into one unit."""
    scene = bounded(scene_of(inside_out(ball(1.0, (0.0, 0.0, 0.0), 24)), materials=(GREY,)))
    camera = Camera(eye=(0.2, 0.1, 0.3), look_at=(1.0, 0.2, 0.0))
    options = RadiosityOptions(points=600, bounces=1)
    settings = ViewSettings(ray_type="radiosity", ray_type_options=options, hierarchy=hierarchy)
    view = View(settings, camera, ArrayPixels(target, *SIZE))
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.render_frame(Moment(), [view])
        assert engine.linear(view).mean() == pytest.approx(1.5, rel=0.02)


def test_a_light_over_a_floor(target: Target) -> None:
    """Irradiance I cos / r^2, over pi times the floor's colour."""
    lamp = Light("point", (30.0, 20.0, 10.0), (0.0, 2.0, 0.0))
    scene = bounded(scene_of(plane(3.0), materials=(FLOOR,), lights=(lamp,)))
    middle = light(target, scene, ABOVE, points=4000)[11:13, 11:13].mean(axis=(0, 1))
    np.testing.assert_allclose(middle, 0.8 / np.pi * np.array([30.0, 20.0, 10.0]) / 4.0, rtol=0.02)


def test_a_lamp_over_a_floor(target: Target) -> None:
    """The form factor of a square above its middle: 2 sides / pi each way (Howell, configuration factor C-13)."""
    scene = bounded(scene_of(plane(3.0), facing_down(0.5, 1.5), materials=(FLOOR, LAMP)))
    x = 0.5 / 1.5
    factor = 4.0 * x / (np.sqrt(1.0 + x * x) * np.pi * 2.0) * np.arctan(x / np.sqrt(1.0 + x * x)) * 2.0
    below = Camera(eye=(0.0, 1.0, 0.01), look_at=(0.0, 0.0, 0.0))
    middle = light(target, scene, below, points=4000)[11:13, 11:13].mean()
    assert middle == pytest.approx(0.8 * 20.0 * factor, rel=0.03)


def test_what_stands_before_a_lamp_throws_a_shadow(target: Target) -> None:
    shade = dataclasses.replace(plane(0.35, 1.0), material_ids=np.full(2, 2, np.int32))
    scene = bounded(
        scene_of(plane(3.0), facing_down(0.3, 2.0), shade, materials=(FLOOR, LAMP, Material("shade", (0, 0, 0, 1))))
    )
    low = Camera(eye=(0.0, 0.8, 2.8), look_at=(0.0, 0.0, 0.0))
    lit, shadowed = (light(target, scene, low, rays=rays)[12].mean(axis=-1) for rays in (0, 16))
    assert shadowed[12] < 0.1 * lit[12]
    assert shadowed[0] > 0.9 * lit[0]


def test_colours_bleed_from_wall_to_floor(target: Target) -> None:
    wall = mesh_of([[-1, 0, -2], [-1, 0, 2], [-1, 2, 2], [-1, 2, -2]], [[0, 2, 1], [0, 3, 2]], material=2)
    red = Material("red", (0.8, 0.05, 0.05, 1.0))
    scene = bounded(scene_of(plane(2.0), facing_down(1.0, 2.5), wall, materials=(FLOOR, LAMP, red)))
    from_above = Camera(eye=(0.0, 2.4, 0.01), look_at=(0.0, 0.0, 0.0))
    shown = light(target, scene, from_above, points=3000)
    redness = shown[12, :, 0] / shown[12, :, 1]
    beside = redness[(shown[12, :, 0] > shown[12, :, 1]) & (redness < 5.0)]
    assert beside.max() > 1.15 and redness[-1] < 1.1


def test_bounces_come_frame_by_frame(target: Target) -> None:
    scene = bounded(scene_of(inside_out(ball(1.0, (0.0, 0.0, 0.0), 16)), materials=(GREY,)))
    camera = Camera(eye=(0.2, 0.1, 0.3), look_at=(1.0, 0.2, 0.0))
    view, seen = view_of(target, camera, samples=6, points=400, bounces=6, bounces_per_frame=2), []
    with contextlib.closing(Engine(target, scene)) as engine:
        for _ in range(6):
            engine.render_frame(Moment(), [view])
            seen.append(float(engine.linear(view).mean()))
        assert "400 points, 6 bounces, error of the sums 0." in engine.reading(view, 12.0, 12.0).text
    expected = [2.0 - 0.5**bounces for bounces in (2, 4, 6, 6, 6, 6)]
    np.testing.assert_allclose(seen, expected, rtol=0.02)
    assert seen[0] < seen[1] < seen[2]


def test_light_moves_with_what_moves_and_leaves_with_what_is_hidden(target: Target) -> None:
    lamp = facing_down(0.4, 1.5)
    there = lamp.positions + np.array([1.5, 0.0, 0.0], np.float32)
    keys = KeyFrames(np.array([0.0, 1.0], np.float32), np.stack([lamp.positions, there]))
    moving = dataclasses.replace(lamp, key_frames=keys)
    scene = bounded(scene_of(plane(3.0), moving, materials=(FLOOR, LAMP)))
    low, still = Camera(eye=(0.0, 1.4, 2.9), look_at=(0.0, 0.0, 0.0)), []
    view = view_of(target, low)
    with contextlib.closing(Engine(target, scene)) as engine:
        for time in (0.0, 0.3, 0.6, 1.0, 0.0):
            engine.render_frame(Moment(time), [view])
            still.append(engine.linear(view))
        engine.hide([1])
        engine.render_frame(Moment(0.0), [view])
        assert not engine.linear(view)[16:].any()
        assert "no light reaches them" in engine.reading(view, 12.0, 20.0).text
    np.testing.assert_allclose(still[0], still[4], rtol=1e-4, atol=1e-5)
    left, right = (picture[16, :8].mean() for picture in (still[0], still[3]))
    assert left > 1.5 * right


def pictures_in_turn(target: Target, scene: Scene, view: View, times: tuple[float, ...]) -> np.ndarray:
    """The linear light of the last of these instants, all drawn by one engine."""
    with contextlib.closing(Engine(target, scene)) as engine:
        for time in times:
            engine.render_frame(Moment(time), [view])
        return engine.linear(view)


def test_an_instant_looks_the_same_however_it_was_come_to(target: Target) -> None:
    """Half of the surface shrinks to a hundredth: points by the areas of the instant first drawn would be others."""
    lamp, patch = facing_down(0.4, 1.5), plane(3.0)
    side = dataclasses.replace(patch, positions=patch.positions + np.array([0.0, 0.001, 0.0], np.float32))
    small = side.positions * np.array([0.1, 1.0, 0.1], np.float32)
    keys = KeyFrames(np.array([0.0, 1.0], np.float32), np.stack([side.positions, small]))
    scene = bounded(scene_of(patch, lamp, dataclasses.replace(side, key_frames=keys), materials=(FLOOR, LAMP)))
    view = view_of(target, Camera(eye=(0.0, 1.4, 2.9), look_at=(0.0, 0.0, 0.0)), points=300)
    at_once, after_another = (pictures_in_turn(target, scene, view, times) for times in ((0.9,), (0.1, 0.9)))
    np.testing.assert_allclose(after_another, at_once, rtol=1e-4, atol=1e-5)
    assert at_once.any()


def test_spheres_of_another_size_get_other_points(target: Target) -> None:
    """As many on each as its area is, however large it was before."""
    row = Attribute("weight", np.array([[0.0], [1.0]], np.float32))
    places, radii = np.array([[-1.0, 0.5, 0.0], [1.0, 0.5, 0.0]], np.float32), np.full(2, 0.4, np.float32)
    spheres = Spheres("balls", places, radii, material_id=1, attributes=(row,))
    lamp = dataclasses.replace(LAMP, is_double_sided=True)
    scene = dataclasses.replace(scene_of(plane(3.0), materials=(FLOOR, lamp)), spheres=(spheres,))
    scene = bounded(dataclasses.replace(scene, objects=(Placed(0, 0), Placed(0, spheres=0))))
    view = view_of(target, Camera(eye=(0.0, 1.4, 2.9), look_at=(0.0, 0.0, 0.0)), points=300)
    sized = SphereOptions(size_by="weight", smallest=0.1, largest=1.5)
    with contextlib.closing(Engine(target, scene)) as engine, contextlib.closing(Engine(target, scene)) as fresh:
        engine.render_frame(Moment(), [view])
        before = engine.linear(view)
        engine.take_sphere_options(sized)
        engine.render_frame(Moment(), [view])
        fresh.take_sphere_options(sized)
        fresh.render_frame(Moment(), [view])
        np.testing.assert_allclose(engine.linear(view), fresh.linear(view), rtol=1e-4, atol=1e-5)
        assert not np.allclose(before, engine.linear(view), rtol=0.05)


def floor_and_rising_sheet() -> Scene:
    """A sheet below the floor exchanges nothing with it, and above it most of all."""
    sheet = dataclasses.replace(facing_down(2.5, -1.0), material_ids=np.ones(2, np.int32))
    above = sheet.positions + np.array([0.0, 1.4, 0.0], np.float32)
    keys = KeyFrames(np.array([0.0, 1.0], np.float32), np.stack([sheet.positions, above]))
    return bounded(scene_of(plane(3.0), dataclasses.replace(sheet, key_frames=keys), materials=(FLOOR, LAMP)))


@pytest.mark.parametrize("is_late", [False, True], ids=["known-at-once", "known-late"])
def test_a_frame_whose_lists_lack_room_says_so_and_is_right_when_drawn_again(
    target: Target, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    """Also where that is known only after a frame that drew nothing, as the film was whole."""
    monkeypatch.setattr(hierarchical, "FIRST_PAIRS", 1)
    scene, read_later = floor_and_rising_sheet(), target.read_later

    def read_at_the_third_time(array: Array) -> Callable[[], np.ndarray | None]:
        read, asked = read_later(array), itertools.count()
        return lambda: read() if next(asked) >= 2 else None

    view = view_of(target, Camera(eye=(0.0, 0.2, 2.9), look_at=(0.0, 0.0, 0.0)), points=800, leaf_points=4)
    expected = pictures_in_turn(target, scene, view, (1.0,))
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.render_frame(Moment(0.0), [view])
        assert not engine.flush().is_behind
        with monkeypatch.context() as late:
            if is_late:
                late.setattr(target, "read_later", read_at_the_third_time)
            for _ in range(2 if is_late else 1):
                engine.render_frame(Moment(1.0), [view])
        assert engine.flush().is_behind
        assert not np.allclose(engine.linear(view), expected, rtol=1e-3)
        engine.render_frame(Moment(1.0), [view])
        assert not engine.flush().is_behind
        np.testing.assert_allclose(engine.linear(view), expected, rtol=1e-4, atol=1e-5)


OTHER_OPTIONS = {"angle": 0.15, "order": 3, "leaf_points": 4, "rays": 1, "light_samples": 1}


@pytest.mark.parametrize("name", OTHER_OPTIONS)
@pytest.mark.usefixtures("capture_turn")
def test_an_option_changed_while_it_plays_is_taken(target: Target, name: str) -> None:
    """Frames that are replayed by then are none of the other options."""
    lamp, blocker = facing_down(0.4, 1.5), facing_down(0.5, 0.6)
    there = blocker.positions + np.array([0.5, 0.0, 0.0], np.float32)
    keys = KeyFrames(np.array([0.0, 1.0], np.float32), np.stack([blocker.positions, there]))
    moving = dataclasses.replace(blocker, key_frames=keys)
    round_light = Light("sphere", (8.0, 8.0, 8.0), position=(-1.5, 1.5, 0.0), radius=0.5)
    scene = bounded(scene_of(plane(3.0), lamp, moving, materials=(FLOOR, LAMP, FLOOR), lights=(round_light,)))
    low = Camera(eye=(0.0, 1.4, 2.9), look_at=(0.0, 0.0, 0.0))
    coarse = {"points": 400, "angle": 0.9}
    usual, other = view_of(target, low, **coarse), view_of(target, low, **coarse | {name: OTHER_OPTIONS[name]})
    with contextlib.closing(Engine(target, scene)) as engine, contextlib.closing(Engine(target, scene)) as fresh:
        for step in range(5):
            engine.render_frame(Moment(0.1 * step), [usual])
        for step in range(5, 9):
            engine.render_frame(Moment(0.1 * step), [other])
        found = engine.linear(other)
        for time in (0.0, 0.8):
            fresh.render_frame(Moment(time), [other])
        expected = fresh.linear(other)
        engine.render_frame(Moment(0.8), [usual])
        before = engine.linear(usual)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert not np.allclose(before, expected, rtol=1e-3, atol=1e-4), "the option is to be seen"


def test_a_picture_says_why_it_is_black_and_what_is_clamped(target: Target) -> None:
    bright = Material("snow", (1.5, 0.8, 0.8, 1.0))
    lamp = Light("point", (30.0, 20.0, 10.0), (0.0, 2.0, 0.0))
    unlit = bounded(scene_of(plane(3.0), facing_down(0.4, 1.5), materials=(FLOOR, FLOOR, LAMP)))
    for scene, said in (
        (unlit, ["This scene has no emitter"]),
        (dataclasses.replace(unlit, lights=(lamp,)), []),
        (dataclasses.replace(unlit, materials=(FLOOR, LAMP)), []),
        (dataclasses.replace(unlit, materials=(bright, LAMP)), ["The material snow has a base colour of 1.5"]),
        (dataclasses.replace(unlit, materials=(bright, FLOOR)), ["This scene has no emitter", "The material snow"]),
    ):
        view = view_of(target, ABOVE, points=100)
        with contextlib.closing(Engine(target, scene)) as engine:
            engine.render_frame(Moment(), [view])
            notices = engine.flush().views[0].notices
            engine.hide([0, 1])
            engine.render_frame(Moment(), [view])
            (nothing,) = engine.flush().views[0].notices
        assert "none of either is shown" in nothing
        assert len(notices) == len(said) and all(map(str.startswith, notices, said)), notices


def test_a_small_surface_without_a_point_is_lit_like_what_is_near(target: Target) -> None:
    """A tile on edge over a floor, of the same material and so small that it has no point; from behind it is dark."""
    tile = mesh_of([[0, 1, 0], [0.02, 1, 0], [0.02, 1.02, 0], [0, 1.02, 0]], [[0, 1, 2], [0, 2, 3]])
    lamp = Light("directional", (np.pi, np.pi, np.pi), direction=(0.0, -1.0, 0.0))
    scene = bounded(scene_of(plane(3.0), tile, materials=(FLOOR,), lights=(lamp,)))
    front, back = (
        light(target, scene, Camera(eye=(0.01, 1.01, z), look_at=(0.01, 1.01, 0.0)), points=800, bounces=0)[
            11:13, 11:13
        ]
        for z in (0.02, -0.02)
    )
    np.testing.assert_allclose(front, 0.8, atol=0.05)
    assert not back.any()


def test_a_small_surface_far_from_all_points_has_the_light_of_the_nearest_alone(target: Target) -> None:
    """Below the tile a lamp lights the floor I h / (h^2 + r^2)^(3/2); most of the floor is nearly dark."""
    tile = mesh_of([[0, 1, 0], [0.02, 1, 0], [0.02, 1.02, 0], [0, 1.02, 0]], [[0, 1, 2], [0, 2, 3]])
    lamp = Light("point", (1.0, 1.0, 1.0), (0.0, 0.5, 0.0))
    scene = bounded(scene_of(plane(3.0), tile, materials=(FLOOR,), lights=(lamp,)))
    close = Camera(eye=(0.01, 1.01, 0.02), look_at=(0.01, 1.01, 0.0))
    shown = light(target, scene, close, points=8000, bounces=0)[11:13, 11:13]
    np.testing.assert_allclose(shown, 0.8 / np.pi / 0.5**2, rtol=0.07)


def test_warnings_are_found_once_for_each_version_of_materials_and_lights(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, warnings = [], Radiosity._warnings

    def counted(ray_type: Radiosity, samples: SampledPoints) -> tuple[str, ...]:
        asked.append(samples)
        return warnings(ray_type, samples)

    monkeypatch.setattr(Radiosity, "_warnings", counted)
    lamp = Light("point", (30.0, 20.0, 10.0), (0.0, 2.0, 0.0))
    scene = bounded(scene_of(plane(3.0), materials=(FLOOR,)))
    snow = Material("snow", (1.5, 0.8, 0.8, 1.0))
    view = view_of(target, ABOVE, samples=4, points=100)
    with contextlib.closing(Engine(target, scene)) as engine:

        def said() -> tuple[str, ...]:
            for _ in range(3):
                engine.render_frame(Moment(), [view])
            return engine.flush().views[0].notices

        assert len(said()) == 1 and len(asked) == 1
        engine.take_materials((snow,))
        assert len(said()) == 2 and len(asked) == 2
        engine.take_lights((lamp,))
        (left,) = said()
        assert "snow" in left and len(asked) == 3


def test_points_are_shown_and_both_sides_are_lit(target: Target) -> None:
    scene = bounded(scene_of(facing_down(0.5, 1.0), inside_out(plane(2.0)), materials=(FLOOR, LAMP)))
    low = Camera(eye=(0.0, 0.9, 1.9), look_at=(0.0, 0.0, 0.0))
    front, both, points = (
        light(target, scene, low, **options)[14:].mean()
        for options in ({}, {"both_sides": True}, {"both_sides": True, "show": "points"})
    )
    assert front == 0.0 and both > 0.1 and 0.05 * both < points < 0.9 * both


def test_spheres_shine_on_what_is_around_them(target: Target) -> None:
    spheres = Spheres("lamp", np.array([[0.0, 1.0, 0.0]], np.float32), np.array([0.25], np.float32), material_id=1)
    lamp = dataclasses.replace(LAMP, is_double_sided=True)
    scene = dataclasses.replace(scene_of(plane(3.0), materials=(FLOOR, lamp)), spheres=(spheres,))
    scene = bounded(dataclasses.replace(scene, objects=(Placed(0, 0), Placed(0, spheres=0))))
    low = Camera(eye=(0.0, 0.7, 0.7), look_at=(0.0, 0.0, 0.0))
    middle = light(target, scene, low, points=3000)[11:13, 11:13].mean()
    assert middle == pytest.approx(0.8 * 20.0 * 0.25**2, rel=0.05)

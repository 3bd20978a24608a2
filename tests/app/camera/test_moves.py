"""Camera moves: what must stay the same stays the same."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.camera import moves as cameras
from raygrove.gpu.camera import Camera, fit

CAMERA = Camera(eye=(3.0, 2.0, 5.0), look_at=(1.0, 0.0, -1.0))
fractions = st.floats(-3.0, 3.0)


def offset(camera: Camera) -> np.ndarray:
    return np.subtract(camera.look_at, camera.eye)


@given(fractions, fractions)
def test_orbiting_keeps_the_distance_and_never_passes_a_pole(across: float, down: float) -> None:
    turned = cameras.orbit(CAMERA, across, down)
    assert np.linalg.norm(offset(turned)) == pytest.approx(np.linalg.norm(offset(CAMERA)))
    assert turned.look_at == pytest.approx(CAMERA.look_at)
    direction = offset(turned) / np.linalg.norm(offset(turned))
    assert abs(direction[1]) <= np.sin(cameras.POLE_LIMIT) + 1e-9


def test_half_a_turn_stands_opposite() -> None:
    turned = cameras.orbit(CAMERA, 1.0, 0.0)
    expected = 2.0 * np.asarray(CAMERA.look_at) - np.asarray(CAMERA.eye)
    assert turned.eye[0] == pytest.approx(expected[0])
    assert turned.eye[2] == pytest.approx(expected[2])
    assert turned.eye[1] == pytest.approx(CAMERA.eye[1])


def test_dragging_down_lifts_the_eye() -> None:
    assert cameras.orbit(CAMERA, 0.0, 0.1).eye[1] > CAMERA.eye[1]


def test_orbiting_from_a_pole_comes_back() -> None:
    top = Camera(eye=(0.0, 5.0, 0.0), look_at=(0.0, 0.0, 0.0))
    lower = cameras.orbit(top, 0.0, -0.25)
    assert np.linalg.norm(lower.eye) == pytest.approx(5.0)
    assert lower.eye[1] < 5.0
    assert np.isfinite(cameras.orbit(top, 0.3, 0.1).eye).all()


def test_orbiting_about_a_point_keeps_the_distance_to_it() -> None:
    centre = (0.0, 1.0, 0.0)
    turned = cameras.orbit(CAMERA, 0.2, 0.1, centre)
    assert np.linalg.norm(np.subtract(turned.eye, centre)) == pytest.approx(
        np.linalg.norm(np.subtract(CAMERA.eye, centre))
    )


@given(fractions, fractions)
def test_panning_moves_both_ends_alike(across: float, down: float) -> None:
    moved = cameras.pan(CAMERA, across, down)
    assert offset(moved) == pytest.approx(offset(CAMERA), abs=1e-9)


def test_panning_a_picture_height_moves_the_scene_by_it() -> None:
    right, up, _ = CAMERA.basis()
    moved = cameras.pan(CAMERA, 0.0, 1.0)
    tall = 2.0 * cameras.distance(CAMERA) * np.tan(np.radians(CAMERA.fov) / 2.0)
    assert np.subtract(moved.look_at, CAMERA.look_at) == pytest.approx(up * tall)


def test_the_wheel_comes_nearer_and_goes_back() -> None:
    nearer = cameras.dolly(CAMERA, 1.0)
    assert cameras.distance(nearer) == pytest.approx(0.9 * cameras.distance(CAMERA))
    assert cameras.dolly(nearer, -1.0).eye == pytest.approx(CAMERA.eye)
    flat = dataclasses.replace(CAMERA, orthographic=True)
    assert cameras.dolly(flat, 1.0).height == pytest.approx(0.9 * flat.height)
    assert cameras.dolly(flat, 1.0).eye == flat.eye


def test_zoom_stays_a_possible_angle() -> None:
    assert cameras.zoom(CAMERA, 1.0).fov < CAMERA.fov
    assert cameras.zoom(CAMERA, 1000.0).fov == 1.0
    assert cameras.zoom(CAMERA, -1000.0).fov == 170.0


def test_looking_round_stays_in_place() -> None:
    assert cameras.look(CAMERA, 0.1, 0.2).eye == pytest.approx(CAMERA.eye)


def test_flying_follows_the_keys() -> None:
    _, _, forward = CAMERA.basis()
    moved = cameras.fly(CAMERA, {"w"}, 0.5, 10.0)
    assert np.subtract(moved.eye, CAMERA.eye) == pytest.approx(forward)
    assert cameras.fly(CAMERA, {"w", "s"}, 0.5, 10.0) == CAMERA
    assert cameras.fly(CAMERA, set(), 0.5, 10.0) == CAMERA
    assert cameras.fly(CAMERA, {"e"}, 0.5, 10.0).eye[1] == pytest.approx(CAMERA.eye[1] + 1.0)
    step = np.linalg.norm(np.subtract(cameras.fly(CAMERA, {"w", "d"}, 0.5, 10.0).eye, CAMERA.eye))
    assert step == pytest.approx(1.0)


def test_flying_fast_and_slow() -> None:
    def length(**held: bool) -> float:
        return float(np.linalg.norm(np.subtract(cameras.fly(CAMERA, {"d"}, 1.0, 5.0, **held).eye, CAMERA.eye)))

    assert length(fast=True) == pytest.approx(10.0 * length())
    assert length(slow=True) == pytest.approx(0.1 * length())


@pytest.mark.parametrize("name", cameras.STANDARD_VIEWS)
def test_standard_views_see_the_box_from_their_side(name: str) -> None:
    view = cameras.standard_view(CAMERA, name, (-1.0, -2.0, -3.0), (3.0, 2.0, 1.0))
    side, _ = cameras.STANDARD_VIEWS[name]
    centre = np.array([1.0, 0.0, -1.0])
    assert view.look_at == pytest.approx(centre)
    direction = np.subtract(view.eye, centre)
    assert direction / np.linalg.norm(direction) == pytest.approx(np.asarray(side) / np.linalg.norm(side))
    right, up, _ = view.basis()
    assert np.isfinite([right, up]).all()


def test_an_unknown_view_is_an_error() -> None:
    with pytest.raises(KeyError):
        cameras.standard_view(CAMERA, "sideways", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


def test_fitting_keeps_the_side() -> None:
    fitted = cameras.fitted(CAMERA, (-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    before, after = offset(CAMERA), offset(fitted)
    assert after / np.linalg.norm(after) == pytest.approx(before / np.linalg.norm(before))
    assert fitted.look_at == pytest.approx((0.0, 0.0, 0.0))


@given(fractions, fractions)
def test_turning_freely_keeps_distance_and_upright_basis(across: float, down: float) -> None:
    turned = cameras.turn_freely(CAMERA, across, down)
    assert np.linalg.norm(offset(turned)) == pytest.approx(np.linalg.norm(offset(CAMERA)))
    right, up, forward = turned.basis()
    assert np.stack([right, up, forward]) @ np.stack([right, up, forward]).T == pytest.approx(np.eye(3), abs=1e-9)


def test_turning_freely_passes_the_pole_and_a_whole_turn_comes_back() -> None:
    assert cameras.turn_freely(Camera(), 0.0, 0.75).up[1] < 0.0, "upside down beyond the pole"
    camera = CAMERA
    for _ in range(40):
        camera = cameras.turn_freely(camera, 0.0, 0.05)
    assert camera.eye == pytest.approx(CAMERA.eye, abs=1e-9)


def test_free_turns_and_orbits_agree_where_up_is_up() -> None:
    level = Camera(eye=(0.0, 0.0, 5.0))
    for across, down in ((0.1, 0.0), (0.0, 0.1)):
        assert cameras.turn_freely(level, across, down).eye == pytest.approx(cameras.orbit(level, across, down).eye)


def test_a_pivot_keeps_its_place_in_the_picture() -> None:
    pivot = (0.4, 0.2, 0.5)

    def depth(camera: Camera) -> float:
        return float(np.linalg.norm(np.subtract(pivot, camera.eye)))

    for move in (cameras.orbit, cameras.turn_freely):
        assert depth(move(CAMERA, 0.3, -0.1, pivot)) == pytest.approx(depth(CAMERA))


def test_rolling_turns_up_and_nothing_else() -> None:
    rolled = cameras.roll(CAMERA, 0.25)
    assert rolled.eye == pytest.approx(CAMERA.eye) and rolled.look_at == pytest.approx(CAMERA.look_at)
    right, _, _ = CAMERA.basis()
    assert rolled.basis()[1] == pytest.approx(right) or rolled.basis()[1] == pytest.approx(-right)


def test_focus_looks_at_the_point_from_the_same_side() -> None:
    near = cameras.focus(CAMERA, (1.0, 2.0, 3.0), 0.5)
    assert near.look_at == (1.0, 2.0, 3.0)
    assert near.basis()[2] == pytest.approx(CAMERA.basis()[2])
    assert cameras.distance(near) == pytest.approx(0.5 * cameras.distance(CAMERA))


@pytest.mark.parametrize("axis", "xyz")
def test_another_axis_up_is_the_same_look_at_turned_axes(axis: str) -> None:
    turned = cameras.with_up(CAMERA, axis)
    assert cameras.up_axis_of(turned) == axis and turned.look_at == CAMERA.look_at
    assert cameras.distance(turned) == pytest.approx(cameras.distance(CAMERA))
    height = float(np.dot(np.subtract(turned.eye, turned.look_at), turned.up))
    assert height == pytest.approx(CAMERA.eye[1] - CAMERA.look_at[1]), "as high above the new ground as above the old"
    back = cameras.with_up(turned, "y")
    assert back.eye == pytest.approx(CAMERA.eye)


def test_with_z_up_the_front_is_minus_y() -> None:
    view = cameras.standard_view(cameras.with_up(CAMERA, "z"), "front", (-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    direction = np.asarray(view.eye) / np.linalg.norm(view.eye)
    assert direction == pytest.approx([0.0, -1.0, 0.0]) and view.up == pytest.approx((0.0, 0.0, 1.0))


def test_parallel_and_perspective_show_what_is_looked_at_alike() -> None:
    flat = cameras.toggled_orthographic(CAMERA)
    tall = 2.0 * cameras.distance(CAMERA) * np.tan(np.radians(CAMERA.fov) / 2.0)
    assert flat.orthographic and flat.height == pytest.approx(tall)
    back = cameras.toggled_orthographic(cameras.dolly(flat, 2.0))
    assert not back.orthographic and cameras.distance(back) == pytest.approx(0.81 * cameras.distance(CAMERA))


def test_a_step_of_flight_is_as_long_as_the_settings_say() -> None:
    by_size, by_step = cameras.CameraOptions(speed=2.0), cameras.CameraOptions(step=0.5)
    camera = Camera(eye=(0.0, 0.0, 5.0), look_at=(0.0, 0.0, 0.0))
    gone = [
        cameras.fly(camera, {"w"}, 1.0, cameras.flying_size(options, 10.0)).eye[2] - 5.0
        for options in (by_size, by_step)
    ]
    assert gone == pytest.approx([-4.0, -15.0])


def shown_by_every_move(size: float) -> list[np.ndarray]:
    """Where a hand comes that does everything once, about a scene of a size; in sizes of the scene."""
    lower, upper = (-size, -0.5 * size, -size), (size, 1.5 * size, 2.0 * size)
    diagonal = float(np.linalg.norm(np.subtract(upper, lower)))
    point = (0.3 * size, 0.1 * size, -0.2 * size)
    flight = cameras.flying_size(cameras.CameraOptions(), diagonal)
    seen = [fit(lower, upper, aspect=1.5)]
    for move in (
        lambda camera: cameras.orbit(camera, 0.2, 0.1, point),
        lambda camera: cameras.turn_freely(camera, 0.1, -0.2, point),
        lambda camera: cameras.pan(camera, 0.1, -0.05),
        lambda camera: cameras.dolly(camera, 3.0),
        lambda camera: cameras.look(camera, 0.05, 0.02),
        lambda camera: cameras.fly(camera, {"w", "d"}, 0.1, flight),
        lambda camera: cameras.focus(camera, point, 0.5),
        lambda camera: cameras.standard_view(camera, next(iter(cameras.STANDARD_VIEWS)), lower, upper, 1.5),
    ):
        seen.append(move(seen[-1]))
    return [np.array([one.eye, one.look_at]) / size for one in seen] + [
        np.array([cameras.toggled_orthographic(one).height]) / size for one in seen
    ]


@pytest.mark.parametrize("scale", [1e-3, 1e5])
def test_a_scene_of_any_size_is_navigated_as_one_of_1(scale: float) -> None:
    usual, other = shown_by_every_move(1.0), shown_by_every_move(scale)
    assert len(usual) == 18
    for place, (one, two) in enumerate(zip(usual, other, strict=True)):
        assert np.allclose(one, two, rtol=1e-6, atol=1e-9), place
    steps = [np.abs(after - before).max() for before, after in zip(usual[:9], usual[1:9], strict=False)]
    assert min(steps) > 1e-3, "each move moves"

"""The camera's path through bookmarks: it passes through them at their times, bends smoothly, and never loops or
overshoots."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raygrove.app.camera.path import CameraPath, catmull_rom, orientation, up_of
from raygrove.app.camera.path_options import PathOptions
from raygrove.app.document.state import Bookmark
from raygrove.gpu.camera import Camera

PLACES = ((0.0, 0.0, 5.0), (4.0, 1.0, 3.0), (5.0, 2.0, -2.0), (-1.0, 0.5, -4.0))
MARKS = tuple(
    Bookmark(
        f"View {k}",
        Camera(eye=eye, look_at=(0.1 * k, 0.0, 0.0), fov=30.0 + 10.0 * k, height=1.0 + k, near=0.1),
        seconds,
    )
    for k, (eye, seconds) in enumerate(zip(PLACES, (1.0, 0.5, 2.0, 3.0), strict=True))
)
numbers = st.floats(-100.0, 100.0)


def close(a: Camera, b: Camera, most: float = 1e-9) -> bool:
    return all(
        np.allclose(getattr(a, name), getattr(b, name), atol=most)
        for name in ("eye", "look_at", "fov", "height", "near")
    ) and np.allclose(np.array(a.basis()), np.array(b.basis()), atol=1e-6)


@pytest.mark.parametrize("closed", [False, True])
def test_the_path_passes_through_its_bookmarks_at_their_times(closed: bool) -> None:
    path = CameraPath(MARKS, PathOptions(closed=closed))
    assert path.times == ((0.0, 1.0, 1.5, 3.5, 6.5) if closed else (0.0, 1.0, 1.5, 3.5))
    for mark, time in zip(MARKS, path.times, strict=False):
        assert close(path.at(time), mark.camera), mark.name
    assert close(path.at(99.0), path.at(99.0 % 6.5) if closed else MARKS[-1].camera)
    assert path.frame_count(30.0) == (195 if closed else 106)


def test_it_bends_smoothly_and_keeps_to_its_stretch() -> None:
    """Directions on both sides of a bookmark agree, and a step of a thousandth goes nowhere far."""
    path = CameraPath(MARKS)
    for time in path.times[1:-1]:
        before, at, after = (np.array(path.at(time + step).eye) for step in (-1e-5, 0.0, 1e-5))
        a, b = (at - before) / np.linalg.norm(at - before), (after - at) / np.linalg.norm(after - at)
        assert np.dot(a, b) == pytest.approx(1.0, abs=1e-4)
    eyes = np.array([path.at(time).eye for time in np.linspace(0.0, 3.5, 3501)])
    assert np.linalg.norm(np.diff(eyes, axis=0), axis=1).max() < 0.03
    lenses = [path.at(time).fov for time in np.linspace(0.0, 3.5, 101)]
    assert all(a <= b for a, b in zip(lenses, lenses[1:], strict=False))


def test_the_orientation_turns_evenly_from_one_to_the_other() -> None:
    """A quarter roll about the axis of view: half way it is an eighth."""
    one, other = Camera(), dataclasses.replace(Camera(), up=(1.0, 0.0, 0.0))
    path = CameraPath((Bookmark("a", one, 2.0), Bookmark("b", other, 2.0)))
    assert path.at(1.0).up == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0.0))
    assert path.at(0.5).eye == pytest.approx(one.eye)


def test_one_place_stands_and_none_is_said() -> None:
    assert (
        CameraPath(MARKS[:1]).at(7.0) == MARKS[0].camera
        and CameraPath(MARKS[:1], PathOptions(closed=True)).frame_count(30.0) == 1
    )
    same = CameraPath([MARKS[0]] * 3, PathOptions(closed=True, even=True))
    assert close(same.at(1.7), MARKS[0].camera)
    with pytest.raises(ValueError, match="there are none"):
        CameraPath(())


def test_even_times_follow_the_lengths() -> None:
    marks = tuple(Bookmark(str(x), Camera(eye=(x, 0.0, 5.0)), 2.0) for x in (0.0, 1.0, 4.0))
    path = CameraPath(marks, PathOptions(even=True))
    assert path.duration == pytest.approx(4.0) and path.times[1] == pytest.approx(1.0, abs=0.15)
    flat = CameraPath(marks, PathOptions())
    assert flat.times == (0.0, 2.0, 4.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6),
    st.floats(-1.0, 30.0),
    st.booleans(),
    st.booleans(),
)
def test_every_path_is_a_camera_at_every_time(
    places: list[tuple[float, float, float]], time: float, closed: bool, even: bool
) -> None:
    marks = tuple(Bookmark("", Camera(eye=place, look_at=(1.0, 2.0, 3.0)), 1.5) for place in places)
    camera = CameraPath(marks, PathOptions(closed, even)).at(time)
    assert np.isfinite([*camera.eye, *camera.look_at, *camera.up, camera.fov]).all()
    assert np.linalg.norm(camera.eye) < 1000.0 and camera.fov == 45.0


@settings(max_examples=60, deadline=None)
@given(st.tuples(numbers, numbers, numbers), st.tuples(numbers, numbers, numbers))
def test_orientations_are_quaternions_of_the_same_axes(
    eye: tuple[float, float, float], up: tuple[float, float, float]
) -> None:
    camera = Camera(eye=eye, look_at=(0.5, 0.25, 0.125), up=up)
    turn = orientation(camera)
    assert np.linalg.norm(turn) == pytest.approx(1.0, abs=1e-6)
    assert np.allclose(up_of(turn), camera.basis()[1], atol=1e-6)


def test_the_curve_of_equal_knots_is_catmull_and_roms() -> None:
    """Against the matrix form of the uniform curve."""
    points, share = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 3.0], [4.0, 0.0]]), 0.3
    powers = np.array([1.0, share, share**2, share**3])
    matrix = np.array([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]]) / 2.0
    assert np.allclose(catmull_rom(points, np.ones(3), share), powers @ matrix @ points)


def test_a_field_of_view_begins_and_ends_slowly() -> None:
    """A quarter of the way is 5/32 of it: 3 s^2 - 2 s^3."""
    path = CameraPath([Bookmark("a", Camera(fov=40.0), 1.0), Bookmark("b", Camera(fov=72.0, eye=(9.0, 0.0, 0.0)))])
    assert [path.at(share).fov for share in (0.25, 0.5, 0.75)] == pytest.approx([45.0, 56.0, 67.0])


def test_knots_are_as_far_apart_as_the_root_of_the_way() -> None:
    """Centripetal: beside a long stretch a short one does not swing out."""
    eyes = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 16.0, 0.0], [2.0, 16.0, 0.0]])
    path = CameraPath([Bookmark(str(i), Camera(eye=(x, y, z)), 1.0) for i, (x, y, z) in enumerate(eyes.tolist())])
    assert np.allclose(path.at(1.25).eye, catmull_rom(eyes, np.array([1.0, 4.0, 1.0]), 0.25))

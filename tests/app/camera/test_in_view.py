"""Whether a camera sees any of a box, against rays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.camera.in_view import sees_box
from raygrove.gpu.camera import Camera

BOX = ((-1.0, -2.0, -0.5), (1.0, 2.0, 0.5))
places = st.tuples(*[st.floats(-6.0, 6.0)] * 3)


@given(places, places, st.booleans(), st.floats(0.4, 2.5))
def test_a_camera_that_sees_none_of_the_box_has_no_ray_to_it(
    eye: tuple[float, float, float], at: tuple[float, float, float], orthographic: bool, aspect: float
) -> None:
    camera = Camera(eye=eye, look_at=at, orthographic=orthographic, height=1.5)
    if sees_box(camera, *BOX, aspect):
        return
    row = camera.frame(round(aspect * 100), 100).astype(np.float64).reshape(4, 4)
    for s in np.linspace(-0.5, 0.5, 9):
        for t in np.linspace(-0.5, 0.5, 9):
            offset = row[2, :3] * s + row[3, :3] * t
            start = np.asarray(eye) + (offset if orthographic else 0.0)
            forward = camera.basis()[2]
            assert not meets(start, forward if orthographic else forward + offset), (s, t)


def meets(start: np.ndarray, direction: np.ndarray) -> bool:
    """Whether a ray meets the box, made a little smaller for rounding."""
    near, far = 1e-9, np.inf
    for axis in range(3):
        step = direction[axis] if abs(direction[axis]) > 1e-12 else 1e-12
        first, last = sorted((bound[axis] * 0.999 - start[axis]) / step for bound in BOX)
        near, far = max(near, first), min(far, last)
    return near < far


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_what_it_looks_at_is_seen_and_what_is_behind_it_is_not(scale: float) -> None:
    lower, upper = ((-scale, -scale, -scale), (scale, scale, scale))
    eye = (0.0, 0.0, 5.0 * scale)
    assert sees_box(Camera(eye=eye, look_at=(0.0, 0.0, 0.0)), lower, upper, 1.5)
    assert not sees_box(Camera(eye=eye, look_at=(0.0, 0.0, 9.0 * scale)), lower, upper, 1.5)
    assert sees_box(Camera(eye=(0.0, 0.0, 0.0), look_at=(0.0, 0.0, 9.0 * scale)), lower, upper, 1.5), "from within"
    assert not sees_box(Camera(eye=eye, look_at=(0.0, 0.0, 0.0), far=3.0 * scale), lower, upper, 1.5)

"""The camera as kernels read it, at the ends of what numbers can be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from raygrove.gpu.camera import LARGEST, Camera

FAR = 1.7e308


@pytest.mark.parametrize(
    ("camera", "ahead"),
    [
        (Camera(eye=(1e200, 0, 0)), (-1, 0, 0)),
        (Camera(eye=(FAR, FAR, FAR), look_at=(-FAR, -FAR, -FAR)), np.full(3, -(3**-0.5))),
        (Camera(eye=(0, 0, -FAR), up=(FAR, FAR, 0)), (0, 0, 1)),
        (Camera(orthographic=True, height=FAR), (0, 0, -1)),
    ],
)
def test_what_is_too_large_for_kernels_becomes_their_largest_number(camera: Camera, ahead: tuple[float, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = camera.frame(4000, 10)
    assert np.isfinite(row).all() and np.abs(row).max() == np.float32(LARGEST)
    np.testing.assert_allclose(row[4:7], ahead, atol=1e-6)


def test_a_camera_of_usual_numbers_is_rounded_once() -> None:
    camera = Camera(eye=(1.1, 2.2, 3.3), look_at=(0.3, 0.2, 0.1))
    row, (right, up, forward) = camera.frame(64, 48), camera.basis()
    tall = 2.0 * np.tan(np.radians(45.0) / 2.0)
    assert (row[:3] == np.float32(camera.eye)).all() and (row[4:7] == np.float32(forward)).all()
    assert (row[8:11] == np.float32(right * tall * 64 / 48)).all() and (row[12:15] == np.float32(-up * tall)).all()

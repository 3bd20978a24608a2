"""Projected boxes against the rays that the kernels shoot: a corner lies at the pixel whose ray passes through it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.app.camera.projection import box_lines, point_place
from raygrove.gpu.camera import Camera

CAMERA = Camera(eye=(1.0, 2.0, 5.0), look_at=(0.2, 0.1, -0.3), up=(0.1, 1.0, 0.0), fov=50.0)


@pytest.mark.parametrize("camera", [CAMERA, dataclasses.replace(CAMERA, orthographic=True, height=3.0)])
def test_a_point_lies_on_the_ray_of_its_pixel(camera: Camera) -> None:
    aspect = 1.6
    rows = camera.frame(160, 100).reshape(4, 4).astype(np.float64)
    for point in np.random.default_rng(1).uniform(-1, 1, (50, 3)):
        place = point_place(camera, aspect, tuple(point))
        assert place is not None
        offset = rows[2, :3] * (place[0] - 0.5) + rows[3, :3] * (place[1] - 0.5)
        origin, direction = rows[0, :3], rows[1, :3]
        origin, direction = (origin + offset, direction) if camera.orthographic else (origin, direction + offset)
        assert np.linalg.norm(np.cross(point - origin, direction / np.linalg.norm(direction))) < 1e-5


def test_edges_behind_the_eye_are_cut_or_lost() -> None:
    camera = Camera(eye=(0, 0, 0), look_at=(0, 0, -1), fov=90.0)
    lines = box_lines(
        camera, 1.0, np.array([[-1.0, -1.0, -3.0], [-1.0, -1.0, 1.0]]), np.array([[1.0, 1.0, 2.0], [1.0, 1.0, 2.0]])
    )
    lost = np.isnan(lines).any(axis=-1)
    assert lost[0].sum() == 4 and lost[1].all(), (
        "the far face is seen, the edges towards the eye are cut, the face behind is lost"
    )
    seen = lines[0][~lost[0]]
    corner = 0.5 + 1.0 / 6.0
    ends = {(round(x, 3), round(y, 3)) for x, y in seen.reshape(-1, 2).tolist() if abs(x) < 2}
    assert ends == {
        (round(0.5 + a * (corner - 0.5), 3), round(0.5 + b * (corner - 0.5), 3)) for a in (-1, 1) for b in (-1, 1)
    }
    assert np.all(np.isfinite(seen)) and np.abs(seen).max() > 100
    assert point_place(camera, 1.0, (0.0, 0.0, 1.0)) is None

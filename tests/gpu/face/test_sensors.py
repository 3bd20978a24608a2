"""Sensors send the rays that their pose and pattern say, and trace as the same rays in arrays do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.camera import Camera
from raygrove.gpu.face.sensors import Sensor
from raygrove.gpu.target.base import Target

RANDOM = np.random.default_rng(3)


def poses_of(count: int) -> np.ndarray:
    turn = np.linalg.qr(RANDOM.normal(size=(count, 3, 3)))[0]
    return np.concatenate([turn, RANDOM.random((count, 3, 1)) * 3], axis=2).astype(np.float32)


@pytest.mark.parametrize("shape", [(3, 4), (4, 4)])
def test_rays_of_sensors_are_those_of_arrays(target: Target, shape: tuple[int, int]) -> None:
    vertices = RANDOM.random((900, 3)) * 3
    poses = np.zeros((5, *shape), np.float32)
    poses[:, :3] = poses_of(5)
    scene = rg.Scene(target=target)
    scene.add_mesh(vertices, np.arange(900).reshape(-1, 3), groups=2)
    sensors: list[Sensor] = [rg.sensors.lidar(7, 33, (-40, 20), t_max=4.0), rg.sensors.pinhole(19, 11, 60.0, t_min=0.1)]
    with rg.build(scene, "hploc") as tree:
        for sensor in sensors:
            rays = sensor.rays(poses, groups=np.array([2, 2, 1, rg.ALL, 2], np.int32))
            found, expected = tree.trace(rays), tree.trace(rays.to_rays())
            assert len(rays) == len(found) == 5 * sensor.count and (expected.prim_id >= 0).sum() > 50
            assert (found.prim_id != expected.prim_id).mean() < 0.01, "directions are rounded in another order"
            at = (found.prim_id == expected.prim_id) & (found.prim_id >= 0)
            np.testing.assert_allclose(found.t[at], expected.t[at], rtol=1e-3)
            by_sensor = found.prim_id.reshape(5, -1)
            assert (by_sensor[2] == -1).all() and (by_sensor[[0, 1, 3, 4]] >= 0).any()


def test_a_lidar_turns_from_the_back_over_the_left_of_its_picture() -> None:
    lidar = rg.sensors.lidar(3, 8, (-30.0, 30.0))
    beams = lidar.beams.reshape(3, 8, 3)
    np.testing.assert_allclose(np.linalg.norm(beams, axis=-1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(beams[:, :, 2], np.repeat(np.sin(np.radians([30, 0, -30]))[:, None], 8, 1), atol=1e-6)
    np.testing.assert_allclose(beams[1, 4], [1, 0, 0], atol=1e-6)
    assert beams[1, 3, 1] > 0 > beams[1, 5, 1], "left of the middle is left"


def test_a_pinhole_is_the_viewer_s_camera() -> None:
    camera = Camera(eye=(0, 0, 0), look_at=(0, 0, -1), fov=50.0)
    rows = camera.frame(8, 6).reshape(4, 4).astype(float)
    x, y = np.meshgrid((np.arange(8) + 0.5) / 8 - 0.5, (np.arange(6) + 0.5) / 6 - 0.5)
    expected = rows[1, :3] + x[..., None] * rows[2, :3] + y[..., None] * rows[3, :3]
    expected /= np.linalg.norm(expected, axis=-1, keepdims=True)
    np.testing.assert_allclose(rg.sensors.pinhole(8, 6, 50.0).beams.reshape(6, 8, 3), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: rg.sensors.lidar(0, 4), "rows is a whole number from 1"),
        (lambda: rg.sensors.lidar(2, 4.0), "columns is a whole number from 1"),
        (lambda: rg.sensors.lidar(2, 4, (10, -10)), "fov is the lowest and the highest elevation"),
        (lambda: rg.sensors.pinhole(4, 4, 180.0), "fov is an angle between 0 and 180"),
        (lambda: rg.sensors.lidar(2, 2).rays(np.eye(3)), r"poses have the shape \(P, 3, 4\); these are \(3, 3\)"),
        (
            lambda: rg.sensors.lidar(2, 2).rays(np.zeros((2, 3, 4)), groups=[1, 2, 3]),
            "groups are one whole number, or one for each of the 2 sensors",
        ),
    ],
)
def test_what_is_no_sensor_is_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(rg.Error, match=sentence):
        make()

"""The hits and distances that `bench trace` reports, against every ray of the picture and every triangle in numpy:
nothing of ours between them."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.measure import Stage, Task
from raygrove.bench.trace import run_trace
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.testing.closest_hits import triangle_hits

WIDTH, HEIGHT = 40, 30


def rays_of(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Origins and unit directions through the pixels' centres, by the definition: right-handed, row 0 on top, the field
    of view vertical."""
    camera = task.view_from()
    eye, forward = np.array(camera.eye), np.subtract(camera.look_at, camera.eye)
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, camera.up)
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    half = np.tan(np.radians(camera.fov) / 2.0)
    x = (2.0 * (np.arange(WIDTH) + 0.5) / WIDTH - 1.0) * half * WIDTH / HEIGHT
    y = (1.0 - 2.0 * (np.arange(HEIGHT) + 0.5) / HEIGHT) * half
    directions = (forward + x[None, :, None] * right + y[:, None, None] * up).reshape(-1, 3)
    return np.broadcast_to(eye, directions.shape), directions / np.linalg.norm(directions, axis=1, keepdims=True)


@pytest.mark.parametrize("demo", ["walker", "explode"])
@pytest.mark.parametrize("hierarchy", ["lbvh", "brute_force"])
def test_hits_and_distances_are_those_of_the_picture(host_target: Target, demo: str, hierarchy: str) -> None:
    task = Task(
        make_demo(demo, 600), ViewSettings(hierarchy=hierarchy), (WIDTH, HEIGHT), (Moment(0.4),), repeat=1, warmup=0
    )
    row = next(row for row in run_trace(host_target, task) if row.ray_type == "primary")
    with contextlib.closing(Stage(host_target, task.scene, task.settings)) as stage:
        stage.show(task.moments[0])
        positions, triangles = stage.triangles()
    found = triangle_hits(positions[triangles], *rays_of(task))
    doubtful = int(np.count_nonzero(~found.is_certain))
    assert doubtful < WIDTH * HEIGHT // 20
    is_hit = np.isfinite(found.t)
    assert row.rays == WIDTH * HEIGHT and row.hits is not None and row.sum_t is not None
    assert 100 < row.hits < WIDTH * HEIGHT and abs(row.hits - int(is_hit.sum())) <= doubtful
    farthest = float(found.t[is_hit].max())
    assert row.sum_t == pytest.approx(
        float(found.t[is_hit].sum()), rel=1e-5, abs=abs(row.hits - int(is_hit.sum())) * farthest
    )

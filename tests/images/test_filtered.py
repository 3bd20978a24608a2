"""The filter of noisy light on a scene that moves: less error than one sample per pixel has, and no trails after a
cut."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import Camera
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target
from tests.gpu.shade.linear import error, frames

SIZE = (96, 72)
PLAIN, SMOOTH = PathOptions(), PathOptions(filtered=True)


def test_a_moving_scene_has_less_error(target: Target) -> None:
    scene = make_demo("orbit", 4000, 1)
    camera = Camera(eye=scene.eye or (0, 0, 5), look_at=scene.look_at or (0, 0, 0))
    times = [0.5 + index / 30 for index in range(10)]
    plain, smooth = (frames(target, scene, options, times, [camera] * 10, SIZE)[-1] for options in (PLAIN, SMOOTH))
    wanted = frames(target, scene, PLAIN, [times[-1]] * 96, [camera] * 96, SIZE, 96)[-1]
    # The floor in front: what lies behind is mirrored over and over, and its error is that of one ray per pixel.
    front = np.s_[36:, :]
    assert error(plain[front], wanted[front]) > 8.0 * error(smooth[front], wanted[front])
    assert error(plain, wanted) > 3.0 * error(smooth, wanted)


def test_a_cut_leaves_no_trail(target: Target) -> None:
    scene = make_demo("orbit", 4000, 1)
    first = Camera(eye=scene.eye or (0, 0, 5), look_at=scene.look_at or (0, 0, 0))
    second = dataclasses.replace(first, eye=(-2.0, 2.5, 3.0))
    for times, cameras in (([0.5] * 6 + [2.4], [first] * 7), ([0.5] * 7, [first] * 6 + [second])):
        plain, smooth = (frames(target, scene, options, times, cameras, SIZE)[-1] for options in (PLAIN, SMOOTH))
        wanted = frames(target, scene, PLAIN, [times[-1]] * 64, [cameras[-1]] * 64, SIZE, 64)[-1]
        assert error(smooth, wanted) < error(plain, wanted)

"""Boxes over a picture: lines where the camera's rays meet edges, colours by depth, nothing outside of them; the
picture beneath stays."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Boxes, Engine, Lines, View, ViewSettings, depth_colors
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target

from .pictures import scene_of, square

SIZE = (90, 60)
CAMERA = Camera(eye=(1.0, 0.8, 4.0), fov=50.0)
ORTHOGRAPHIC = dataclasses.replace(CAMERA, orthographic=True, height=3.5)


def painted(target: Target, camera: Camera, *many: Boxes | Lines) -> tuple[np.ndarray, list[np.ndarray]]:
    """The picture without boxes, and after each painting."""
    pixels = ArrayPixels(target, *SIZE)
    view = View(ViewSettings(ray_type="flat"), camera, pixels)
    images = []
    with contextlib.closing(Engine(target, scene_of(square(0.5)))) as engine:
        engine.render_frame(Moment(), [view])
        plain = pixels.download()
        for boxes in many:
            engine.render_frame(Moment(), [view])
            engine.paint_boxes(view, boxes)
            images.append(pixels.download())
    return plain, images


def boxes_of(*corners: tuple[Any, Any], depths: tuple[int, ...] = (), count: int = 1, opacity: float = 1.0) -> Boxes:
    lower, upper = (np.array([pair[side] for pair in corners], np.float32).reshape(-1, 3) for side in (0, 1))
    return Boxes(lower, upper, np.array(depths or (0,) * len(corners), np.int32), count, opacity)


def on_edges(camera: Camera, lower: Any, upper: Any) -> np.ndarray:
    """(height, width): pixels that points along the edges of a box fall into, by the camera's rows in float64."""
    rows = camera.frame(*SIZE).reshape(4, 4).astype(np.float64)
    marks = np.zeros((SIZE[1], SIZE[0]), bool)
    ends = np.array([lower, upper], np.float64)
    for axis in range(3):
        for corner in range(4):
            share = np.linspace(0.0, 1.0, 4000)[:, None]
            points = np.empty((4000, 3))
            others = [a for a in range(3) if a != axis]
            points[:, others[0]], points[:, others[1]] = ends[corner & 1, others[0]], ends[corner >> 1, others[1]]
            points[:, axis] = (ends[0, axis] + share * (ends[1, axis] - ends[0, axis]))[:, 0]
            away = points - rows[0, :3]
            depth = 1.0 if camera.orthographic else away @ rows[1, :3]
            x, y = (
                (away @ row / (row @ row) / depth + 0.5) * size for row, size in zip(rows[2:, :3], SIZE, strict=True)
            )
            inside = (x >= 0) & (x < SIZE[0]) & (y >= 0) & (y < SIZE[1]) & (np.asarray(depth) > 0)
            marks[y[inside].astype(int), x[inside].astype(int)] = True
    return marks


def grown(marks: np.ndarray) -> np.ndarray:
    """With the pixels next to them."""
    wide = np.pad(marks, 1)
    return np.any(
        [wide[1 + i : wide.shape[0] - 1 + i, 1 + j : wide.shape[1] - 1 + j] for i in (-1, 0, 1) for j in (-1, 0, 1)],
        axis=0,
    )


@pytest.mark.parametrize("camera", [CAMERA, ORTHOGRAPHIC])
@pytest.mark.parametrize(
    "box", [((-0.6, -0.5, -0.4), (0.7, 0.6, 0.5)), ((-9, -0.4, -3), (9, 0.3, 1)), ((0.2, 0.1, 0.0), (0.2, 0.5, 0.3))]
)
def test_lines_lie_on_the_edges_and_nowhere_else(target: Target, camera: Camera, box: Any) -> None:
    plain, (image,) = painted(target, camera, boxes_of(box))
    drawn = np.any(image != plain, axis=-1)
    wanted = on_edges(camera, *box)
    assert wanted.sum() > 8
    assert not np.any(drawn & ~grown(wanted)) and not np.any(wanted & ~grown(drawn))
    assert np.all(image[drawn][:, :3] == depth_colors(1)[0])


@pytest.mark.parametrize("camera", [CAMERA, ORTHOGRAPHIC, Camera(eye=(0.0, 0.0, 2.0), fov=60.0)])
def test_lines_are_drawn_as_edges_are(target: Target, camera: Camera) -> None:
    lower, upper = np.array((-0.5, -0.4, -1.0), np.float32), np.array((0.5, 0.4, 5.0), np.float32)
    corners = np.array([[(lower, upper)[bits >> axis & 1][axis] for axis in range(3)] for bits in range(8)])
    pairs = [(a, a | 1 << axis) for a in range(8) for axis in range(3) if not a >> axis & 1]
    lines = Lines(corners[np.array(pairs)].astype(np.float32), (10, 200, 30), 1.0)
    plain, (boxes, drawn, none) = painted(target, camera, boxes_of((lower, upper)), lines, Lines(lines.ends[:0]))
    marks = np.any(boxes != plain, axis=-1)
    assert np.array_equal(np.any(drawn != plain, axis=-1), marks) and marks.any()
    assert np.all(drawn[marks] == (10, 200, 30, 255)) and np.array_equal(none, plain)


def test_edges_that_come_towards_the_eye_are_cut(target: Target) -> None:
    camera = Camera(eye=(0.0, 0.0, 2.0), fov=60.0)
    box = ((-0.5, -0.4, -1.0), (0.5, 0.4, 5.0))  # the eye is inside
    plain, (image,) = painted(target, camera, boxes_of(box))
    drawn, wanted = np.any(image != plain, axis=-1), on_edges(camera, *box)
    assert drawn[0].any() or drawn[:, 0].any(), "four lines leave the picture"
    assert np.mean(grown(wanted)[drawn]) > 0.99 and np.mean(grown(drawn)[wanted]) > 0.99
    behind = painted(target, camera, boxes_of(((-0.5, -0.4, 3.0), (0.5, 0.4, 5.0))))
    assert np.array_equal(*[behind[0], behind[1][0]])


def test_the_shallower_box_is_seen_and_opacity_blends(target: Target) -> None:
    box = ((-0.6, -0.5, -0.4), (0.7, 0.6, 0.5))
    twice = boxes_of(box, box, depths=(2, 1), count=4)
    plain, (image, thin) = painted(target, CAMERA, twice, dataclasses.replace(twice, opacity=0.25))
    drawn = np.any(image != plain, axis=-1)
    color = depth_colors(4)[1].astype(float)
    assert np.all(image[drawn][:, :3] == color)
    alpha = round(255 * 0.25) / 255
    assert np.max(np.abs(thin[drawn][:, :3] - (plain[drawn][:, :3] * (1 - alpha) + color * alpha))) <= 1
    assert np.array_equal(thin[~drawn], plain[~drawn]) and np.all(thin[..., 3] == 255)


def test_boxes_that_cannot_be_drawn_leave_the_picture(target: Target) -> None:
    huge = ((-1e30, -1e30, -1e30), (1e30, 1e30, -1e29))
    strange = boxes_of(((1, 1, 1), (0, 0, 0)), ((np.nan, 0, 0), (1, 1, 1)), huge, depths=(300, 0, 1), count=400)
    plain, (none, image) = painted(target, CAMERA, boxes_of(), strange)
    assert np.array_equal(plain, none) and image.shape == plain.shape


def test_colors_of_levels_differ() -> None:
    assert (
        len(np.unique(depth_colors(30), axis=0)) == 30
        and depth_colors(0).shape == (0, 3)
        and depth_colors(1).shape == (1, 3)
    )

"""The film's linear colours, for tests of light: what pictures show is clamped and rounded."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import ViewStatistics
from raygrove.gpu.target.base import Target

DARK = {"background_below": (0.0, 0.0, 0.0), "background_above": (0.0, 0.0, 0.0)}


def draw_linear(
    target: Target,
    scene: Scene,
    camera: Camera,
    size: tuple[int, int],
    options: Any,
    samples: int,
    ray_type: str = "path",
    **settings: Any,
) -> tuple[np.ndarray, ViewStatistics]:
    """What `Engine.linear` gives after all samples at the first moment, and the last frame's statistics."""
    view = View(
        ViewSettings(ray_type=ray_type, ray_type_options=options, samples=samples, **settings),
        camera,
        ArrayPixels(target, *size),
    )
    with contextlib.closing(Engine(target, scene)) as engine:
        for _ in range(samples):
            engine.render_frame(Moment(), [view])
        statistics = engine.flush().views[0]
        return engine.linear(view), statistics


def frames(
    target: Target,
    scene: Scene,
    options: Any,
    times: Sequence[float],
    cameras: Sequence[Camera],
    size: tuple[int, int],
    samples: int = 1,
) -> np.ndarray:
    """The pictures of moments one after the other (frames, height, width, 3)."""
    view = View(
        ViewSettings(ray_type="path", ray_type_options=options, samples=samples), cameras[0], ArrayPixels(target, *size)
    )
    found = []
    with contextlib.closing(Engine(target, scene)) as engine:
        for index, (time, camera) in enumerate(zip(times, cameras, strict=True)):
            view.camera = camera
            engine.render_frame(Moment(time, 0, index), [view])
            engine.flush()
            found.append(engine.linear(view))
    return np.stack(found)


def error(image: np.ndarray, wanted: np.ndarray) -> float:
    """Mean of the squares, of what can be shown: a lamp's edge, or its image, is as wrong as one ray is, whoever
    filters."""
    return float(((np.clip(image, 0.0, 1.0) - np.clip(wanted, 0.0, 1.0)) ** 2).mean())

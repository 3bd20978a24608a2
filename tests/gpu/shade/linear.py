"""The film's linear colours, for tests of light: what pictures show is clamped and rounded."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from gpu.camera import Camera
from gpu.engine import Engine, View, ViewSettings
from gpu.pixels import ArrayPixels
from gpu.scene import Moment, Scene
from gpu.stats import ViewStatistics
from gpu.target.base import Target
from gpu.trace.trace import pixel_order

DARK = {"background_below": (0.0, 0.0, 0.0), "background_above": (0.0, 0.0, 0.0)}


def linear_of(engine: Engine, view: View) -> np.ndarray:
    """(height, width, 3) float64: the mean of the samples of the view's film."""
    film = engine._slots[view.name].film
    x, y = pixel_order(film.width, film.height)
    inside = (x < film.width) & (y < film.height)
    sums = engine.target.download(film.sums).reshape(3, -1).astype(np.float64)
    image = np.zeros((film.height, film.width, 3))
    image[y[inside], x[inside]] = sums[:, inside].T / film.samples
    return image


def draw_linear(
    target: Target, scene: Scene, camera: Camera, size: tuple[int, int], options: Any, samples: int, ray_type: str = "path", **settings: Any
) -> tuple[np.ndarray, ViewStatistics]:
    """What `linear_of` gives after all samples at the first moment, and the last frame's statistics."""
    view = View(ViewSettings(ray_type=ray_type, ray_type_options=options, samples=samples, **settings), camera, ArrayPixels(target, *size))
    with contextlib.closing(Engine(target, scene)) as engine:
        for _ in range(samples):
            engine.render_frame(Moment(), [view])
        statistics = engine.flush().views[0]
        return linear_of(engine, view), statistics

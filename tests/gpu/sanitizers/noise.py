"""The kernels that judge a film's noise."""

from __future__ import annotations

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.shade.noise import FEWEST_SAMPLES
from raygrove.gpu.target.base import Target
from raygrove.gpu.view import View, ViewSettings

from .frames import make_scene


def run_noise(target: Target) -> None:
    """As many samples of a still picture as are judged."""
    view = View(
        ViewSettings(ray_type="flat", samples=FEWEST_SAMPLES), Camera(eye=(0.0, 0.5, 4.0)), ArrayPixels(target, 9, 9)
    )
    with Engine(target, make_scene()) as engine:
        for _ in range(FEWEST_SAMPLES):
            engine.render_frame(Moment(), [view])
            engine.noise(view)
        assert engine.noise(view) is not None

"""Pictures without a window: numbered frames through the engine, one after another, never at another size than asked for."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from app.state import State
from app.views import view_settings
from gpu.engine import Engine, View, ViewSettings
from gpu.scene import Moment, Scene
from gpu.stats import FrameStatistics
from gpu.target.base import Array, Target


class TargetPixels:
    """A picture in the target's memory: what the engine draws into and `pixels` reads back."""

    def __init__(self, target: Target, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._target = target
        self._array = target.empty((height, width, 4), np.uint8, "display")

    @contextlib.contextmanager
    def map(self) -> Iterator[Array]:
        """The array for one frame."""
        yield self._array

    def pixels(self) -> np.ndarray:
        """A copy on the host, (H, W, 4) uint8; waits for the frame."""
        return self._target.download(self._array)


@dataclasses.dataclass(frozen=True)
class Frame:
    """One picture: its number and time, the statistics of each time it was drawn, and the pixels (H, W, 4) uint8."""

    number: int
    time: float
    statistics: tuple[FrameStatistics, ...]
    pixels: np.ndarray


def render_frames(
    target: Target, scene: Scene, state: State, frames: Sequence[tuple[int, float]], *, repeat: int = 1, warmup: int = 0
) -> Iterator[Frame]:
    """Draw (number, seconds) pairs at `settings.render`'s size and samples. With `repeat` each is drawn so many times, as new each time."""
    render = state.settings.render
    pixels = TargetPixels(target, render.width, render.height)
    view = View(view_settings(state), state.camera_of(0), pixels)
    with contextlib.closing(Engine(target, scene)) as engine:
        for _ in range(warmup if frames else 0):
            _draw(engine, frames[0][1], state.timeline.clip, view, 0)
        for number, time in frames:
            drawn = [_draw(engine, time, state.timeline.clip, view, repeat - 1 - turn) for turn in range(repeat)]
            yield Frame(number, time, tuple(drawn), pixels.pixels())


def _draw(engine: Engine, time: float, clip: int, view: View, turn: int) -> FrameStatistics:
    """One picture with all its samples. Another seed in all turns but the last makes the engine start anew."""
    settings: ViewSettings = view.settings
    turned = dataclasses.replace(view, settings=dataclasses.replace(settings, seed=settings.seed + turn)) if turn else view
    for _ in range(settings.samples):
        engine.render_frame(Moment(time, clip), [turned])
    return engine.flush()

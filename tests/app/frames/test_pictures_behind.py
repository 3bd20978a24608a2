"""Pictures that stay show their own instant, also where a structure had too little room for it at first."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from raygrove.app.document.state import State
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from tests.gpu.hierarchy.test_kd_builders import sheet_that_tears

CAMERA = Camera(eye=(12.0, 40.0, 30.0), look_at=(12.0, 0.0, 12.0))


def state_of(hierarchy: str, samples: int = 1) -> State:
    settings = Settings()
    for key, value in (
        ("hierarchy", hierarchy),
        ("width", 48),
        ("height", 36),
        ("samples", samples),
        ("device", "cpu"),
    ):
        settings = set_option(settings, f"render.{key}", value)
    settings = set_option(settings, "display.adapt_resolution", False)  # full size, however busy the machine is
    return State(settings=settings, cameras=(CAMERA,))


@pytest.mark.parametrize("samples", [1, 2])
@pytest.mark.parametrize("hierarchy", ["median_sah", "sah_events"])
def test_a_sequence_shows_every_frame(host_target: Target, hierarchy: str, samples: int) -> None:
    """The sheet is torn at first, and whole from the second frame on, which takes three times the references."""
    drawn = {}
    for name in (hierarchy, "brute_force"):
        frames = render_frames(host_target, sheet_that_tears(), state_of(name, samples), [(0, 1.0), (1, 0.0), (2, 0.0)])
        drawn[name] = [(frame.pixels.tobytes(), frame.statistics[0].views[0].samples) for frame in frames]
    assert drawn[hierarchy] == drawn["brute_force"]
    assert drawn[hierarchy][0] != drawn[hierarchy][1]


@pytest.mark.parametrize("hierarchy", ["median_sah", "sah_events"])
def test_the_window_shows_where_the_playing_head_was_put(hierarchy: str) -> None:
    """On a busy machine a picture comes by some rows at a time, and shows nothing new until it is whole."""
    scene, slots = sheet_that_tears(), [HostSlot(48, 36) for _ in range(2)]
    for name, slot in zip((hierarchy, "brute_force"), slots, strict=True):
        with contextlib.closing(FrameMaker()) as maker:
            for time in (1.0, 0.0):
                while not maker.draw(scene, state_of(name), Moment(time), [slot], is_moving=False).is_whole:
                    pass
    np.testing.assert_array_equal(slots[0].pixels, slots[1].pixels)

"""The filter of noisy light: less error, no trails, and in the end what samples show by themselves."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target
from tests.oracle.cornell import EYE, FOV, LOOK_AT, cornell
from tests.oracle.cornell import scene_of as cornell_scene

from .linear import DARK, draw_linear, error, frames

SIZE = (96, 72)
SMOOTH = PathOptions(filtered=True)
CORNELL_CAMERA = Camera(eye=EYE, look_at=LOOK_AT, fov=FOV)


def test_what_rests_becomes_the_plain_mean(target: Target) -> None:
    scene, options, size = cornell_scene(cornell()), PathOptions(filtered=True, **DARK), (48, 48)
    wanted = draw_linear(target, scene, CORNELL_CAMERA, size, PathOptions(**DARK), 384)[0]
    errors = [
        error(draw_linear(target, scene, CORNELL_CAMERA, size, options, samples, seed=5)[0], wanted)
        for samples in (1, 16, 256)
    ]
    assert errors[0] > 2.0 * errors[1] > 4.0 * errors[2]
    one = error(draw_linear(target, scene, CORNELL_CAMERA, size, PathOptions(**DARK), 1, seed=5)[0], wanted)
    assert one > 3.0 * errors[0], "one sample is smoothed by its neighbours alone"


def test_the_strategies_are_filtered_alike(exact_target: Target) -> None:
    scene = cornell_scene(cornell(True))
    cameras = [dataclasses.replace(CORNELL_CAMERA, eye=(0.02 * index, 0.0, 3.9)) for index in range(4)]
    found = {}
    for strategy in ("megakernel", "wavefront"):
        options = dataclasses.replace(SMOOTH, strategy=strategy)
        found[strategy], again = (frames(exact_target, scene, options, [0.0] * 4, cameras, SIZE) for _ in range(2))
        assert np.array_equal(found[strategy], again), "the same frames, the same bytes"
    assert np.mean(np.abs(found["megakernel"] - found["wavefront"]).max(axis=-1) > 1e-3) < 0.003
    plain = frames(exact_target, scene, dataclasses.replace(SMOOTH, filtered=False), [0.0] * 4, cameras, SIZE)
    assert np.mean(np.abs(found["wavefront"] - plain).max(axis=-1) > 1e-3) > 0.5, "filtered they are"


def test_sizes_change_and_the_past_is_of_its_own_size(target: Target) -> None:
    scene = cornell_scene(cornell())
    view = View(ViewSettings(ray_type="path", ray_type_options=SMOOTH), CORNELL_CAMERA, ArrayPixels(target, 24, 16))
    with contextlib.closing(Engine(target, scene)) as engine:
        for size in ((24, 16), (33, 17), (8, 8), (24, 16)):
            view.pixels = ArrayPixels(target, *size)
            engine.render_frame(Moment(), [view])
            engine.flush()
            found = engine.linear(view)
            assert found.shape == (size[1], size[0], 3) and np.all(np.isfinite(found)) and found.mean() > 0.05


def test_the_filter_turns_itself_off_and_then_noise_is_told(target: Target) -> None:
    scene, size = cornell_scene(cornell()), (48, 48)
    options = PathOptions(filtered=True, filter_samples=16, **DARK)
    wanted = draw_linear(target, scene, CORNELL_CAMERA, size, PathOptions(**DARK), 384, seed=5)[0]
    view = View(
        ViewSettings(ray_type="path", ray_type_options=options, samples=64), CORNELL_CAMERA, ArrayPixels(target, *size)
    )
    errors, rows, noise = [], [], []
    with contextlib.closing(Engine(target, scene)) as engine:
        for count in range(1, 65):
            view.most_rows = 24
            engine.render_frame(Moment(), [view])
            while not engine.is_whole([view]):
                rows.append(count)
                engine.render_frame(Moment(), [view])
            errors.append(error(engine.linear(view), wanted))
            noise.append(engine.noise(view))
    plain = error(draw_linear(target, scene, CORNELL_CAMERA, size, PathOptions(**DARK), 1)[0], wanted)
    assert errors[0] < plain / 3.0, "the first is smoothed"
    assert max(errors) < plain / 3.0 and errors[15] < plain / 3.5 and errors[63] < plain / 6.0
    assert rows == list(range(17, 65)), "without the filter it is drawn some rows at a time"
    assert noise[:23] == [None] * 23 and None not in noise[23:], "the sums of the first sixteen stand for one part"

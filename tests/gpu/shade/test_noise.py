"""The noise that a film says it has, against the error that it has."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.shade.ao import AoOptions
from raygrove.gpu.shade.film import Film
from raygrove.gpu.shade.noise import FEWEST_SAMPLES, JUDGED_SHARE, NoiseMeter
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target
from tests.oracle.cornell import EYE, FOV, LOOK_AT, cornell
from tests.oracle.cornell import scene_of as cornell_scene

from .linear import DARK

SIZE = (61, 45)
EVEN = (0.3, 0.4, 0.5)
CAMERA = Camera(eye=EYE, look_at=LOOK_AT, fov=FOV)


def drawn(
    target: Target, ray_type: str, options: Any, samples: int, seed: int = 0, is_told: bool = True
) -> tuple[list[Any], np.ndarray]:
    """The noise that was said after each sample, where that is wanted, and the film in the end."""
    view = View(
        ViewSettings(ray_type=ray_type, ray_type_options=options, samples=samples, seed=seed),
        CAMERA,
        ArrayPixels(target, *SIZE),
    )
    with contextlib.closing(Engine(target, cornell_scene(cornell()))) as engine:
        said = []
        for _ in range(samples):
            engine.render_frame(Moment(), [view])
            if is_told:
                said.append(engine.noise(view))
        return said, engine.linear(view)


def error_of_tiles(found: np.ndarray, wanted: np.ndarray) -> float:
    """Root mean square of the differences of levels in a tile of 8 x 8 pixels, which JUDGED_SHARE of them are below."""
    apart = np.square(np.clip(found, 0.0, 1.0) ** (1 / 2.2) - np.clip(wanted, 0.0, 1.0) ** (1 / 2.2)).mean(axis=-1)
    tiles = [
        apart[row : row + 8, column : column + 8].mean()
        for row in range(0, SIZE[1], 8)
        for column in range(0, SIZE[0], 8)
    ]
    return float(np.sqrt(np.quantile(tiles, JUDGED_SHARE)))


@pytest.mark.parametrize(
    ("ray_type", "options"), [("path", PathOptions(**DARK)), ("ao", AoOptions(radius=0.5, **DARK))]
)
def test_the_noise_said_is_the_error_against_many_samples(target: Target, ray_type: str, options: Any) -> None:
    wanted = drawn(target, ray_type, options, 1536, seed=9, is_told=False)[1]
    for samples in (8, 24, 64, 192):
        said, found = drawn(target, ray_type, options, samples)
        error = error_of_tiles(found, wanted)
        assert 0.7 * error < said[-1] < 1.6 * error, (samples, error)


def test_it_is_told_from_the_eighth_sample_on_and_falls(target: Target) -> None:
    said, _ = drawn(target, "path", PathOptions(**DARK), 64)
    assert said[: FEWEST_SAMPLES - 1] == [None] * (FEWEST_SAMPLES - 1)
    judged = [said[count - 1] for count in (8, 12, 16, 24, 32, 48, 64)]
    assert len(set(judged)) == len(judged) and judged[-1] < 0.6 * judged[0]
    assert said[12:15] == [said[11]] * 3, "in between it is the last one"


def test_a_first_picture_keeps_nothing(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for it, waits for nothing that only the eighth sample asks for."""
    kept = []
    keep = NoiseMeter._keep

    def noted(self: NoiseMeter, film: Film) -> None:
        kept.append(film.samples)
        keep(self, film)

    monkeypatch.setattr(NoiseMeter, "_keep", noted)
    drawn(target, "ao", AoOptions(radius=0.5, **DARK), 2 * FEWEST_SAMPLES)
    assert kept == [FEWEST_SAMPLES // 2, FEWEST_SAMPLES, 2 * FEWEST_SAMPLES]


def test_a_picture_that_begins_anew_knows_nothing_of_the_one_before(target: Target) -> None:
    view = View(ViewSettings(ray_type="path", samples=64), CAMERA, ArrayPixels(target, *SIZE))
    with contextlib.closing(Engine(target, cornell_scene(cornell()))) as engine:
        for _ in range(16):
            engine.render_frame(Moment(), [view])
            noise = engine.noise(view)
        assert noise
        view.camera = Camera(eye=(0.3, 0.0, 3.9), look_at=LOOK_AT, fov=FOV)
        for count in range(1, 9):
            engine.render_frame(Moment(), [view])
            assert (engine.noise(view) is None) == (count < FEWEST_SAMPLES)


def test_what_has_no_noise_has_none(target: Target) -> None:
    view = View(
        ViewSettings(
            ray_type="path", ray_type_options=PathOptions(background_below=EVEN, background_above=EVEN), samples=8
        ),
        Camera(eye=(0, 0, 9.0), look_at=(0, 0, 99.0)),
        ArrayPixels(target, 16, 8),
    )
    with contextlib.closing(Engine(target, cornell_scene(cornell()))) as engine:
        for _ in range(8):
            engine.render_frame(Moment(), [view])
            noise = engine.noise(view)
        assert noise == pytest.approx(0.0, abs=1e-6)

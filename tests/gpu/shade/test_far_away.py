"""The scene's environment where rays of `smooth`, `whitted` and `distributed` hit nothing: seen, mirrored, and through
glass."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Environment, Light, Material, Moment, Scene
from raygrove.gpu.shade.distributed import DistributedOptions
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.shade.smooth import SmoothOptions
from raygrove.gpu.shade.whitted import WhittedOptions
from raygrove.gpu.target.base import Target

from .linear import DARK, draw_linear
from .pictures import scene_of, square
from .test_whitted import OUT, ball

NONE: dict[str, Any] = {"ambient": (0.0, 0.0, 0.0), **DARK}
PIXELS = np.random.default_rng(8).uniform(0.0, 2.0, (9, 14, 3)).astype(np.float32)
SKY = Environment("sky", PIXELS)
MIRROR = Material("mirror", (1.0, 1.0, 1.0, 1.0), metallic=1.0, roughness=0.0)
NOTHING = Material("glass as thin as air", (1.0, 1.0, 1.0, 1.0), roughness=0.0, transmission=1.0, ior=1.0)
RECURSIVE = {
    "one kernel": ("whitted", WhittedOptions(threshold=0.0, strategy="megakernel", **NONE)),
    "wavefront": ("whitted", WhittedOptions(threshold=0.0, strategy="wavefront", **NONE)),
    "distributed": ("distributed", DistributedOptions(threshold=0.0, **NONE)),
}
EVERY = {**RECURSIVE, "smooth": ("smooth", SmoothOptions(**NONE))}
CAMERA, SIZE = Camera(eye=(0.3, 0.2, 3.0), look_at=(0.1, 0.0, 0.0), fov=80.0), 40


def under_sky(scene: Scene, sky: Environment = SKY, lights: tuple[Light, ...] = (OUT,)) -> Scene:
    """By default with a light that is out, so that there is none at the eye."""
    return dataclasses.replace(scene, environment=sky, lights=lights)


def directions() -> np.ndarray:
    """(SIZE, SIZE, 3): of the pixels' rays, unit vectors in float64."""
    right, up, forward = CAMERA.basis()
    place = ((np.arange(SIZE) + 0.5) / SIZE - 0.5) * 2.0 * np.tan(np.radians(CAMERA.fov) / 2.0)
    rays = forward + place[None, :, None] * right - place[:, None, None] * up
    return np.asarray(rays / np.linalg.norm(rays, axis=-1, keepdims=True))


def texels(towards: np.ndarray, turn: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The picture's colours of directions, and where they are not at an edge between two texels; `turn` in degrees."""
    height, width = PIXELS.shape[:2]
    x = ((0.5 + turn / 360.0 + np.arctan2(towards[..., 0], -towards[..., 2]) / (2 * np.pi)) % 1.0) * width
    y = np.arccos(towards[..., 1]) / np.pi * height
    clear = (np.minimum(x % 1.0, 1.0 - x % 1.0) > 1e-3) & (np.minimum(y % 1.0, 1.0 - y % 1.0) > 1e-3)
    return PIXELS[y.astype(int), x.astype(int)], clear


@pytest.mark.parametrize("kind", EVERY)
def test_what_hits_nothing_shows_the_texel_of_its_direction(target: Target, kind: str) -> None:
    ray_type, options = EVERY[kind]
    chosen = dataclasses.replace(options, environment=2.0, environment_turn=70.0)
    scene = under_sky(
        scene_of(square(1.0, 0.1), materials=(Material(base_color=(0.0, 0.0, 0.0, 1.0), roughness=1.0, ior=1.0),))
    )
    image, statistics = draw_linear(target, scene, CAMERA, (SIZE, SIZE), chosen, 1, ray_type)
    wanted, clear = texels(directions(), 70.0)
    on_square = image.max(axis=-1) < 1e-4
    assert 0.05 < on_square.mean() < 0.5 and clear.mean() > 0.9 and statistics.rays > 0
    assert np.allclose(image[clear & ~on_square], 2.0 * wanted[clear & ~on_square], rtol=1e-5)


@pytest.mark.parametrize("kind", RECURSIVE)
def test_a_mirror_shows_the_texel_of_the_mirrored_direction(target: Target, kind: str) -> None:
    ray_type, options = RECURSIVE[kind]
    image, _ = draw_linear(
        target, under_sky(scene_of(square(50.0), materials=(MIRROR,))), CAMERA, (SIZE, SIZE), options, 1, ray_type
    )
    wanted, clear = texels(directions() * (1.0, 1.0, -1.0))
    assert clear.mean() > 0.9 and np.allclose(image[clear], wanted[clear], rtol=1e-3)


@pytest.mark.parametrize("kind", RECURSIVE)
def test_glass_shows_the_texel_behind_it(target: Target, kind: str) -> None:
    ray_type, options = RECURSIVE[kind]
    image, statistics = draw_linear(
        target, under_sky(scene_of(ball(1.5), materials=(NOTHING,))), CAMERA, (SIZE, SIZE), options, 1, ray_type
    )
    wanted, clear = texels(directions())
    assert statistics.rays_by_kind["refraction 2"] > 200 and np.allclose(image[clear], wanted[clear], rtol=1e-3)


@pytest.mark.parametrize("kind", EVERY)
def test_an_even_environment_is_an_even_background(target: Target, kind: str) -> None:
    ray_type, options = EVERY[kind]
    materials = (MIRROR, dataclasses.replace(NOTHING, ior=1.5))
    scene = scene_of(ball(0.8, (-0.9, 0.0, 0.0)), ball(0.8, (0.9, 0.0, 0.0), 1), materials=materials, lights=(OUT,))
    grey = dataclasses.replace(options, background_below=(0.5, 0.5, 0.5), background_above=(0.5, 0.5, 0.5))
    even = under_sky(scene, Environment("even", np.full((3, 5, 3), 0.5, np.float32)))
    plain, lit = (
        draw_linear(target, one, CAMERA, (SIZE, SIZE), chosen, 1, ray_type)[0]
        for one, chosen in ((scene, grey), (even, options))
    )
    assert plain.std() > 1e-3 and np.array_equal(plain, lit)


def test_wavefront_and_megakernel_show_the_same_but_for_rounding(exact_target: Target) -> None:
    materials = (dataclasses.replace(MIRROR, base_color=(0.9, 0.7, 0.3, 1.0)), dataclasses.replace(NOTHING, ior=1.5))
    scene = under_sky(scene_of(ball(0.8, (-0.9, 0.0, 0.0)), ball(0.8, (0.9, 0.0, 0.0), 1), materials=materials))
    pictures = [
        draw_linear(exact_target, scene, CAMERA, (SIZE, SIZE), RECURSIVE[kind][1], 2, "whitted")[0]
        for kind in ("one kernel", "wavefront")
    ]
    assert pictures[0].std() > 0.1 and np.abs(pictures[0] - pictures[1]).max() <= 2e-6 * pictures[0].max()


@pytest.mark.parametrize("kind", EVERY)
def test_a_scene_with_an_environment_alone_is_lit_from_the_eye(target: Target, kind: str) -> None:
    ray_type, options = EVERY[kind]
    scene = under_sky(scene_of(square(50.0), materials=(Material(roughness=1.0),)), lights=())
    assert draw_linear(target, scene, CAMERA, (8, 8), options, 1, ray_type)[0].min() > 0.05


@pytest.mark.parametrize("kind", EVERY)
def test_a_turn_between_two_frames_is_seen(target: Target, kind: str) -> None:
    ray_type, options = EVERY[kind]
    scene, turned = (
        under_sky(scene_of(square(1.0), materials=(MIRROR,))),
        dataclasses.replace(options, environment_turn=90.0),
    )
    view = View(ViewSettings(ray_type=ray_type, ray_type_options=options), CAMERA, ArrayPixels(target, SIZE, SIZE))
    with contextlib.closing(Engine(target, scene)) as engine:
        for frame, chosen in enumerate((options, options, options, turned)):
            view.settings = dataclasses.replace(view.settings, ray_type_options=chosen)
            engine.render_frame(Moment(0.0, 0, frame), [view])
        engine.flush()
        found = engine.linear(view)
    assert np.array_equal(found, draw_linear(target, scene, CAMERA, (SIZE, SIZE), turned, 1, ray_type)[0])


def test_four_ray_types_have_the_two_options() -> None:
    having = {
        name
        for name, kind in ray_types().items()
        if {"environment", "environment_turn"} <= {f.name for f in dataclasses.fields(kind.Options)}
    }
    assert having == {"smooth", "whitted", "distributed", "path"}

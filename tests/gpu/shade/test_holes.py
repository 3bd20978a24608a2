"""Light through holes in `smooth` and `path`: the shadow of what alpha cuts is the shape that is left, and no light is
counted twice."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Environment, Light, Material, Mesh, Scene, Texture
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.shade.smooth import SmoothOptions
from raygrove.gpu.target.base import Target

from .linear import DARK, draw_linear
from .pictures import scene_of, square

SIZE = 40
DOWN = Camera(eye=(0, 0, 4), orthographic=True, height=4.0)
FLOOR = Material("floor", (0.8, 0.8, 0.8, 1.0), roughness=1.0, ior=1.0)
BLACK = Material("cut", (0.0, 0.0, 0.0, 1.0), roughness=1.0, ior=1.0)
SUN = Light("directional", (np.pi, np.pi, np.pi), direction=(2**-0.5, 0.0, -(2**-0.5)))
OPTIONS: dict[str, Any] = {
    "smooth": SmoothOptions(ambient=(0.0, 0.0, 0.0), **DARK),
    "megakernel": PathOptions(bounces=2, strategy="megakernel", **DARK),
    "wavefront": PathOptions(bounces=2, strategy="wavefront", **DARK),
}


def half_open(alpha: int = 255) -> Texture:
    """The left half is a hole, the right one covers so much."""
    texels = np.full((8, 8, 4), 255, np.uint8)
    texels[:, :4, 3], texels[:, 4:, 3] = 0, alpha
    return Texture("half", texels)


def over_floor(cut: Material, *more: Mesh, texture: Texture | None = None, **rest: Any) -> Scene:
    """A unit square of `cut` one above the floor."""
    above = [dataclasses.replace(mesh, material_ids=np.ones(2, np.int32)) for mesh in (square(0.5, 1.0), *more)]
    return scene_of(
        square(9.0), *above, materials=(FLOOR, cut), textures=(texture or half_open(),), lights=(SUN,), **rest
    )


def floor_at(target: Target, kind: str, scene: Scene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the floor sends up beside the square, as a share of what lies free; x and y there. The square's shadow lies
    one to the right of it."""
    found, _ = draw_linear(
        target, scene, DOWN, (SIZE, SIZE), OPTIONS[kind], 1, "smooth" if kind == "smooth" else "path"
    )
    steps = ((np.arange(SIZE) + 0.5) / SIZE - 0.5) * 4.0
    x, y = np.meshgrid(steps, -steps)
    return found[..., 1] / found[2, 2, 1], x, y


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("mode", ["mask", "blend", "opaque"])
def test_a_shadow_is_the_projection_of_what_alpha_leaves(target: Target, kind: str, mode: str) -> None:
    cut = dataclasses.replace(BLACK, base_color_texture=0, alpha_mode=mode)
    share, x, y = floor_at(target, kind, over_floor(cut, texture=half_open(255 if mode == "mask" else 102)))
    in_square = (np.abs(x - 1.0) < 0.5) & (np.abs(y) < 0.5)
    covered = {"mask": 1.0, "blend": 0.4, "opaque": 1.0}[mode]
    wanted = np.where(in_square & ((x > 1.0) | (mode == "opaque")), 1.0 - covered, 1.0)
    near = 0.5 / 8 + 0.1 if mode == "blend" else 0.06  # filtered texels and the pixel's width
    edge = np.min([np.abs(x - at) for at in (0.5, 1.0, 1.5)], axis=0) < near
    beside = (np.abs(x) > 0.56) & ~edge & (np.abs(np.abs(y) - 0.5) > 0.06)
    assert np.abs(share - wanted)[beside].max() < 2e-3
    assert (beside & in_square & (x > 1.0)).sum() >= 8


@pytest.mark.parametrize("kind", OPTIONS)
def test_so_many_holes_in_a_row_hide_the_light(target: Target, kind: str) -> None:
    cut = dataclasses.replace(BLACK, base_color_texture=0, alpha_mode="mask")
    centre = np.s_[SIZE // 2, SIZE * 27 // 40]  # x = 0.75: in the middle of the hole's light
    for count, wanted in ((15, 1.0), (16, 0.0)):
        more = [square(0.5, 1.0 + 1e-3 * number) for number in range(1, count)]
        share, _, _ = floor_at(target, kind, over_floor(cut, *more))
        assert share[centre] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("strategy", ["megakernel", "wavefront"])
@pytest.mark.parametrize("source", ["triangles", "environment"])
@pytest.mark.parametrize("bounces", [1, 3])
def test_light_through_a_veil_is_counted_once(target: Target, strategy: str, source: str, bounces: int) -> None:
    """A lamp that paths meet by themselves, too: however many bounces they have, the veil leaves its share of the
    light."""
    lamp = Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=(2.0, 2.0, 2.0), roughness=1.0, ior=1.0)
    sky = Environment("sky", np.full((4, 8, 3), 1.5, np.float32)) if source == "environment" else None
    options = PathOptions(bounces=bounces, strategy=strategy, roulette_from=32, **DARK)
    below = Camera(eye=(0.0, 0.0, 0.4), look_at=(0.0, 0.0, 0.0), up=(0.0, 1.0, 0.0), fov=40.0)
    means = []
    for alpha in (0.0, 0.6):
        veil = dataclasses.replace(BLACK, base_color=(0.0, 0.0, 0.0, alpha), alpha_mode="blend")
        meshes = [square(40.0), dataclasses.replace(square(40.0, 0.5), material_ids=np.ones(2, np.int32))]
        if sky is None:
            meshes.append(dataclasses.replace(square(1.0, 1.0), material_ids=np.full(2, 2, np.int32)))
        scene = scene_of(*meshes, materials=(FLOOR, veil, lamp), environment=sky)
        found, _ = draw_linear(target, scene, below, (16, 16), options, 64)
        means.append(found.mean())
    free = 0.8 * 1.5 if sky is not None else None
    if free is not None:
        assert means[0] == pytest.approx(free, rel=0.02)
    assert means[1] == pytest.approx(0.4 * means[0], rel=0.02)


def test_the_strategies_make_the_same_bytes(exact_target: Target) -> None:
    scene = over_floor(
        dataclasses.replace(BLACK, base_color=(0.5, 0.5, 0.5, 1.0), base_color_texture=0, alpha_mode="blend"),
        texture=half_open(128),
    )
    images = [
        draw_linear(exact_target, scene, Camera(eye=(1, -2, 3)), (29, 21), OPTIONS[kind], 3)[0]
        for kind in ("megakernel", "wavefront")
    ]
    assert np.array_equal(*images)

"""Pictures of discs and splats: where they lie along a surface, its picture comes out, light and shadow as well."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.glyph_shapes import FLAT_SHAPES, Glyphs
from raygrove.gpu.scene import Light, Material, Object, Scene, Spheres
from raygrove.gpu.target.base import Target
from tests.oracle.glyphs import turns_of

from .pictures import picture, square

SIZE = (64, 48)
CAMERA = Camera(eye=(0.0, 0.0, 4.0), look_at=(0.0, 0.0, 0.0))
BESIDE = Camera(eye=(0.02, 0.0, 4.0), look_at=(0.02, 0.0, 0.0))
"""No ray of it lies in the square's diagonal, where rounding decides whether it passes between the two triangles."""
LIGHT = Light("point", (30.0, 30.0, 30.0), (2.0, 2.5, 3.0))


def floor_of(shape: str, side: int = 60, half: float = 3.0) -> Glyphs:
    """A lattice in the plane z = 0 whose members overlap, with the normal z or its opposite."""
    steps = (np.arange(side) + 0.5) / side * 2.0 - 1.0
    x, y = np.meshgrid(steps * half, steps * half)
    centres = np.stack([x.ravel(), y.ravel(), np.zeros(side * side)], axis=1)
    way = np.zeros_like(centres)
    way[:, 2] = np.where(np.arange(side * side) % 2, 1.0, -1.0)
    sizes = np.full((side * side, 3), 1.6 * half / side, np.float32)
    return Glyphs(shape, shape, centres.astype(np.float32), sizes, turns_of(way))


def lit(**fields: object) -> Scene:
    base = Scene("flat", materials=(Material(roughness=1.0),), lights=(LIGHT,), lower=(-3, -3, -1), upper=(3, 3, 3))
    return dataclasses.replace(base, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", FLAT_SHAPES)
def test_a_floor_of_them_looks_like_a_floor(target: Target, shape: str) -> None:
    """Lit and shadowed by rays that go on: none of them is in the shade of its neighbours, and a ball's shadow falls on
    them as on a square."""
    ball = Spheres("ball", np.array([[0.5, 0.6, 0.8]], np.float32), np.full(1, 0.3, np.float32))
    things = (Object(0, spheres=0), Object(0, glyphs=0))
    points = lit(spheres=(ball,), glyphs=(floor_of(shape),), objects=things)
    plane = lit(spheres=(ball,), meshes=(square(3.0),), objects=(Object(0, 0), Object(0, spheres=0)))
    shown, expected = (
        picture(target, scene, BESIDE, SIZE, "whitted", hierarchy="lbvh").astype(int) for scene in (points, plane)
    )
    apart = np.abs(shown - expected).max(axis=-1)
    alone = lit(meshes=(square(3.0),), objects=(Object(0, 0),))
    shadow = np.abs(picture(target, alone, BESIDE, SIZE, "whitted", hierarchy="lbvh").astype(int) - expected)
    assert (shadow.max(axis=-1) > 30).sum() > 60, "there is a ball, and its shadow"
    assert np.median(apart) <= 2 and (apart > 12).mean() < (0.002 if shape == "disc" else 0.03), "shadows' rims"


@pytest.mark.parametrize("shape", FLAT_SHAPES)
def test_a_ball_of_them_looks_like_a_ball(target: Target, shape: str) -> None:
    count = 6000
    z = (np.arange(count) + 0.5) / count * 2.0 - 1.0
    angle = np.pi * (1.0 + 5.0**0.5) * np.arange(count)
    way = np.stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z], axis=1)
    sizes = np.full((count, 3), 0.06, np.float32)
    turns = turns_of(way)
    points = Glyphs(shape, shape, way.astype(np.float32), sizes, turns)
    ball = Spheres("ball", np.zeros((1, 3), np.float32), np.ones(1, np.float32))
    shown, expected = (
        picture(target, scene, CAMERA, SIZE, "smooth", hierarchy="lbvh").astype(int)
        for scene in (
            lit(glyphs=(points,), objects=(Object(0, glyphs=0),)),
            lit(spheres=(ball,), objects=(Object(0, spheres=0),)),
        )
    )
    apart = np.abs(shown - expected).max(axis=-1)
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    tall = SIZE[1] / 2.0 / np.tan(np.radians(CAMERA.fov) / 2.0)
    inside = np.hypot(x + 0.5 - SIZE[0] / 2, y + 0.5 - SIZE[1] / 2) < 0.8 * tall / 4.0
    assert inside.sum() > 200 and np.quantile(apart[inside], 0.95) <= 12, "no hole, and shaded as it is"
    assert (apart > 12).mean() < 0.1, "the rim is wider by their radius"

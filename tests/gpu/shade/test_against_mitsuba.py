"""Paths of light against Mitsuba 3, which shares nothing with this program: each kind of light, each kind of
surface."""

from __future__ import annotations

import dataclasses
import importlib.util

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Environment, Light, Material, Mesh, Object, Scene
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target
from tests.oracle.cornell import EYE, FOV, LAMP, LOOK_AT, Room, cornell

from .linear import DARK, draw_linear

IS_THERE = importlib.util.find_spec("mitsuba") is not None
pytestmark = pytest.mark.skipif(
    not IS_THERE, reason="the package mitsuba is not installed, which draws the pictures to compare with"
)

SIDE, BLOCK = 48, 8
GREYISH, REDDISH, GREENISH = (0.73, 0.73, 0.73), (0.63, 0.065, 0.05), (0.14, 0.45, 0.091)
LIGHTS = {
    "point": Light("point", (3.0, 2.5, 2.0), (0.2, 0.9, 0.6)),
    "spot": Light("spot", (9.0, 8.0, 7.0), (0.1, 1.6, 0.9), (-0.1, -1.0, -0.6), inner_angle=34.9, outer_angle=35.0),
    "directional": Light("directional", (3.0, 2.8, 2.5), direction=(0.2, -0.9, -0.3873)),
    "sphere": Light("sphere", (4.0, 3.5, 3.0), (0.1, 1.5, 0.3), radius=0.3),
    "rectangle": Light("rectangle", (5.0, 4.5, 4.0), (0.0, 1.2, 0.2), (0.0, -1.0, 0.0), size=(0.9, 0.6)),
}


def scene_of(room: Room, tall: Material, walls: Material, **rest: object) -> Scene:
    """The room with these materials for the tall block and for all else, a mesh a colour, so that it is one
    material's."""
    colours = (GREYISH, REDDISH, GREENISH)
    materials = [dataclasses.replace(walls, base_color=(*colour, 1.0)) for colour in colours]
    materials += [
        Material(
            "lamp", (0.0, 0.0, 0.0, 1.0), roughness=1.0, ior=1.0, emission=(11.0, 9.0, 5.0), is_double_sided=False
        ),
        tall,
    ]
    meshes = []
    for kind in np.unique(room.materials).tolist():
        corners = room.triangles[room.materials == kind].reshape(-1, 3).astype(np.float32)
        triangles = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
        meshes.append(Mesh(f"kind {kind}", corners, triangles, np.full(len(triangles), kind, np.int32)))
    objects = tuple(Object(0, index) for index in range(len(meshes)))
    return Scene(
        "room", meshes=tuple(meshes), objects=objects, materials=tuple(materials), eye=EYE, look_at=LOOK_AT, **rest
    )


def open_room() -> Room:
    """Without ceiling and lamp: the bodies of Mitsuba's lamps stand outside, where they are in no ray's way."""
    room = cornell(with_mirror=True)
    is_ceiling = (room.triangles[:, :, 1] == 1.0).all(axis=1)
    left = ~is_ceiling & (room.materials != LAMP)
    return dataclasses.replace(room, triangles=room.triangles[left], materials=room.materials[left])


def compare(target: Target, scene: Scene, bounces: int, samples: int, theirs: int) -> None:
    """Draw by both: 1 % on the mean, 3 % on blocks of 8 x 8 pixels, of the block's brightest colour (and at least of a
    fifth of the mean)."""
    from tests.oracle import mitsuba_light

    wanted = mitsuba_light.render(scene, EYE, LOOK_AT, FOV, SIDE, bounces, theirs)
    options = PathOptions(bounces=bounces, roulette_from=bounces, **DARK)
    found, _ = draw_linear(target, scene, Camera(eye=EYE, look_at=LOOK_AT, fov=FOV), (SIDE, SIDE), options, samples)
    blocks = [
        image.reshape(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK, 3).mean(axis=(1, 3)) for image in (found, wanted)
    ]
    off = np.abs(blocks[0] - blocks[1]).max(axis=-1) / np.maximum(blocks[1].max(axis=-1), 0.2 * wanted.mean())
    assert found.mean() == pytest.approx(wanted.mean(), rel=0.01)
    assert off.max() < 0.03


MATTE = Material("matte", roughness=1.0, ior=1.0)
GREY_MATTE = dataclasses.replace(MATTE, base_color=(*GREYISH, 1.0))
ROW, COLUMN = np.mgrid[0:128, 0:256] / 128.0
PIXELS = np.stack(
    [1.6 + 0.8 * np.cos(np.pi * ROW) + 0.4 * np.sin(np.pi * (COLUMN + shift)) for shift in (0.0, 0.3, 0.8)], axis=-1
)
SKY = Environment("sky", PIXELS.astype(np.float32))


@pytest.mark.parametrize("kind", LIGHTS)
def test_a_matte_room_in_each_kind_of_light(target: Target, kind: str) -> None:
    compare(target, scene_of(open_room(), GREY_MATTE, MATTE, lights=(LIGHTS[kind],)), 3, 400, 400)


def test_a_matte_room_below_a_lamp_of_one_side(target: Target) -> None:
    compare(target, scene_of(cornell(with_mirror=True), GREY_MATTE, MATTE), 5, 1024, 1024)


def test_a_matte_room_in_an_environment(target: Target) -> None:
    compare(target, scene_of(open_room(), GREY_MATTE, MATTE, environment=SKY), 3, 256, 256)


SURFACES = {
    "metal": Material("metal", (0.9, 0.7, 0.4, 1.0), metallic=1.0),
    "gloss": Material("gloss", (0.5, 0.6, 0.7, 1.0), ior=1.5),
    "glass": Material("glass", (1.0, 1.0, 1.0, 1.0), transmission=1.0, ior=1.5),
}


@pytest.mark.parametrize("roughness", [0.0, 0.3])
@pytest.mark.parametrize("name", SURFACES)
def test_a_block_of_each_surface(target: Target, name: str, roughness: float) -> None:
    block = dataclasses.replace(SURFACES[name], roughness=roughness)
    compare(
        target,
        scene_of(open_room(), block, MATTE, environment=SKY),
        5,
        400,
        144 if (name, roughness) == ("gloss", 0.3) else 400,
    )


@pytest.mark.parametrize("bounces", [1, 5])
def test_a_room_of_rough_gloss(target: Target, bounces: int) -> None:
    walls = Material("gloss", roughness=0.3, ior=1.5)
    block = dataclasses.replace(walls, base_color=(*GREYISH, 1.0))
    light = (
        {"lights": (LIGHTS["rectangle"],)} if bounces == 1 else {"environment": SKY}
    )  # from all sides there is less noise
    compare(target, scene_of(open_room(), block, walls, **light), bounces, 400, 100)

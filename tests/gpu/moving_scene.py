"""A small scene that moves, and views of it, for tests of whole frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Channel, Clip, Light, Material, Mesh, Node, Object, Scene, Track
from raygrove.gpu.target.base import Target

SIZE = (96, 72)

CAMERA = Camera(eye=(0.5, 1.2, 4.5), look_at=(0.0, 0.0, 0.0))


def moving_scene(seed: int = 0, triangles: int = 250) -> Scene:
    """A soup that turns beside one that stays, over a floor, under two lights."""
    rng = np.random.default_rng(seed)

    def soup(count: int) -> Mesh:
        corners = rng.uniform(-0.9, 0.9, (count, 1, 3)) + rng.normal(0, 0.12, (count, 3, 3))
        indices = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
        return Mesh(
            "soup", corners.reshape(-1, 3).astype(np.float32), indices, rng.integers(0, 3, count).astype(np.int32)
        )

    corners = np.array([[-4, -1.2, 4], [4, -1.2, 4], [4, -1.2, -4], [-4, -1.2, -4]], np.float32)
    floor = Mesh("floor", corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), np.full(2, 3, np.int32))
    turn = Track(
        np.array([0, 1, 2], np.float32),
        np.array([[0, 0, 0, 1], [0, 0.7071068, 0, 0.7071068], [0, 1, 0, 0]], np.float32),
    )
    nodes = (Node("still"), Node("turns", translation=(0.3, 0.0, 0.0)))
    materials = (
        Material(base_color=(0.8, 0.2, 0.2, 1)),
        Material(base_color=(0.2, 0.8, 0.2, 1), metallic=0.7),
        Material(roughness=0.2),
        Material(),
    )
    lights = (
        Light("point", (30.0, 28.0, 25.0), position=(1.0, 3.0, 2.0)),
        Light("directional", (0.6, 0.6, 0.8), direction=(1.0, -1.0, -0.5)),
    )
    clip = Clip("turn", 2.0, (Channel(1, "rotation", turn),))
    things = (Object(0, 0), Object(0, 1), Object(1, 2))
    return Scene(
        "moving",
        nodes,
        (floor, soup(triangles), soup(triangles)),
        things,
        materials=materials,
        lights=lights,
        clips=(clip,),
    )


def view_of(
    target: Target, name: str = "main", camera: Camera = CAMERA, size: tuple[int, int] = SIZE, **settings: Any
) -> View:
    return View(ViewSettings(**settings), camera, ArrayPixels(target, *size), name)


def shown(view: View) -> np.ndarray:
    assert isinstance(view.pixels, ArrayPixels)
    return view.pixels.download()

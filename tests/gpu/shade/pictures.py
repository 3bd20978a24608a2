"""Draw a scene into numpy."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Material, Mesh, Moment, Object, Scene
from raygrove.gpu.target.base import Target


def picture(
    target: Target,
    scene: Scene,
    camera: Camera,
    size: tuple[int, int],
    ray_type: str = "smooth",
    options: Any = None,
    **settings: Any,
) -> np.ndarray:
    """(height, width, 4) uint8 of one moment, all samples drawn."""
    pixels = ArrayPixels(target, *size)
    view = View(ViewSettings(ray_type=ray_type, ray_type_options=options, **settings), camera, pixels)
    with contextlib.closing(Engine(target, scene)) as engine:
        for _ in range(settings.get("samples", 1)):
            engine.render_frame(Moment(), [view])
        return pixels.download()


def mesh_of(positions: Any, triangles: Any, uvs: Any = None, normals: Any = None, material: int = 0) -> Mesh:
    """A mesh from lists."""
    corners = np.array(triangles, np.int32)
    return Mesh(
        "mesh",
        np.array(positions, np.float32),
        corners,
        np.full(len(corners), material, np.int32),
        None if normals is None else np.array(normals, np.float32),
        None if uvs is None else np.array(uvs, np.float32),
    )


def scene_of(*meshes: Mesh, materials: tuple[Material, ...] = (Material(),), **rest: Any) -> Scene:
    """A scene of meshes where they are."""
    return Scene(
        "test",
        meshes=meshes,
        objects=tuple(Object(0, index) for index in range(len(meshes))),
        materials=materials,
        **rest,
    )


def square(half: float, z: float = 0.0, uv: float = 1.0) -> Mesh:
    """A square that faces +z, uv (0, 0) at its upper left corner."""
    positions = [[-half, half, z], [half, half, z], [half, -half, z], [-half, -half, z]]
    return mesh_of(positions, [[0, 2, 1], [0, 3, 2]], [[0, 0], [uv, 0], [uv, uv], [0, uv]], [[0, 0, 1]] * 4)

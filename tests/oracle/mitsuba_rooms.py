"""Rooms to draw by this program and by Mitsuba 3, and what Mitsuba made of them: the mean colours of blocks of their
pixels, kept in mitsuba_blocks.json, since it draws for half a minute and each time the same.

    python -m tests.oracle.mitsuba_rooms

draws them anew, for whoever changes a room or mitsuba_light.py. Whether Mitsuba still draws them so is asked under
-m full.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import pathlib
from typing import Any

import numpy as np

from raygrove.gpu.scene import Environment, Light, Material, Mesh, Object, Scene
from tests.oracle.cornell import EYE, FOV, LAMP, LOOK_AT, Room, cornell

SIDE, BLOCK = 48, 8
"""Pixels of a picture's side, and of a block's."""

KEPT = pathlib.Path(__file__).with_name("mitsuba_blocks.json")
GREYISH, REDDISH, GREENISH = (0.73, 0.73, 0.73), (0.63, 0.065, 0.05), (0.14, 0.45, 0.091)
LIGHTS = {
    "point": Light("point", (3.0, 2.5, 2.0), (0.2, 0.9, 0.6)),
    "spot": Light("spot", (9.0, 8.0, 7.0), (0.1, 1.6, 0.9), (-0.1, -1.0, -0.6), inner_angle=34.9, outer_angle=35.0),
    "directional": Light("directional", (3.0, 2.8, 2.5), direction=(0.2, -0.9, -0.3873)),
    "sphere": Light("sphere", (4.0, 3.5, 3.0), (0.1, 1.5, 0.3), radius=0.3),
    "rectangle": Light("rectangle", (5.0, 4.5, 4.0), (0.0, 1.2, 0.2), (0.0, -1.0, 0.0), size=(0.9, 0.6)),
}


def _scene_of(room: Room, tall: Material, walls: Material, **rest: object) -> Scene:
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


def _open_room() -> Room:
    """Without ceiling and lamp: the bodies of Mitsuba's lamps stand outside, where they are in no ray's way."""
    room = cornell(with_mirror=True)
    is_ceiling = (room.triangles[:, :, 1] == 1.0).all(axis=1)
    left = ~is_ceiling & (room.materials != LAMP)
    return dataclasses.replace(room, triangles=room.triangles[left], materials=room.materials[left])


MATTE = Material("matte", roughness=1.0, ior=1.0)
GREY_MATTE = dataclasses.replace(MATTE, base_color=(*GREYISH, 1.0))
ROW, COLUMN = np.mgrid[0:128, 0:256] / 128.0
PIXELS = np.stack(
    [1.6 + 0.8 * np.cos(np.pi * ROW) + 0.4 * np.sin(np.pi * (COLUMN + shift)) for shift in (0.0, 0.3, 0.8)], axis=-1
)
SKY = Environment("sky", PIXELS.astype(np.float32))

SURFACES = {
    "metal": Material("metal", (0.9, 0.7, 0.4, 1.0), metallic=1.0),
    "gloss": Material("gloss", (0.5, 0.6, 0.7, 1.0), ior=1.5),
    "glass": Material("glass", (1.0, 1.0, 1.0, 1.0), transmission=1.0, ior=1.5),
}


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A room, the bounces of its light, and samples a pixel: this program's and Mitsuba's."""

    scene: Scene
    bounces: int
    samples: int
    theirs: int


def _rooms() -> dict[str, Drawn]:
    matte, walls = _open_room(), Material("gloss", roughness=0.3, ior=1.5)
    found = {
        f"a matte room, {kind}": Drawn(_scene_of(matte, GREY_MATTE, MATTE, lights=(light,)), 3, 400, 400)
        for kind, light in LIGHTS.items()
    }
    below = _scene_of(cornell(with_mirror=True), GREY_MATTE, MATTE)
    found["a matte room, lamp of one side"] = Drawn(below, 5, 1024, 1024)
    found["a matte room, environment"] = Drawn(_scene_of(matte, GREY_MATTE, MATTE, environment=SKY), 3, 256, 256)
    for name, surface in SURFACES.items():
        for roughness in (0.0, 0.3):
            block = dataclasses.replace(surface, roughness=roughness)
            theirs = 144 if (name, roughness) == ("gloss", 0.3) else 400
            found[f"{name} of roughness {roughness}"] = Drawn(
                _scene_of(matte, block, MATTE, environment=SKY), 5, 400, theirs
            )
    block = dataclasses.replace(walls, base_color=(*GREYISH, 1.0))
    in_light = _scene_of(matte, block, walls, lights=(LIGHTS["rectangle"],))
    found["a room of rough gloss, 1 bounce"] = Drawn(in_light, 1, 400, 100)
    in_sky = _scene_of(matte, block, walls, environment=SKY)  # from all sides there is less noise
    found["a room of rough gloss, 5 bounces"] = Drawn(in_sky, 5, 400, 100)
    return found


ROOMS = _rooms()


def blocks_of(picture: np.ndarray) -> np.ndarray:
    """Mean colours (rows, columns, 3) of the blocks of a picture (SIDE, SIDE, 3)."""
    count = SIDE // BLOCK
    return picture.reshape(count, BLOCK, count, BLOCK, 3).mean(axis=(1, 3))


def draw(name: str) -> np.ndarray:
    """The blocks of a room as Mitsuba draws it now."""
    from . import mitsuba_light

    room = ROOMS[name]
    return blocks_of(mitsuba_light.render(room.scene, EYE, LOOK_AT, FOV, SIDE, room.bounces, room.theirs))


def kept_blocks(name: str) -> np.ndarray:
    """The blocks of a room as Mitsuba drew it. Whoever changed the room since is told to have it drawn anew."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    assert np.allclose(kept["room"], _told_apart_by(ROOMS[name]), rtol=1e-5), (
        f"{name!r} is not the room that {KEPT.name} has: run python -m tests.oracle.mitsuba_rooms"
    )
    return np.array(kept["blocks"])


def _told_apart_by(room: Drawn) -> list[float]:
    """Three numbers that change with whatever Mitsuba is told of a room: how many figures there are, and two sums of
    them, weighed by their places. Figures and not a digest, as cosines differ in their last bits among machines."""
    scene, figures = room.scene, [np.array([*EYE, *LOOK_AT, FOV, SIDE, BLOCK, room.bounces, room.theirs])]
    for thing in scene.objects:
        mesh = scene.meshes[thing.mesh]
        material = scene.materials[int(mesh.material_ids[0])]
        figures += [mesh.positions, mesh.triangles, np.array(material.base_color[:3]), np.array(material.emission)]
        figures.append(np.array([material.roughness, material.metallic, material.ior, material.transmission]))
    for light in scene.lights:
        figures += [np.array(list(light.kind.encode())), np.array([*light.position, *light.direction, *light.color])]
        figures += [np.array([*light.up, light.outer_angle, light.inner_angle, light.radius, *light.size])]
    if scene.environment is not None:
        figures.append(scene.environment.pixels)
    flat = np.concatenate([np.asarray(one, np.float64).reshape(-1) for one in figures])
    places = np.arange(len(flat))
    return [float(len(flat)), float(flat @ (1.0 + places % 97)), float(flat @ (1.0 + places % 101))]


def _write() -> None:
    rows: dict[str, Any] = {}
    for name, room in ROOMS.items():
        rows[name] = {"room": _told_apart_by(room), "blocks": np.round(draw(name), 6).tolist()}
        print(name, flush=True)
    words = ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    KEPT.write_text(
        f'{{\n "Mitsuba": {json.dumps(importlib.metadata.version("mitsuba"))},\n{words}\n}}\n', encoding="utf-8"
    )


if __name__ == "__main__":
    _write()

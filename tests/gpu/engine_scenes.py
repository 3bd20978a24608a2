"""Scenes for engine_actions.py: four objects that move, bend and overlap, in ways that structures find hard; of
triangles, of spheres and glyphs, and of all three."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from raygrove.gpu.scene import (
    ABSENT,
    Attribute,
    Channel,
    Clip,
    Glyphs,
    KeyFrames,
    Material,
    Mesh,
    Node,
    Object,
    Scene,
    SphereKeys,
    Spheres,
    Track,
)

_TIMES = np.array([0, 1, 2], np.float32)


def _mesh(name: str, positions: np.ndarray, triangles: np.ndarray, **more: Any) -> Mesh:
    return Mesh(
        name,
        positions.astype(np.float32),
        triangles.astype(np.int32),
        np.arange(len(triangles), dtype=np.int32) % 3,
        **more,
    )


def _soup(random: np.random.Generator, count: int, reach: float, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Triangles anywhere, thin ones of that length."""
    start = (random.random((count, 3)) * 2 - 1) * reach
    along, across = random.normal(size=(count, 3)) * length, random.normal(size=(count, 3)) * 0.05
    return np.stack([start, start + along, start + along + across], 1).reshape(-1, 3), np.arange(3 * count).reshape(
        -1, 3
    )


def _grid(side: int) -> tuple[np.ndarray, np.ndarray]:
    """A square of 2 side^2 triangles."""
    x, y = np.meshgrid(np.arange(side + 1), np.arange(side + 1))
    positions = np.stack([x.ravel() / side * 2 - 1, y.ravel() / side * 2 - 1, 0 * x.ravel()], 1)
    first = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    return positions, np.concatenate(
        [
            np.stack([first, first + 1, first + side + 1], 1),
            np.stack([first + 1, first + side + 2, first + side + 1], 1),
        ]
    )


def colours(number: int) -> tuple[Material, ...]:
    """The scenes' three materials, in three versions: the second has a lamp, the third glass."""
    glow, glass = (3.0, 3.0, 2.0) if number == 1 else (0.0, 0.0, 0.0), float(number == 2)
    return (
        Material(base_color=(0.8, 0.2 + 0.2 * number, 0.2, 1)),
        Material(metallic=0.6, emission=glow),
        Material(roughness=0.2, transmission=glass),
    )


def _scene(name: str, count: int, length: float, keys: int = 3) -> Scene:
    random = np.random.default_rng(count)
    soup, faces = _soup(random, count, 1.0, length)
    times = np.linspace(0, 2, keys).astype(np.float32)
    shapes = np.stack(
        [soup * (1 + 0.5 * np.sin(2 * time)) + random.normal(size=soup.shape) * 0.1 for time in times]
    ).astype(np.float32)
    bending = KeyFrames(times, shapes)
    meshes = (
        _mesh("soup", soup, faces, key_frames=bending),
        _mesh("grid", *_grid(14)),
        _mesh("small", *_soup(random, 60, 0.4, 0.1)),
    )
    nodes = (Node("a"), Node("b"), Node("c"), Node("d", translation=(0.6, -0.5, 0.0)))

    def slide(node: int, *places: tuple[float, float, float]) -> Channel:
        return Channel(node, "translation", Track(_TIMES, np.array(places, np.float32)))

    first = Clip(
        "first",
        2.0,
        (slide(1, (0, 0, 0), (0.5, 0, 0.3), (0, 0.4, 0)), slide(2, (0, 0, 0.5), (-0.5, 0.2, 0.5), (0.2, 0.2, 1))),
    )
    second = Clip("second", 2.0, (slide(3, (0.6, -0.5, 0), (0, 0, 0.8), (0, 0.9, 0)),))
    objects = (Object(0, 0), Object(1, 1), Object(2, 2), Object(3, 2))
    return Scene(
        name,
        nodes,
        meshes,
        objects,
        materials=colours(0),
        clips=(first, second),
        lower=(-3, -3, -3),
        upper=(3, 3, 3),
    )


def _spheres(random: np.random.Generator, count: int, reach: float) -> Spheres:
    """Spheres in three key frames, that grow and shrink and some of which are away for a time; a force on each."""
    centres = random.uniform(-reach, reach, (3, count, 3))
    radii = random.uniform(0.02, 0.15, (3, count))
    radii[1, ::5] = ABSENT
    keys = SphereKeys(_TIMES, centres.astype(np.float32), radii.astype(np.float32))
    force = Attribute("force", random.normal(size=(3, count, 3)).astype(np.float32))
    colours = random.random((count, 3)).astype(np.float32)
    return Spheres("spheres", keys.centres[0], keys.radii[0], colours, attributes=(force,), key_frames=keys)


def _glyphs(random: np.random.Generator, shape: str, count: int) -> Glyphs:
    centres, turns = random.uniform(-1, 1, (count, 3)), random.normal(size=(count, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    sizes = random.uniform(0.05, 0.3, (count, 3))
    first, second, third = (values.astype(np.float32) for values in (centres, sizes, turns))
    return Glyphs(shape, shape, first, second, third, material_id=1)


def _mixed() -> Scene:
    """Two objects of triangles, one of spheres and one of glyphs."""
    random, scene = np.random.default_rng(5), _scene("mixed", 200, 0.2)
    return dataclasses.replace(
        scene,
        objects=(*scene.objects[:2], Object(2, spheres=0), Object(3, glyphs=0)),
        spheres=(_spheres(random, 150, 1.0),),
        glyphs=(_glyphs(random, "ellipsoid", 40),),
    )


def _balls() -> Scene:
    """Two objects of triangles and two of spheres, all of which may collide."""
    random, scene = np.random.default_rng(7), _scene("balls", 150, 0.2)
    shapes = (*scene.objects[:2], Object(2, spheres=0), Object(3, spheres=1))
    return dataclasses.replace(scene, objects=shapes, spheres=(_spheres(random, 120, 1.0), _spheres(random, 40, 0.5)))


def _particles() -> Scene:
    """Two objects of spheres and two of glyphs: no triangle, so that tiles may give the first hits."""
    random, scene = np.random.default_rng(6), _scene("particles", 1, 0.2)
    shapes = (Object(0, spheres=0), Object(1, spheres=1), Object(2, glyphs=0), Object(3, glyphs=1))
    return dataclasses.replace(
        scene,
        meshes=(),
        objects=shapes,
        spheres=(_spheres(random, 300, 1.5), _spheres(random, 60, 0.5)),
        glyphs=(_glyphs(random, "box", 30), _glyphs(random, "arrow", 30)),
    )


SCENES = {
    "long": functools.cache(lambda: _scene("long", 500, 0.5)),
    "short": functools.cache(lambda: _scene("short", 300, 0.05)),
    "streamed": functools.cache(lambda: _scene("streamed", 400, 0.2, keys=60)),
    "mixed": functools.cache(_mixed),
    "balls": functools.cache(_balls),
    "particles": functools.cache(_particles),
}
"""Long triangles, which splits cut often; short ones; key frames that do not fit the 1 MiB they are given;
triangles, spheres and glyphs; triangles and spheres; spheres and glyphs."""

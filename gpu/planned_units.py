"""Which kernels drawing a scene needs, without drawing it: of a few of its primitives, on a planning target."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from .camera import fit
from .engine import Engine, View
from .pixels import ArrayPixels
from .scene import KeyFrames, Mesh, Moment, MorphTargets, Scene, Skin
from .target.base import Target, UnitSource
from .target.planning import PlanningTarget
from .view import ViewSettings

MOST = 64
"""Triangles that are left of each mesh: where kernels depend on how many there are, a builder asks its target."""

MOST_SPHERES = 1_000_000
"""Spheres and glyphs hang together (bonds, attributes, a simulation) and stay whole. Scenes of more are not planned."""

SIDE = 16


def planned_units(target: Target, scene: Scene, shown: Iterable[ViewSettings]) -> tuple[UnitSource, ...]:
    """The units that pictures of the scene by these settings need on `target`, each once, those that other frames of it
    have already among them; none of a scene of too many spheres. Computes and compiles nothing; raises what drawing
    raises before anything is launched."""
    if scene.sphere_count + scene.glyph_count > MOST_SPHERES:
        return ()
    few = sample_of(scene)
    planning = PlanningTarget(target)
    planning.planned_primitives = scene.primitive_count
    with contextlib.closing(planning), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of means over nothing
        with contextlib.closing(Engine(planning, few, repeats=False)) as engine:
            pixels, camera = ArrayPixels(planning, SIDE, SIDE), fit(scene.lower, scene.upper)
            for settings in shown:
                for time in (0.0, 0.1):
                    engine.render_frame(Moment(time), [View(settings, camera, pixels)])
                engine.flush()
        return tuple(planning.planned)


def sample_of(scene: Scene) -> Scene:
    """The scene with a few triangles of each mesh, and small textures: what is drawn by the same kernels."""
    textures = tuple(dataclasses.replace(one, pixels=one.pixels[:2, :2]) for one in scene.textures)
    around = scene.environment
    return dataclasses.replace(
        scene,
        meshes=tuple(_few_triangles(mesh) for mesh in scene.meshes),
        textures=textures,
        environment=None if around is None else dataclasses.replace(around, pixels=around.pixels[:8, :16]),
    )


def _few_triangles(mesh: Mesh) -> Mesh:
    if len(mesh.triangles) <= MOST:
        return mesh
    used, places = np.unique(np.asarray(mesh.triangles[:MOST]).reshape(-1), return_inverse=True)
    keys, skin, morph = mesh.key_frames, mesh.skin, mesh.morph_targets
    return dataclasses.replace(
        mesh,
        positions=mesh.positions[used],
        triangles=places.reshape(-1, 3).astype(mesh.triangles.dtype),
        material_ids=mesh.material_ids[:MOST],
        normals=_of(mesh.normals, used),
        uvs=_of(mesh.uvs, used),
        key_frames=keys and KeyFrames(keys.times[:2], keys.positions[:2][:, used], _of_keys(keys.normals, used)),
        skin=skin and Skin(skin.joints, skin.inverse_bind, skin.joint_ids[used], skin.weights[used]),
        morph_targets=morph and MorphTargets(morph.positions[:, used], _of_all(morph.normals, used), morph.weights),
    )


def _of(values: Any, rows: Any) -> Any:
    return None if values is None else values[rows]


def _of_keys(values: Any, rows: Any) -> Any:
    return None if values is None else values[:2][:, rows]


def _of_all(values: Any, rows: Any) -> Any:
    return None if values is None else values[:, rows]

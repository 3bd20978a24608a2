"""What kernels rely on in a scene: shapes that agree, indices in range, finite positions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.glyph_shapes import Glyphs, check_glyphs
from raygrove.gpu.scene import Mesh, Scene, Spheres

from .mesh_stack import MeshStack, numbers_of, stacks_of

MOST_COPIES = 64
FLOATS, INTEGERS = np.dtype(np.float32), np.dtype(np.int32)
AT_ONCE = 1_000_000
"""Vertices and triangles of small meshes that are looked at together."""


class ExchangeError(ValueError):
    """The file is not what `write` writes."""


def check(scene: Scene) -> None:
    """What kernels rely on: shapes that agree, indices in range, finite positions. Raises `ExchangeError`."""
    node_count, texture_count = len(scene.nodes), len(scene.textures)
    parents = numbers_of(scene.nodes, "parent")
    _require(node_count > 0 and bool(((parents >= -1) & (parents < np.arange(node_count))).all()), "a node's parent")
    _check_objects(scene)
    _require(len(scene.materials) > 0, "the materials")
    _require(
        all(-1 <= texture < texture_count for m in scene.materials for texture in m.texture_ids), "a material's texture"
    )
    _require(
        all(t.pixels.ndim == 3 and t.pixels.shape[2] == 4 and t.pixels.dtype == np.uint8 for t in scene.textures),
        "a texture's shape",
    )
    sky = None if scene.environment is None else scene.environment.pixels
    _require(
        sky is None or (sky.ndim == 3 and sky.shape[2] == 3 and sky.size > 0 and sky.dtype == np.float32),
        "the environment",
    )
    _require(sky is None or (float(sky.min()) >= 0.0 and math.isfinite(float(sky.max()))), "the environment")
    _require(all(-1 <= light.node < node_count for light in scene.lights), "a light's node")
    _require(all(0 <= camera.node < node_count for camera in scene.cameras), "a camera's node")
    for clip in scene.clips:
        for channel in clip.channels:
            track = channel.track
            _require(0 <= channel.node < node_count and 0 < len(track.times) == len(track.values), "a track")
    _check_meshes(scene.meshes, node_count, len(scene.materials))
    for spheres in scene.spheres:
        _check_spheres(spheres, len(scene.materials))
    for glyphs in scene.glyphs:
        _check_glyphs(glyphs, [len(spheres.centres) for spheres in scene.spheres], len(scene.materials))


def _check_objects(scene: Scene) -> None:
    """Each places a mesh, spheres or glyphs that are there, and one alone; in this order."""
    nodes = numbers_of(scene.objects, "node")
    fits = (nodes >= 0) & (nodes < len(scene.nodes))
    shown = []
    for name, things in (("mesh", scene.meshes), ("spheres", scene.spheres), ("glyphs", scene.glyphs)):
        numbers = numbers_of(scene.objects, name)
        fits &= (numbers >= -1) & (numbers < len(things))
        shown.append(numbers >= 0)
    fits &= np.sum(shown, axis=0) == 1
    _require(bool(fits.all()), "an object's node, mesh, spheres or glyphs")
    _require(bool((np.diff(np.argmax(shown, axis=0)) >= 0).all()), "the order of the objects")


def _check_glyphs(glyphs: Glyphs, sphere_counts: list[int], material_count: int) -> None:
    try:
        check_glyphs(glyphs, sphere_counts)
    except ValueError as error:
        raise ExchangeError(str(error)) from error
    keys = glyphs.key_frames
    arrays = [glyphs.centres, glyphs.sizes, glyphs.turns, glyphs.colours]
    arrays += [] if keys is None else [keys.centres, keys.sizes, keys.turns, keys.colours]
    for array in arrays:
        _require(array is None or array.dtype == np.float32, "glyphs' numbers")
        _require(array is None or math.isfinite(float(np.abs(array).max(initial=0.0))), "glyphs' numbers")
    _require(glyphs.links is None or glyphs.links.pairs.dtype == np.int32, "glyphs' links")
    _require(0 <= glyphs.material_id < material_count, "glyphs' material")


def _check_meshes(meshes: Sequence[Mesh], node_count: int, material_count: int) -> None:
    if not isinstance(meshes, MeshStack):
        for mesh in meshes:
            _check_shapes(mesh)
            if mesh.key_frames is not None or mesh.skin is not None or mesh.morph_targets is not None:
                _check_moving(mesh, node_count)
    for stack in stacks_of(meshes, AT_ONCE):
        _require(math.isfinite(float(np.abs(stack.positions).max(initial=0.0))), "a mesh's positions")
        triangles, limits = stack.triangles, np.repeat(stack.vertex_counts, stack.triangle_counts)
        is_within = not triangles.size or bool(triangles.min() >= 0 and (triangles.max(axis=1) < limits).all())
        _require(is_within, "a mesh's indices")
        _require(_is_within(stack.material_ids, material_count), "a mesh's materials")


def _check_shapes(mesh: Mesh) -> None:
    count, triangle_count, normals, uvs = len(mesh.positions), len(mesh.triangles), mesh.normals, mesh.uvs
    _require(mesh.positions.shape == (count, 3) and mesh.positions.dtype == FLOATS, "a mesh's positions")
    _require(mesh.triangles.shape == (triangle_count, 3) and mesh.triangles.dtype == INTEGERS, "a mesh's triangles")
    ids = mesh.material_ids
    _require(ids.shape == (triangle_count,) and ids.dtype == INTEGERS, "a mesh's materials")
    _require(normals is None or (normals.shape == (count, 3) and normals.dtype == FLOATS), "a mesh's normals")
    _require(uvs is None or (uvs.shape == (count, 2) and uvs.dtype == FLOATS), "a mesh's texture coordinates")


def _check_moving(mesh: Mesh, node_count: int) -> None:
    count, keys, skin, morph = len(mesh.positions), mesh.key_frames, mesh.skin, mesh.morph_targets
    if keys is not None:
        _require(keys.positions.shape == (len(keys.times), count, 3) and len(keys.times) > 0, "a mesh's key frames")
        _require(keys.normals is None or keys.normals.shape == keys.positions.shape, "a mesh's key frames")
    if skin is not None:
        fits = skin.joint_ids.shape == skin.weights.shape == (count, 4) and skin.inverse_bind.shape == (
            len(skin.joints),
            4,
            4,
        )
        _require(
            fits and _is_within(skin.joints, node_count) and _is_within(skin.joint_ids, len(skin.joints)),
            "a mesh's skin",
        )
    if morph is not None:
        fits = morph.positions.shape == (len(morph.weights), count, 3)
        _require(
            fits and (morph.normals is None or morph.normals.shape == morph.positions.shape), "a mesh's morph targets"
        )


def _check_spheres(spheres: Spheres, material_count: int) -> None:
    count, keys, box = len(spheres.centres), spheres.key_frames, spheres.box
    _require(_is_finite(spheres.centres, (count, 3)), "the centres of spheres")
    _require(_is_finite(spheres.radii, (count,)), "the radii of spheres")
    _require(spheres.colours is None or _is_finite(spheres.colours, (count, 3)), "the colours of spheres")
    _require(0 <= spheres.material_id < material_count, "the material of spheres")
    ids = spheres.ids
    _require(ids is None or (ids.shape == (count,) and ids.dtype == np.int64), "the ids of spheres")
    key_count = 0 if keys is None else len(keys.times)
    if keys is not None:
        _require(keys.times.shape == (key_count,) and key_count > 0, "the key frames of spheres")
        _require(_is_finite(keys.centres, (key_count, count, 3)), "the key frames of spheres")
        _require(keys.radii is None or _is_finite(keys.radii, (key_count, count)), "the key frames of spheres")
        _require(keys.colours is None or _is_finite(keys.colours, (key_count, count, 3)), "the key frames of spheres")
    for attribute in spheres.attributes:
        shape = attribute.values.shape
        fits = len(shape) in (1, 2, 3) and (shape[0] == count or shape[:2] == (key_count, count))
        _require(fits and attribute.values.dtype == np.float32, "an attribute of spheres")
    _require(spheres.gravity is None, "the gravity of spheres, which no file has")
    if box is not None:
        leading = ((), (key_count,))
        _require(_is_finite(box.origin) and box.origin.shape in [(*one, 3) for one in leading], "a periodic box")
        _require(_is_finite(box.vectors) and box.vectors.shape in [(*one, 3, 3) for one in leading], "a periodic box")
        _require(all(1 <= copies <= MOST_COPIES for copies in box.copies), "a periodic box")


def _is_finite(values: np.ndarray, shape: tuple[int, ...] | None = None) -> bool:
    return (
        (shape is None or values.shape == shape)
        and values.dtype == np.float32
        and (not values.size or (math.isfinite(float(values.min())) and math.isfinite(float(values.max()))))
    )


def _is_within(ids: np.ndarray, count: int) -> bool:
    return ids.dtype == np.int32 and (not ids.size or bool(ids.min() >= 0 and ids.max() < count))


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ExchangeError(f"{what} does not fit")

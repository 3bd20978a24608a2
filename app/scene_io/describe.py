"""What is in a scene, as plain values for `main.py info`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from raygrove.gpu.attributes import column
from raygrove.gpu.glyph_shapes import Glyphs
from raygrove.gpu.gravity import Gravity, GravityOptions, force_method
from raygrove.gpu.scene import Attribute, Mesh, PeriodicBox, Remark, Scene, Spheres

DEFAULT_GRAVITY = GravityOptions()


def describe(scene: Scene, gravity: GravityOptions = DEFAULT_GRAVITY) -> dict[str, Any]:
    """Counts, names, bounds (in the file's coordinates) and remarks; how what is simulated is, with these options.
    JSON-able."""
    lower = [low + offset for low, offset in zip(scene.lower, scene.origin, strict=True)]
    upper = [high + offset for high, offset in zip(scene.upper, scene.origin, strict=True)]
    things: tuple[Mesh | Spheres | Glyphs, ...] = (*scene.meshes, *scene.spheres, *scene.glyphs)
    key_counts = [len(t.key_frames.times) for t in things if t.key_frames is not None]
    return {
        "name": scene.name,
        "triangles": scene.triangle_count,
        "vertices": scene.vertex_count,
        "spheres": scene.sphere_count,
        "glyphs": scene.glyph_count,
        "nodes": len(scene.nodes),
        "objects": len(scene.objects),
        "meshes": [
            {
                "name": mesh.name,
                "triangles": len(mesh.triangles),
                "vertices": len(mesh.positions),
                "has_uvs": mesh.uvs is not None,
                "joints": 0 if mesh.skin is None else len(mesh.skin.joints),
                "morph_targets": 0 if mesh.morph_targets is None else len(mesh.morph_targets.positions),
                "key_frames": 0 if mesh.key_frames is None else len(mesh.key_frames.times),
            }
            for mesh in scene.meshes
        ],
        "sphere_groups": [_spheres(spheres) for spheres in scene.spheres],
        "simulations": [_simulation(one, one.gravity, gravity) for one in scene.spheres if one.gravity is not None],
        "glyph_groups": [_glyphs(glyphs) for glyphs in scene.glyphs],
        "key_frames": max(key_counts, default=0),
        "key_frame_bytes": _key_frame_bytes(scene),
        "materials": [_material(scene, index) for index in range(len(scene.materials))],
        "textures": [
            {"name": t.name, "width": int(t.pixels.shape[1]), "height": int(t.pixels.shape[0])} for t in scene.textures
        ],
        "clips": [
            {
                "name": c.name,
                "duration": c.duration,
                "channels": len(c.channels),
                "keys": max(len(k.track.times) for k in c.channels),
            }
            for c in scene.clips
        ],
        "cameras": [{"name": camera.name, "fov": camera.fov} for camera in scene.cameras],
        "lights": [{"kind": light.kind, "color": list(light.color)} for light in scene.lights],
        "duration": max([scene.duration(index) for index in range(len(scene.clips))], default=scene.duration()),
        "fps": scene.fps,
        "origin": list(scene.origin),
        "lower": lower,
        "upper": upper,
        "bytes": _byte_count(scene),
        "remarks": [_remark(remark) for remark in scene.remarks],
    }


def _remark(remark: Remark) -> dict[str, Any]:
    said: dict[str, Any] = {"count": remark.count, "sentence": remark.sentence}
    return {**said, "setting": remark.setting} if remark.setting else said


def _key_frame_bytes(scene: Scene) -> int:
    """What all key frames take on a target, positions and normals; a longer sequence than target.key_memory_mib
    streams."""
    of_meshes = sum(
        24 * len(mesh.key_frames.times) * len(mesh.positions) for mesh in scene.meshes if mesh.key_frames is not None
    )
    return of_meshes + sum(array.nbytes for spheres in scene.spheres for array in _key_arrays(spheres))


def _spheres(spheres: Spheres) -> dict[str, Any]:
    """A group of spheres: how many, over how many keys, and what is known of each."""
    keys = spheres.key_frames
    return {
        "name": spheres.name,
        "spheres": len(spheres.centres),
        "key_frames": 0 if keys is None else len(keys.times),
        "has_ids": spheres.ids is not None,
        "has_colours": spheres.colours is not None,
        "attributes": [_attribute(spheres, one) for one in spheres.attributes],
        "is_periodic": spheres.box is not None and any(spheres.box.periodic),
        "box": [] if spheres.box is None else _box_sides(spheres.box),
    }


def _simulation(spheres: Spheres, gravity: Gravity, options: GravityOptions) -> dict[str, Any]:
    """Spheres that attract one another: how many, how their forces are found, and by which steps they move."""
    method, on_gpu = force_method(gravity, options), force_method(gravity, options, "cuda")
    chosen = {} if method.options is None else dataclasses.asdict(method.options)
    return {
        "name": spheres.name,
        "bodies": len(gravity.masses),
        "forces": method.name,
        **{name: value for name, value in chosen.items() if name != "leaf_points"},
        **({"forces_on_a_gpu": str(on_gpu)} if on_gpu != method else {}),
        "softening": float(gravity.softening),
        "step": float(gravity.step),
        "steps": math.floor(gravity.duration / gravity.step),
        "duration": float(gravity.duration),
    }


def _glyphs(glyphs: Glyphs) -> dict[str, Any]:
    """A group of glyphs: of which shape, how many, over how many keys, and whether they go from sphere to sphere."""
    keys = glyphs.key_frames
    return {
        "name": glyphs.name,
        "shape": glyphs.shape,
        "glyphs": len(glyphs.centres),
        "key_frames": 0 if keys is None else len(keys.times),
        "links_spheres": glyphs.links is not None,
    }


def _attribute(spheres: Spheres, attribute: Attribute) -> dict[str, Any]:
    """What is known of an attribute: its unit, its shape, and between which values it lies, where it has any."""
    values = attribute.values
    finite = values if np.isfinite(values).all() else values[np.isfinite(values)]
    bounds = {"lower": float(finite.min()), "upper": float(finite.max())} if finite.size else {}
    return {
        "name": attribute.name,
        "unit": attribute.unit,
        "shape": list(values.shape),
        "changes": spheres.has_keys(attribute),
        **bounds,
        "missing": _missing(spheres, attribute),
    }


def _missing(spheres: Spheres, attribute: Attribute) -> int:
    """Numbers that an attribute lacks, of the particles that are there at their instant."""
    found, radii = column(spheres, attribute.name), column(spheres, "radius")
    assert found is not None and radii is not None, "it is the group's own, and all spheres have a radius"
    there = radii.values[..., 0] > 0.0
    if len(found.values) == 1:
        there = np.atleast_2d(there.any(axis=0))
    return int(np.count_nonzero(~np.isfinite(found.values) & there[..., None]))


def _box_sides(box: PeriodicBox) -> list[float]:
    """The lengths of a periodic box's edges, at the first key frame."""
    vectors = box.vectors if box.vectors.ndim == 2 else box.vectors[0]
    return [float(length) for length in np.linalg.norm(vectors.astype(np.float64), axis=1)]


def _key_arrays(spheres: Spheres) -> list[np.ndarray]:
    keys = spheres.key_frames
    return [] if keys is None else [a for a in (keys.centres, keys.radii, keys.colours) if a is not None]


def _material(scene: Scene, index: int) -> dict[str, Any]:
    material = scene.materials[index]
    texture = material.base_color_texture
    return {
        "name": material.name,
        "base_color": list(material.base_color),
        "metallic": material.metallic,
        "roughness": material.roughness,
        "emission": list(material.emission),
        "is_double_sided": material.is_double_sided,
        "transmission": material.transmission,
        "ior": material.ior,
        "alpha_mode": material.alpha_mode,
        "texture": scene.textures[texture].name if texture >= 0 else "",
        "textures": [scene.textures[index].name if index >= 0 else "" for index in material.texture_ids],
    }


def _byte_count(scene: Scene) -> int:
    """Bytes of vertices, triangles, spheres, key frames and textures."""
    arrays = [texture.pixels for texture in scene.textures]
    for mesh in scene.meshes:
        arrays += [
            a for a in (mesh.positions, mesh.triangles, mesh.material_ids, mesh.normals, mesh.uvs) if a is not None
        ]
        arrays += [] if mesh.key_frames is None else [mesh.key_frames.positions]
        arrays += [] if mesh.key_frames is None or mesh.key_frames.normals is None else [mesh.key_frames.normals]
    for spheres in scene.spheres:
        arrays += [a for a in (spheres.centres, spheres.radii, spheres.colours, spheres.ids) if a is not None]
        arrays += [*_key_arrays(spheres), *(attribute.values for attribute in spheres.attributes)]
    return sum(array.nbytes for array in arrays)

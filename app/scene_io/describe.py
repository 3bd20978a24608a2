"""What is in a scene, as plain values for `main.py info`."""

from __future__ import annotations

from typing import Any

from gpu.scene import Scene


def describe(scene: Scene) -> dict[str, Any]:
    """Counts, names, bounds (in the file's coordinates) and remarks; JSON-able."""
    lower = [low + offset for low, offset in zip(scene.lower, scene.origin, strict=True)]
    upper = [high + offset for high, offset in zip(scene.upper, scene.origin, strict=True)]
    key_counts = [len(mesh.key_frames.times) for mesh in scene.meshes if mesh.key_frames is not None]
    return {
        "name": scene.name,
        "triangles": scene.triangle_count,
        "vertices": scene.vertex_count,
        "spheres": 0 if scene.spheres is None else len(scene.spheres.centres),
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
        "key_frames": max(key_counts, default=0),
        "key_frame_bytes": _key_frame_bytes(scene),
        "materials": [_material(scene, index) for index in range(len(scene.materials))],
        "textures": [{"name": t.name, "width": int(t.pixels.shape[1]), "height": int(t.pixels.shape[0])} for t in scene.textures],
        "clips": [
            {"name": c.name, "duration": c.duration, "channels": len(c.channels), "keys": max(len(k.track.times) for k in c.channels)}
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
        "remarks": [{"count": remark.count, "sentence": remark.sentence} for remark in scene.remarks],
    }


def _key_frame_bytes(scene: Scene) -> int:
    """What all key frames take on a target, positions and normals; a longer sequence than target.key_memory_mib streams."""
    return sum(24 * len(mesh.key_frames.times) * len(mesh.positions) for mesh in scene.meshes if mesh.key_frames is not None)


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
    """Bytes of vertices, triangles, key frames and textures."""
    arrays = [texture.pixels for texture in scene.textures]
    for mesh in scene.meshes:
        arrays += [a for a in (mesh.positions, mesh.triangles, mesh.material_ids, mesh.normals, mesh.uvs) if a is not None]
        arrays += [] if mesh.key_frames is None else [mesh.key_frames.positions]
        arrays += [] if mesh.key_frames is None or mesh.key_frames.normals is None else [mesh.key_frames.normals]
    return sum(array.nbytes for array in arrays)

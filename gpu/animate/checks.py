"""What scenes must be so that they can be animated, and what is not drawn as they mean it."""

from __future__ import annotations

import numpy as np

from ..light_row import MAX_LIGHTS
from ..scene import Material, Mesh, Object, Remark, Scene


def check_order(scene: Scene) -> None:
    """ValueError where an object of spheres stands before one of a mesh, or one of glyphs before one of those."""
    kinds = [0 if thing.mesh >= 0 else 1 if thing.spheres >= 0 else 2 for thing in scene.objects]
    if kinds != sorted(kinds):
        which = "glyphs before one of spheres or" if 2 in kinds else "spheres before one of"
        raise ValueError(
            f"The scene has an object of {which} a mesh; those of spheres come last, then those of glyphs."
        )


def check_mesh(mesh: Mesh, node_count: int) -> None:
    """ValueError where a mesh's parts do not fit one another."""
    count = len(mesh.positions)
    if len(mesh.triangles) and not 0 <= int(mesh.triangles.min()) <= int(mesh.triangles.max()) < count:
        raise ValueError(f"Mesh {mesh.name!r} has triangles whose vertices do not exist: it has {count} vertices.")
    if mesh.key_frames is not None and mesh.key_frames.positions.shape != (len(mesh.key_frames.times), count, 3):
        shape = mesh.key_frames.positions.shape
        raise ValueError(
            f"Mesh {mesh.name!r} has {len(mesh.key_frames.times)} key times and {count} vertices, but key "
            f"positions of shape {shape}."
        )
    skin, morph = mesh.skin, mesh.morph_targets
    if skin is not None and not (
        skin.joint_ids.shape == skin.weights.shape == (count, 4) and _is_within(skin.joint_ids, len(skin.joints))
    ):
        raise ValueError(
            f"Mesh {mesh.name!r} hangs from joints that its skin does not have: it has {len(skin.joints)} joints "
            f"and {count} vertices."
        )
    if skin is not None and not _is_within(skin.joints, node_count):
        raise ValueError(
            f"Mesh {mesh.name!r} has joints at nodes that the scene does not have: it has {node_count} nodes."
        )
    if morph is not None and morph.positions.shape != (len(morph.weights), count, 3):
        shape = morph.positions.shape
        raise ValueError(
            f"Mesh {mesh.name!r} has {len(morph.weights)} weights and {count} vertices, but targets of shape {shape}."
        )


def _is_within(ids: np.ndarray, count: int) -> bool:
    return not ids.size or 0 <= int(ids.min()) <= int(ids.max()) < count


def _material_of(scene: Scene, thing: Object) -> Material:
    return scene.materials[min(scene.group_of(thing).material_id, len(scene.materials) - 1)]


def remarks_of(scene: Scene) -> tuple[Remark, ...]:
    """What this version does not draw as the scene means it."""
    glowing = sum(
        scene.count_of(index)
        for index, thing in enumerate(scene.objects)
        if thing.glyphs >= 0 and scene.materials and max(_material_of(scene, thing).emission) > 0.0
    )
    lights = max(0, len(scene.lights) - MAX_LIGHTS)
    found = (
        (glowing, "Glyphs that shine light others only where rays meet them by chance."),
        (lights, f"Lights past the first {MAX_LIGHTS} are left out."),
    )
    return tuple(Remark(count, sentence) for count, sentence in found if count)

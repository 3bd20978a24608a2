"""What lies under a pixel, in the words of the scene."""

from __future__ import annotations

import dataclasses

import numpy as np

from .animate.animate import Animator
from .attributes import values_at
from .glyph_points import glyph_points
from .octahedral import octahedral_direction
from .scene import Attribute, Scene
from .target.base import Target


@dataclasses.dataclass(frozen=True)
class Hit:
    """What lies under a pixel: the scene's primitive, the distance, the weights of vertices 1 and 2 (of a sphere, where
    on it: gpu/octahedral.py), the point, and the object it belongs to, a mesh, spheres or glyphs, -1 for the others.
    `sphere` is the place among those spheres or glyphs, `file_id` its number in the file, -1 for none, and `attributes`
    its own (1,) or (1, C) of this instant."""

    prim_id: int
    t: float
    u: float
    v: float
    position: tuple[float, float, float]
    object_id: int
    node: int
    mesh: int
    material: int
    spheres: int = -1
    sphere: int = -1
    file_id: int = -1
    radius: float = 0.0
    attributes: tuple[Attribute, ...] = ()
    glyphs: int = -1


Place = tuple[int, float, float, float]
"""Primitive, distance, u and v."""


def hit_of(target: Target, scene: Scene, animator: Animator, place: Place) -> Hit:
    """The hit of a ray, at the instant that the animator shows. Waits."""
    thing = animator.object_of(place[0])
    placed = scene.objects[thing]
    local = place[0] - animator.surface.objects[thing].first
    if placed.spheres >= 0:
        return _on_sphere(target, scene, animator, place, (thing, local))
    if placed.glyphs >= 0:
        return _on_glyph(target, scene, animator, place, (thing, local))
    surface, (_, _, u, v) = animator.surface, place
    indices = target.download(surface.triangles[place[0]])
    corners = [target.download(surface.positions[int(index)]).astype(np.float64) for index in indices]
    position = corners[0] * (1.0 - u - v) + corners[1] * u + corners[2] * v
    material = int(scene.meshes[placed.mesh].material_ids[local])
    return Hit(*place, tuple(position.tolist()), thing, placed.node, placed.mesh, material)


def _on_sphere(target: Target, scene: Scene, animator: Animator, place: Place, where: tuple[int, int]) -> Hit:
    (thing, local), spheres = where, animator.surface.spheres
    assert spheres is not None
    placed = scene.objects[thing]
    group, slot = scene.spheres[placed.spheres], place[0] - spheres.first_id
    centre = target.download(spheres.centres[slot : slot + 1])[0].astype(np.float64)
    radius = float(target.download(spheres.radii[slot : slot + 1])[0])
    position = centre + radius * octahedral_direction(*place[2:])
    file_id = -1 if group.ids is None else int(group.ids[local])
    at = (float(position[0]), float(position[1]), float(position[2]))
    attributes = values_at(group, local, animator.shown_time)
    speed = animator.simulations.speed_of(placed.spheres, local)
    if speed is not None:
        attributes = tuple(
            dataclasses.replace(one, values=np.array([speed])) if one.name == "speed" else one for one in attributes
        )
    of_object = (thing, placed.node, -1, group.material_id)
    return Hit(*place, at, *of_object, placed.spheres, local, file_id, radius, attributes)


def _on_glyph(target: Target, scene: Scene, animator: Animator, place: Place, where: tuple[int, int]) -> Hit:
    (thing, local), glyphs = where, animator.surface.glyphs
    assert glyphs is not None
    placed = scene.objects[thing]
    group, slot = scene.glyphs[placed.glyphs], place[0] - glyphs.first_id
    points, _ = glyph_points(target.download(glyphs.rows[slot : slot + 1]), np.array(place[2:3]), np.array(place[3:]))
    file_id = -1 if group.ids is None else int(group.ids[local])
    at, of_object = (float(points[0, 0]), float(points[0, 1]), float(points[0, 2])), (thing, placed.node, -1)
    return Hit(*place, at, *of_object, group.material_id, sphere=local, file_id=file_id, glyphs=placed.glyphs)

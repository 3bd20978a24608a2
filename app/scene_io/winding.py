"""Which side of a triangle is its front, where a node mirrors it.

glTF 2.0: corners go round counterclockwise as seen from the front, and clockwise where the determinant of the node's
transform to the world is negative. The program knows triangles in the world alone, so corners of such objects are
turned round here: glass has its inside, and lamps of a single side their light, where the file says. A node that an
animation mirrors later keeps its triangles.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.scene import Mesh, Node, Object, Scene


def are_mirrored(nodes: tuple[Node, ...]) -> list[bool]:
    """Of each node, whether its transform to the world has a negative determinant; parents stand before their
    children."""
    are_turned = (np.sign([node.scale for node in nodes]).reshape(-1, 3).prod(axis=1) < 0.0).tolist()
    found: list[bool] = []
    for node, is_turned in zip(nodes, are_turned, strict=True):
        found.append(is_turned != (found[node.parent] if node.parent >= 0 else False))
    return found


def with_fronts(scene: Scene) -> Scene:
    """The scene with the meshes of mirrored objects wound the other way; a mesh that is placed both ways becomes two.
    Skins follow their joints."""
    mirrored = are_mirrored(scene.nodes)
    if not any(mirrored):
        return scene
    meshes: list[Mesh] = []
    placed: dict[tuple[int, bool], int] = {}
    objects = []
    for thing in scene.objects:
        if thing.mesh < 0:
            objects.append(thing)
            continue
        mesh = scene.meshes[thing.mesh]
        key = (thing.mesh, mirrored[thing.node] and mesh.skin is None)
        if key not in placed:
            placed[key] = len(meshes)
            meshes.append(
                dataclasses.replace(mesh, triangles=np.ascontiguousarray(mesh.triangles[:, [0, 2, 1]]))
                if key[1]
                else mesh
            )
        objects.append(Object(thing.node, placed[key]))
    if not any(is_turned for _, is_turned in placed):
        return scene
    return dataclasses.replace(scene, meshes=tuple(meshes), objects=tuple(objects))

"""Moving a far-away scene to its origin in float64, before positions are rounded to float32.

A scene is far away when its centre lies more than 1000 times its size from zero: float32 would keep only 14 of its 24
bits for shape.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.scene import Channel, KeyFrames, Light, Mesh, Node, Scene, Spheres, Track

from .bounds import Box
from .sanitise_spheres import shifted_spheres
from .transforms import animated_nodes, global_matrices, node_of

FAR = 1000.0


def near_origin(scene: Scene, rest: Box) -> Scene:
    """The scene relative to a new `origin` where its box without clips, `rest`, lies far away; else as it is."""
    origin = far_centre(*rest)
    if origin is None:
        return scene
    channels = [channel for clip in scene.clips for channel in clip.channels]
    old = global_matrices(scene.nodes)
    moves = animated_nodes(scene.nodes, channels)
    nodes = [_shifted_root(node, origin) if node.parent < 0 else node for node in scene.nodes]
    clips = tuple(
        dataclasses.replace(c, channels=tuple(_shifted_channel(k, scene.nodes, origin) for k in c.channels))
        for c in scene.clips
    )
    scene = dataclasses.replace(
        scene, nodes=tuple(nodes), clips=clips, origin=_sum(scene.origin, origin), lights=_shifted_lights(scene, origin)
    )
    return _fold_still_objects(scene, origin, old, moves)


def far_centre(lower: np.ndarray, upper: np.ndarray) -> np.ndarray | None:
    """The centre of the box in whole units where it lies far away, else None."""
    centre = (np.asarray(lower, np.float64) + upper) / 2.0
    half = float(np.max(np.asarray(upper, np.float64) - lower)) / 2.0
    return np.round(centre) if float(np.abs(centre).max()) > FAR * max(half, 1e-3) else None


def _fold_still_objects(scene: Scene, origin: np.ndarray, old: np.ndarray, moves: np.ndarray) -> Scene:
    """Give each object that no clip moves and no joint bends a node of its own, with the whole chain to the origin
    multiplied in float64."""
    meshes, shifts = list(scene.meshes), [np.zeros(3)] * len(scene.meshes)
    users_of: dict[int, list[int]] = {}
    for thing in scene.objects:
        users_of.setdefault(thing.mesh, []).append(thing.node)
    for index, mesh in enumerate(meshes):
        users = users_of.get(index, [])
        lower, upper = mesh.positions.min(axis=0), mesh.positions.max(axis=0)
        shift = far_centre(lower, upper)
        if shift is not None and mesh.skin is None and not moves[users].any():
            shifts[index], meshes[index] = shift, _shifted_mesh(mesh, shift)
    spheres, sphere_shifts = _near_spheres(scene, moves)
    nodes, objects = list(scene.nodes), []
    for thing in scene.objects:
        if (thing.mesh < 0 or scene.meshes[thing.mesh].skin is None) and not moves[thing.node]:
            matrix = old[thing.node].copy()
            shift = shifts[thing.mesh] if thing.mesh >= 0 else np.zeros(3)
            shift = sphere_shifts[thing.spheres] if thing.spheres >= 0 else shift
            matrix[:3, 3] += matrix[:3, :3] @ shift - origin
            nodes.append(node_of(scene.nodes[thing.node].name, -1, matrix))
            thing = dataclasses.replace(thing, node=len(nodes) - 1)
        objects.append(thing)
    return dataclasses.replace(
        scene, nodes=tuple(nodes), objects=tuple(objects), meshes=tuple(meshes), spheres=tuple(spheres)
    )


def _near_spheres(scene: Scene, moves: np.ndarray) -> tuple[list[Spheres], list[np.ndarray]]:
    """The spheres, moved to their own middle where they lie far away at nodes that stay, and by how much."""
    spheres, shifts = list(scene.spheres), [np.zeros(3)] * len(scene.spheres)
    for index, group in enumerate(spheres):
        users = [thing.node for thing in scene.objects if thing.spheres == index]
        there = group.centres[group.radii > 0.0]
        shift = far_centre(there.min(axis=0), there.max(axis=0)) if len(there) else None
        if shift is not None and not moves[users].any():
            shifts[index], spheres[index] = shift, shifted_spheres(group, shift)
    return spheres, shifts


def _shifted_mesh(mesh: Mesh, shift: np.ndarray) -> Mesh:
    keys = mesh.key_frames
    return dataclasses.replace(
        mesh,
        positions=(mesh.positions.astype(np.float64) - shift).astype(np.float32),
        key_frames=keys
        and KeyFrames(keys.times, (keys.positions.astype(np.float64) - shift).astype(np.float32), keys.normals),
    )


def _shifted_root(node: Node, origin: np.ndarray) -> Node:
    moved = np.array(node.translation, np.float64) - origin
    return dataclasses.replace(node, translation=(float(moved[0]), float(moved[1]), float(moved[2])))


def _shifted_channel(channel: Channel, nodes: tuple[Node, ...], origin: np.ndarray) -> Channel:
    if channel.path != "translation" or nodes[channel.node].parent >= 0:
        return channel
    values = channel.track.values.astype(np.float64)
    if channel.track.interpolation == "cubic":
        values[:, 1] -= origin
    else:
        values = values - origin
    return dataclasses.replace(
        channel, track=Track(channel.track.times, values.astype(np.float32), channel.track.interpolation)
    )


def _shifted_lights(scene: Scene, origin: np.ndarray) -> tuple[Light, ...]:
    free = [light.node < 0 for light in scene.lights]
    moved = [tuple((np.array(light.position) - origin).tolist()) for light in scene.lights]
    return tuple(
        dataclasses.replace(light, position=p) if is_free else light
        for light, p, is_free in zip(scene.lights, moved, free, strict=True)
    )


def _sum(first: tuple[float, float, float], second: np.ndarray) -> tuple[float, float, float]:
    return first[0] + float(second[0]), first[1] + float(second[1]), first[2] + float(second[2])

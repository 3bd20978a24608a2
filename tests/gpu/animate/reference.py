"""The animation once more, in float64 and independently: one vertex buffer from nodes, tracks, key frames, morph
targets and skins."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.scene import MorphTargets, Scene, Skin, Track


def placed_keys(times: np.ndarray, time: float) -> tuple[int, int, float]:
    """The keys around a time and the share of the second; the first or last key alone outside."""
    if time <= times[0]:
        return 0, 0, 0.0
    if time >= times[-1]:
        return len(times) - 1, len(times) - 1, 0.0
    after = int(np.searchsorted(times, time, side="right"))
    return after - 1, after, (time - times[after - 1]) / (times[after] - times[after - 1])


def value_of(track: Track, time: float, is_rotation: bool) -> np.ndarray:
    """A track's value; spherical where linear and a rotation; Hermite's cubic with tangents per second."""
    times, values = track.times.astype(np.float64), track.values.astype(np.float64)
    a, b, s = placed_keys(times, time)
    if track.interpolation == "cubic":
        if a == b:
            return values[a, 1]
        basis = np.array([[2, -3, 0, 1], [1, -2, 1, 0], [-2, 3, 0, 0], [1, -1, 0, 0]]) @ np.array([s**3, s**2, s, 1.0])
        span = times[b] - times[a]
        return (
            basis[0] * values[a, 1]
            + basis[1] * span * values[a, 2]
            + basis[2] * values[b, 1]
            + basis[3] * span * values[b, 0]
        )
    if track.interpolation == "step":
        return values[a]
    if not is_rotation:
        return (1 - s) * values[a] + s * values[b]
    p, q = values[a] / np.linalg.norm(values[a]), values[b] / np.linalg.norm(values[b])
    q = -q if p @ q < 0 else q
    angle = np.arctan2(np.linalg.norm(q - (p @ q) * p), p @ q)
    return p if angle < 1e-9 else (np.sin((1 - s) * angle) * p + np.sin(s * angle) * q) / np.sin(angle)


def local_matrix(translation: np.ndarray, rotation: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """4 x 4: scale, then rotate (by the sandwich product on the axes), then move."""
    x, y, z, w = rotation / np.linalg.norm(rotation)
    left = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
    right = np.array([[w, -z, y, -x], [z, w, -x, -y], [-y, x, w, -z], [x, y, z, w]])
    made = np.eye(4)
    made[:3, :3] = (left @ right)[:3, :3] * scale
    made[:3, 3] = translation
    return made


def world_matrices(scene: Scene, time: float, clip: int) -> list[np.ndarray]:
    """Every node's matrix to the world."""
    matrices: list[np.ndarray] = []
    for index, node in enumerate(scene.nodes):
        parts = {
            "translation": np.array(node.translation),
            "rotation": np.array(node.rotation),
            "scale": np.array(node.scale),
        }
        for channel in scene.clips[clip].channels if clip < len(scene.clips) else ():
            if channel.node == index and channel.path in parts:
                parts[channel.path] = value_of(channel.track, time, channel.path == "rotation")
        local = local_matrix(parts["translation"], parts["rotation"], parts["scale"])
        matrices.append(matrices[node.parent] @ local if node.parent >= 0 else local)
    return matrices


def weights_of(scene: Scene, morph: MorphTargets, node: int, time: float, clip: int) -> np.ndarray:
    """The weights of a mesh's targets at a node: the clip's where it drives them, the rest's beyond."""
    weights = morph.weights.astype(np.float64)
    for channel in scene.clips[clip].channels if clip < len(scene.clips) else ():
        if channel.node == node and channel.path == "weights":
            driven = value_of(channel.track, time, False)[: len(weights)]
            weights = np.concatenate([driven, weights[len(driven) :]])
    return weights


def bent(skin: Skin, world: list[np.ndarray], where: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertex by vertex: the weighted sum of the joints' matrices, and its inverse transpose for the normal."""
    joints = [world[int(node)] @ skin.inverse_bind[j].astype(np.float64) for j, node in enumerate(skin.joints)]
    placed, turned = np.empty_like(where), np.empty_like(normal)
    for v in range(len(where)):
        matrix = sum(float(skin.weights[v, k]) * joints[skin.joint_ids[v, k]] for k in range(4))
        placed[v] = (matrix @ np.append(where[v], 1.0))[:3]
        turned[v] = np.linalg.inv(matrix[:3, :3]).T @ normal[v]
    return placed, turned


def surface(scene: Scene, time: float, clip: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positions and unit normals (V, 3) of all objects in order: key frames, then targets, then the skin or the node;
    normals by the inverse transpose."""
    world = world_matrices(scene, time, clip)
    positions, normals = [], []
    for thing in scene.objects:
        mesh = scene.meshes[thing.mesh]
        where, normal = mesh.positions.astype(np.float64), mesh.normals.astype(np.float64)
        if mesh.key_frames is not None:
            a, b, s = placed_keys(mesh.key_frames.times.astype(np.float64), time)
            where = (1 - s) * mesh.key_frames.positions[a] + s * mesh.key_frames.positions[b].astype(np.float64)
            normal = (1 - s) * mesh.key_frames.normals[a] + s * mesh.key_frames.normals[b].astype(np.float64)
        morph = mesh.morph_targets
        if morph is not None:
            weights = weights_of(scene, morph, thing.node, time, clip)
            where = where + np.einsum("m,mvc->vc", weights, morph.positions.astype(np.float64))
            normal = (
                normal
                if morph.normals is None
                else normal + np.einsum("m,mvc->vc", weights, morph.normals.astype(np.float64))
            )
        if mesh.skin is not None:
            where, turned = bent(mesh.skin, world, where, normal)
        else:
            matrix = world[thing.node]
            where, turned = where @ matrix[:3, :3].T + matrix[:3, 3], normal @ np.linalg.inv(matrix[:3, :3])
        positions.append(where)
        normals.append(turned / np.linalg.norm(turned, axis=1, keepdims=True))
    return np.concatenate(positions), np.concatenate(normals)

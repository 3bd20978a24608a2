"""Random scenes that move in every way that animate knows."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.scene import Channel, Clip, KeyFrames, Light, Mesh, MorphTargets, Node, Object, Scene, Skin, Track


def random_mesh(rng: np.random.Generator, vertices: int, keys: int = 0) -> Mesh:
    """A soup with normals; `keys` whole-mesh key frames."""
    triangles = rng.integers(0, vertices, (max(1, vertices // 2), 3)).astype(np.int32)

    def normals(*shape: int) -> np.ndarray:
        made = rng.normal(size=(*shape, 3))
        return (made / np.linalg.norm(made, axis=-1, keepdims=True)).astype(np.float32)

    frames = None
    if keys:
        times = np.cumsum(rng.uniform(0.2, 1.0, keys)).astype(np.float32)
        shapes = rng.normal(size=(1, vertices, 3)) + 0.3 * rng.normal(size=(keys, vertices, 3))
        tilted = normals(vertices) + 0.2 * normals(keys, vertices)
        frames = KeyFrames(
            times,
            shapes.astype(np.float32),
            (tilted / np.linalg.norm(tilted, axis=-1, keepdims=True)).astype(np.float32),
        )
    positions = rng.normal(size=(vertices, 3)).astype(np.float32)
    return Mesh("soup", positions, triangles, np.zeros(len(triangles), np.int32), normals(vertices), key_frames=frames)


def random_track(rng: np.random.Generator, path: str, interpolation: str) -> Track:
    """Two to six keys; rotations are unit quaternions up to half a turn apart."""
    width, keys = (4 if path == "rotation" else 3), int(rng.integers(2, 7))
    times = np.cumsum(rng.uniform(0.1, 1.0, keys)).astype(np.float32)
    shape = (keys, 3, width) if interpolation == "cubic" else (keys, width)
    values = rng.normal(size=shape)
    if path == "scale":
        values = np.where(rng.uniform(size=values.shape) < 0.2, -1.0, 1.0) * rng.uniform(0.5, 2.0, shape)
    if path == "rotation" and interpolation != "cubic":
        values /= np.linalg.norm(values, axis=-1, keepdims=True)
    if interpolation == "cubic":
        values[:, 0], values[:, 2] = 0.3 * values[:, 0], 0.3 * values[:, 2]
        values[:, 1] += 2.0 if path != "translation" else 0.0
    return Track(times, values.astype(np.float32), interpolation)


def random_scene(seed: int, nodes: int = 9, still: bool = False) -> Scene:
    """A tree of nodes, half of them driven, with rigid and key-framed objects. Scales never change sign between keys of
    a linear track."""
    rng = np.random.default_rng(seed)
    made, channels = [], []
    for index in range(nodes):
        q = rng.normal(size=4)
        rest = tuple((q / np.linalg.norm(q)).tolist())
        scale = tuple(rng.uniform(0.5, 1.5, 3).tolist())
        made.append(
            Node(
                f"node {index}",
                int(rng.integers(-1, index)) if index else -1,
                tuple(rng.normal(size=3).tolist()),
                rest,
                scale,
            )
        )
        for path in ("translation", "rotation", "scale"):
            if not still and rng.uniform() < 0.5:
                interpolation = str(rng.choice(["step", "linear", "cubic"]))
                track = random_track(rng, path, interpolation)
                if path == "scale":
                    track = Track(track.times, np.abs(track.values) + 0.3, interpolation)
                channels.append(Channel(index, path, track))
    meshes = (random_mesh(rng, 30), random_mesh(rng, 2500), random_mesh(rng, 40, keys=0 if still else 4))
    objects = tuple(Object(int(rng.integers(0, nodes)), int(mesh)) for mesh in (0, 1, 2, 0, 2))
    light = Light("point", (1.0, 2.0, 3.0), (0.5, -0.5, 1.0), node=nodes - 1)
    sun = Light("directional", (1.0, 1.0, 1.0), direction=(0.0, -2.0, 0.0), node=0)
    return Scene(
        "random",
        tuple(made),
        meshes,
        objects,
        lights=(light, sun),
        clips=(Clip("all", 5.0, tuple(channels)), Clip("rest", 5.0)),
    )


def random_morph(rng: np.random.Generator, vertices: int, targets: int, with_normals: bool = True) -> MorphTargets:
    """Targets small enough that no normal vanishes."""
    positions = 0.3 * rng.normal(size=(targets, vertices, 3))
    normals = rng.uniform(-0.2, 0.2, (targets, vertices, 3)) / targets if with_normals else None
    weights = rng.uniform(0.0, 1.0, targets)
    return MorphTargets(
        positions.astype(np.float32),
        None if normals is None else normals.astype(np.float32),
        weights.astype(np.float32),
    )


def random_skin(rng: np.random.Generator, vertices: int, nodes: int, joints: int) -> Skin:
    """Four joints per vertex, one of which counts most, so that no blend of them is singular; some weights are zero."""
    weights = np.concatenate([np.ones((vertices, 1)), rng.choice([0.0, 0.02, 0.05], (vertices, 3))], axis=1)
    binds = np.tile(np.eye(4), (joints, 1, 1))
    binds[:, :3] += rng.uniform(-0.2, 0.2, (joints, 3, 4))
    return Skin(
        rng.integers(0, nodes, joints).astype(np.int32),
        binds.astype(np.float32),
        rng.integers(0, joints, (vertices, 4)).astype(np.int32),
        (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32),
    )


def deformed_scene(seed: int, nodes: int = 9) -> Scene:
    """A random scene whose meshes bend and change their shape too, each in another way; some weights are driven, more
    or fewer than there are."""
    rng = np.random.default_rng(seed)
    scene = random_scene(seed, nodes)
    soup, large, keyed = scene.meshes
    meshes = (
        dataclasses.replace(
            soup,
            skin=random_skin(rng, len(soup.positions), nodes, 5),
            morph_targets=random_morph(rng, len(soup.positions), 3),
        ),
        dataclasses.replace(large, morph_targets=random_morph(rng, len(large.positions), 7, with_normals=False)),
        dataclasses.replace(keyed, skin=random_skin(rng, len(keyed.positions), nodes, 12)),
        random_mesh(rng, 261),
    )
    objects = (*scene.objects, Object(0, 3), Object(3, 1))
    channels = list(scene.clips[0].channels)
    for node in sorted({thing.node for thing in objects if thing.mesh in (0, 1)}):
        if rng.uniform() < 0.7:
            interpolation, width = str(rng.choice(["step", "linear", "cubic"])), int(rng.integers(1, 9))
            times = np.cumsum(rng.uniform(0.1, 1.0, 4)).astype(np.float32)
            values = rng.uniform(0.0, 1.0, (4, 3, width) if interpolation == "cubic" else (4, width))
            channels.append(Channel(node, "weights", Track(times, values.astype(np.float32), interpolation)))
    clips = (dataclasses.replace(scene.clips[0], channels=tuple(channels)), scene.clips[1])
    return dataclasses.replace(scene, meshes=meshes, objects=objects, clips=clips)

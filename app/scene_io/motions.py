"""A motion for a model that has none, so that every model is a dynamic scene: it turns, bursts or sways. Pure functions
from scene to scene.

Turning is a node; bursting and swaying are morph targets with a track of weights, so that the target evaluates them
every frame as it does a file's own. Lights and cameras stay where they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from raygrove.gpu.scene import Channel, Clip, Mesh, MorphTargets, Node, Object, Remark, Scene, Track
from raygrove.gpu.settings import option

from .bounds import scene_box
from .transforms import global_matrices, node_of

KEYS = 33
"""Keys of a motion; straight lines between them stay within half a percent of a circle."""


@dataclasses.dataclass(frozen=True)
class MotionOptions:
    """The motion that a still model is given."""

    name: str = option(
        "none", "What a model does that does not move by itself.", choices=("none", "turntable", "explode", "wobble")
    )
    seconds: float = option(6.0, "How long the motion takes until it repeats.", minimum=0.1, maximum=3600.0, unit="s")
    strength: float = option(
        1.0, "How far triangles fly (explode) or the model sways (wobble).", minimum=0.01, maximum=100.0
    )


SENTENCES = {
    "none": "A still model stays as it is.",
    "turntable": "Turn the model about its upright axis: rigid motion.",
    "explode": "Let the model burst into its triangles and come together again: a refitted structure suffers.",
    "wobble": "Let the model sway like seaweed: a smooth motion of every vertex.",
}


def moves(scene: Scene) -> bool:
    """Whether the scene has an animation of its own."""
    return any(scene.duration(clip) > 0.0 for clip in range(max(1, len(scene.clips))))


def with_motion(scene: Scene, options: MotionOptions) -> Scene:
    """The scene with the motion asked for; one that moves by itself stays as it is, and a remark says so."""
    if options.name == "none" or not scene.objects:
        return scene
    if moves(scene):
        remark = Remark(1, f"The model moves by itself, so it was not given the motion {options.name} (motion.name).")
        return dataclasses.replace(scene, remarks=(*scene.remarks, remark))
    if options.name == "turntable" or not scene.sphere_count:
        return _MAKERS[options.name](scene, options)
    remark = Remark(
        1, f"Spheres stay where they are: the motion {options.name} moves meshes alone. turntable turns all."
    )
    scene = dataclasses.replace(scene, remarks=(*scene.remarks, remark))
    return _MAKERS[options.name](scene, options) if scene.triangle_count else scene


def turntable(scene: Scene, options: MotionOptions) -> Scene:
    """The scene's objects turned about the upright axis through its middle."""
    lower, upper = np.array(scene.lower), np.array(scene.upper)
    middle, half = (lower + upper) / 2.0, (upper - lower) / 2.0
    times = np.linspace(0.0, options.seconds, 9, dtype=np.float32)
    angle = np.pi * times / options.seconds
    turn = np.stack([np.zeros(9), np.sin(angle), np.zeros(9), np.cos(angle)], axis=1).astype(np.float32)
    above = (Node("turntable", -1, _triple(middle)), Node("turntable middle", 0, _triple(-middle)))
    nodes = [
        *above,
        *(dataclasses.replace(node, parent=node.parent + 2 if node.parent >= 0 else 1) for node in scene.nodes),
    ]
    at_rest = global_matrices(scene.nodes)

    def stay(node: int) -> int:
        """A node of its own that stays where `node` stood."""
        if node < 0:
            return node
        nodes.append(node_of(scene.nodes[node].name, -1, at_rest[node]))
        return len(nodes) - 1

    lights = tuple(dataclasses.replace(light, node=stay(light.node)) for light in scene.lights)
    cameras = tuple(dataclasses.replace(camera, node=stay(camera.node)) for camera in scene.cameras)
    reach = float(np.hypot(half[0], half[2]))
    swept = np.array([reach, half[1], reach])
    return dataclasses.replace(
        scene,
        nodes=tuple(nodes),
        meshes=tuple(_with_joints(mesh, 2) for mesh in scene.meshes),
        objects=tuple(dataclasses.replace(thing, node=thing.node + 2) for thing in scene.objects),
        lights=lights,
        cameras=cameras,
        clips=(Clip("turntable", options.seconds, (Channel(0, "rotation", Track(times, turn)),)),),
        lower=_triple(middle - swept),
        upper=_triple(middle + swept),
    )


def explode(scene: Scene, options: MotionOptions) -> Scene:
    """Every triangle flies away from the scene's middle, each at a speed of its own, and comes back."""
    rng = np.random.default_rng(0)
    lower, upper = np.array(scene.lower), np.array(scene.upper)
    middle, size = (lower + upper) / 2.0, float(np.linalg.norm(upper - lower))

    def burst(mesh: Mesh) -> Mesh:
        corners = mesh.triangles.reshape(-1)
        whole = mesh.positions[corners].reshape(-1, 3, 3)
        centre = whole.mean(axis=1)
        flight = (centre - middle) * rng.uniform(0.5, 1.8, (len(centre), 1)) + 0.04 * size * rng.standard_normal(
            (len(centre), 3)
        )
        moved = np.repeat(flight * options.strength, 3, axis=0).astype(np.float32)
        return dataclasses.replace(
            mesh,
            positions=np.ascontiguousarray(whole.reshape(-1, 3)),
            triangles=np.arange(len(corners), dtype=np.int32).reshape(-1, 3),
            normals=None if mesh.normals is None else mesh.normals[corners],
            uvs=None if mesh.uvs is None else mesh.uvs[corners],
            morph_targets=MorphTargets(moved[None], None, np.zeros(1, np.float32)),
        )

    share = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.linspace(0.0, 1.0, KEYS))
    return _deformed(scene, "explode", options.seconds, burst, share[:, None])


def wobble(scene: Scene, options: MotionOptions) -> Scene:
    """A wave runs up the scene and moves it sideways, more the higher; where the scene is flat, along its longest
    side."""
    lower, upper = np.array(scene.lower), np.array(scene.upper)
    extent = upper - lower
    along = 1 if extent[1] >= 0.2 * extent.max() else int(np.argmax(extent))
    first, second = (axis for axis in range(3) if axis != along)
    height = max(float(extent[along]), 1e-30)
    amplitude, wave = 0.06 * options.strength * float(np.linalg.norm(extent)), 3.0 * np.pi

    def sway(mesh: Mesh) -> Mesh:
        # The sideways way d(h) of a point at height h: normals lose d'(h) . n along the height, exactly (the inverse
        # transpose of I + d' h^T).
        share = (mesh.positions[:, along].astype(np.float64) - lower[along]) / height
        sine, cosine = np.sin(wave * share), np.cos(wave * share)
        positions, normals = np.zeros((2, len(share), 3), np.float32), np.zeros((2, len(share), 3), np.float32)
        for target, (a, b, slope_a, slope_b) in enumerate(
            ((sine, cosine, cosine, -sine), (-cosine, sine, sine, cosine))
        ):
            positions[target, :, first], positions[target, :, second] = (
                amplitude * share * a,
                0.5 * amplitude * share * b,
            )
            if mesh.normals is not None:
                way = (a + share * wave * slope_a) * mesh.normals[:, first] + 0.5 * (
                    b + share * wave * slope_b
                ) * mesh.normals[:, second]
                normals[target, :, along] = -amplitude / height * way
        targets = MorphTargets(positions, None if mesh.normals is None else normals, np.array([1.0, 0.0], np.float32))
        return dataclasses.replace(mesh, morph_targets=targets)

    angle = 2.0 * np.pi * np.linspace(0.0, 1.0, KEYS)
    return _deformed(scene, "wobble", options.seconds, sway, np.stack([np.cos(angle), np.sin(angle)], axis=1))


def _deformed(scene: Scene, name: str, seconds: float, change: Callable[[Mesh], Mesh], weights: np.ndarray) -> Scene:
    """The scene with each object's mesh as it stands in the scene, changed, at one node that drives the weights (KEYS,
    M) of all. Spheres and glyphs stay where they stand."""
    at_rest = global_matrices(scene.nodes)
    placed = [thing for thing in scene.objects if thing.mesh >= 0]
    meshes = tuple(change(standing(scene.meshes[thing.mesh], at_rest, thing.node)) for thing in placed)
    node = len(scene.nodes)
    times = np.linspace(0.0, seconds, KEYS, dtype=np.float32)
    stay = [thing for thing in scene.objects if thing.mesh < 0]
    lower, upper = (
        scene_box(dataclasses.replace(scene, objects=tuple(stay)), with_clips=False)
        if stay
        else (np.full(3, np.inf), np.full(3, -np.inf))
    )
    for mesh in meshes:
        assert mesh.morph_targets is not None
        # Weights of a circle add up to 1.41 at most; a box may be too large.
        reach = (
            np.abs(mesh.morph_targets.positions).sum(axis=0)
            if weights.shape[1] > 1
            else mesh.morph_targets.positions[0]
        )
        ends = (
            mesh.positions,
            mesh.positions + reach,
            mesh.positions - reach if weights.shape[1] > 1 else mesh.positions,
        )
        lower = np.min([lower, *(end.min(axis=0, initial=np.inf) for end in ends)], axis=0)
        upper = np.max([upper, *(end.max(axis=0, initial=-np.inf) for end in ends)], axis=0)
    return dataclasses.replace(
        scene,
        nodes=(*scene.nodes, Node(name)),
        meshes=meshes,
        objects=(
            *(Object(node, index) for index in range(len(meshes))),
            *stay,
        ),
        clips=(Clip(name, seconds, (Channel(node, "weights", Track(times, weights.astype(np.float32))),)),),
        lower=_triple(lower),
        upper=_triple(upper),
    )


def standing(mesh: Mesh, matrices: np.ndarray, node: int) -> Mesh:
    """The mesh with its vertices where they stand in the scene at rest: shaped by its targets, bent by its skin or
    placed by its node."""
    positions, normals = mesh.positions.astype(np.float64), mesh.normals
    if mesh.key_frames is not None:
        positions = mesh.key_frames.positions[0].astype(np.float64)
        normals = normals if mesh.key_frames.normals is None else mesh.key_frames.normals[0]
    morph, skin = mesh.morph_targets, mesh.skin
    if morph is not None:
        positions = positions + np.tensordot(morph.weights.astype(np.float64), morph.positions, 1)
        if normals is not None and morph.normals is not None:
            normals = normals + np.tensordot(morph.weights.astype(np.float64), morph.normals, 1)
    matrix = matrices[node][:3]
    if skin is not None:
        joints = matrices[skin.joints] @ skin.inverse_bind.astype(np.float64)
        matrix = np.einsum("vk,vkrc->vrc", skin.weights, joints[skin.joint_ids, :3])
    placed = np.einsum("...rc,...c->...r", matrix[..., :3], positions) + matrix[..., 3]
    return dataclasses.replace(
        mesh,
        positions=placed.astype(np.float32),
        normals=None if normals is None else _turned(matrix[..., :3], normals),
        key_frames=None,
        skin=None,
        morph_targets=None,
    )


def _turned(linear: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Unit normals by the cofactors of (3, 3) or (V, 3, 3) matrices, on their own side where these mirror; without a
    direction they stay zero."""
    x, y, z = linear[..., 0], linear[..., 1], linear[..., 2]
    yz = np.cross(y, z)
    sign = np.where(np.sum(x * yz, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    turned = sign * (normals[:, :1] * yz + normals[:, 1:2] * np.cross(z, x) + normals[:, 2:] * np.cross(x, y))
    lengths = np.linalg.norm(turned, axis=1, keepdims=True)
    return np.divide(turned, lengths, out=np.zeros_like(turned), where=lengths > 0.0).astype(np.float32)


def _with_joints(mesh: Mesh, shift: int) -> Mesh:
    if mesh.skin is None:
        return mesh
    return dataclasses.replace(mesh, skin=dataclasses.replace(mesh.skin, joints=mesh.skin.joints + np.int32(shift)))


def _triple(values: np.ndarray) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


_MAKERS: dict[str, Callable[[Scene, MotionOptions], Scene]] = {
    "turntable": turntable,
    "explode": explode,
    "wobble": wobble,
}

"""The box around a scene over its whole animation, in float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from raygrove.gpu.scene import Clip, Mesh, Scene, Skin, Spheres

from .mesh_stack import MeshStack, numbers_of, stack_of, starts_of, vertex_counts_of
from .portions import portions
from .transforms import global_matrices, pose_of

MAX_SAMPLES = 64
EXACT_VERTICES = 4_000_000
EXACT_SKIN_VERTICES = 5_000
CHUNK = 1_000_000
CORNERS = np.array([[(i >> axis) & 1 for axis in range(3)] for i in range(8)], bool)

Box = tuple[np.ndarray, np.ndarray]


def scene_box(scene: Scene, with_clips: bool = True) -> Box:
    """Lower and upper corner (float64) of all objects at rest, at all their key frames and, sampled, during the clips.

    Objects that clips move count by their transformed boxes and large skins by their joints' boxes, so the box may be
    somewhat too large.
    """
    points = _points_of(scene.meshes)
    boxes = [_rest_box(scene, points)]
    if with_clips and scene.clips:
        boxes += _clip_boxes(scene, points)
    lower = np.min([box[0] for box in boxes], axis=0)
    upper = np.max([box[1] for box in boxes], axis=0)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        return np.full(3, -1.0), np.full(3, 1.0)
    return lower, upper


def sample_times(clip: Clip) -> np.ndarray:
    """Instants at which a clip's bounds are taken, at most `MAX_SAMPLES`: its keys, and a regular comb where nodes move
    on curves. Where nothing but translations changes, along straight lines, no box is larger than those at the keys.
    """
    moving = [channel for channel in clip.channels if channel.path != "weights"]  # boxes hold morph targets in full
    if not moving:
        return np.zeros(1)
    keys = [channel.track.times for channel in moving]
    kinds = {channel.track.interpolation for channel in moving}  # of both, a step may come just after a line's end
    if len(kinds) > 1 or "cubic" in kinds or any(channel.path != "translation" for channel in moving):
        keys.append(np.arange(17) * (clip.duration / 16.0))
    times = np.asarray(keys[0], np.float64)
    if len(keys) > 1:
        times = np.sort(np.concatenate(keys))
        times = times[np.append(True, times[1:] != times[:-1])]
    return times if len(times) <= MAX_SAMPLES else np.linspace(float(times[0]), float(times[-1]), MAX_SAMPLES)


def _clip_boxes(scene: Scene, points: Sequence[np.ndarray]) -> list[Box]:
    """Boxes of all objects at instants of the clips, about `CHUNK` nodes at once."""
    sphere_points = [_sphere_points(spheres) for spheres in scene.spheres]
    is_bent = _are_skinned(scene.meshes)
    rigid = [t for t in scene.objects if t.mesh >= 0 and not is_bent[t.mesh]]
    bent = [t for t in scene.objects if t.mesh >= 0 and is_bent[t.mesh]]
    placed = [(t.node, points[t.mesh]) for t in rigid]
    placed += [
        (t.node, sphere_points[t.spheres] if t.spheres >= 0 else _glyph_points(scene, t.glyphs))
        for t in scene.objects
        if t.mesh < 0
    ]
    placed = [(node, corners) for node, corners in placed if np.isfinite(corners).all()]
    nodes = np.array([node for node, _ in placed], np.int64)
    corners = np.concatenate([corners for _, corners in placed]) if placed else np.zeros((0, 8, 3))
    pose, boxes = pose_of(scene.nodes), []
    width = max(len(scene.nodes), 8 * len(placed), 1)
    for instants in _portions(scene, max(4 * CHUNK // width, 1)):
        for matrices in pose.matrices_at(instants, max(CHUNK // width, 1)):
            at_nodes = matrices[:, nodes].reshape(-1, 4, 4)
            boxes.append(_box_of(_moved(at_nodes, np.tile(corners, (len(matrices), 1, 1)))))
            boxes += [_moved_box(scene.meshes[t.mesh], points[t.mesh], at, t.node) for at in matrices for t in bent]
    return boxes


def _portions(scene: Scene, most: int) -> Iterator[list[tuple[Clip, np.ndarray]]]:
    """The clips and their instants, about `most` instants at a time."""
    portion: list[tuple[Clip, np.ndarray]] = []
    count = 0
    for clip in scene.clips:
        times = sample_times(clip)
        for start in range(0, len(times), most):
            portion.append((clip, times[start : start + most]))
            count += len(portion[-1][1])
            if count >= most:
                yield portion
                portion, count = [], 0
    if portion:
        yield portion


def _moved(matrices: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(N, 8, 3) corners by (N, 4, 4) matrices."""
    return corners @ matrices[:, :3, :3].transpose(0, 2, 1) + matrices[:, None, :3, 3]


def _box_of(points: np.ndarray) -> Box:
    columns = points.reshape(-1, 3).T  # numpy reduces long columns fast, and many short rows slowly
    lower = np.array([column.min(initial=np.inf) for column in columns])
    return lower, np.array([column.max(initial=-np.inf) for column in columns])


def _rest_box(scene: Scene, points: Sequence[np.ndarray]) -> Box:
    matrices = global_matrices(scene.nodes)
    is_along_axes = (np.count_nonzero(np.abs(matrices[:, :3, :3]) > 1e-12, axis=2) <= 1).all(axis=1)
    nodes, meshes = numbers_of(scene.objects, "node"), numbers_of(scene.objects, "mesh")
    is_mesh = meshes >= 0
    is_exact, has_corners = _box_kinds(scene.meshes, points)
    exact, cornered = np.zeros(len(nodes), bool), np.zeros(len(nodes), bool)
    exact[is_mesh] = ~is_along_axes[nodes[is_mesh]] & is_exact[meshes[is_mesh]]
    cornered[is_mesh] = has_corners[meshes[is_mesh]]
    cornered &= ~exact
    boxes: list[Box] = []
    if exact.any():
        boxes += _exact_boxes(scene.meshes, meshes[exact], matrices[nodes[exact]])
    for index in np.flatnonzero(~(cornered | exact)).tolist():
        thing, matrix = scene.objects[index], matrices[nodes[index]]
        if thing.spheres >= 0:
            boxes.append(_rest_box_of_spheres(scene.spheres[thing.spheres], matrix))
        elif thing.mesh < 0:
            boxes.append(_placed_box(_glyph_points(scene, thing.glyphs), matrix))
        else:
            boxes.append(_moved_box(scene.meshes[thing.mesh], points[thing.mesh], matrices, thing.node))
    if cornered.any():
        boxes.append(_box_of(_moved(matrices[nodes[cornered]], _chosen(points, meshes[cornered]))))
    if not boxes:
        return np.full(3, np.inf), np.full(3, -np.inf)
    return np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)


def _exact_boxes(meshes: Sequence[Mesh], chosen: np.ndarray, matrices: np.ndarray) -> list[Box]:
    """Boxes of the vertices of the chosen meshes by (N, 4, 4) matrices, of small ones together."""
    sizes = vertex_counts_of(meshes)[chosen]
    boxes = []
    for some in portions(range(len(chosen)), sizes.tolist(), CHUNK // 4):
        part, at = chosen[some[0] : some[-1] + 1], matrices[some[0] : some[-1] + 1]
        if len(some) == 1:
            points = meshes[int(part[0])].positions @ at[0, :3, :3].T + at[0, :3, 3]
        else:
            stack = meshes.take(part) if isinstance(meshes, MeshStack) else stack_of([meshes[i] for i in part.tolist()])
            positions = stack.positions
            at = np.repeat(at, sizes[some[0] : some[-1] + 1], axis=0)
            points = np.einsum("vrc,vc->vr", at[:, :3, :3], positions) + at[:, :3, 3]
        boxes.append(_box_of(points))
    return boxes


def _box_kinds(meshes: Sequence[Mesh], points: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(M,) bool each: which meshes are looked at vertex by vertex where a node turns them, and which have one set of
    corners."""
    has_box = _are_finite(points)
    if isinstance(meshes, MeshStack):
        return meshes.vertex_counts <= EXACT_VERTICES, has_box
    is_exact = [not _moves(mesh) and len(mesh.positions) <= EXACT_VERTICES for mesh in meshes]
    return np.array(is_exact, bool), has_box & ~np.array(_are_skinned(meshes), bool)


def _chosen(points: Sequence[np.ndarray], meshes: np.ndarray) -> np.ndarray:
    """(N, 8, 3) corners of these meshes, of which each has one set."""
    if isinstance(points, np.ndarray):
        return np.asarray(points[meshes, 0])
    return np.concatenate([points[mesh] for mesh in meshes.tolist()])


def _rest_box_of_spheres(spheres: Spheres, matrix: np.ndarray) -> Box:
    """The box of spheres at a node that does not move: of each of them, where they stay as they are."""
    is_there = spheres.radii > 0.0
    if spheres.key_frames is not None or not is_there.any() or len(spheres.radii) > EXACT_VERTICES:
        return _placed_box(_sphere_points(spheres), matrix)
    centres = spheres.centres[is_there] @ matrix[:3, :3].T + matrix[:3, 3]
    reach = spheres.radii[is_there, None] * np.sqrt((matrix[:3, :3] ** 2).sum() / 3.0)
    return (centres - reach).min(axis=0), (centres + reach).max(axis=0)


def _placed_box(points: np.ndarray, matrix: np.ndarray) -> Box:
    """The box of (1, 8, 3) corners at a node."""
    if not np.isfinite(points).all():
        return np.full(3, np.inf), np.full(3, -np.inf)
    moved = points[0] @ matrix[:3, :3].T + matrix[:3, 3]
    return moved.min(axis=0), moved.max(axis=0)


def _sphere_points(spheres: Spheres) -> np.ndarray:
    """Corners (1, 8, 3) of the box of spheres over all their key frames, in their own frame; infinite where none is
    there. A key at a time: there may be many."""
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    keys = spheres.key_frames
    for key, centres in enumerate(spheres.centres[None] if keys is None else keys.centres):
        radii = spheres.radii if keys is None or keys.radii is None else keys.radii[key]
        is_there = radii > 0.0
        if not is_there.all():
            centres, radii = centres[is_there], radii[is_there]
        for axis in range(3):  # an axis at a time: numpy reduces long columns fast, and many short rows slowly
            lower[axis] = min(lower[axis], (centres[:, axis] - radii).min(initial=np.inf))
            upper[axis] = max(upper[axis], (centres[:, axis] + radii).max(initial=-np.inf))
    return _corners(lower, upper)[None]


def _glyph_points(scene: Scene, index: int) -> np.ndarray:
    """Corners (1, 8, 3) of a box around glyphs over all their key frames, in their own frame, however they are turned;
    linked ones lie between spheres, and add nothing: infinite."""
    glyphs, lower, upper = scene.glyphs[index], np.full(3, np.inf), np.full(3, -np.inf)
    keys = glyphs.key_frames
    for key, centres in enumerate(glyphs.centres[None] if keys is None else keys.centres):
        sizes = glyphs.sizes if keys is None or keys.sizes is None else keys.sizes[key]
        is_there = (sizes > 0.0).all(axis=1)
        if glyphs.links is not None or not is_there.any():
            continue
        reach = np.linalg.norm(sizes[is_there].astype(np.float64), axis=1, keepdims=True)
        if glyphs.shape == "capsule":
            reach = (sizes[is_there, 0] + sizes[is_there, 2])[:, None]
        lower = np.minimum(lower, (centres[is_there] - reach).min(axis=0))
        upper = np.maximum(upper, (centres[is_there] + reach).max(axis=0))
    return _corners(lower, upper)[None]


def _moved_box(mesh: Mesh, points: np.ndarray, matrices: np.ndarray, node: int) -> Box:
    """The box of `points`: one set of eight corners at the node, or one set a joint."""
    chosen = (
        matrices[node][None]
        if mesh.skin is None
        else matrices[mesh.skin.joints] @ mesh.skin.inverse_bind.astype(np.float64)
    )
    if (
        mesh.skin is not None
        and mesh.morph_targets is None
        and mesh.key_frames is None
        and len(mesh.positions) <= EXACT_SKIN_VERTICES
    ):
        return _skinned_box(mesh, mesh.skin, chosen)
    is_used = np.isfinite(points).all(axis=(1, 2))
    moved = np.einsum("jrc,jpc->jpr", chosen[is_used, :3, :3], points[is_used]) + chosen[is_used, None, :3, 3]
    return moved.min(axis=(0, 1), initial=np.inf), moved.max(axis=(0, 1), initial=-np.inf)


def _skinned_box(mesh: Mesh, skin: Skin, joints: np.ndarray) -> Box:
    """The box of the vertices as the joints' (J, 4, 4) matrices bend them."""
    blended = np.einsum("vk,vkrc->vrc", skin.weights, joints[skin.joint_ids, :3])
    moved = np.einsum("vrc,vc->vr", blended[:, :, :3], mesh.positions) + blended[:, :, 3]
    return moved.min(axis=0, initial=np.inf), moved.max(axis=0, initial=-np.inf)


def _points_of(meshes: Sequence[Mesh]) -> Sequence[np.ndarray]:
    """`_local_points` of each mesh, of small ones that do not move together."""
    if isinstance(meshes, MeshStack):
        return np.concatenate([_stacked_points(part) for part in meshes.parts(CHUNK)])  # type: ignore[return-value]
    points: list[np.ndarray] = []
    for some in portions(meshes, [len(mesh.positions) for mesh in meshes], CHUNK):
        if len(some) == 1 or not all(len(mesh.positions) for mesh in some) or any(map(_moves, some)):
            points += [_local_points(mesh) for mesh in some]
        else:
            points += list(_stacked_points(stack_of(some)))
    return points


def _stacked_points(stack: MeshStack) -> np.ndarray:
    """(M, 1, 8, 3), of meshes that all have vertices."""
    starts = starts_of(stack.vertex_counts)
    lower, upper = (reduce.reduceat(stack.positions, starts)[:, None] for reduce in (np.minimum, np.maximum))
    return _corners(lower, upper)[:, None]


def _are_finite(points: Sequence[np.ndarray]) -> np.ndarray:
    """(M,) bool: of each mesh's corners, whether all are finite."""
    if isinstance(points, np.ndarray):
        return np.asarray(np.isfinite(points).all(axis=(1, 2, 3)))
    if not points or any(len(one) != 1 for one in points):
        return np.array([bool(np.isfinite(one).all()) for one in points], bool)
    return np.asarray(np.isfinite(np.concatenate(points)).all(axis=(1, 2)))


def _are_skinned(meshes: Sequence[Mesh]) -> list[bool]:
    return [False] * len(meshes) if isinstance(meshes, MeshStack) else [mesh.skin is not None for mesh in meshes]


def _moves(mesh: Mesh) -> bool:
    return mesh.skin is not None or mesh.morph_targets is not None or mesh.key_frames is not None


def _local_points(mesh: Mesh) -> np.ndarray:
    """Corners of the mesh's box in its own frame: (1, 8, 3), or (J, 8, 3) of what hangs from each joint (infinite where
    nothing does)."""
    lower = upper = mesh.positions
    if mesh.key_frames is not None and len(mesh.key_frames.positions):
        lower = np.minimum(lower, mesh.key_frames.positions.min(axis=0))
        upper = np.maximum(upper, mesh.key_frames.positions.max(axis=0))
    if mesh.morph_targets is not None:
        lower = lower + np.minimum(mesh.morph_targets.positions, 0.0).sum(axis=0)
        upper = upper + np.maximum(mesh.morph_targets.positions, 0.0).sum(axis=0)
    if mesh.skin is None:
        return _corners(lower.min(axis=0, initial=np.inf), upper.max(axis=0, initial=-np.inf))[None]
    result = []
    for joint in range(len(mesh.skin.joints)):
        hangs = ((mesh.skin.joint_ids == joint) & (mesh.skin.weights > 0.0)).any(axis=1)
        result.append(_corners(lower[hangs].min(axis=0, initial=np.inf), upper[hangs].max(axis=0, initial=-np.inf)))
    return np.array(result)


def _corners(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return np.where(CORNERS, np.asarray(upper, np.float64), np.asarray(lower, np.float64))

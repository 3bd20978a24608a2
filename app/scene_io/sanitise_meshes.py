"""The sanitiser's part for meshes. Those that are plain and small are looked at together, as numpy takes as long for a
small one as for hundreds; only what is wrong in one, or moves, is mended mesh by mesh."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.scene import KeyFrames, Mesh, MorphTargets, Skin

from .joining import with_vertices
from .mesh_stack import MeshStack, as_meshes, joined_stacks, stack_of, starts_of
from .normals import columns_of, crosses_of, smooth_normals
from .portions import portions

HUGE = 1e18
FLOATS, INTEGERS = np.dtype(np.float32), np.dtype(np.int32)
"""As dtypes: to compare with a type takes four times as long, which counts by the hundred thousand."""
WEIGHT_TOLERANCE = 0.01
"""How far from one a vertex's joint weights may add up without being counted: files round them to bytes."""
AT_ONCE = 1_000_000
"""Vertices and triangles of small meshes that are looked at together."""


def are_sound(meshes: Sequence[Mesh], material_count: int) -> list[bool]:
    """Which meshes `clean_mesh` would give back as they are, by a look at all plain ones together."""
    if isinstance(meshes, MeshStack):
        return np.concatenate([_are_sound(part, material_count) for part in meshes.parts(AT_ONCE)]).tolist()
    sound = [_is_plain(mesh) for mesh in meshes]
    plain = [index for index, is_plain in enumerate(sound) if is_plain]
    for some in portions(plain, [_size(meshes[index]) for index in plain], AT_ONCE):
        if len(some) > 1:
            found = _are_sound(stack_of([meshes[i] for i in some]), material_count).tolist()
            for index, is_sound in zip(some, found, strict=True):
                sound[index] = is_sound
        else:
            sound[some[0]] = False
    return sound


def _are_sound(stack: MeshStack, material_count: int) -> np.ndarray:
    """(M,) bool, of meshes that all have triangles."""
    triangles, material_ids = stack.triangles, stack.material_ids
    limits = np.repeat(stack.vertex_counts, stack.triangle_counts)[:, None]
    in_range = ((triangles >= 0) & (triangles < limits)).all(axis=1)
    good_triangles = in_range & (material_ids >= 0) & (material_ids < material_count)
    used = np.zeros(len(stack.positions), bool)
    used[(triangles + stack.firsts[:, None])[in_range].reshape(-1)] = True
    used &= (np.abs(stack.positions) <= HUGE).all(axis=1)
    sound = np.logical_and.reduceat(used, starts_of(stack.vertex_counts))
    sound &= np.logical_and.reduceat(good_triangles, starts_of(stack.triangle_counts))
    return np.asarray(sound)


def _is_plain(mesh: Mesh) -> bool:
    """Whether nothing of the mesh moves, and its arrays are what kernels take: of fitting shapes, whole, and not
    empty."""
    if mesh.key_frames is not None or mesh.skin is not None or mesh.morph_targets is not None:
        return False
    positions, triangles, normals, uvs = mesh.positions, mesh.triangles, mesh.normals, mesh.uvs
    count = len(positions)
    if not count or not len(triangles) or mesh.material_ids.shape != (len(triangles),):
        return False
    if positions.dtype != FLOATS or triangles.dtype != INTEGERS or mesh.material_ids.dtype != INTEGERS:
        return False
    if positions.shape != (count, 3) or triangles.shape != (len(triangles), 3):
        return False
    fits = (normals is None or (normals.shape == (count, 3) and normals.dtype == FLOATS)) and (
        uvs is None or (uvs.shape == (count, 2) and uvs.dtype == FLOATS and uvs.flags.c_contiguous)
    )
    return fits and positions.flags.c_contiguous and triangles.flags.c_contiguous


def _size(mesh: Mesh) -> int:
    return len(mesh.positions) + len(mesh.triangles)


def finish_meshes(meshes: Sequence[Mesh], counts: Counter[str], are_plain: Sequence[bool] = ()) -> tuple[Mesh, ...]:
    """The cleaned meshes as `_finish_mesh` makes them, plain ones of one kind together. Those of `are_plain` are known
    to be."""
    if isinstance(meshes, MeshStack):
        return as_meshes(_finish_stack(meshes, counts))
    kinds: dict[tuple[bool, bool] | None, list[int]] = {}
    for index, (mesh, is_plain) in enumerate(itertools.zip_longest(meshes, are_plain)):
        kind = (mesh.normals is None, mesh.uvs is None) if is_plain or _is_plain(mesh) else None
        kinds.setdefault(kind, []).append(index)
    finished = list(meshes)
    for kind, indices in kinds.items():
        for some in portions(indices, [_size(meshes[index]) for index in indices], AT_ONCE):
            alike = [meshes[index] for index in some]
            alone = kind is None or len(some) == 1
            done = [_finish_mesh(m, counts) for m in alike] if alone else _finish_alike(stack_of(alike), counts)
            for index, mesh in zip(some, done, strict=True):
                finished[index] = mesh
    return tuple(finished)


def _finish_stack(stack: MeshStack, counts: Counter[str]) -> MeshStack:
    """The same of a stack, kind by kind."""
    kinds = 2 * stack.has_normals + stack.has_uvs
    order = np.argsort(kinds, kind="stable")
    some = [stack] if (kinds == kinds[0]).all() else [stack.take(np.flatnonzero(kinds == k)) for k in np.unique(kinds)]
    whole = joined_stacks([_finish_alike(part, counts) for alike in some for part in alike.parts(AT_ONCE)])
    return whole if len(some) == 1 else whole.take(np.argsort(order))


def _finish_alike(stack: MeshStack, counts: Counter[str]) -> MeshStack:
    """Plain meshes that all have normals or none, and texture coordinates or none."""
    whole = Mesh(
        "",
        stack.positions,
        stack.triangles + stack.firsts[:, None],
        np.zeros(0, np.int32),
        stack.normals if stack.has_normals[0] else None,
        stack.uvs if stack.has_uvs[0] else None,
    )
    whole = _finish_mesh(whole, counts, np.repeat(np.arange(len(stack)), stack.vertex_counts))
    assert whole.normals is not None
    uvs = stack.uvs if whole.uvs is None else whole.uvs
    return dataclasses.replace(stack, has_normals=np.ones(len(stack), bool), normals=whole.normals, uvs=uvs)


def clean_mesh(mesh: Mesh, material_count: int, node_count: int, counts: Counter[str]) -> Mesh:
    """The mesh with usable triangles only; counts of what was done are added to `counts` by the keys of `SENTENCES`."""
    mesh = _fitting(mesh, node_count, counts)
    triangles = np.asarray(mesh.triangles)
    count = len(mesh.positions)
    in_range = ((triangles >= 0) & (triangles < count)).all(axis=1)
    counts["out_of_range"] += int(np.count_nonzero(~in_range))
    triangles, material_ids = triangles[in_range], np.asarray(mesh.material_ids)[in_range]
    good = _usable_vertices(mesh)
    if not good.all():
        keep = good[triangles].all(axis=1)
        counts["not_finite"] += int(np.count_nonzero(~keep))
        triangles, material_ids = triangles[keep], material_ids[keep]
    is_known = (material_ids >= 0) & (material_ids < material_count)
    counts["material"] += int(np.count_nonzero(~is_known))
    material_ids = np.where(is_known, material_ids, 0).astype(np.int32)
    used = np.zeros(count, bool)
    used[triangles.reshape(-1)] = True
    mesh = dataclasses.replace(mesh, material_ids=material_ids)
    if used.all():
        return dataclasses.replace(mesh, triangles=triangles.astype(np.int32, copy=False))
    counts["unreferenced"] += int(np.count_nonzero(~used))
    new_ids = np.cumsum(used, dtype=np.int64) - 1
    return with_vertices(mesh, used, new_ids[triangles])


def _fitting(mesh: Mesh, node_count: int, counts: Counter[str]) -> Mesh:
    """The mesh without those parts whose shape does not fit its vertices."""
    count = len(mesh.positions)
    if len(mesh.material_ids) != len(mesh.triangles):
        mesh = dataclasses.replace(mesh, material_ids=np.zeros(len(mesh.triangles), np.int32))
    if mesh.normals is not None and mesh.normals.shape != (count, 3):
        mesh = dataclasses.replace(mesh, normals=None)
    if mesh.uvs is not None and mesh.uvs.shape != (count, 2):
        mesh = dataclasses.replace(mesh, uvs=None)
    keys, skin, morph = mesh.key_frames, mesh.skin, mesh.morph_targets
    new_keys, new_morph = keys and _fit_keys(keys, count), morph and _fit_morph(morph, count)
    new_skin = skin and _fit_skin(skin, count, node_count, counts)
    counts["deformer"] += sum(
        old is not None and new is None for old, new in ((keys, new_keys), (skin, new_skin), (morph, new_morph))
    )
    return dataclasses.replace(mesh, key_frames=new_keys, skin=new_skin, morph_targets=new_morph)


def _fit_keys(keys: KeyFrames, count: int) -> KeyFrames | None:
    times = np.asarray(keys.times, np.float32)
    is_ascending = len(times) > 0 and np.isfinite(times).all() and (np.diff(times) > 0.0).all()
    if not is_ascending or keys.positions.shape != (len(times), count, 3):
        return None
    has_normals = keys.normals is not None and keys.normals.shape == keys.positions.shape
    return KeyFrames(times, keys.positions, keys.normals if has_normals else None)


def _fit_skin(skin: Skin, count: int, node_count: int, counts: Counter[str]) -> Skin | None:
    joints = np.asarray(skin.joints, np.int32)
    fits = (
        len(joints) > 0
        and skin.inverse_bind.shape == (len(joints), 4, 4)
        and skin.joint_ids.shape == skin.weights.shape == (count, 4)
    )
    if not fits or joints.min() < 0 or joints.max() >= node_count or not np.isfinite(skin.inverse_bind).all():
        return None
    joint_ids = np.where((skin.joint_ids >= 0) & (skin.joint_ids < len(joints)), skin.joint_ids, 0).astype(np.int32)
    weights = np.where(
        np.isfinite(skin.weights) & (skin.weights > 0.0) & (skin.weights < HUGE), skin.weights, 0.0
    ).astype(np.float64)
    sums = weights.sum(axis=1, keepdims=True)
    counts["weights"] += int(np.count_nonzero(np.abs(sums - 1.0) > WEIGHT_TOLERANCE))
    weights[sums[:, 0] <= 0.0, 0] = 1.0
    return Skin(
        joints,
        skin.inverse_bind.astype(np.float32),
        joint_ids,
        (weights / np.where(sums > 0.0, sums, 1.0)).astype(np.float32),
    )


def _fit_morph(morph: MorphTargets, count: int) -> MorphTargets | None:
    target_count = len(morph.positions)
    if target_count == 0 or morph.positions.shape != (target_count, count, 3) or morph.weights.shape != (target_count,):
        return None
    normals = morph.normals if morph.normals is not None and morph.normals.shape == morph.positions.shape else None
    return MorphTargets(
        morph.positions,
        None if normals is None else np.nan_to_num(normals),
        np.nan_to_num(morph.weights).astype(np.float32),
    )


def _usable_vertices(mesh: Mesh) -> np.ndarray:
    """(V,) bool: finite and below `HUGE`, in every key frame and morph target too. (A comparison with NaN is false.)"""
    good = np.ones(len(mesh.positions), bool)
    moved = [moves.positions for moves in (mesh.key_frames, mesh.morph_targets) if moves is not None]
    for positions in (mesh.positions, *itertools.chain(*moved)):
        if not np.abs(positions).max(initial=0.0) <= HUGE:  # all at first: numpy reduces rows of three slowly
            good &= (np.abs(positions) <= HUGE).all(axis=1)
    return good


def _finish_mesh(mesh: Mesh, counts: Counter[str], owners: np.ndarray | None = None) -> Mesh:
    """float32, contiguous, normals for every vertex and key, degenerate triangles counted. With `owners` the mesh is
    several that do not move, one after another (as `smooth_normals` has it)."""
    positions = np.ascontiguousarray(mesh.positions, np.float32)
    triangles = np.ascontiguousarray(mesh.triangles, np.int32)
    counts["degenerate"] += degenerate_count(positions, triangles)
    uvs = None if mesh.uvs is None else np.ascontiguousarray(mesh.uvs, np.float32)
    if uvs is not None and not np.isfinite(uvs).all():
        counts["uvs"] += int(np.count_nonzero(~np.isfinite(uvs).all(axis=1)))
        uvs = np.where(np.isfinite(uvs), uvs, 0.0).astype(np.float32)
    normals = _usable_normals(mesh.normals, positions, triangles, uvs is not None, counts, owners)
    keys = mesh.key_frames
    if keys is not None:
        key_positions = np.ascontiguousarray(keys.positions, np.float32)
        key_normals = [
            _usable_normals(
                None if keys.normals is None else keys.normals[i], key_positions[i], triangles, uvs is not None, counts
            )
            for i in range(len(key_positions))
        ]
        keys = KeyFrames(keys.times, key_positions, np.stack(key_normals))
    morph = mesh.morph_targets and _finish_morph(mesh.morph_targets, positions, triangles, uvs is not None)
    return dataclasses.replace(
        mesh, positions=positions, triangles=triangles, uvs=uvs, normals=normals, key_frames=keys, morph_targets=morph
    )


def _finish_morph(morph: MorphTargets, positions: np.ndarray, triangles: np.ndarray, weld: bool) -> MorphTargets:
    """Targets that bring no normals get those of their shape, as differences too."""
    moved = np.ascontiguousarray(morph.positions, np.float32)
    if morph.normals is not None:
        return MorphTargets(moved, np.ascontiguousarray(morph.normals, np.float32), morph.weights)
    base = smooth_normals(positions, triangles, weld)
    return MorphTargets(
        moved, np.stack([smooth_normals(positions + shift, triangles, weld) - base for shift in moved]), morph.weights
    )


def _usable_normals(
    normals: np.ndarray | None,
    positions: np.ndarray,
    triangles: np.ndarray,
    weld: bool,
    counts: Counter[str],
    owners: np.ndarray | None = None,
) -> np.ndarray:
    if normals is None:
        return smooth_normals(positions, triangles, weld, owners)
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals, dtype=np.float64))
    good = (lengths > 1e-12) & (lengths < HUGE)
    result = (normals / np.where(good, lengths, 1.0)[:, None]).astype(np.float32)
    if not good.all():
        counts["normals"] += int(np.count_nonzero(~good))
        result[~good] = smooth_normals(positions, triangles, weld, owners)[~good]
    return result


def degenerate_count(positions: np.ndarray, triangles: np.ndarray, chunk: int = 2_000_000) -> int:
    """Triangles without area: two equal corners, or all three in a line (in float64)."""
    count, columns = 0, columns_of(positions)
    for start in range(0, len(triangles), chunk):
        crosses = crosses_of(columns, np.ascontiguousarray(triangles[start : start + chunk].T, np.intp))
        count += int(np.count_nonzero((crosses == 0.0).all(axis=0)))
    return count

"""The one sanitiser that every scene passes after its reader: what leaves here is finite, in range and safe to draw.

Triangles at vertices that are not finite or beyond 1e18, and triangles with an index out of range, are dropped and
counted; degenerate triangles are kept and counted; vertices that no triangle uses go. Each thing done becomes a
`Remark`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np

from raygrove.gpu.scene import KeyFrames, Mesh, MorphTargets, Object, Remark, Scene, Skin, Spheres, Texture

from .bounds import scene_box
from .errors import SceneError, display_path
from .joining import with_vertices
from .normals import smooth_normals
from .origin import near_origin
from .overlap import overlap_remarks
from .sanitise_glyphs import clean_glyphs
from .sanitise_graph import clean_clips, clean_nodes, clean_places
from .sanitise_materials import clean_materials
from .sanitise_spheres import clean_spheres, finish_spheres

HUGE = 1e18
WEIGHT_TOLERANCE = 0.01
"""How far from one a vertex's joint weights may add up without being counted: files round them to bytes."""
SENTENCES = {
    "not_finite": "Triangles with a coordinate that is not a number, infinite or beyond 1e18 were dropped.",
    "out_of_range": "Triangles with an index out of range were dropped.",
    "degenerate": "Triangles without any area were kept; no ray hits them.",
    "unreferenced": "Vertices that no triangle uses were left out.",
    "normals": "Vertices without a usable normal got one from the triangles around them.",
    "uvs": "Texture coordinates that are not finite were set to 0.",
    "material": "Triangles of a material that the file does not have are drawn plain.",
    "texture": "Materials with a texture that cannot be used are drawn in a plain colour.",
    "deformer": "Skins, morph targets or key frames that do not fit their mesh were left out.",
    "spheres": "Spheres whose radius is not above 0, or that are not finite or beyond 1e18, are not drawn.",
    "spheres_shape": "Groups of spheres with other numbers of centres than of radii were left out.",
    "glyphs": "Glyphs with a size that is not above 0, or that are not finite or beyond 1e18, are not drawn.",
    "points": "Points with a radius that is not above 0, or that are not finite or beyond 1e18, are not drawn.",
    "glyphs_shape": "Groups of glyphs whose arrays do not fit one another, or that link nothing, were left out.",
    "attribute": "Attributes that do not have a value for every sphere were left out.",
    "box": "Periodic boxes without a volume, or that do not fit the key frames, were left out.",
    "empty": "Meshes of which no triangle is left, and groups without a sphere, were left out.",
    "node": "Nodes with a transform that is not finite, or with a wrong parent, were reset.",
    "weights": (
        "Vertices with joint weights that do not add up to one: they were scaled, or given to the first joint "
        "where there were none."
    ),
    "clip": "Clips without a usable key frame were left out.",
    "keys": "Key frames out of order or at the same time were sorted, in so many tracks; of those at the same time the "
    "last one counts.",
    "track": "Tracks that are empty or not finite were left out, or cut to what is.",
    "place": "Lights or cameras with values that are not finite, or at a node that is not there, were left out.",
}


def sanitise(scene: Scene, path: str = "") -> Scene:
    """The scene made safe, with `origin`, `lower`, `upper` and `remarks` set; `SceneError` where no triangle (nor
    sphere) is left.

    Positions may come as float64 and leave as float32 relative to `origin`.
    """
    counts: Counter[str] = Counter()
    scene = clean_nodes(scene, counts)
    scene = dataclasses.replace(scene, textures=tuple(clean_texture(t) for t in scene.textures))
    scene = clean_materials(scene, counts)
    scene = _clean_objects(scene, counts)
    if not scene.objects:
        raise _nothing_left(scene, counts, path)
    scene = clean_places(clean_clips(scene, counts), counts)
    scene = near_origin(scene)
    scene = dataclasses.replace(
        scene,
        meshes=tuple(_finish_mesh(mesh, counts) for mesh in scene.meshes),
        spheres=tuple(finish_spheres(spheres) for spheres in scene.spheres),
    )
    lower, upper = scene_box(scene)
    scene = dataclasses.replace(scene, lower=_triple(lower), upper=_triple(upper))
    remarks = [Remark(counts[key], sentence) for key, sentence in SENTENCES.items() if counts[key]]
    return dataclasses.replace(scene, remarks=(*scene.remarks, *remarks, *overlap_remarks(scene)))


def _nothing_left(scene: Scene, counts: Counter[str], path: str) -> SceneError:
    dropped = counts["not_finite"] + counts["out_of_range"]
    why = (
        f"all {dropped:,} of them have coordinates or indices that are not usable"
        if dropped
        else "it holds only points or lines, or nothing"
    )
    if scene.sphere_count:
        return SceneError(
            f"{display_path(path or scene.name)} has nothing to draw: none of its {scene.sphere_count:,} spheres has a "
            f"centre below 1e18 and a radius above 0. Correct its columns, or give another radius.",
            path,
        )
    return SceneError(f"{display_path(path or scene.name)} has no triangles: {why}. Open a file with a mesh.", path)


def _triple(values: np.ndarray) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def clean_texture(texture: Texture) -> Texture:
    """The texture as contiguous RGBA8; one of another shape becomes a white texel."""
    pixels = texture.pixels
    if pixels.ndim != 3 or pixels.shape[2] != 4 or pixels.dtype != np.uint8 or 0 in pixels.shape:
        pixels = np.full((1, 1, 4), 255, np.uint8)
    return dataclasses.replace(texture, pixels=np.ascontiguousarray(pixels))


def _clean_objects(scene: Scene, counts: Counter[str]) -> Scene:
    """Clean every mesh and all spheres and glyphs that an object shows, and renumber; objects of spheres come after
    those of meshes, then those of glyphs."""
    meshes: list[Mesh] = []
    spheres: list[Spheres] = []
    mesh_ids: dict[int, int] = {-1: -1}
    sphere_ids: dict[int, int] = {-1: -1}
    for thing in scene.objects:
        if thing.mesh not in mesh_ids and 0 <= thing.mesh < len(scene.meshes):
            mesh = clean_mesh(scene.meshes[thing.mesh], len(scene.materials), len(scene.nodes), counts)
            mesh_ids[thing.mesh] = len(meshes) if len(mesh.triangles) else -1
            meshes += [mesh] if len(mesh.triangles) else []
            counts["empty"] += not len(mesh.triangles)
        if thing.spheres not in sphere_ids and 0 <= thing.spheres < len(scene.spheres):
            group = clean_spheres(scene.spheres[thing.spheres], len(scene.materials), counts)
            sphere_ids[thing.spheres] = len(spheres) if group is not None else -1
            spheres += [] if group is None else [group]
            counts["empty"] += group is None
    placed = [t for t in scene.objects if 0 <= t.node < len(scene.nodes)]
    objects = [Object(t.node, mesh_ids[t.mesh]) for t in placed if mesh_ids.get(t.mesh, -1) >= 0]
    objects += [Object(t.node, spheres=sphere_ids[t.spheres]) for t in placed if sphere_ids.get(t.spheres, -1) >= 0]
    cleaned = [clean_glyphs(g, len(scene.materials), spheres, sphere_ids, counts) for g in scene.glyphs]
    numbers = np.cumsum([group is not None for group in cleaned]) - 1
    glyphs = tuple(group for group in cleaned if group is not None)
    for thing in placed:
        if 0 <= thing.glyphs < len(cleaned) and cleaned[thing.glyphs] is not None:
            objects.append(Object(thing.node, glyphs=int(numbers[thing.glyphs])))
    parts = {"meshes": tuple(meshes), "spheres": tuple(spheres), "glyphs": glyphs, "objects": tuple(objects)}
    return dataclasses.replace(scene, **parts)  # type: ignore[arg-type]


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
    good = (np.abs(mesh.positions) <= HUGE).all(axis=1)
    for moved in (mesh.key_frames, mesh.morph_targets):
        for positions in moved.positions if moved is not None else ():
            good &= (np.abs(positions) <= HUGE).all(axis=1)
    return good


def _finish_mesh(mesh: Mesh, counts: Counter[str]) -> Mesh:
    """float32, contiguous, normals for every vertex and key, degenerate triangles counted."""
    positions = np.ascontiguousarray(mesh.positions, np.float32)
    triangles = np.ascontiguousarray(mesh.triangles, np.int32)
    counts["degenerate"] += degenerate_count(positions, triangles)
    uvs = None if mesh.uvs is None else np.ascontiguousarray(mesh.uvs, np.float32)
    if uvs is not None and not np.isfinite(uvs).all():
        counts["uvs"] += int(np.count_nonzero(~np.isfinite(uvs).all(axis=1)))
        uvs = np.where(np.isfinite(uvs), uvs, 0.0).astype(np.float32)
    normals = _usable_normals(mesh.normals, positions, triangles, uvs is not None, counts)
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
    normals: np.ndarray | None, positions: np.ndarray, triangles: np.ndarray, weld: bool, counts: Counter[str]
) -> np.ndarray:
    if normals is None:
        return smooth_normals(positions, triangles, weld)
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals, dtype=np.float64))
    good = (lengths > 1e-12) & (lengths < HUGE)
    result = (normals / np.where(good, lengths, 1.0)[:, None]).astype(np.float32)
    if not good.all():
        counts["normals"] += int(np.count_nonzero(~good))
        result[~good] = smooth_normals(positions, triangles, weld)[~good]
    return result


def degenerate_count(positions: np.ndarray, triangles: np.ndarray, chunk: int = 2_000_000) -> int:
    """Triangles without area: two equal corners, or all three in a line (in float64)."""
    count = 0
    for start in range(0, len(triangles), chunk):
        corners = positions[triangles[start : start + chunk]].astype(np.float64)
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        count += int(np.count_nonzero((cross == 0.0).all(axis=1)))
    return count

"""The one sanitiser that every scene passes after its reader: what leaves here is finite, in range and safe to draw.

Triangles at vertices that are not finite or beyond 1e18, and triangles with an index out of range, are dropped and
counted; degenerate triangles are kept and counted; vertices that no triangle uses go. Each thing done becomes a
`Remark`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.scene import Mesh, Object, Remark, Scene, Spheres, Texture

from .bounds import scene_box
from .errors import SceneError, display_path
from .mesh_stack import MeshStack, numbers_of
from .origin import near_origin
from .overlap import overlap_remarks
from .sanitise_glyphs import clean_glyphs
from .sanitise_graph import clean_clips, clean_nodes, clean_places
from .sanitise_materials import clean_materials
from .sanitise_meshes import are_sound, clean_mesh, finish_meshes
from .sanitise_spheres import clean_spheres, finish_spheres

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
    scene, are_plain = _clean_objects(scene, counts)
    if not scene.objects:
        raise _nothing_left(scene, counts, path)
    scene = clean_places(clean_clips(scene, counts), counts)
    rest = scene_box(scene, with_clips=False)
    near = near_origin(scene, rest)
    is_known = near is scene and not (scene.clips or scene.spheres or scene.glyphs)
    is_known = is_known and _are_rounded(scene.meshes)
    scene = dataclasses.replace(
        near,
        meshes=finish_meshes(near.meshes, counts, are_plain if near is scene else ()),
        spheres=tuple(finish_spheres(spheres) for spheres in near.spheres),
    )
    lower, upper = rest if is_known else scene_box(scene)  # rounding to float32 may have moved its corners
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


def _are_rounded(meshes: Sequence[Mesh]) -> bool:
    """Whether no position will change by being rounded to float32."""
    return isinstance(meshes, MeshStack) or all(mesh.positions.dtype == np.float32 for mesh in meshes)


def _shows_all_in_order(scene: Scene) -> bool:
    """Whether objects show meshes alone, all of them, and each for the first time after the one before it: then
    nothing is left out or renumbered."""
    if scene.spheres or scene.glyphs or not scene.objects:
        return False
    nodes, shown, spheres, glyphs = (numbers_of(scene.objects, name) for name in ("node", "mesh", "spheres", "glyphs"))
    if ((nodes < 0) | (nodes >= len(scene.nodes)) | (spheres != -1) | (glyphs != -1) | (shown < 0)).any():
        return False
    latest = np.maximum.accumulate(shown)
    steps = np.diff(latest, prepend=-1)
    return bool((steps <= 1).all() and latest[-1] == len(scene.meshes) - 1)


def _clean_objects(scene: Scene, counts: Counter[str]) -> tuple[Scene, list[bool]]:
    """Clean every mesh and all spheres and glyphs that an object shows, and renumber; objects of spheres come after
    those of meshes, then those of glyphs. Also which of the meshes were plain and sound before."""
    meshes: list[Mesh] = []
    are_plain: list[bool] = []
    spheres: list[Spheres] = []
    mesh_ids: dict[int, int] = {-1: -1}
    sphere_ids: dict[int, int] = {-1: -1}
    sound = are_sound(scene.meshes, len(scene.materials))
    if isinstance(scene.meshes, MeshStack) and all(sound) and _shows_all_in_order(scene):
        return scene, sound
    for thing in scene.objects:
        if thing.mesh not in mesh_ids and 0 <= thing.mesh < len(scene.meshes):
            mesh = scene.meshes[thing.mesh]
            if not sound[thing.mesh]:
                mesh = clean_mesh(mesh, len(scene.materials), len(scene.nodes), counts)
            mesh_ids[thing.mesh] = len(meshes) if len(mesh.triangles) else -1
            if len(mesh.triangles):
                meshes.append(mesh)
                are_plain.append(sound[thing.mesh])
            else:
                counts["empty"] += 1
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
    return dataclasses.replace(scene, **parts), are_plain  # type: ignore[arg-type]

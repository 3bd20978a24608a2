"""Assimp's scene -> our Scene: nodes, meshes, skins, morph targets, lights, cameras (materials and clips in their own
files)."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from raygrove.gpu.scene import Light, Mesh, MorphTargets, Node, Object, Remark, Scene, SceneCamera, Skin, Track

from . import assimp
from .assimp_animation import AnimationReader
from .assimp_file import INDEXED, AssimpFile, vectors
from .assimp_materials import GLTF, MaterialReader
from .assimp_small import SmallMeshes
from .assimp_textures import Placement
from .bright_lights import tamed
from .cuts import cut_short, shortfall
from .errors import SceneError, display_path
from .face_colours import with_face_colours
from .file_kinds import other_kind
from .gltf_tracks import Key, exact_tracks
from .joining import joined
from .limits import ImportLimits
from .mesh_stack import as_meshes, triangle_counts_of
from .references import References
from .sanitise import SENTENCES
from .sanitise_meshes import WEIGHT_TOLERANCE
from .transforms import node_of, nodes_of
from .winding import with_fronts

MAX_NODES = 1_000_000
FEW = 16
"""Up to so many children it is not worth it to look at all of them together."""
DIRECTIONAL = 1
LIGHTS = {DIRECTIONAL: "directional", 2: "point", 3: "spot", 5: "rectangle"}
# Assimp hands out half the horizontal angle of view for these and the whole one for the others (its issue 5691).
HALF_ANGLES = frozenset({"fbx", "blend"})
PERCENT_LIGHTS = frozenset({"fbx"})


def read_scene(name: str, data: bytes | None, extension: str, limits: ImportLimits) -> Scene:
    """The file `name` of the current folder (or `data` in its place) as a Scene that is not yet sanitised; `SceneError`
    where it cannot."""
    with AssimpFile(name, data, extension, References(".", limits.allow_outside), limits) as file:
        if not file.has_faces():
            raise no_triangles(name, data, extension, file.bad_face_count)
        flags = assimp.TRIANGULATE | assimp.SORT_BY_TYPE
        file.process(flags | file.join_flag())
        scene = SceneReader(file, limits, exact_tracks(name, file.data, extension, file.references)).read()
        return with_face_colours(scene, name, file.data) if extension == "ply" else scene


def no_triangles(name: str, data: bytes | None, extension: str, bad_faces: int = 0) -> SceneError:
    """What a file of points or lines gets, or one that ends before its first face."""
    text = data if data is not None else Path(name).read_bytes()
    if kind := other_kind(text, extension):
        return SceneError(f"{display_path(os.path.abspath(name))} cannot be read: {kind}.", name)
    missing = shortfall(text, extension)
    if missing:
        return cut_short(name, missing)
    if bad_faces:
        why = f"each of its {bad_faces:,} faces names a vertex that is not there"
        return SceneError(f"{display_path(os.path.abspath(name))} is damaged: {why}. Export it again.", name)
    return SceneError(
        f"{display_path(os.path.abspath(name))} has no triangles: it holds only points or lines, or nothing. Open a "
        "file "
        f"with a mesh.",
        name,
    )


class SceneReader:
    """Turns what an `AssimpFile` holds into a Scene; everything is copied out of Assimp's memory."""

    def __init__(self, file: AssimpFile, limits: ImportLimits, exact: Mapping[Key, Track] | None = None) -> None:
        self.file, self.limits, self.scene, self.exact = file, limits, file.scene, exact or {}
        self.materials = MaterialReader(file, Path("."), limits.texture_size)
        self.nodes: list[Node] = []
        self.node_ids: dict[str, int] = {}
        self.meshes_of_nodes = (np.zeros(0, np.int64), np.zeros(0, np.uint32))
        self.sheared_count = self.trimmed_count = self.colored_count = self.unbalanced_count = 0

    def read(self) -> Scene:
        """The whole scene."""
        self._read_nodes()
        materials = self.materials.read()
        mesh_ids, meshes = self._read_meshes()
        # What is -1 has no triangle, or is none of the file's.
        placed = mesh_ids[np.minimum(self.meshes_of_nodes[1], len(mesh_ids) - 1)]
        is_there = placed >= 0
        objects = tuple(map(Object, self.meshes_of_nodes[0][is_there].tolist(), placed[is_there].tolist()))
        self._check_size(meshes, placed[is_there])
        animations = AnimationReader(self.scene, self.nodes, self.node_ids, self.exact)
        clips = animations.read()
        lights, light_remarks = self._lights()
        cameras = self._cameras()
        remarks = [*self.file.remarks(), *self.materials.remarks(), *animations.remarks(), *light_remarks]
        remarks += self._remarks()
        scene = Scene(
            name=Path(self.file.name).name, nodes=tuple(self.nodes), meshes=meshes, objects=objects,
            materials=materials,
            textures=tuple(self.materials.textures), lights=lights, cameras=cameras, clips=clips,
            remarks=tuple(remarks),
        )  # fmt: skip
        return with_fronts(tamed(scene) if self.file.extension in PERCENT_LIGHTS else scene)

    def _read_nodes(self) -> None:
        """Nodes parents first, and the meshes that hang from them."""
        # What a node needs of its own is found one after another; what all have, together.
        stack = [(ctypes.addressof(self.scene.root.contents), False, -1)]
        addresses: list[int] = []
        parents: list[int] = []
        while stack:
            address, is_leaf, parent = stack.pop()
            index = len(addresses)
            if index >= MAX_NODES:
                raise SceneError(
                    f"{display_path(self.file.name)} has more than {MAX_NODES:,} nodes. Export it with fewer, joined "
                    "objects.",
                    self.file.name,
                )
            addresses.append(address)
            parents.append(parent)
            if is_leaf:
                continue
            children, are_leaves = _children(address)
            if all(are_leaves) and len(addresses) + len(children) <= MAX_NODES:
                addresses += children
                parents += [index] * len(children)
            else:
                stack += [(*child, index) for child in reversed(list(zip(children, are_leaves, strict=True)))]
        places = np.array(addresses, np.int64)
        counts = assimp.field(places, assimp.Node, "mesh_count").astype(np.int64)
        shown = np.flatnonzero(counts)
        if shown.size:
            meshes = assimp.blocks(assimp.field(places[shown], assimp.Node, "meshes"), counts[shown])
            self.meshes_of_nodes = (np.repeat(shown, counts[shown]), meshes)
        names = assimp.texts(places + assimp.Node.name.offset)
        matrices = assimp.field(places, assimp.Node, "transformation").view(np.float32)
        transforms = matrices.reshape(-1, 4, 4).astype(np.float64)
        transforms[~np.isfinite(transforms).all(axis=(1, 2))] = np.eye(4)
        self.nodes, self.sheared_count = nodes_of(names, parents, transforms)
        self.node_ids = dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))  # the first of a name

    def _read_meshes(self) -> tuple[np.ndarray, tuple[Mesh, ...]]:
        """Where each of Assimp's meshes went, -1 for those without a triangle and behind the last; and those with."""
        mesh_ids = np.full(self.scene.mesh_count + 1, -1)
        small = SmallMeshes(self.scene, self.materials.placements)
        self.colored_count += small.colored_count
        if small.covers == self.scene.mesh_count:
            mesh_ids[small.numbers] = np.arange(len(small.numbers))
            return mesh_ids, as_meshes(small.stack) if len(small.stack) else ()
        meshes: list[Mesh] = []
        for index in range(self.scene.mesh_count):
            mesh = small.meshes[index] if index in small.meshes else self._mesh(self.scene.meshes[index].contents)
            if mesh is not None:
                mesh_ids[index] = len(meshes)
                meshes.append(mesh)
        return mesh_ids, tuple(meshes)

    def _mesh(self, source: assimp.Mesh) -> Mesh | None:
        """One of Assimp's meshes; None without a triangle."""
        triangles = assimp.triangles_of(source)
        if not len(triangles) or not source.vertices:
            return None
        count = source.vertex_count
        positions = vectors(source.vertices, count)
        assert positions is not None
        uvs = self._uvs(source)
        self.colored_count += bool(source.colors[0])
        material_ids = np.full(len(triangles), source.material, np.int32)
        mesh = Mesh(
            source.name.text, positions, triangles.astype(np.int32), material_ids, vectors(source.normals, count), uvs,
            skin=self._skin(source), morph_targets=self._morph_targets(source, positions),
        )  # fmt: skip
        is_deformed = mesh.skin is not None or mesh.morph_targets is not None
        return joined(mesh) if is_deformed and self.file.extension not in INDEXED else mesh

    def _uvs(self, source: assimp.Mesh) -> np.ndarray | None:
        """Texture coordinates of the set that the material's texture uses, v downwards, with its transform."""
        placements = self.materials.placements
        placement = placements[source.material] if source.material < len(placements) else Placement()
        uvs = vectors(source.uvs[placement.uv_set], source.vertex_count, 2)
        if uvs is not None:
            uvs[:, 1] = 1.0 - uvs[:, 1]
            if placement.matrix is not None:
                uvs = (uvs @ placement.matrix[:, :2].T + placement.matrix[:, 2]).astype(np.float32)
        return uvs

    def _skin(self, source: assimp.Mesh) -> Skin | None:
        """Four joints per vertex, the heaviest ones, weights adding up to 1; a vertex without any hangs from the first
        joint."""
        bones = [source.bones[i].contents for i in range(source.bone_count)]
        bones = [bone for bone in bones if bone.name.text in self.node_ids]
        if not bones:
            return None
        pairs = [assimp.view(bone.weights, assimp.VERTEX_WEIGHT, (bone.count,)) for bone in bones]
        slots = np.repeat(np.arange(len(bones)), [len(p) for p in pairs])
        vertices = np.concatenate([p["vertex"] for p in pairs]).astype(np.int64)
        weights = np.concatenate([p["weight"] for p in pairs])
        keep = (vertices < source.vertex_count) & np.isfinite(weights) & (weights > 0.0)
        joint_ids, weights = self._heaviest(slots[keep], vertices[keep], weights[keep], source.vertex_count)
        return Skin(
            joints=np.array([self.node_ids[bone.name.text] for bone in bones], np.int32),
            inverse_bind=np.array([_finite(assimp.matrix(bone.offset)) for bone in bones], np.float32),
            joint_ids=joint_ids,
            weights=weights,
        )

    def _heaviest(
        self, slots: np.ndarray, vertices: np.ndarray, weights: np.ndarray, count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        sums = np.bincount(vertices, weights, count)
        self.unbalanced_count += int(np.count_nonzero(np.abs(sums - 1.0) > WEIGHT_TOLERANCE))
        order = np.lexsort((-weights, vertices))
        vertices, weights, slots = vertices[order], weights[order], slots[order]
        rank = np.arange(len(vertices)) - np.searchsorted(vertices, vertices)
        self.trimmed_count += len(np.unique(vertices[rank >= 4]))
        keep = rank < 4
        joint_ids, result = np.zeros((count, 4), np.int32), np.zeros((count, 4), np.float32)
        joint_ids[vertices[keep], rank[keep]] = slots[keep]
        result[vertices[keep], rank[keep]] = weights[keep]
        sums = result.sum(axis=1, keepdims=True)
        result[sums[:, 0] <= 0.0, 0] = 1.0
        return joint_ids, result / np.where(sums > 0.0, sums, 1.0)

    def _morph_targets(self, source: assimp.Mesh, positions: np.ndarray) -> MorphTargets | None:
        """Assimp's targets hold absolute positions; ours hold differences."""
        targets = [source.anim_meshes[i].contents for i in range(source.anim_mesh_count)]
        if not targets or any(target.vertex_count != source.vertex_count for target in targets):
            return None
        moved = [vectors(target.vertices, source.vertex_count) for target in targets]
        turned = [vectors(target.normals, source.vertex_count) for target in targets]
        base = vectors(source.normals, source.vertex_count)
        has_normals = base is not None and all(normals is not None for normals in turned)
        return MorphTargets(
            positions=np.stack(
                [np.zeros_like(positions) if points is None else points - positions for points in moved]
            ),
            normals=np.stack([normals - base for normals in turned]) if has_normals else None,  # type: ignore[operator]
            weights=np.array([target.weight for target in targets], np.float32),
        )

    def _check_size(self, meshes: Sequence[Mesh], placed: np.ndarray) -> None:
        count = int(triangle_counts_of(meshes)[placed].sum())
        if count > self.limits.max_triangles:
            raise SceneError(
                f"{display_path(self.file.name)} has {count:,} triangles and the limit is "
                f"{self.limits.max_triangles:,}. "
                f"Raise import.max_triangles "
                "if the memory allows, or open a smaller model.",
                self.file.name,
            )

    def _lights(self) -> tuple[tuple[Light, ...], list[Remark]]:
        sources = [self.scene.lights[index].contents for index in range(self.scene.light_count)]
        unit = 0.01 if self.file.extension in PERCENT_LIGHTS else 1.0
        cone = 1.0 if self.file.extension in GLTF else 0.5
        read = [_light(source, self.node_ids, unit, cone) for source in sources]
        lost = read.count(None)
        return tuple(light for light in read if light), [
            Remark(lost, "Lights of another kind (ambient) were left out.")
        ] if lost else []

    def _cameras(self) -> tuple[SceneCamera, ...]:
        """A camera that does not look along -Z of its node gets a node of its own that does."""
        cameras = []
        for index in range(self.scene.camera_count):
            source = self.scene.cameras[index].contents
            name = source.name.text
            node = self.node_ids.get(name, 0)
            frame = _camera_frame(source)
            if not np.allclose(frame, np.eye(4), atol=1e-6):
                self.nodes.append(node_of(f"{name} view", node, frame))
                node = len(self.nodes) - 1
            aspect = source.aspect if source.aspect > 0.0 else 1.0
            half = source.horizontal_fov if self.file.extension in HALF_ANGLES else source.horizontal_fov / 2.0
            half = min(max(half, 1e-3), math.pi / 2.0 - 1e-3) if math.isfinite(half) else math.pi / 8.0
            cameras.append(
                SceneCamera(name or f"camera {index + 1}", node, math.degrees(2.0 * math.atan(math.tan(half) / aspect)))
            )
        return tuple(cameras)

    def _remarks(self) -> list[Remark]:
        counted = [
            (self.file.bad_face_count, "Faces with an index out of range were dropped."),
            (self.sheared_count, "Nodes with a shear: the shear was left out, the rest of their transform was kept."),
            (self.trimmed_count, "Vertices have more than four joint weights: the four largest are used."),
            (self.unbalanced_count, SENTENCES["weights"]),
            (self.colored_count, "Meshes have vertex colours, which are not drawn."),
        ]
        remarks = [Remark(count, sentence) for count, sentence in counted if count]
        if self.file.complaint:
            remarks.append(
                Remark(
                    1, f"The file contradicts itself and was read as far as it goes; Assimp says: {self.file.complaint}"
                )
            )
        return remarks


def _children(address: int) -> tuple[list[int], list[bool]]:
    """Where the children of one of Assimp's nodes lie, and whether each has none of its own, as far as is known."""
    source = assimp.Node.from_address(address)
    places = assimp.addresses_of(source.children, source.child_count)
    if len(places) <= FEW:
        return places.tolist(), [False] * len(places)
    leaves = assimp.field(places, assimp.Node, "child_count") == 0
    return places.tolist(), leaves.tolist()


def _light(source: assimp.Light, node_ids: Mapping[str, int], unit: float, cone: float) -> Light | None:
    """One of Assimp's lights, None for an ambient one. `cone` is half the angle over what the format gives: glTF's are
    half, the others' whole."""
    if source.kind not in LIGHTS:
        return None
    falloff = source.quadratic if source.quadratic > 0.0 and source.kind != DIRECTIONAL else 1.0
    red, green, blue = (float(source.diffuse[k]) * unit / falloff for k in range(3))
    position, direction, up = (_triple(vector) for vector in (source.position, source.direction, source.up))
    area = (float(source.size[0]), float(source.size[1]))
    outer = min(max(math.degrees(source.outer_cone) * cone, 0.0), 180.0) if math.isfinite(source.outer_cone) else 45.0
    inner = min(max(math.degrees(source.inner_cone) * cone, 0.0), outer) if math.isfinite(source.inner_cone) else 0.0
    return Light(
        LIGHTS[source.kind], (red, green, blue), position, direction if any(direction) else (0.0, 0.0, -1.0),
        node_ids.get(source.name.text, -1),
        inner, outer, size=area if min(area) > 0.0 else (1.0, 1.0), up=up if any(up) else (0.0, 1.0, 0.0),
        name=source.name.text,
    )  # fmt: skip


def _triple(vector: Any) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])


def _camera_frame(source: assimp.Camera) -> np.ndarray:
    """The camera's frame in its node: looks along -Z, +Y up."""
    look, up = np.array(source.look_at, np.float64), np.array(source.up, np.float64)
    frame = np.eye(4)
    frame[:3, 3] = np.nan_to_num(np.array(source.position, np.float64))
    right = np.cross(look, up)
    if np.isfinite(right).all() and np.linalg.norm(right) > 1e-9:
        back = -look / np.linalg.norm(look)
        right /= np.linalg.norm(right)
        frame[:3, :3] = np.stack([right, np.cross(back, right), back], axis=1)
    return frame


def _finite(matrix: np.ndarray) -> np.ndarray:
    return matrix if np.isfinite(matrix).all() else np.eye(4)

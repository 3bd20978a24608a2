"""Several files of one topology -> one scene with key frames.

Every frame is loaded unjoined, its faces are compared with the first frame's, and the vertices are joined by the first
frame's map; a vertex that later frames pull apart is split. Assimp triangulates by shape, so the first frame's
triangles are everybody's.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from raygrove.gpu.scene import KeyFrames, Mesh, Remark, Scene

from . import assimp
from .assimp_file import AssimpFile, corners_of, vectors
from .assimp_scene import SceneReader, no_triangles
from .compressed import inner_name, is_packed, unpack
from .cuts import cut_short, shortfall
from .errors import SceneError, display_path
from .face_colours import with_face_colours
from .files import extension_of
from .joining import groups_of_rows, with_vertices
from .limits import ImportLimits
from .recentre import far_origin, shifted
from .references import References

OBJ_FACE = re.compile(rb"^[ \t]*f[ \t]+([^\r\n]*)", re.MULTILINE)
OBJ_REST = re.compile(rb"/[^ \t\n]*")


@dataclasses.dataclass
class Frame:
    """What must agree between frames, and what may differ. Lists run over Assimp's meshes, with vertices as the file
    has them."""

    corner_counts: list[np.ndarray]
    corners: list[np.ndarray]
    positions: list[np.ndarray]
    normals: list[np.ndarray | None]
    transforms: np.ndarray

    def counts(self) -> str:
        """Vertices and faces, in words."""
        faces, vertices = sum(map(len, self.corner_counts)), sum(map(len, self.positions))
        return f"{len(self.positions)} meshes, {faces:,} faces, {vertices:,} corners"


class Growing:
    """One mesh whose key frames are joined as they come: `groups` maps the file's vertices to ours, `first` back to one
    of each."""

    def __init__(self, frame: Frame, mesh_id: int, uvs: np.ndarray | None) -> None:
        self.mesh_id = mesh_id
        columns = [frame.positions[mesh_id], frame.normals[mesh_id], uvs]
        self.groups, self.first = groups_of_rows([column for column in columns if column is not None])
        self.positions: list[np.ndarray] = []
        self.normals: list[np.ndarray] = []

    def add(self, frame: Frame) -> None:
        """Take the next key frame; split vertices that it pulls apart."""
        positions, normals = frame.positions[self.mesh_id], frame.normals[self.mesh_id]
        if not np.array_equal(positions[self.first][self.groups], positions):
            groups, first = groups_of_rows([positions], self.groups)
            back = self.groups[first]
            self.positions = [kept[back] for kept in self.positions]
            self.normals = [kept[back] for kept in self.normals]
            self.groups, self.first = groups, first
        self.positions.append(positions[self.first])
        if normals is not None:
            self.normals.append(normals[self.first])

    def finish(self, mesh: Mesh, times: np.ndarray) -> Mesh:
        """The joined mesh with its key frames."""
        mesh = with_vertices(
            dataclasses.replace(mesh, skin=None, morph_targets=None), self.first, self.groups[mesh.triangles]
        )
        has_normals = len(self.normals) == len(times)
        keys = KeyFrames(times, np.stack(self.positions), np.stack(self.normals) if has_normals else None)
        return dataclasses.replace(mesh, key_frames=keys)


def read_sequence(
    paths: Sequence[str], limits: ImportLimits, fps: float, progress: Callable[[float, str], None]
) -> Scene:
    """The scene of the first file with a key frame a file, `fps` of them a second; `SceneError` names a frame that does
    not fit."""
    reader = _FrameReader(limits)
    scene, first, mesh_ids = reader.read_first(paths[0])
    growing = [Growing(first, mesh_id, mesh.uvs) for mesh_id, mesh in zip(mesh_ids, scene.meshes, strict=True)]
    for number, path in enumerate(paths):
        frame = first if number == 0 else reader.read(path)
        if number:
            _compare(frame, first, path, paths[0])
        for mesh in growing:
            mesh.add(frame)
        progress(0.05 + 0.75 * (number + 1) / len(paths), f"Reading key frame {number + 1} of {len(paths)}")
    times = (np.arange(len(paths)) / fps).astype(np.float32)
    meshes = tuple(one.finish(mesh, times) for one, mesh in zip(growing, scene.meshes, strict=True))
    dropped = len(scene.clips) + sum(mesh.skin is not None or mesh.morph_targets is not None for mesh in scene.meshes)
    remarks = scene.remarks
    if dropped:
        remarks += (
            Remark(dropped, "Animations inside the files of a sequence are not played; the files are the key frames."),
        )
    name = f"{inner_name(paths[0])} and {len(paths) - 1} more"
    return dataclasses.replace(
        scene, name=name, meshes=meshes, clips=(), fps=fps, remarks=remarks, origin=reader.origin_triple()
    )


class _FrameReader:
    """Reads frame files one after another; remembers the first one's connections and origin."""

    def __init__(self, limits: ImportLimits) -> None:
        self.limits = limits
        self.origin: np.ndarray | None = None
        self.faces: bytes | None = None
        self.first_path = ""

    def origin_triple(self) -> tuple[float, float, float]:
        """The origin that was subtracted, or zero."""
        return (
            (0.0, 0.0, 0.0)
            if self.origin is None
            else (float(self.origin[0]), float(self.origin[1]), float(self.origin[2]))
        )

    def read_first(self, path: str) -> tuple[Scene, Frame, list[int]]:
        """The first frame as a scene, as a frame, and which of Assimp's meshes each of the scene's is."""
        self.first_path = path
        result = self._read_first(path)
        self.origin = far_origin(result[0], extension_of(path))
        return result if self.origin is None else self._read_first(path)

    def _read_first(self, path: str) -> tuple[Scene, Frame, list[int]]:
        with self._open(path) as file:
            if not file.has_faces():
                raise no_triangles(path, None, extension_of(path) if not is_packed(path) else "")
            frame = _frame(file)
            file.process(assimp.TRIANGULATE)
            mesh_ids = [i for i, mesh in enumerate(file.meshes()) if mesh.vertices and len(assimp.triangles_of(mesh))]
            scene = SceneReader(file, self.limits).read()
            if file.extension == "ply":
                scene = with_face_colours(scene, file.name, file.data)
            return scene, frame, mesh_ids

    def read(self, path: str) -> Frame:
        """A later frame."""
        with self._open(path) as file:
            return _frame(file)

    def _open(self, path: str) -> AssimpFile:
        os.chdir(os.path.dirname(path))
        extension = extension_of(path)
        data = unpack(path, self.limits) if is_packed(path) else None
        if extension == "obj":
            self._compare_connections(data if data is not None else Path(path).read_bytes(), path)
        else:
            missing = shortfall(data if data is not None else Path(path).read_bytes(), extension)
            if missing:
                raise cut_short(path, missing)
        if self.origin is not None:
            moved = shifted(data if data is not None else Path(path).read_bytes(), extension, self.origin)
            if moved is None:
                raise SceneError(
                    f"{display_path(path)} lies far from zero and its vertices cannot be moved nearer. Export the "
                    "frames "
                    f"nearer to zero.",
                    path,
                )
            data = moved
        try:
            return AssimpFile(
                os.path.basename(path), data, extension, References(".", self.limits.allow_outside), self.limits
            )
        except SceneError as error:
            raise SceneError(str(error), path) from error

    def _compare_connections(self, data: bytes, path: str) -> None:
        """Assimp hands an OBJ's corners out one by one: that two frames connect the same vertices is only seen in their
        text."""
        faces = b"\n".join(OBJ_FACE.findall(data))
        if self.faces is None:
            self.faces = faces
        if faces == self.faces:
            return
        ours, theirs = OBJ_REST.sub(b"", faces).split(b"\n"), OBJ_REST.sub(b"", self.faces).split(b"\n")
        if len(ours) != len(theirs):
            raise _different(path, self.first_path, f"{len(ours):,} faces", f"{len(theirs):,} faces")
        wrong = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a.split() != b.split()), None)
        if wrong is not None:
            here, there = (lines[wrong].decode("ascii", "replace").strip() for lines in (ours, theirs))
            raise _different(path, self.first_path, f"the vertices {here} at face {wrong + 1:,}", there)


def _frame(file: AssimpFile) -> Frame:
    meshes = file.meshes()
    found = [corners_of(mesh) for mesh in meshes]
    return Frame(
        corner_counts=[
            np.bincount(owner, minlength=mesh.face_count) for (_, owner), mesh in zip(found, meshes, strict=True)
        ],
        corners=[corners for corners, _ in found],
        positions=[_positions(mesh) for mesh in meshes],
        normals=[vectors(mesh.normals, mesh.vertex_count) for mesh in meshes],
        transforms=_transforms(file),
    )


def _positions(mesh: assimp.Mesh) -> np.ndarray:
    positions = vectors(mesh.vertices, mesh.vertex_count)
    return np.zeros((0, 3), np.float32) if positions is None else positions


def _transforms(file: AssimpFile) -> np.ndarray:
    """Every node's matrix, depth first."""
    matrices, stack = [], [file.scene.root.contents]
    while stack:
        node = stack.pop()
        matrices.append(assimp.matrix(node.transformation))
        stack += [node.children[i].contents for i in range(node.child_count)]
    return np.array(matrices)


def _compare(frame: Frame, first: Frame, path: str, first_path: str) -> None:
    """`SceneError` unless the frame has the first one's meshes, faces and node transforms."""
    is_same = len(frame.corners) == len(first.corners) and all(
        np.array_equal(a, b)
        for a, b in zip(frame.corner_counts + frame.corners, first.corner_counts + first.corners, strict=True)
    )
    if not is_same or [len(p) for p in frame.positions] != [len(p) for p in first.positions]:
        ours, theirs = frame.counts(), first.counts()
        raise _different(
            path, first_path, ours, theirs if ours != theirs else "as many, but its faces connect other vertices"
        )
    if frame.transforms.shape != first.transforms.shape or not np.allclose(
        frame.transforms, first.transforms, atol=1e-5
    ):
        raise SceneError(
            f"{display_path(path)} places its nodes otherwise than {display_path(os.path.basename(first_path))}; key "
            "frames may "
            f"move vertices only. "
            "Export the frames with their transforms applied, or one file with its animation.",
            path,
        )


def _different(path: str, first_path: str, ours: str, theirs: str) -> SceneError:
    return SceneError(
        f"{display_path(path)} does not fit the sequence: it has {ours}, and the first frame "
        f"{display_path(os.path.basename(first_path))} has {theirs}. "
        "All key frames need the same faces; leave the frame out or export it again.",
        path,
    )

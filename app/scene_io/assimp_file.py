"""One file in Assimp's memory: read, repaired, post-processed, released.

Two of Assimp's steps are left out on purpose. FindInvalidData deletes a whole mesh for one vertex that is not finite:
here `sanitise` drops the triangles at such vertices. FindDegenerates would turn thin triangles into lines; they are
kept and counted. A file that fails Assimp's validation, which one index out of range does, is read again without it:
bad faces are unhooked and counted, and a remark tells. Validation runs while reading and never later: libassimp 6.0.5
frees a scene twice when it fails in aiApplyPostProcessing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from raygrove.gpu.scene import Remark

from . import assimp
from .assimp_io import ModelFiles
from .assimp_log import parts_left_out
from .compressed import inner_name
from .costs import GLTF, affordable
from .cuts import cut_short, shortfall
from .damage import damage_of, facets_lost
from .errors import OutsideError, RefusedError, SceneError, display_path
from .faults import meaning_of, place_of_fault
from .file_kinds import other_kind
from .limits import ImportLimits
from .obj_materials import remarks_of
from .references import References
from .text_blocks import text_of

INDEXED = frozenset({"gltf", "glb", "vrm", "ply", "off"})
MAX_IN_MEMORY = (1 << 32) - 1
FBX = "fbx"
"""Of this format libassimp leaves out what it cannot read, and goes on."""
MILD = ("materials[", "images[")
"""Faults of a glTF that its shapes are whole without."""
COMPLAINT = "Validation failed"


class AssimpFile:
    """`with AssimpFile(name, data, extension) as file`: the file at `name` (relative to the current folder), or `data`
    in its place. What it names is read as `references` allow."""

    def __init__(
        self,
        name: str,
        data: bytes | None,
        extension: str,
        references: References | None = None,
        limits: ImportLimits | None = None,
    ) -> None:
        self.name, self.extension, self.references = name, extension, references or References()
        self.assimp = assimp.load_library()
        self.data = data = affordable(name, data, extension, limits or ImportLimits(), self.references)
        read_as = name if data is None else f"{Path(inner_name(name)).stem}.{extension}"
        self.files = ModelFiles(read_as, data, self.references)
        self.read_as = read_as.encode("utf-8", "surrogateescape")
        self.bad_face_count, self.complaint = 0, ""
        self.left_out: list[str] = []
        self.pointer = self._read(data, assimp.VALIDATE)
        if not self.pointer and self._words().startswith(COMPLAINT):
            self.complaint = self._words()
            self.pointer = self._read(data, 0)
        self._check("cannot be read", data)
        wrong = damage_of(name, data, extension)
        if extension == "stl" and not wrong:
            wrong = facets_lost(name, data, sum(mesh.face_count for mesh in self.meshes()))
        if self.left_out and not wrong and not any(mesh.face_count for mesh in self.meshes()):
            wrong = self.left_out[0]
        if wrong:
            self.__exit__(None, None, None)
            why = f"is damaged: {wrong}. Fetch it again, or export it once more."
            raise SceneError(f"{display_path(os.path.abspath(name))} {why}", name)
        if self.complaint:
            self._repair()
        if extension not in GLTF:  # which has triangles alone
            self._leave_out_empty_faces()

    def __enter__(self) -> AssimpFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.pointer:
            self.assimp.aiReleaseImport(self.pointer)
            self.pointer = None
        self.files.close()

    @property
    def scene(self) -> assimp.Scene:
        """The aiScene; valid inside the with block."""
        return self.pointer.contents

    def meshes(self) -> list[assimp.Mesh]:
        """The scene's meshes, those without a face too."""
        scene = self.scene
        return [scene.meshes[i].contents for i in range(scene.mesh_count)]

    def process(self, flags: int) -> None:
        """Apply Assimp's post-processing steps; `SceneError` with Assimp's words where one fails."""
        self.pointer = self.assimp.aiApplyPostProcessing(self.pointer, flags)
        self._check("is inconsistent")

    def join_flag(self) -> int:
        """JoinIdenticalVertices where the format comes unjoined; never over bones or morph targets, whose weights it
        does not compare."""
        if self.extension in INDEXED or any(mesh.bone_count or mesh.anim_mesh_count for mesh in self.meshes()):
            return 0
        return assimp.JOIN

    def has_faces(self) -> bool:
        """Whether any mesh has a face of three corners or more."""
        scene = self.scene
        meshes = (scene.meshes[i].contents for i in range(scene.mesh_count))  # mostly the first one has
        return any((faces_of(mesh)["count"] >= 3).any() for mesh in meshes)

    def remarks(self) -> list[Remark]:
        """What the file names and what was not read: what is refused, and material libraries that are missing."""
        found = self.references.remarks()
        if self.left_out:
            why = f"Parts that could not be read were left out, the first: {self.left_out[0]}."
            found.append(Remark(len(self.left_out), why))
        missing = [os.path.normpath(path) for path in self.files.missing]
        libraries = [path for path in missing if path.lower().endswith(".mtl")]
        if self.extension == "obj":  # whatever its name; behind the first one Assimp asks for pieces of that name
            libraries = list(dict.fromkeys([*missing[:1], *libraries]))
        # Behind a library that is not there Assimp asks for one that is called as the model is.
        stand_in = f"{Path(inner_name(self.name)).stem}.mtl"
        if libraries and stand_in not in map(os.path.normpath, self.files.opened):
            named = [path for path in libraries if path != stand_in]
            if not named and self.references.has_refused:
                return found  # which says already what became of the one that is named
            named = named or libraries
            listed = ", ".join(display_path(path) for path in named)
            advice = "Put it beside the model and open it again"
            found.append(Remark(len(named), f"Materials missing, drawn plain: {listed} was not found. {advice}."))
        elif self.extension == "obj" and not self.references.has_refused:
            opened = [path for path in self.files.opened if path != self.name]
            with contextlib.suppress(OSError), text_of(self.name, self.data) as text:
                found += remarks_of(text, opened)
        return found

    def _read(self, data: bytes | None, flags: int) -> Any:
        if data is not None and len(data) > MAX_IN_MEMORY:
            why = "unpacked it is larger than 4 GiB, more than Assimp reads from memory"
            raise SceneError(f"{display_path(self.name)}: {why}. Unpack the file first.", self.name)
        if self.extension != FBX:
            return self.assimp.aiImportFileEx(self.read_as, flags, ctypes.byref(self.files.struct))
        with parts_left_out(self.assimp) as self.left_out:
            return self.assimp.aiImportFileEx(self.read_as, flags, ctypes.byref(self.files.struct))

    def _words(self) -> str:
        return (self.assimp.aiGetErrorString() or b"").decode("utf-8", "replace").strip()

    def _check(self, verb: str, data: bytes | None = None) -> None:
        """`SceneError` where Assimp gave no scene. `data` is what it was to read in the place of the file, for a look
        at the text."""
        if self.pointer:
            return
        words = self._words() or "no reason given"
        if "bad_alloc" in words or "bad array new" in words:
            raise MemoryError(words)
        text = data if data is not None else Path(self.name).read_bytes()
        path = display_path(os.path.abspath(self.name))
        if kind := other_kind(text, self.extension):
            raise SceneError(f"{path} cannot be read: {kind}.", self.name)
        missing, fault = shortfall(text, self.extension), place_of_fault(text, self.extension)
        if missing and not fault:
            raise cut_short(self.name, missing)
        if not fault and (outside := self.references.outside()):
            why = f"files outside the model's folder, which were not read: {outside}"
            advice = "Copy them there, or open it all the same if you trust who made the model"
            raise OutsideError(f"{path} {verb} without {why}. {advice}.", self.name)
        meant = meaning_of(words)
        said = f"{path} {verb}: {meant}." if meant else f"{path} {verb}; Assimp says: {words.rstrip('.')}."
        if fault:
            said = f"{path} {verb}. The first fault: {fault}."
        place = f" It may be cut short: {missing}." if missing else ""
        for remark in self.references.remarks():
            place += f" {remark.sentence}"
        is_whole = not missing and (not fault or fault.startswith(MILD))
        refused = RefusedError if is_whole else SceneError
        raise refused(f"{said}{place} Check that the file is whole and of the type its name says.", self.name)

    def _leave_out_empty_faces(self) -> None:
        """Faces without a corner go behind the last that counts: libassimp, sorting by type, writes for them to where
        nothing of its own lies (SortByPTypeProcess.cpp, found under ASan)."""
        for mesh in self.meshes():
            faces = faces_of(mesh)
            if np.count_nonzero(faces["count"]) < len(faces):
                is_face = faces["count"] > 0
                faces[:] = np.concatenate([faces[is_face], faces[~is_face]])  # all of them are freed in the end
                mesh.face_count = int(np.count_nonzero(is_face))

    def _repair(self) -> None:
        """Make a point of every face with an index out of range, so that sorting by type takes it away, and tell the
        types that are there."""
        for mesh in self.meshes():
            faces = faces_of(mesh)
            flat, owner = corners_of(mesh)
            bad = np.unique(owner[flat >= mesh.vertex_count])
            if len(bad):
                self.bad_face_count += len(bad)
                for face_id in bad:
                    assimp.view(int(faces["indices"][face_id]), np.uint32, (1,))[0] = 0
                faces["count"][bad] = 1
            counts = np.minimum(faces["count"], 4)
            mesh.primitive_types = int(sum(1 << (n - 1) for n in np.unique(counts) if n))


def faces_of(mesh: assimp.Mesh) -> np.ndarray:
    """The mesh's faces, FACE records over Assimp's memory (writable)."""
    return assimp.view(mesh.faces, assimp.FACE, (mesh.face_count,))


def corners_of(mesh: assimp.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """All faces' indices one after another (uint32), and the face of each (int64)."""
    faces = faces_of(mesh)
    counts = np.where(faces["indices"] == 0, 0, faces["count"]).astype(np.int64)
    if (counts == 3).all():
        return assimp.triangles_of(mesh).reshape(-1), np.repeat(np.arange(len(counts)), 3)
    owner = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return assimp.gather(faces["indices"].astype(np.int64)[owner] + 4 * within), owner


def vectors(address: int | None, count: int, width: int = 3) -> np.ndarray | None:
    """A copy of `count` rows of three floats, cut to `width`; None where Assimp has none."""
    return assimp.view(address, np.float32, (count, 3))[:, :width].copy() if address else None

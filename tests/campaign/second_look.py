"""Whether a scene that opened is that of a valid reading, so that no wrong picture is shown in silence.

Drawn by a structure and by brute force it is the same picture. Where a format has a second, strict reader
(plain_readers.py, plain_gltf.py) and that takes the file, too, both have found the same triangles.
"""

from __future__ import annotations

import collections
import dataclasses
import importlib
from pathlib import Path

import numpy as np

from raygrove.app.document.opening import cameras_of
from raygrove.app.document.state import SceneReference, State
from raygrove.app.frames.headless import Frame, render_frames
from raygrove.app.scene_io import ImportLimits, SceneError, importer
from raygrove.app.scene_io.files import extension_of
from raygrove.app.scene_io.sanitise import SENTENCES
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.scene import Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target

SIZE = (32, 24)
FEW = 20_000
"""Primitives that brute force looks at."""
MOST_APART = 0.02
"""Of the pixels and hits: rounding at edges may decide otherwise."""
SAME_AREA = 1e-3


@dataclasses.dataclass(frozen=True)
class Geometry:
    """What is compared of two readings: triangles, their area, and their box, each mesh in its own space."""

    triangles: int
    area: float
    box: np.ndarray


class SecondLook:
    """Looks at scenes; `counts` says at how many, and how."""

    def __init__(self, limits: ImportLimits) -> None:
        self._limits, self.counts = limits, collections.Counter[str]()
        self._target: Target | None = None

    def wrong_with(self, scene: Scene, path: Path) -> str:
        """What is wrong, as a sentence; empty where nothing is."""
        return self._drawn_otherwise(scene) or self._read_otherwise(scene, path)

    # -- the picture --------------------------------------------------------------------------------------------------
    def _drawn_otherwise(self, scene: Scene) -> str:
        if not 0 < scene.primitive_count <= FEW:
            return ""
        tree, brute = (self._frame(scene, name) for name in ("lbvh", "brute_force"))
        self.counts["drawn"] += 1
        apart = int((tree.pixels != brute.pixels).any(axis=2).sum())
        hits = abs((tree.hits or 0) - (brute.hits or 0))
        most = MOST_APART * SIZE[0] * SIZE[1]
        if apart > most or hits > most:
            return f"lbvh and brute force draw {apart} pixels otherwise, with {tree.hits} and {brute.hits} hits."
        return ""

    def _frame(self, scene: Scene, name: str) -> Frame:
        settings = Settings()
        changes = {"width": SIZE[0], "height": SIZE[1], "samples": 1, "ray_type": "flat", "hierarchy": name}
        for key, value in changes.items():
            settings = set_option(settings, f"render.{key}", value)
        settings = set_option(settings, "device.threads", 1)
        self._target = self._target or choose("cpu", settings.device)
        cameras = cameras_of(scene, SIZE[0] / SIZE[1], settings.camera)
        state = State(scene=SceneReference("files", ("mutant",)), settings=settings, cameras=cameras)
        (frame,) = render_frames(self._target, scene, state, [(0, 0.0)], with_totals=True)
        return frame

    # -- the other reader ---------------------------------------------------------------------------------------------
    def _read_otherwise(self, scene: Scene, path: Path) -> str:
        if path.suffix == ".fbx":
            return self._read_by_ufbx(scene, path)
        if extension_of(str(path)) not in importer.READ_ONCE_MORE or not scene.triangle_count:
            return ""
        if any(remark.sentence.startswith("A simple reader of our own") for remark in scene.remarks):
            return ""  # it is that one's already
        if any(mesh.key_frames is not None for mesh in scene.meshes) or _has_polygons(path):
            return ""  # of several files; polygons that are not flat have many triangulations
        if b"EXT_mesh_gpu_instancing" in path.read_bytes():
            return ""  # copies that a reader may leave out, where they are not required
        try:
            job = {"paths": [str(path)], "fps": 30.0, "once_more": True}
            other = importer._scene_by(job, str(path), self._limits, None, None)
        except SceneError:
            return ""
        if _dropped(scene) - _dropped(other):
            return ""  # triangles of a part that a reader of our own leaves out, morph targets or joints
        self.counts["read by both"] += 1
        first, second = geometry_of(scene), geometry_of(other)
        return "" if is_same(first, second) else f"libassimp reads {first}, the reader of our own {second}."

    def _read_by_ufbx(self, scene: Scene, path: Path) -> str:
        """An FBX, where ufbx is installed (docs/decisions/fbx.md)."""
        is_partial = any(remark.sentence.startswith("Parts that") for remark in scene.remarks)
        other = None if is_partial or _dropped(scene) else geometry_by_ufbx(path.read_bytes())
        if other is None:
            return ""
        self.counts["read by both"] += 1
        found = geometry_of(scene)
        return "" if is_same(found, other) else f"libassimp reads {found}, ufbx {other}."


def geometry_by_ufbx(data: bytes) -> Geometry | None:
    """What ufbx finds in an FBX; None where it is not installed, or refuses the file."""
    try:
        ufbx = importlib.import_module("ufbx")
        scene = ufbx.load_memory(data)
    except ImportError:
        return None
    except Exception as error:
        if type(error).__module__ != "ufbx":
            raise
        return None
    parts = []
    for node in scene.nodes:
        if node.mesh is None:
            continue
        points = np.array([[one.x, one.y, one.z] for one in node.mesh.vertices], np.float32).reshape(-1, 3)
        indices = np.array(list(node.mesh.vertex_indices), np.int64)
        fans = [
            (face.index_begin, face.index_begin + corner, face.index_begin + corner + 1)
            for face in node.mesh.faces
            for corner in range(1, face.num_indices - 1)
        ]
        parts.append(points[indices[np.array(fans, np.int64).reshape(-1, 3)]])
    return geometry_of_corners(np.concatenate(parts)) if parts else None


def _dropped(scene: Scene) -> set[str]:
    """What the remarks of a scene say of triangles that it has not."""
    return {remark.sentence for remark in scene.remarks} & {SENTENCES["not_finite"], SENTENCES["out_of_range"]}


def _has_polygons(path: Path) -> bool:
    """Whether a face of an OBJ has more than three corners, or a line begins nearly as a face does, which libassimp
    takes for one."""
    lines = path.read_bytes().splitlines() if path.suffix == ".obj" else []
    faces = [line.split() for line in lines if line.lstrip()[:1] == b"f"]
    return any(len(words) > 4 or words[0] != b"f" for words in faces)


def is_same(first: Geometry, second: Geometry) -> bool:
    """Whether two readings are one, but for rounding."""
    extent = max(float(np.abs(second.box).max()), 1e-30)
    return bool(
        first.triangles == second.triangles
        and abs(first.area - second.area) <= SAME_AREA * max(second.area, extent * extent * 1e-6)
        and np.abs(first.box - second.box).max() <= SAME_AREA * extent
    )


def geometry_of(scene: Scene) -> Geometry:
    """Of all objects with triangles."""
    meshes = [scene.meshes[thing.mesh] for thing in scene.objects if thing.mesh >= 0]
    corners = [np.asarray(mesh.positions, np.float64)[mesh.triangles] for mesh in meshes]
    return geometry_of_corners(np.concatenate([np.zeros((0, 3, 3)), *corners]))


def geometry_of_corners(corners: np.ndarray) -> Geometry:
    """Of triangles (T, 3, 3)."""
    if not len(corners):
        return Geometry(0, 0.0, np.zeros((2, 3)))
    points = corners.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        sides = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        area = 0.5 * float(np.linalg.norm(sides, axis=1).sum())
    flat = points.reshape(-1, 3)
    return Geometry(len(points), area, np.stack([flat.min(axis=0), flat.max(axis=0)]))

"""Meshes of USD: polygons -> triangles, values of corners and faces -> vertices, key frames of their points.

What has a value a corner (texture coordinates, often normals) splits points into vertices; each vertex keeps the
number of its point, by which skins, blend shapes and key frames find it. Faces are cut into fans from their first
corner; a quadrilateral that is not convex is cut along its other diagonal.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdShade

from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.joining import groups_of_rows
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.gpu.scene import KeyFrames, Mesh

from .materials import Materials
from .times import Times

POINT_BYTES = 32
"""Memory of a point in a key frame while it is read: its place, its normal, and the sanitised ones."""


@dataclasses.dataclass(frozen=True, eq=False)
class Faces:
    """Corners in the order of the file: `points` (C,) and `faces` (C,) of each; `triangles` (T, 3) corners, and the
    face of each (T,)."""

    points: np.ndarray
    faces: np.ndarray
    triangles: np.ndarray
    owners: np.ndarray
    count: int


class MeshReader:
    """Reads meshes at rest and their key frames; `counts` gather what is left out."""

    def __init__(self, path: str, limits: ImportLimits, times: Times, materials: Materials) -> None:
        self.path, self.limits, self.times, self.materials = path, limits, times, materials
        self.counts: Counter[str] = Counter()

    def read(self, prim: Usd.Prim) -> tuple[Mesh, np.ndarray] | None:
        """The mesh of a prim and the point of each of its vertices; None where it has no face."""
        source = UsdGeom.Mesh(prim)
        positions = rows_of(source.GetPointsAttr().Get(self.times.rest), 3)
        faces = None if positions is None else self._faces(source, positions)
        if positions is None or faces is None or not len(faces.triangles):
            self.counts["faceless"] += 1
            return None
        of_faces = self._material_ids(prim, faces.count)
        name, placement = self.materials.placement(of_faces)
        columns = {
            "normals": self._normals(source, faces, len(positions)),
            "uvs": self._uvs(prim, name, faces, len(positions)),
        }
        points, corners, triangles = _vertices(faces, columns, len(positions))
        values: dict[str, np.ndarray | None] = {}
        for key, column in columns.items():
            values[key] = None if column is None else column[1][points if column[0] == "point" else corners]
        uvs = values["uvs"]
        if uvs is not None:
            uvs = uvs if placement is None else uvs @ placement[:, :2].T + placement[:, 2]
            uvs = np.stack([uvs[:, 0], 1.0 - uvs[:, 1]], axis=1).astype(np.float32)
        mesh = Mesh(
            prim.GetName(), positions[points], triangles, of_faces[faces.owners].astype(np.int32), values["normals"],
            uvs, self._key_frames(source, points, len(positions)),
        )  # fmt: skip
        return mesh, points

    def _faces(self, source: UsdGeom.Mesh, positions: np.ndarray) -> Faces | None:
        sizes = np.asarray(source.GetFaceVertexCountsAttr().Get(self.times.rest) or (), np.int64)
        points = np.asarray(source.GetFaceVertexIndicesAttr().Get(self.times.rest) or (), np.int64)
        if not len(sizes) or (sizes < 0).any() or int(sizes.sum()) > len(points):
            return None
        points = points[: int(sizes.sum())]
        good = (points >= 0) & (points < len(positions))
        faces = np.repeat(np.arange(len(sizes)), sizes)
        is_bad = np.zeros(len(sizes), bool)
        is_bad[faces[~good]] = True
        self.counts["faces"] += int(np.count_nonzero(is_bad))
        holes = np.asarray(source.GetHoleIndicesAttr().Get(self.times.rest) or (), np.int64)
        is_bad[holes[(holes >= 0) & (holes < len(sizes))]] = True
        triangles, owners = _triangles(sizes, np.where(good, points, 0), positions)
        kept = ~is_bad[owners]
        triangles, owners = triangles[kept], owners[kept]
        if len(triangles) > self.limits.max_triangles:
            why = f"has {len(triangles):,} triangles in a mesh and the limit is {self.limits.max_triangles:,}"
            raise SceneError(f"{display_path(self.path)} {why}. Raise import.max_triangles.", self.path)
        if source.GetOrientationAttr().Get(self.times.rest) == UsdGeom.Tokens.leftHanded:
            triangles = triangles[:, ::-1]
        if source.GetSubdivisionSchemeAttr().Get() != UsdGeom.Tokens.none:
            self.counts["subdivision"] += 1
        return Faces(np.where(good, points, 0), faces, triangles, owners, len(sizes))

    def _material_ids(self, prim: Usd.Prim, face_count: int) -> np.ndarray:
        result = np.full(face_count, self.materials.of(prim), np.int64)
        for subset in UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets():
            chosen = np.asarray(subset.GetIndicesAttr().Get(self.times.rest) or (), np.int64)
            result[chosen[(chosen >= 0) & (chosen < face_count)]] = self.materials.of(subset.GetPrim())
        return result

    def _normals(self, source: UsdGeom.Mesh, faces: Faces, count: int) -> tuple[str, np.ndarray] | None:
        primvar = UsdGeom.PrimvarsAPI(source).GetPrimvar("normals")
        if primvar and primvar.HasAuthoredValue():
            return self._column(primvar, faces, count, 3)
        attribute = source.GetNormalsAttr()
        if not attribute.HasAuthoredValue():
            return None
        values = rows_of(attribute.Get(self.times.rest), 3)
        return self._spread(values, str(source.GetNormalsInterpolation()), faces, count)

    def _uvs(self, prim: Usd.Prim, name: str, faces: Faces, count: int) -> tuple[str, np.ndarray] | None:
        """The texture coordinates that the material asks for; else the only ones."""
        api = UsdGeom.PrimvarsAPI(prim)
        wanted = [api.FindPrimvarWithInheritance(name)] if name else []
        others = [one for one in api.GetPrimvars() if "2" in str(one.GetTypeName()) and one.HasAuthoredValue()]
        for primvar in (*wanted, *others):
            if primvar and primvar.HasAuthoredValue():
                return self._column(primvar, faces, count, 2)
        return None

    def _column(self, primvar: Any, faces: Faces, count: int, width: int) -> tuple[str, np.ndarray] | None:
        values = rows_of(primvar.Get(self.times.rest), width)
        if values is not None and primvar.IsIndexed():
            indices = np.asarray(primvar.GetIndices(self.times.rest) or (), np.int64)
            good = (indices >= 0) & (indices < len(values))
            if not len(values) or not good.all():
                self.counts["primvars"] += 1
                return None
            values = values[indices]
        return self._spread(values, str(primvar.GetInterpolation()), faces, count)

    def _spread(
        self, values: np.ndarray | None, interpolation: str, faces: Faces, count: int
    ) -> tuple[str, np.ndarray] | None:
        """Values by point or by corner; None, counted, where there are not as many as there should be."""
        if values is not None:
            if interpolation in ("vertex", "varying") and len(values) == count:
                return "point", values
            if interpolation == "faceVarying" and len(values) == len(faces.points):
                return "corner", values
            if interpolation == "uniform" and len(values) == faces.count:
                return "corner", values[faces.faces]
            if interpolation == "constant" and len(values) == 1:
                return "point", np.repeat(values, count, axis=0)
        self.counts["primvars"] += 1
        return None

    def _key_frames(self, source: UsdGeom.Mesh, points: np.ndarray, count: int) -> KeyFrames | None:
        attribute = source.GetPointsAttr()
        if attribute.GetNumTimeSamples() < 2:
            return None
        codes = self.times.codes(attribute.GetTimeSamples())
        if len(codes) < 2:
            return None
        if source.GetFaceVertexIndicesAttr().GetNumTimeSamples() > 1:
            self.counts["topology"] += 1
            return None
        check_room(self.path, self.limits, len(codes), len(points))
        frames, kept = [], []
        for code in codes.tolist():
            values = rows_of(attribute.Get(code), 3)
            if values is None or len(values) != count:
                self.counts["frames"] += 1
                continue
            frames.append(values if points is None else values[points])
            kept.append(code)
        if len(frames) < 2:
            return None
        return KeyFrames(self.times.seconds(np.array(kept)), np.stack(frames))


def check_room(path: str, limits: ImportLimits, frames: int, points: int) -> None:
    """`SceneError` where so many key frames of points take more memory than an import may."""
    needed = frames * points * POINT_BYTES >> 20
    if needed > limits.memory_mib:
        why = f"{frames:,} time samples of {points:,} points take {needed:,} MiB"
        raise SceneError(
            f"{display_path(path)} is not read: {why}, and an import may use {limits.memory_mib:,} MiB. Raise "
            "import.memory_mib if the machine has them.",
            path,
        )


def rows_of(values: Any, width: int) -> np.ndarray | None:
    """An array of USD's as (N, width) float32; None where it is none."""
    if values is None:
        return None
    array = np.asarray(values, np.float32)
    return array.reshape(-1, width) if array.size % width == 0 else None


def _triangles(sizes: np.ndarray, points: np.ndarray, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the triangles (T, 3) and the face of each (T,)."""
    numbers = np.maximum(sizes - 2, 0)
    owners = np.repeat(np.arange(len(sizes)), numbers)
    firsts = np.repeat(np.cumsum(sizes) - sizes, numbers)
    steps = np.arange(len(owners)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    triangles = np.stack([firsts, firsts + steps + 1, firsts + steps + 2], axis=1)
    quads = np.flatnonzero(sizes == 4)
    if len(quads):
        starts = (np.cumsum(sizes) - sizes)[quads]
        a, b, c, d = (positions[points[starts + corner]].astype(np.float64) for corner in range(4))
        turned = (np.cross(b - a, c - a) * np.cross(c - a, d - a)).sum(axis=1) < 0.0
        where = (np.cumsum(numbers) - numbers)[quads][turned]
        starts = starts[turned]
        triangles[where] = np.stack([starts, starts + 1, starts + 3], axis=1)
        triangles[where + 1] = np.stack([starts + 1, starts + 2, starts + 3], axis=1)
    return triangles, owners


def _vertices(
    faces: Faces, columns: dict[str, tuple[str, np.ndarray] | None], count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The point and the first corner of each vertex, and the triangles over vertices: points themselves where nothing
    has a value a corner."""
    by_corner = [column[1] for column in columns.values() if column is not None and column[0] == "corner"]
    if not by_corner:
        return np.arange(count), np.zeros(0, np.int64), faces.points[faces.triangles].astype(np.int32)
    groups, first = groups_of_rows([faces.points.astype(np.int32), *by_corner])
    return faces.points[first], first, groups[faces.triangles].astype(np.int32)

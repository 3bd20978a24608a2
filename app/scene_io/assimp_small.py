"""Assimp's small meshes that nothing moves, read many at a time: a field of all of them at once, not mesh by mesh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raygrove.gpu.scene import Mesh

from . import assimp
from .assimp_textures import Placement
from .portions import apart, portions

SMALL = 2048
"""Vertices and faces up to which a mesh is read with others."""
FEW = 16
"""Up to so many meshes it is not worth it."""
AT_ONCE = 500_000


class SmallMeshes:
    """The small meshes of one scene of Assimp's: `meshes` by their number there, None for one without a triangle; how
    many of them have colours at their vertices."""

    def __init__(self, scene: assimp.Scene, placements: Sequence[Placement]) -> None:
        self.meshes: dict[int, Mesh | None] = {}
        self.colored_count = 0
        if scene.mesh_count <= FEW:
            return
        self._sources = assimp.addresses_of(scene.meshes, scene.mesh_count)
        self._materials = self._field("material").astype(np.int32)
        self._vertex_counts, self._face_counts = self._field("vertex_count"), self._field("face_count")
        sets = np.array([placement.uv_set for placement in placements] or [0])
        placed = np.minimum(self._materials, len(sets) - 1)
        uvs = self._field("uvs")[np.arange(scene.mesh_count), sets[placed]]
        is_moved = np.array([placement.matrix is not None for placement in placements] or [False])[placed]
        is_moved |= self._materials >= len(placements)
        small = (self._vertex_counts <= SMALL) & (self._face_counts <= SMALL) & ~((uvs != 0) & is_moved)
        small &= (self._vertex_counts > 0) & (self._face_counts > 0) & (self._field("vertices") != 0)
        small &= (self._field("bone_count") == 0) & (self._field("anim_mesh_count") == 0)
        self._colors = self._field("colors")[:, 0] != 0
        self._addresses = {"normals": self._field("normals"), "uvs": uvs}
        chosen = np.flatnonzero(small)
        sizes = (self._vertex_counts + self._face_counts)[chosen].tolist()
        for some in portions(chosen.tolist(), sizes, AT_ONCE):
            self._read(np.array(some))

    def _field(self, name: str) -> np.ndarray:
        return assimp.field(self._sources, assimp.Mesh, name)

    def _read(self, some: np.ndarray) -> None:
        sources, counts = self._sources[some], self._vertex_counts[some].astype(np.int64)
        triangles, triangle_counts = self._triangles(some)
        positions = _rows(assimp.field(sources, assimp.Mesh, "vertices"), counts)
        names = assimp.texts(sources + assimp.Mesh.name.offset)
        columns = [self._optional(name, some, counts) for name in ("normals", "uvs")]
        material_ids = apart(np.repeat(self._materials[some], triangle_counts), triangle_counts.tolist())
        parts = zip(
            some.tolist(), names, apart(positions, counts.tolist()), apart(triangles, triangle_counts.tolist()),
            material_ids, *columns, strict=True,
        )  # fmt: skip
        for index, name, points, corners, materials, normals, uvs in parts:
            if not len(corners):
                self.meshes[index] = None
                continue
            self.colored_count += bool(self._colors[index])
            self.meshes[index] = Mesh(name, points, corners, materials, normals, uvs)

    def _triangles(self, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The corners of all their triangles, (T, 3) int32, and how many each mesh has."""
        counts = self._face_counts[some].astype(np.int64)
        faces = assimp.blocks(assimp.field(self._sources[some], assimp.Mesh, "faces"), counts * 4).reshape(-1, 4)
        records = np.ascontiguousarray(faces).view(assimp.FACE)[:, 0]
        is_triangle = (records["count"] == 3) & (records["indices"] != 0)
        pointers = records["indices"][is_triangle].astype(np.int64)
        corners = assimp.gather((pointers[:, None] + 4 * np.arange(3)).reshape(-1)).reshape(-1, 3)
        triangle_counts = np.add.reduceat(is_triangle.astype(np.int64), np.cumsum(counts) - counts)
        return corners.astype(np.int32), triangle_counts

    def _optional(self, name: str, some: np.ndarray, counts: np.ndarray) -> list[np.ndarray | None]:
        """Normals, or texture coordinates with v downwards, of each mesh that has them."""
        addresses = self._addresses[name][some]
        there = addresses != 0
        rows = _rows(addresses[there], counts[there])
        if name == "uvs":
            rows = np.stack([rows[:, 0], 1.0 - rows[:, 1]], axis=1)
        parts = iter(apart(rows, counts[there].tolist()))
        return [next(parts) if is_there else None for is_there in there.tolist()]


def _rows(addresses: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Rows of three floats, so many from each address."""
    return assimp.blocks(addresses, counts * 3).view(np.float32).reshape(-1, 3)

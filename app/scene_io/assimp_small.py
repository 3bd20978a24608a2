"""Assimp's small meshes that nothing moves, read many at a time: a field of all of them at once, not mesh by mesh."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.scene import Mesh

from . import assimp
from .assimp_textures import Placement
from .mesh_stack import NONE, MeshStack, joined_stacks
from .portions import portions

SMALL = 2048
"""Vertices and faces up to which a mesh is read with others."""
FEW = 16
"""Up to so many meshes it is not worth it."""
AT_ONCE = 500_000


class SmallMeshes:
    """The small meshes of one scene of Assimp's: `stack`, the meshes with a triangle, and `numbers` (N,), what each is
    there; `meshes` by that number, None for one without a triangle; how many of them have colours at their vertices."""

    def __init__(self, scene: assimp.Scene, placements: Sequence[Placement]) -> None:
        self.colored_count = 0
        self.stack, self.numbers = NONE, np.zeros(0, np.int64)
        self._chosen = np.zeros(0, np.int64)
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
        self._addresses = {"normals": self._field("normals"), "uvs": uvs}
        self._chosen = np.flatnonzero(small)
        sizes = (self._vertex_counts + self._face_counts)[self._chosen].tolist()
        stacks = [self._read(np.array(some)) for some in portions(self._chosen.tolist(), sizes, AT_ONCE)]
        if stacks:
            self._keep(joined_stacks(stacks))

    @property
    def covers(self) -> int:
        """How many of Assimp's meshes were read here, those without a triangle too."""
        return len(self._chosen)

    @functools.cached_property
    def meshes(self) -> dict[int, Mesh | None]:
        """Each as an object."""
        found: dict[int, Mesh | None] = dict.fromkeys(self._chosen.tolist())
        found.update(zip(self.numbers.tolist(), self.stack, strict=True))
        return found

    def _keep(self, stack: MeshStack) -> None:
        """Those with a triangle."""
        is_there = stack.triangle_counts > 0
        self.numbers = self._chosen[is_there]
        self.stack = stack if is_there.all() else stack.take(np.flatnonzero(is_there))
        self.colored_count = int(np.count_nonzero(self._field("colors")[self.numbers, 0]))

    def _field(self, name: str) -> np.ndarray:
        return assimp.field(self._sources, assimp.Mesh, name)

    def _read(self, some: np.ndarray) -> MeshStack:
        sources, counts = self._sources[some], self._vertex_counts[some].astype(np.int64)
        triangles, triangle_counts = self._triangles(some)
        positions = _rows(assimp.field(sources, assimp.Mesh, "vertices"), counts)
        names = assimp.texts(sources + assimp.Mesh.name.offset)
        material_ids = np.repeat(self._materials[some], triangle_counts)
        columns = [column for name in ("normals", "uvs") for column in self._optional(name, some, counts)]
        return MeshStack(names, counts, triangle_counts, positions, triangles, material_ids, *columns)

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

    def _optional(self, name: str, some: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which meshes have normals, or texture coordinates with v downwards, and these one mesh after another."""
        addresses = self._addresses[name][some]
        there = addresses != 0
        rows = _rows(addresses[there], counts[there])
        if name == "uvs":
            rows = np.stack([rows[:, 0], 1.0 - rows[:, 1]], axis=1)
        return there, rows


def _rows(addresses: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Rows of three floats, so many from each address."""
    return assimp.blocks(addresses, counts * 3).view(np.float32).reshape(-1, 3)

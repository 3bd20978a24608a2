"""Very many plain meshes as a few long arrays, one mesh after another: numpy takes as long for a small array as for a
long one, and Python as long for an object as for thousands of numbers."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast, overload

import numpy as np

from raygrove.gpu.scene import Mesh, Node, Object

from .portions import apart, portions, together


@dataclasses.dataclass(frozen=True, eq=False)
class MeshStack(Sequence[Mesh]):
    """M meshes that nothing moves: `vertex_counts` and `triangle_counts` (M,) int64; positions (V, 3) and normals
    float32, triangles (T, 3) int32 that number the vertices of their own mesh, material_ids (T,) int32. Normals (N, 3)
    and uvs (U, 2) follow one another for the meshes of `has_normals` and `has_uvs` (M,) bool alone.

    It stands in a scene for the tuple of its meshes, within the importer: who asks for one of them gets it, a view of
    these arrays, but all are made then."""

    names: list[str]
    vertex_counts: np.ndarray
    triangle_counts: np.ndarray
    positions: np.ndarray
    triangles: np.ndarray
    material_ids: np.ndarray
    has_normals: np.ndarray
    normals: np.ndarray
    has_uvs: np.ndarray
    uvs: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Mesh]:
        return iter(self.meshes)

    @overload
    def __getitem__(self, index: int) -> Mesh: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Mesh, ...]: ...
    def __getitem__(self, index: int | slice) -> Mesh | tuple[Mesh, ...]:
        return self.meshes[index]

    @functools.cached_property
    def meshes(self) -> tuple[Mesh, ...]:
        """Each as an object."""
        vertices, triangles = self.vertex_counts.tolist(), self.triangle_counts.tolist()
        return tuple(
            map(
                Mesh, self.names, apart(self.positions, vertices), apart(self.triangles, triangles),
                apart(self.material_ids, triangles), _optional(self.normals, self.has_normals, self.vertex_counts),
                _optional(self.uvs, self.has_uvs, self.vertex_counts),
            )
        )  # fmt: skip

    @functools.cached_property
    def firsts(self) -> np.ndarray:
        """(T,) int64: of each triangle, the first vertex of its mesh."""
        return np.repeat(starts_of(self.vertex_counts), self.triangle_counts)

    def parts(self, most: int) -> Iterator[MeshStack]:
        """The meshes in their order, so many at a time as have at most `most` vertices and triangles; a larger one
        comes alone."""
        sizes = (self.vertex_counts + self.triangle_counts).tolist()
        ends = [np.append(0, np.cumsum(counts)).tolist() for counts in self.rows().values()]
        for some in portions(range(len(self)), sizes, most):
            first, last = some[0], some[-1] + 1
            if len(some) == len(self):
                yield self
                return
            yield self._cut(slice(first, last), [slice(of[first], of[last]) for of in ends])

    def take(self, chosen: np.ndarray) -> MeshStack:
        """The meshes of these numbers, in this order."""
        chosen_rows = []
        for counts in self.rows().values():
            sizes = counts[chosen]
            chosen_rows.append(
                np.repeat(starts_of(counts)[chosen] - starts_of(sizes), sizes) + np.arange(int(sizes.sum()))
            )
        return self._cut(chosen, chosen_rows)

    def rows(self) -> dict[str, np.ndarray]:
        """How many rows of an array are each mesh's."""
        vertices, triangles = self.vertex_counts, self.triangle_counts
        return {
            "positions": vertices, "triangles": triangles, "material_ids": triangles,
            "normals": vertices * self.has_normals, "uvs": vertices * self.has_uvs,
        }  # fmt: skip

    def _cut(self, meshes: slice | np.ndarray, rows: Iterable[slice | np.ndarray]) -> MeshStack:
        names = self.names[meshes] if isinstance(meshes, slice) else [self.names[i] for i in meshes.tolist()]
        columns: dict[str, Any] = {
            name: getattr(self, name)[some] for name, some in zip(self.rows(), rows, strict=True)
        }
        columns |= {name: getattr(self, name)[meshes] for name in OF_MESHES}
        return MeshStack(names, **columns)


OF_MESHES = ("vertex_counts", "triangle_counts", "has_normals", "has_uvs")
"""What there is one of for each mesh, beside its name."""
NO_NUMBERS = np.zeros(0, np.int64)
NO_VECTORS = np.zeros((0, 3), np.float32)
NONE = MeshStack(
    [], NO_NUMBERS, NO_NUMBERS, NO_VECTORS, np.zeros((0, 3), np.int32), np.zeros(0, np.int32),
    np.zeros(0, bool), NO_VECTORS, np.zeros(0, bool), np.zeros((0, 2), np.float32),
)  # fmt: skip
"""No mesh at all."""


def starts_of(counts: np.ndarray) -> np.ndarray:
    """Where each of those that have so many rows begins."""
    return np.asarray(np.cumsum(counts) - counts)


def joined_stacks(stacks: Sequence[MeshStack]) -> MeshStack:
    """All meshes of them as one; one alone is not copied."""
    if len(stacks) == 1:
        return stacks[0]
    names = list(itertools.chain.from_iterable(stack.names for stack in stacks))
    columns = [field.name for field in dataclasses.fields(MeshStack)][1:]
    return MeshStack(names, *(np.concatenate([getattr(stack, name) for stack in stacks]) for name in columns))


def stack_of(meshes: Sequence[Mesh]) -> MeshStack:
    """Plain meshes, at least one, as a stack."""
    normals = [mesh.normals for mesh in meshes]
    uvs = [mesh.uvs for mesh in meshes]
    return MeshStack(
        [mesh.name for mesh in meshes],
        np.array([len(mesh.positions) for mesh in meshes], np.int64),
        np.array([len(mesh.triangles) for mesh in meshes], np.int64),
        together([mesh.positions for mesh in meshes]),
        together([mesh.triangles for mesh in meshes]),
        together([mesh.material_ids for mesh in meshes]),
        np.array([one is not None for one in normals]),
        together([one for one in normals if one is not None] or [NO_VECTORS]),
        np.array([one is not None for one in uvs]),
        together([one for one in uvs if one is not None] or [NONE.uvs]),
    )


def stacks_of(meshes: Sequence[Mesh], most: int) -> Iterator[MeshStack]:
    """Plain meshes as stacks of about `most` vertices and triangles."""
    if isinstance(meshes, MeshStack):
        yield from meshes.parts(most)
        return
    for some in portions(meshes, [len(mesh.positions) + len(mesh.triangles) for mesh in meshes], most):
        yield stack_of(some)


def as_meshes(stack: MeshStack) -> tuple[Mesh, ...]:
    """The stack where a scene has its meshes."""
    return cast("tuple[Mesh, ...]", stack)


def vertex_counts_of(meshes: Sequence[Mesh]) -> np.ndarray:
    """(M,) int64."""
    if isinstance(meshes, MeshStack):
        return meshes.vertex_counts
    return np.array([len(mesh.positions) for mesh in meshes], np.int64)


def triangle_counts_of(meshes: Sequence[Mesh]) -> np.ndarray:
    """(M,) int64."""
    if isinstance(meshes, MeshStack):
        return meshes.triangle_counts
    return np.array([len(mesh.triangles) for mesh in meshes], np.int64)


def numbers_of(things: Sequence[Node] | Sequence[Object], name: str) -> np.ndarray:
    """(N,) int64: one field of each node, or object."""
    return np.fromiter(map(operator.attrgetter(name), things), np.int64, len(things))


def _optional(rows: np.ndarray, has: np.ndarray, counts: np.ndarray) -> Iterable[np.ndarray | None]:
    """The rows of each mesh that has them."""
    if not has.any():
        return itertools.repeat(None, len(has))
    parts: Any = iter(apart(rows, counts[has].tolist()))
    return parts if has.all() else [next(parts) if there else None for there in has.tolist()]

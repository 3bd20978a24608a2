"""A scene on its device as structures take it: the triangles of all instances in the world, those of one group side by
side, and what has moved since the last time."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

import numpy as np

from ..errors import Error
from ..hierarchy.base import ObjectRange, Primitives
from ..hierarchy.primitives import triangle_primitives
from ..target.base import MOST_ITEMS, Array, Target, UnitSource
from ..target.foreign import is_on_gpu, on_host
from ..trace.arrays import EVERY_GROUP, EVERY_MASK
from . import arrays
from .scenes import Mesh, Scene

MOST_TOLD_APART = 64
"""Objects that moved and are told apart: with more of them everything counts as moved, which costs the host nothing."""


@dataclasses.dataclass(eq=False)
class _Placed:
    """What the world keeps of a mesh: where its instances' vertices begin, and what they were when last placed."""

    mesh: Mesh
    first_vertices: Array
    instances: np.ndarray
    vertices: Array | None = None
    transforms: Array | None = None
    seen: tuple[int, int] = (-1, -1)
    last_vertices: np.ndarray | None = None
    last_transforms: np.ndarray | None = None


class World:
    """See the module. `positions` (V, 3) float32 and `corners` (T, 3) int32 are the triangles by the scene's numbers;
    `instance_ids` (T,) int32 says whose they are, `instances` (I, 2) int32 each instance's group and mask.

    With groups `root_of_group` has the place of each group among the objects of `primitives`, -1 for none, and
    `shared_root` that of what every ray meets."""

    def __init__(self, target: Target, scene: Scene) -> None:
        self._target, self._scene = target, weakref.proxy(scene)
        self._unit = target.unit(UnitSource("gpu/face/place.cu"))
        self._topology = self._shape = 0
        self._made_of: tuple[Any, ...] | None = None
        self._labels: tuple[int, ...] = ()
        self.primitives: Primitives
        self.has_groups = self.has_masks = False

    # -- what structures take -----------------------------------------------------------------------------------------
    def update(self) -> Primitives:
        """Place what has moved, and give the primitives as they are now. Launches only, where no mesh was added and no
        group changed."""
        meshes = self._scene.meshes
        if self._made_of != meshes or self._labels != tuple(mesh.label_count for mesh in meshes):
            self._lay_out(meshes)
        moved = [placed for placed in self._placed if self._has_moved(placed)]
        for placed in moved:
            self._place(placed)
        if moved:
            self._shape += 1
            self.primitives = dataclasses.replace(
                self.primitives, shape_version=self._shape, objects=self._moved_objects(moved)
            )
        return self.primitives

    def _has_moved(self, placed: _Placed) -> bool:
        """Whether a mesh is to be placed again; what the host has is compared."""
        mesh = placed.mesh
        if placed.seen != (mesh.shape_count, mesh.place_count):
            return True
        if placed.last_vertices is not None and not _is_same(placed.last_vertices, mesh.vertices):
            return True
        if mesh.transforms is None:
            return False
        if placed.last_transforms is not None:
            return not _is_same(placed.last_transforms, mesh.transforms)
        return mesh.moves and is_on_gpu(mesh.transforms)

    def _place(self, placed: _Placed) -> None:
        mesh, target = placed.mesh, self._target
        if placed.seen[0] != mesh.shape_count or placed.last_vertices is not None:
            placed.vertices = self._held(placed.vertices, mesh.vertices, "vertices", (mesh.vertex_count, 3))
            placed.last_vertices = _kept(mesh.vertices, placed.last_vertices)
        stride = 0
        if mesh.transforms is not None:
            rows = 4 if _rows(mesh.transforms) == 4 else 3
            shape = (mesh.instance_count, rows, 4)
            placed.transforms = self._held(placed.transforms, mesh.transforms, "transforms", shape)
            placed.last_transforms = _kept(mesh.transforms, placed.last_transforms)
            stride = 4 * rows
        placed.seen = (mesh.shape_count, mesh.place_count)
        target.launch(
            self._unit,
            "place_instances",
            mesh.vertex_count * mesh.instance_count,
            vertices=placed.vertices,
            transforms=placed.transforms,
            transform_stride=stride,
            first_vertices=placed.first_vertices,
            vertex_count=mesh.vertex_count,
            n=mesh.vertex_count * mesh.instance_count,
            positions=self.positions,
        )

    def _held(self, held: Array | None, values: Any, name: str, shape: tuple[int, ...]) -> Array:
        """The values on the target: where they lie there already themselves, else in an array that is written anew."""
        target = self._target
        if target.kind == "host" or is_on_gpu(values):
            return arrays.taken(target, values, name, shape)
        rows = on_host(values, name).astype(np.float32, copy=False)
        arrays.check_shape(rows, name, shape)
        if held is None or tuple(held.shape) != shape or not self._is_ours(held):
            held = target.empty(shape, np.float32, "face")
            self._ours[id(held)] = held
        target.write(held, rows)
        return held

    def _is_ours(self, array: Array) -> bool:
        return self._ours.get(id(array)) is array

    def _moved_objects(self, moved: list[_Placed]) -> tuple[ObjectRange, ...]:
        """The objects with the versions of those that moved grown; the same tuple where all did, or nearly all."""
        objects = self.primitives.objects
        is_moved = np.zeros(len(objects), np.bool_)
        for placed in moved:
            is_moved[self._object_of[placed.instances]] = True
        numbers = np.flatnonzero(is_moved)
        if len(numbers) > MOST_TOLD_APART or len(numbers) == len(objects):
            return objects
        changed = list(objects)
        for number in numbers.tolist():
            changed[number] = changed[number]._replace(version=self._shape)
        return tuple(changed)

    # -- the layout ---------------------------------------------------------------------------------------------------
    def _lay_out(self, meshes: tuple[Mesh, ...]) -> None:
        """Where everything lies: once, and again where meshes were added or groups changed."""
        self._made_of, self._labels = meshes, tuple(mesh.label_count for mesh in meshes)
        target = self._target
        owner = np.repeat(np.arange(len(meshes)), [mesh.instance_count for mesh in meshes]).astype(np.int64)
        vertex_counts = np.array([mesh.vertex_count for mesh in meshes], np.int64)[owner]
        counts = np.array([mesh.triangle_count for mesh in meshes], np.int64)[owner]
        if int(vertex_counts.sum()) > MOST_ITEMS or int(counts.sum()) > MOST_ITEMS:
            raise Error(
                f"the scene has {int(counts.sum()):,} triangles and {int(vertex_counts.sum()):,} vertices in all its "
                f"instances, and at most {MOST_ITEMS:,} can be",
                "Scene",
                "place fewer instances",
            )
        first_vertices = np.cumsum(vertex_counts) - vertex_counts
        corners = [mesh.triangles for mesh in meshes]
        together = np.concatenate([corners[mesh] for mesh in owner]) if len(owner) else np.zeros((0, 3), np.int32)
        together += np.repeat(first_vertices, counts).astype(np.int32)[:, None]
        self.positions = target.empty((max(1, int(vertex_counts.sum())), 3), np.float32, "face")
        self.positions = self.positions[: int(vertex_counts.sum())] if len(owner) else self.positions[:0]
        self.corners = target.upload(together, "face")
        self.instance_ids = target.upload(np.repeat(np.arange(len(owner)), counts).astype(np.int32), "face")
        self._label(meshes)
        self._ours: dict[int, Array] = {}
        self._placed = []
        firsts = np.cumsum([0, *(mesh.instance_count for mesh in meshes)])
        for number, mesh in enumerate(meshes):
            own = np.arange(firsts[number], firsts[number + 1])
            self._placed.append(_Placed(mesh, target.upload(first_vertices[own].astype(np.int32), "face"), own))
        self._make_primitives(together, counts)

    def _label(self, meshes: tuple[Mesh, ...]) -> None:
        """Groups and masks of the instances."""
        labels = [np.stack([mesh.groups, mesh.masks], axis=1) for mesh in meshes]
        self._pairs = np.concatenate(labels) if labels else np.zeros((0, 2), np.int32)
        self.instances = self._target.upload(np.ascontiguousarray(self._pairs), "face")
        self.has_groups = bool((self._pairs[:, 0] != EVERY_GROUP).any())
        self.has_masks = bool((self._pairs[:, 1] != EVERY_MASK).any())

    def _make_primitives(self, corners: np.ndarray, counts: np.ndarray) -> None:
        """The triangles in the order of the groups, and the objects that structures may tell apart: the groups, or
        without groups the instances."""
        target, groups = self._target, self._pairs[:, 0]
        order = np.argsort(groups, kind="stable")
        scene_ids, indices = None, self.corners
        if (np.diff(order) < 0).any():
            firsts = np.cumsum(counts) - counts
            ids = np.concatenate([np.arange(firsts[one], firsts[one] + counts[one]) for one in order])
            scene_ids = target.upload(ids.astype(np.int32), "face")
            indices = target.upload(np.ascontiguousarray(corners[ids]), "face")
        if self.has_groups:
            named, self._object_of = np.unique(groups, return_inverse=True)
            sizes = np.bincount(self._object_of, weights=counts, minlength=len(named)).astype(np.int64)
            kept = np.flatnonzero(sizes)  # objects without a primitive have no tree
            places = np.full(len(named), -1, np.int64)
            places[kept] = np.arange(len(kept))
            self._tell_roots(named, places)
            ends = np.cumsum(sizes)
            objects = tuple(
                ObjectRange(int(ends[one] - sizes[one]), int(sizes[one]), number) for number, one in enumerate(kept)
            )
            self._object_of = np.maximum(places[self._object_of], 0)
        else:
            self.shared_root, self.group_count, self.root_of_group = -1, 0, None
            self._object_of = np.arange(len(counts))
            ends = np.cumsum(counts)
            objects = tuple(
                ObjectRange(int(end - count), int(count), number)
                for number, (end, count) in enumerate(zip(ends, counts, strict=True))
            )
        self._topology += 1
        self.primitives = triangle_primitives(
            self.positions,
            indices,
            scene_ids,
            objects=objects,
            topology_version=self._topology,
            shape_version=self._shape,
        )

    def _tell_roots(self, named: np.ndarray, places: np.ndarray) -> None:
        self.group_count = int(named[-1]) + 1
        table = np.full(self.group_count, -1, np.int32)
        own = named >= 0
        table[named[own]] = places[own]
        self.root_of_group = self._target.upload(table, "face")
        shared = places[named == EVERY_GROUP]
        self.shared_root = int(shared[0]) if len(shared) else -1


def _rows(transforms: Any) -> int:
    return int((transforms if hasattr(transforms, "shape") else np.asarray(transforms)).shape[1])


def _is_same(before: np.ndarray, values: Any) -> bool:
    """Whether values are still what they were, NaN included."""
    if is_on_gpu(values):
        return False
    seen = on_host(values, "arrays")
    words = f"u{before.dtype.itemsize}"
    return seen.dtype == before.dtype and np.array_equal(seen.view(words), before.view(words))


def _kept(values: Any, before: np.ndarray | None) -> np.ndarray | None:
    """A copy of what the host has, to find what is written in place; into the copy before, where that fits."""
    if is_on_gpu(values):
        return None
    seen = on_host(values, "arrays")
    if before is not None and before.shape == seen.shape and before.dtype == seen.dtype:
        np.copyto(before, seen)
        return before
    return np.array(seen)

"""Primitive kinds: how vertices and spheres on a target become the `Primitives` that structures take, and the records they are kept in."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..settings import OptionError
from ..target.base import Array, Target, UnitSource
from ..target.structs import make_struct, struct_dtype
from .base import HierarchyError, Primitives


@dataclasses.dataclass(frozen=True)
class PrimitiveKind:
    """The device side of a kind: its header, the view that builders read, the records that walks intersect and their size in float32."""

    header: str
    view_type: str
    records_type: str
    record_floats: int


KINDS = {
    "triangle": PrimitiveKind("gpu/device/triangle.cuh", "Triangles", "TriangleRecords", 12),
    "sphere": PrimitiveKind("gpu/device/sphere.cuh", "Spheres", "SphereRecords", 8),
}

_TRIANGLES = struct_dtype([("positions", "pointer"), ("indices", "pointer"), ("scene_ids", "pointer"), ("count", "int"), ("point_count", "int")])
_SPHERES = struct_dtype([("centres", "pointer"), ("radii", "pointer"), ("count", "int"), ("point_count", "int")])
_RECORDS = struct_dtype([("records", "pointer")])
_UNIT_TRIANGLES = struct_dtype([("records", "pointer"), ("vertices", "pointer")])

TESTS_HEADER = "gpu/device/triangle_tests.cuh"

TRIANGLE_TESTS = ("moeller_trumbore", "watertight", "unit_triangle")
"""How walks intersect triangles: the setting render.triangle_test, for every structure alike.

- `moeller_trumbore`: from the vertices, exact enough for pictures; a ray may pass between two triangles that share an edge.
- `watertight`: from the vertices, never between neighbours (Woop, Benthin and Wald 2013).
- `unit_triangle`: an affine map a triangle (Woop 2004), 48 bytes more each and one launch after every build and refit; the least work a test.
"""

MAX_PRIMITIVES = 1 << 26
"""References have 26 bits in a leaf's word."""


def triangle_primitives(positions: Array, indices: Array, scene_ids: Array | None = None, **versions: Any) -> Primitives:
    """Triangles of `positions` (V, 3) float32 and `indices` (T, 3) int32 on a target, by the scene's numbers `scene_ids` (T,) int32 where those are
    not their own; `versions` are further fields of Primitives."""
    count = len(indices)
    view = make_struct(_TRIANGLES, positions=positions, indices=indices, scene_ids=scene_ids, count=count, point_count=len(positions))
    return _primitives("triangle", view, count, (positions, indices), {**versions, "scene_ids": scene_ids})


def sphere_primitives(centres: Array, radii: Array, **versions: Any) -> Primitives:
    """Spheres of `centres` (N, 3) and `radii` (N,) float32 on a target; `versions` are further fields of Primitives."""
    view = make_struct(_SPHERES, centres=centres, radii=radii, count=len(radii), point_count=len(radii))
    return _primitives("sphere", view, len(radii), (centres, radii), versions)


def _primitives(kind: str, view: np.ndarray, count: int, arrays: tuple[Array, ...], versions: dict[str, Any]) -> Primitives:
    header, type_name = KINDS[kind].header, KINDS[kind].view_type
    return Primitives(kind, header, type_name, view, count, keep_alive=arrays, **versions)


def scene_references(target: Target, primitives: Primitives, references: np.ndarray) -> np.ndarray:
    """References of a structure over these primitives as the scene's prim_ids, for node tables. Waits."""
    return references if primitives.scene_ids is None else target.download(primitives.scene_ids)[references]


def records_view(records: Array) -> np.ndarray:
    """The by-value struct of a kind's records."""
    return make_struct(_RECORDS, records=records)


def unit_source(path: str, primitives: Primitives, **constants: float) -> UnitSource:
    """A unit that reads `Primitives` and writes or reads `Records` of the kind at hand."""
    kind = KINDS[primitives.kind]
    return UnitSource(path, (primitives.header,), (("Primitives", primitives.type_name), ("Records", kind.records_type)), tuple(constants.items()))


def check_primitives(structure: str, kinds: tuple[str, ...], primitives: Primitives) -> None:
    """Raise HierarchyError where a structure cannot take these primitives."""
    if primitives.kind not in kinds:
        raise HierarchyError(f"The structure {structure} takes {' and '.join(kinds)} primitives, not {primitives.kind} primitives.")
    if primitives.count >= MAX_PRIMITIVES:
        raise HierarchyError(f"The structure {structure} takes at most {MAX_PRIMITIVES - 1:,} primitives; the scene has {primitives.count:,}.")


def grown_capacity(capacity: int, count: int) -> int:
    """How much to reserve for `count` things where `capacity` is there: exactly at first, then in steps of at least 1/8."""
    return count if capacity == 0 else max(count, capacity + capacity // 8)


def reserved(target: Target, held: Array | None, shape: tuple[int, ...], dtype: Any, tag: str) -> Array:
    """`held` if its first axis is long enough, else a new array: its content is lost."""
    if held is not None and len(held) >= shape[0]:
        return held
    capacity = grown_capacity(0 if held is None else len(held), shape[0])
    return target.empty((capacity, *shape[1:]), dtype, tag)


class WalkedRecords:
    """The records that walks intersect, by the test chosen; spheres have one test only."""

    def __init__(self, target: Target, test: str = TRIANGLE_TESTS[0]) -> None:
        if test not in TRIANGLE_TESTS:
            raise OptionError("triangle_test", test, "one of " + ", ".join(TRIANGLE_TESTS))
        self.target, self.test = target, test
        self._made: Array | None = None

    def update(self, primitives: Primitives, records: Array, count: int, reference_count: Array | None, stage: str) -> None:
        """After `records` were written: make those of the test, where it has its own. `reference_count` is on the target where it is not `count`."""
        if self.test != "unit_triangle" or primitives.kind != "triangle" or count == 0:
            return
        self._made = reserved(self.target, self._made, (count, KINDS["triangle"].record_floats), np.float32, "hierarchy")
        unit = self.target.unit(UnitSource("gpu/hierarchy/unit_triangles.cu"))
        with self.target.phase(f"{stage}.triangles"):
            self.target.launch(unit, "write_unit_triangles", count, records, reference_count, count, self._made)

    def of_walk(self, primitives: Primitives, records: Array) -> tuple[str, str, np.ndarray]:
        """Header, device type and by-value struct for a Traversal."""
        kind = KINDS[primitives.kind]
        if primitives.kind != "triangle" or self.test == "moeller_trumbore":
            return kind.header, kind.records_type, records_view(records)
        if self.test == "watertight":
            return TESTS_HEADER, "WatertightTriangles", records_view(records)
        made = self._made if self._made is not None else records
        return TESTS_HEADER, "UnitTriangles", make_struct(_UNIT_TRIANGLES, records=made, vertices=records)

    @property
    def bytes(self) -> int:
        """Reserved bytes beside the records with vertices."""
        return 0 if self._made is None else int(self._made.nbytes)

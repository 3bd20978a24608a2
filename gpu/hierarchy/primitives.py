"""Primitive kinds: how vertices and spheres on a target become the `Primitives` that structures take, and the records
they are kept in."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..primitive_views import GlyphView, MixedView, RecordRows, SphereView, TriangleView, UnitRecordRows
from ..settings import OptionError
from ..target.base import Array, Target, UnitSource
from ..target.structs import pack
from .base import HierarchyError, Primitives, Records


@dataclasses.dataclass(frozen=True)
class PrimitiveKind:
    """The device side of a kind: its header, the view that builders read, the records that traversals intersect and
    their size in float32."""

    header: str
    view_type: str
    records_type: str
    record_floats: int
    query_header: str
    """Includes `header`, and says how a primitive lies to a place (`offset_to`) and to a box (`reaches_into`)."""
    clip_header: str
    """Includes `header`, and bounds the part of a primitive inside a box (`bound_inside`); reads a block's boxes
    together (`staged_box`)."""
    tests: tuple[tuple[str, str], ...] = ()
    """Header and records for each of TRIANGLE_TESTS, for kinds that have triangles."""
    registers: int = 0
    """What a thread needs at least that intersects them, where that is more than traversals take anyway."""


KINDS = {
    "triangle": PrimitiveKind(
        "gpu/device/triangle.cuh",
        "Triangles",
        "TriangleRecords",
        12,
        "gpu/device/triangle_queries.cuh",
        "gpu/device/triangle_clip.cuh",
        (
            ("gpu/device/triangle.cuh", "TriangleRecords"),
            ("gpu/device/triangle_tests.cuh", "WatertightTriangles"),
            ("gpu/device/triangle_tests.cuh", "UnitTriangles"),
        ),
    ),
    "sphere": PrimitiveKind(
        "gpu/device/sphere.cuh",
        "Spheres",
        "SphereRecords",
        8,
        "gpu/device/sphere_queries.cuh",
        "gpu/device/sphere_clip.cuh",
    ),
    "mixed": PrimitiveKind(
        "gpu/device/mixed.cuh",
        "Mixed",
        "MixedRecords",
        12,
        "gpu/device/mixed_queries.cuh",
        "gpu/device/mixed_clip.cuh",
        (
            ("gpu/device/mixed.cuh", "MixedRecords"),
            ("gpu/device/mixed_tests.cuh", "WatertightMixed"),
            ("gpu/device/mixed_tests.cuh", "UnitMixed"),
        ),
    ),
    "glyphs": PrimitiveKind(
        "gpu/device/glyphs.cuh",
        "WithGlyphs",
        "GlyphRecords",
        12,
        "gpu/device/glyph_queries.cuh",
        "gpu/device/glyph_clip.cuh",
        (
            ("gpu/device/glyphs.cuh", "GlyphRecords"),
            ("gpu/device/glyph_tests.cuh", "WatertightGlyphs"),
            ("gpu/device/glyph_tests.cuh", "UnitGlyphs"),
        ),
        96,
    ),
}
"""Triangles alone, spheres alone, both together, triangles first, and with glyphs behind them, where there are some."""

TRIANGLE_TESTS = ("moeller_trumbore", "watertight", "unit_triangle")
"""How traversals intersect triangles: the setting render.triangle_test, for every structure alike. Spheres have one
test only.

- `moeller_trumbore`: from the vertices, exact enough for pictures; a ray may pass between two triangles that share an
  edge.
- `watertight`: from the vertices, never between neighbours (Woop, Benthin and Wald 2013).
- `unit_triangle`: an affine map a triangle (Woop 2004), 48 bytes more each and one launch after every build and refit;
  the least work a test.
"""

REFERENCE_BITS = 26
MAX_PRIMITIVES = 1 << REFERENCE_BITS
"""Fewer than so many need no more than 26 bits in the words that hold references."""

WIDE_REFERENCE_BITS = 27
MAX_WIDE_PRIMITIVES = 1 << WIDE_REFERENCE_BITS
"""What structures hold that have units for references of 27 bits; leaves' numbers have a bit less there."""


def reference_bits(count: int) -> int:
    """Bits of a reference where there are so many, a unit constant: more of them only where they are needed, so that
    smaller scenes have the units that they always had."""
    return REFERENCE_BITS if count < MAX_PRIMITIVES else WIDE_REFERENCE_BITS


def triangle_primitives(
    positions: Array, indices: Array, scene_ids: Array | None = None, **versions: Any
) -> Primitives:
    """Triangles of `positions` (V, 3) float32 and `indices` (T, 3) int32 on a target, by the scene's numbers
    `scene_ids` (T,) int32 where those are not their own; `versions` are further fields of Primitives."""
    view = pack(TriangleView(positions, indices, scene_ids, count=len(indices), point_count=len(positions)))
    return _primitives("triangle", view, (positions, indices), {**versions, "scene_ids": scene_ids})


def sphere_primitives(centres: Array, radii: Array, **versions: Any) -> Primitives:
    """Spheres of `centres` (N, 3) and `radii` (N,) float32 on a target; `versions` are further fields of Primitives."""
    view = pack(SphereView(centres, radii, count=len(radii), point_count=len(radii)))
    return _primitives("sphere", view, (centres, radii), versions)


def mixed_primitives(
    positions: Array,
    indices: Array,
    centres: Array,
    radii: Array,
    scene_ids: Array | None = None,
    first_sphere_id: int = -1,
    **versions: Any,
) -> Primitives:
    """Triangles and, after them, spheres, as the functions above take them. `scene_ids` are those of the
    triangles; `first_sphere_id` is the first sphere's number in the scene where triangles are left out."""
    first = len(indices) if first_sphere_id < 0 else first_sphere_id
    triangles = TriangleView(positions, indices, scene_ids, count=len(indices), point_count=len(positions))
    view = _mixed(pack(triangles), pack(SphereView(centres, radii, len(radii), len(radii))), first)
    arrays = (positions, indices, centres, radii)
    return _primitives("mixed", view, arrays, {**versions, "scene_ids": scene_ids})


def _mixed(triangles: np.ndarray, spheres: np.ndarray, first_sphere_id: int) -> np.ndarray:
    """A MixedView of both."""
    count, points = (int(triangles[name]) + int(spheres[name]) for name in ("count", "point_count"))
    return pack(MixedView(triangles, spheres, count, points, first_sphere_id))


def glyph_primitives(
    others: Primitives | None, rows: Array, count: int, first_id: int = -1, **versions: Any
) -> Primitives:
    """What is there besides, and after it `count` glyphs of `rows` (at least count, 12) float32 on a target, as
    gpu/device/glyph.cuh has them. `first_id` is the first glyph's number in the scene where others are left out."""
    view = _as_mixed(others)
    if first_id >= 0:
        view["first_sphere_id"] = first_id - int(view["spheres"]["count"])
    total, points = int(view["count"]) + count, int(view["point_count"]) + count
    view = pack(GlyphView(view, rows, total, points))
    kept = {} if others is None else {name: getattr(others, name) for name in _VERSIONS}
    arrays = (*(() if others is None else others.keep_alive), rows)
    return _primitives("glyphs", view, arrays, {**kept, **versions})


_VERSIONS = ("scene_ids", "objects", "topology_version", "shape_version")


def _as_mixed(primitives: Primitives | None) -> np.ndarray:
    """Triangles or spheres, or none, by the view of both."""
    if primitives is not None and primitives.kind == "mixed":
        return primitives.view.copy()
    triangles, spheres = np.zeros((), TriangleView.dtype()), np.zeros((), SphereView.dtype())
    if primitives is not None and primitives.kind == "triangle":
        triangles = primitives.view
    elif primitives is not None:
        spheres = primitives.view
    return _mixed(triangles, spheres, int(triangles["count"]))


def mixed_view(primitives: Primitives) -> np.ndarray:
    """The MixedView of mixed primitives, and of what lies before glyphs."""
    view = primitives.view["others"] if primitives.kind == "glyphs" else primitives.view
    assert view.dtype == MixedView.dtype(), f"{primitives.kind} primitives hold no such view"
    return view


def counts_of(primitives: Primitives) -> tuple[int, int, int]:
    """How many triangles, spheres and glyphs there are, in that order."""
    if primitives.kind in ("triangle", "sphere"):
        return (primitives.count, 0, 0) if primitives.kind == "triangle" else (0, primitives.count, 0)
    view = mixed_view(primitives)
    triangles, spheres = int(view["triangles"]["count"]), int(view["spheres"]["count"])
    return triangles, spheres, primitives.count - triangles - spheres


def triangle_count_of(primitives: Primitives) -> int:
    """How many of the primitives, the first ones, are triangles."""
    return counts_of(primitives)[0]


def _primitives(kind: str, view: np.ndarray, arrays: tuple[Array, ...], versions: dict[str, Any]) -> Primitives:
    header, type_name = KINDS[kind].header, KINDS[kind].view_type
    return Primitives(kind, header, type_name, view, int(view["count"]), keep_alive=arrays, **versions)


def scene_references(target: Target, primitives: Primitives, references: np.ndarray) -> np.ndarray:
    """References of a structure over these primitives as the scene's prim_ids, for node tables. Waits."""
    if primitives.scene_ids is None:
        return references
    scene_ids = target.download(primitives.scene_ids)
    if primitives.kind != "triangle":
        rest = np.arange(sum(counts_of(primitives)[1:]), dtype=np.int32)
        scene_ids = np.concatenate([scene_ids, rest + np.int32(mixed_view(primitives)["first_sphere_id"])])
    return np.asarray(scene_ids[references])


def records_view(records: Array) -> np.ndarray:
    """The by-value struct of a kind's records."""
    return pack(RecordRows(records))


def unit_source(path: str, primitives: Primitives, **constants: float) -> UnitSource:
    """A unit that reads `Primitives` and writes or reads `Records` of the kind at hand. References are as wide as so
    many primitives ask for, unless `constants` say REFERENCE_BITS."""
    return _unit_source(path, primitives.header, primitives, constants)


def clipping_unit_source(path: str, primitives: Primitives, **constants: float) -> UnitSource:
    """The same of a unit that cuts primitives too."""
    return _unit_source(path, KINDS[primitives.kind].clip_header, primitives, constants)


def querying_unit_source(path: str, primitives: Primitives, **constants: float) -> UnitSource:
    """The same of a unit that asks how primitives lie to boxes, where their kind says."""
    return _unit_source(path, KINDS[primitives.kind].query_header, primitives, constants)


def _unit_source(path: str, header: str, primitives: Primitives, constants: dict[str, float]) -> UnitSource:
    return UnitSource(
        path,
        (header,),
        (("Primitives", primitives.type_name), ("Records", KINDS[primitives.kind].records_type)),
        tuple({"REFERENCE_BITS": reference_bits(primitives.count), **constants}.items()),
    )


def check_primitives(
    structure: str, kinds: tuple[str, ...], primitives: Primitives, is_wide: bool = False, largest: int | None = None
) -> None:
    """Raise HierarchyError where a structure cannot take these primitives. `is_wide`: whether it has units for
    references of 27 bits; `largest`: how many it takes at once, where not all."""
    count = primitives.count if largest is None else largest
    if primitives.kind not in kinds:
        raise HierarchyError(
            f"The structure {structure} takes {' and '.join(kinds)} primitives, not {primitives.kind} primitives."
        )
    limit = MAX_WIDE_PRIMITIVES if is_wide else MAX_PRIMITIVES
    if count >= limit:
        others = "" if is_wide else " Choose lbvh, hploc or ploc, which hold more."
        raise HierarchyError(
            f"The structure {structure} takes at most {limit - 1:,} primitives; the scene has {count:,}.{others}"
        )


def grown_capacity(capacity: int, count: int) -> int:
    """How much to reserve for `count` things where `capacity` is there: exactly at first, then in steps of at least
    1/8."""
    return count if capacity == 0 else max(count, capacity + capacity // 8)


def reserved(target: Target, held: Array | None, shape: tuple[int, ...], dtype: Any, tag: str) -> Array:
    """`held` if its first axis is long enough, else a new array: its content is lost."""
    if held is not None and len(held) >= shape[0]:
        return held
    capacity = grown_capacity(0 if held is None else len(held), shape[0])
    return target.empty((capacity, *shape[1:]), dtype, tag)


def query_records(primitives: Primitives, records: Array) -> Records:
    """What queries of regions test, whichever way rays are intersected."""
    kind = KINDS[primitives.kind]
    return Records(kind.query_header, kind.records_type, records_view(records))


class TraversedRecords:
    """The records that traversals intersect, by the test chosen."""

    def __init__(self, target: Target, test: str = TRIANGLE_TESTS[0]) -> None:
        if test not in TRIANGLE_TESTS:
            raise OptionError("triangle_test", test, "one of " + ", ".join(TRIANGLE_TESTS))
        self.target, self.test = target, test
        self._made: Array | None = None

    def update(
        self, primitives: Primitives, records: Array, count: int, reference_count: Array | None, stage: str
    ) -> None:
        """After `records` were written: make those of the test, where it has its own. `reference_count` is on the
        target where it is not `count`."""
        kind = KINDS[primitives.kind]
        if self.test != "unit_triangle" or not kind.tests or count == 0:
            return
        self._made = reserved(self.target, self._made, (count, kind.record_floats), np.float32, "hierarchy")
        header, records_type = self._tested(kind)
        unit = self.target.unit(
            UnitSource("gpu/hierarchy/unit_triangles.cu", (header,), (("UnitRecords", records_type),))
        )
        with self.target.phase(f"{stage}.triangles"):
            self.target.launch(
                unit,
                "write_unit_triangles",
                count,
                vertices=records,
                reference_count=reference_count,
                count=count,
                unit_triangles=self._made,
            )

    def of_traversal(self, primitives: Primitives, records: Array) -> Records:
        """What a Traversal intersects."""
        kind = KINDS[primitives.kind]
        header, records_type = self._tested(kind)
        if not kind.tests or self.test != "unit_triangle":
            return Records(header, records_type, records_view(records), kind.registers)
        made = self._made if self._made is not None else records
        view = pack(UnitRecordRows(made, vertices=records))
        return Records(header, records_type, view, kind.registers)

    def _tested(self, kind: PrimitiveKind) -> tuple[str, str]:
        """Header and type of the records that the test reads."""
        if not kind.tests:
            return kind.header, kind.records_type
        return kind.tests[TRIANGLE_TESTS.index(self.test)]

    @property
    def bytes(self) -> int:
        """Reserved bytes beside the records with vertices."""
        return 0 if self._made is None else int(self._made.nbytes)

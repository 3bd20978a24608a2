"""Primitives as kernels take them, by value: what builders read of each kind, and what traversals intersect. Each
type of gpu/device that has functions derives from one of these."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np

from .rows import Floats, Int, Ints, Struct


@dataclasses.dataclass(frozen=True)
class TriangleView(Struct):
    """`Triangles`: three floats a vertex, `point_count` of them; three indices a triangle; the triangles' numbers in
    the scene, or None where these are all of the scene's."""

    positions: Floats
    indices: Ints
    scene_ids: Ints
    count: Int
    point_count: Int


@dataclasses.dataclass(frozen=True)
class SphereView(Struct):
    """`Spheres`: three floats a centre; one a radius."""

    centres: Floats
    radii: Floats
    count: Int
    point_count: Int


@dataclasses.dataclass(frozen=True)
class MixedView(Struct):
    """`Mixed`: both, triangles first, and how many they are together. `first_sphere_id` is the first sphere's number in
    the scene, which is more than the triangles at hand where some are left out."""

    triangles: Annotated[TriangleView | np.ndarray, "class Triangles"]
    spheres: Annotated[SphereView | np.ndarray, "class Spheres"]
    count: Int
    point_count: Int
    first_sphere_id: Int


@dataclasses.dataclass(frozen=True)
class GlyphView(Struct):
    """`WithGlyphs`: what is there besides, and three words a glyph after it (gpu/device/glyph.cuh). `count` and
    `point_count` of `others` leave the glyphs out."""

    others: Annotated[MixedView | np.ndarray, "class Mixed"]
    rows: Annotated[Any, "const float4*"]
    count: Int
    point_count: Int


@dataclasses.dataclass(frozen=True)
class RecordRows(Struct):
    """Records of any kind, one a reference."""

    records: Annotated[Any, "float4*"]


@dataclasses.dataclass(frozen=True)
class UnitRecordRows(RecordRows):
    """Records that a test of triangles has made for itself, and those with vertices, which have the numbers of
    primitives."""

    vertices: Annotated[Any, "const float4*"]


@dataclasses.dataclass(frozen=True)
class RowsOfLeaves(Struct):
    """What stands behind records that lie leaf by leaf in rows too (gpu/device/leaf_rows.cuh)."""

    rows: Floats


@dataclasses.dataclass(frozen=True)
class LongLeaves(Struct):
    """What stands behind records where leaves may be long: the words that lead to their references."""

    long_leaves: Ints

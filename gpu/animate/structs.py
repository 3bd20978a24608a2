"""What the kernels of animation read, an item each: the moment, tracks, objects, tiles of vertices, what deforms."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from ..rows import Float, Int, Int64, Row, Struct, Vector

PLACEMENT_BYTES = 112
"""A Placement of animate.cuh, which kernels write and read."""


@dataclasses.dataclass(frozen=True)
class Moment(Struct):
    """An instant."""

    time: Float
    clip: Int


@dataclasses.dataclass(frozen=True)
class NodeRow(Row):
    """A node at rest."""

    translation: Vector
    rotation: tuple[float, float, float, float]
    scale: Vector


@dataclasses.dataclass(frozen=True)
class Track(Struct):
    """A track: `key_count` times from `first_time` on, and as many values (three times as many for cubic) from
    `first_value` on."""

    first_time: Int
    first_value: Int
    key_count: Int
    interpolation: Int
    """One of INTERPOLATIONS."""


@dataclasses.dataclass(frozen=True)
class Object(Struct):
    """A mesh at a node, with `key_count` key frames of `stride` vertices each, one after the other from `first_source`
    on."""

    node: Int
    stride: Int
    first_source: Int
    key_count: Int
    first_time: Int


@dataclasses.dataclass(frozen=True)
class Tile(Struct):
    """Vertices [first_vertex, first_vertex + count) belong to `object` and start at its vertex `first_local`."""

    first_vertex: Int
    count: Int
    object: Int
    first_local: Int


@dataclasses.dataclass(frozen=True)
class WeightSlot(Struct):
    """A weight of a morphed object: component `component` of `width` of the track that drives row `row`, else
    `rest`."""

    row: Int
    component: Int
    width: Int
    rest: Float


@dataclasses.dataclass(frozen=True)
class Deformer(Struct):
    """How an object's mesh is deformed. Weights from `first_weight` on; target t begins at vertex `first_target` +
    t * `stride` of the differences of positions, at `first_normal_target` + t * `stride` of those of normals (-1: there
    are none). Joints from `first_joint` on (-1: no skin), vertices from `first_vertex` on."""

    first_weight: Int = 0
    target_count: Int = 0
    first_target: Int = 0
    first_normal_target: Int = -1
    stride: Int = 0
    first_joint: Int = -1
    first_vertex: Int = 0
    unused: Int = 0


@dataclasses.dataclass(frozen=True)
class SphereObject(Struct):
    """Where an object's keys of spheres lie, in rows of the arrays of all. A stride of 0: one row serves all keys; a
    first row of -1: there is none. Spheres from `first_slot` on."""

    first_centre: Int64
    first_radius: Int64
    first_colour: Int64
    first_cell: Int64
    centre_stride: Int64
    radius_stride: Int64
    colour_stride: Int64
    cell_stride: Int64
    placement: Int
    first_slot: Int


@dataclasses.dataclass(frozen=True)
class PeriodicCell(Struct):
    """A periodic cell: its edges as columns, and what makes shares of the edges of a place; 1 where it repeats along an
    edge."""

    edges: Annotated[np.ndarray, "float3[3]"]
    shares: Annotated[np.ndarray, "float3[3]"]
    repeats: Annotated[np.ndarray, "float3"]


@dataclasses.dataclass(frozen=True)
class AttributeColumn(Struct):
    """The numbers behind a name: `width` for each sphere, from number `first` on, `stride` from key to key (0: one row
    serves all keys). A width of 0: the object has no such attribute. A width above 1: the value is the vector's
    length."""

    first: Int64
    stride: Int64
    width: Int
    unused: Int


@dataclasses.dataclass(frozen=True)
class AttributeObject(Struct):
    """An object: what colours, sizes, selects and is counted; its place among those that are posed; whether its spheres
    have colours of their own."""

    color: AttributeColumn
    size: AttributeColumn
    selection: AttributeColumn
    counted: AttributeColumn
    first_slot: Int64
    posed: Int
    has_colours: Int

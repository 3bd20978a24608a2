"""Rays in a caller's arrays -> hits in a caller's arrays, without a copy: what gpu/face traces by.

`ArrayTracer` is to arrays of rows of three what `Tracer` is to the buffers of frames; both are compiled against
whatever traversal a structure gives.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np

from ..hierarchy.base import Traversal
from ..rows import Float, Floats, Int, Ints, Struct
from ..target.base import Array, Target, Unit, UnitSource
from ..target.structs import address, pack
from .trace import MULTIPROCESSOR_REGISTERS, TRACE_BLOCK

EVERY_GROUP = -1
"""The group of what is met by all rays, and of rays that meet everything."""

EVERY_MASK = -1
"""All bits."""


@dataclasses.dataclass(frozen=True)
class ArrayRays(Struct):
    """Rays in arrays: `origins` and `directions` in rows, so many floats from one to the next (0: one for all). Of
    sensors: `origins` are their poses, twelve floats each, and `directions` the beams that every one of them has.
    Without `t_mins` or `t_maxs`, `t_min` and `t_max` are for all."""

    origins: Floats
    directions: Floats
    t_mins: Floats
    t_maxs: Floats
    origin_stride: Int
    direction_stride: Int
    t_min: Float
    t_max: Float
    count: Int
    beam_count: Int


@dataclasses.dataclass(frozen=True)
class AdmittedRays(Struct):
    """What rays may meet. Of each ray (or sensor) a group and a mask, or one for all; of each primitive its instance,
    of each instance group and mask. Where groups have trees of their own: a group's place among the `roots`, -1 for
    none, and the place of what every ray meets."""

    ray_groups: Ints
    ray_masks: Ints
    instance_ids: Ints
    instances: Annotated[Any, "const int2*"]
    root_of_group: Ints
    roots: Ints
    group_count: Int
    shared_root: Int
    ray_group: Int
    ray_mask: Int


@dataclasses.dataclass(frozen=True)
class TracedTree(Struct):
    """What ArrayInput of arrays.cu holds."""

    tree: Annotated[np.ndarray, "class Tree"]
    records: Annotated[np.ndarray, "class Records"]


@dataclasses.dataclass(frozen=True)
class ArrayKind:
    """What a unit of arrays.cu is compiled for."""

    is_any_enough: bool = False
    from_sensors: bool = False
    filters: bool = False
    has_roots: bool = False


def packed(kind: type[Struct], *values: Any) -> np.ndarray:
    """A struct of numbers and pointers as kernels take it, its fields in their order: what `pack` gives, without
    looking at each by its name."""
    row = tuple(value if isinstance(value, int | float) else address(value) for value in values)
    return np.array(row, kind.dtype())


class ArrayTracer:
    """Traces through one structure as it is now. What it launches by is kept, so that a call makes nothing anew."""

    def __init__(self, target: Target, traversal: Traversal) -> None:
        self.target = target
        self._units: dict[ArrayKind, Unit] = {}
        self._key: tuple[Any, ...] | None = None
        self.follow(traversal)

    def follow(self, traversal: Traversal) -> None:
        """Trace through the structure as it is now. Units stay where the traversal is compiled alike."""
        if traversal.key != self._key:
            self._units.clear()
            self._key = traversal.key
        self.traversal = traversal
        self.input = pack(TracedTree(traversal.tree.view, traversal.records.view))
        self.lanes = min(self.target.lane_count, traversal.most_lanes or self.target.lane_count)

    def trace(
        self,
        kind: ArrayKind,
        rays: np.ndarray,
        admitted: np.ndarray,
        count: int,
        positions: Array,
        corners: Array,
        outputs: dict[str, Array | None],
    ) -> None:
        """Trace `count` rays, an ArrayRays as packed, into `outputs`: t, prim_id, u, v, normal, instance and is_hit,
        None where one is not asked for. `positions` and `corners` are the triangles by the scene's numbers. Launches
        only."""
        if count == 0:
            return
        packs = -(-count // self.lanes)
        self.target.launch(
            self._units.get(kind) or self.unit(kind),
            "trace_arrays",
            packs,
            input=self.input,
            rays_in=rays,
            admitted=admitted,
            pack_count=packs,
            positions=positions,
            corners=corners,
            **outputs,
            block=TRACE_BLOCK,
            blocks=-(-packs // TRACE_BLOCK) if self.target.kind == "cuda" else 0,
        )

    def unit(self, kind: ArrayKind) -> Unit:
        """The unit of a kind, compiled where it is new."""
        tree, records = self.traversal.tree, self.traversal.records
        registers = max(tree.registers, records.registers)
        types = (("Tree", tree.type_name), ("Records", records.type_name))
        constants = (
            *tree.constants,
            ("FROM_SENSORS", kind.from_sensors),
            ("FILTERS", kind.filters),
            ("HAS_ROOTS", kind.has_roots),
            ("TRACE_BLOCK", TRACE_BLOCK),
            ("TRACE_BLOCKS", MULTIPROCESSOR_REGISTERS // (registers * TRACE_BLOCK)),
            ("ARRAY_INPUT_BYTES", self.input.dtype.itemsize),
        )
        source = UnitSource(
            "gpu/trace/arrays.cu",
            (records.header, tree.header, "gpu/trace/on_primitive.cuh"),
            (*types, ("OnPrimitive", "AnyHit" if kind.is_any_enough else "ClosestHit")),
            constants,
            self.lanes,
        )
        made = self._units[kind] = self.target.unit(source)
        return made

"""No structure at all: every ray meets every primitive. Slow, and simple enough to be believed: the oracle that the
others are compared with.

Idea: Test each ray with each primitive in turn and keep the nearest hit. Nothing is sorted, nothing is skipped, so
nothing can be lost.

Paper: Appel, Some Techniques for Shading Machine Renderings of Solids (1968), used exactly this; all later work
avoids it.

Cost: Building copies the primitives and their bounds, nothing more. Tracing grows with rays times primitives: a scene
of 100,000 triangles at 1024 x 768 pixels is 80 billion tests per frame.

Limits: For small scenes and for checking pictures of other structures. It has one node, so overlays and statistics of
trees say nothing here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from ...rows import Int, Ints, Struct
from ...stats import HierarchyStatistics
from ...target.base import Array, Target
from ...target.structs import pack
from ..base import (
    REGION_QUERIES,
    Capabilities,
    NodeTable,
    Primitives,
    StatisticsOptions,
    StructureChoice,
    Traversal,
    TreeView,
)
from ..measured import MeasuredHierarchy
from ..primitives import (
    KINDS,
    TraversedRecords,
    check_primitives,
    query_records,
    reserved,
    scene_references,
    unit_source,
)

_FLOAT_MAX = np.array([np.finfo(np.float32).max], np.float32).view(np.int32)[0]
_FRESH = np.array([_FLOAT_MAX] * 3 + [~_FLOAT_MAX] * 3 + [0], np.int32)


@dataclasses.dataclass(frozen=True)
class ReferenceOrder(Struct):
    """All references, as traversals and visits have them."""

    order: Ints
    count: Int
    unused: Int = 0


@dataclasses.dataclass(frozen=True)
class BruteForceOptions:
    """There is nothing to choose."""


class BruteForce(MeasuredHierarchy):
    """See the module."""

    name = "brute_force"
    family = "brute_force"
    title = "Brute force"
    Options = BruteForceOptions
    capabilities = Capabilities(primitive_kinds=("triangle", "sphere", "mixed", "glyphs"), queries=REGION_QUERIES)
    figures = ("inactive_count",)

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self._records: Array | None = None
        self._order: Array | None = None
        self._traversed = TraversedRecords(target, self.choice.triangle_test)

    @classmethod
    def layouts(cls) -> tuple[str, ...]:
        return ("records",)

    @classmethod
    def default_layout(cls, target_kind: str, incoherent_lanes: int = 0) -> str:
        return "records"

    @classmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        return ("every_primitive",)

    @classmethod
    def titles(cls) -> Mapping[str, str]:
        return {"records": "List of primitives", "every_primitive": "All primitives, one after the other"}

    def build(self, primitives: Primitives) -> None:
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives, is_wide=True)
        floats, held = KINDS[primitives.kind].record_floats, self._records
        held = None if held is not None and held.shape[1] != floats else held
        self._records = reserved(self.target, held, (max(1, primitives.count), floats), np.float32, "hierarchy")
        self._order = reserved(self.target, self._order, (max(1, primitives.count),), np.int32, "hierarchy")
        with self.target.phase("build.nodes"):
            self._write(primitives)
        self._traversed.update(primitives, self._records, primitives.count, None, "build")
        self._built = primitives

    def refit(self, primitives: Primitives) -> None:
        self.check_refit(primitives)
        with self.target.phase("refit.nodes"):
            self._write(primitives)
        self._traversed.update(primitives, self._records, primitives.count, None, "refit")
        self._built = primitives

    def _write(self, primitives: Primitives) -> None:
        unit = self.target.unit(unit_source("gpu/hierarchy/records.cu", primitives))
        self.target.launch(
            unit,
            "write_records",
            primitives.count,
            primitives=primitives.view,
            record_data=self._records,
            order=self._order,
        )

    def traversal(self) -> Traversal:
        built = self.last_built()
        records = self._traversed.of_traversal(built, self._records)
        view = pack(ReferenceOrder(self._order, built.count))
        header = "gpu/hierarchy/brute_force/every_primitive.cuh"
        return Traversal(TreeView(header, "EveryPrimitive", view), records)

    def query_traversal(self) -> Traversal:
        built = self.last_built()
        view = pack(ReferenceOrder(self._order, built.count))
        header = "gpu/hierarchy/brute_force/visit_all.cuh"
        return Traversal(TreeView(header, "AllReferences", view), query_records(built, self._records))

    def launch_measuring(self, primitives: Primitives, costs: StatisticsOptions) -> Array:
        return self._measure(primitives)[6:]

    def stats(self) -> HierarchyStatistics:
        """One leaf with everything, of which the count is the cost."""
        found = super().stats()
        count = found.primitive_count
        found = dataclasses.replace(found, leaf_count=min(count, 1), reference_count=count)
        return dataclasses.replace(found, depth=0, sah_cost=float(count)) if self._is_measured else found

    def memory(self) -> tuple[int, int]:
        held = sum(int(array.nbytes) for array in (self._records, self._order) if array is not None)
        return held + self._traversed.bytes, 0

    def nodes(self) -> NodeTable:
        built = self.last_built()
        rows = min(built.count, 1)
        ordered = self.target.download(self._measure(built))[:6]
        box = (
            np.where(ordered >= 0, ordered, ordered ^ 0x7FFFFFFF)
            .astype(np.int32)
            .view(np.float32)
            .reshape(1, 2, 3)[:rows]
        )
        zeros = np.zeros(rows, np.int32)
        references = scene_references(self.target, built, self.target.download(self._order)[: built.count])
        return NodeTable(
            zeros - 1, zeros, box[:, 0], box[:, 1], np.ones(rows, bool), zeros, zeros + built.count, references, ~zeros
        )

    def _measure(self, built: Primitives) -> Array:
        result = self.target.scratch("brute_force.measured", 7, np.int32)
        self.target.write(result, _FRESH)
        unit = self.target.unit(unit_source("gpu/hierarchy/records.cu", built))
        self.target.launch(
            unit, "measure_records", built.count, record_data=self._records, count=built.count, result=result
        )
        return result


__all__ = ["BruteForce", "BruteForceOptions"]

"""No structure at all: every ray meets every primitive. Slow, and simple enough to be believed: the oracle that the others are compared with.

Idea: Test each ray with each primitive in turn and keep the nearest hit. Nothing is sorted, nothing is skipped, so nothing can be lost.

Paper: Appel, Some Techniques for Shading Machine Renderings of Solids (1968), cast rays so; everything since then avoids it.

Cost: Building copies the primitives and their bounds, nothing more. Tracing grows with rays times primitives: a scene of 100,000 triangles at
1024 x 768 pixels is 80 thousand million tests a frame.

Limits: For small scenes and for checking pictures of other structures. It has one node, so overlays and statistics of trees say nothing here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ...settings import OptionError
from ...stats import HierarchyStatistics
from ...target.base import Array, Target
from ...target.structs import make_struct, struct_dtype
from ..base import CannotRefitError, Capabilities, Hierarchy, HierarchyError, NodeTable, Primitives, Traversal
from ..primitives import KINDS, WalkedRecords, check_primitives, reserved, scene_references, unit_source

_VIEW = struct_dtype([("order", "pointer"), ("count", "int"), ("unused", "int")])
_FLOAT_MAX = np.array([np.finfo(np.float32).max], np.float32).view(np.int32)[0]
_FRESH = np.array([_FLOAT_MAX] * 3 + [~_FLOAT_MAX] * 3 + [0], np.int32)


@dataclasses.dataclass(frozen=True)
class BruteForceOptions:
    """There is nothing to choose."""


class BruteForce(Hierarchy):
    """See the module."""

    name = "brute_force"
    family = "brute_force"
    title = "Every primitive (reference)"
    Options = BruteForceOptions
    capabilities = Capabilities(primitive_kinds=("triangle", "sphere"))

    def __init__(self, target: Target, options: BruteForceOptions, layout: str = "auto", traversal: str = "auto") -> None:
        super().__init__(target, options, layout, traversal)
        for key, value, known in (("layout", layout, "records"), ("traversal", traversal, "every_primitive")):
            if value not in ("auto", known):
                raise OptionError(key, value, f"{self.name} has only {known}")
        self.layout_name, self.traversal_name = "records", "every_primitive"
        self._records: Array | None = None
        self._walked = WalkedRecords(target)
        self._order: Array | None = None
        self._built: Primitives | None = None
        self._inactive_count = 0
        self._is_measured = False
        self._pending: Callable[[], np.ndarray | None] | None = None

    @classmethod
    def layouts(cls) -> tuple[str, ...]:
        return ("records",)

    @classmethod
    def default_layout(cls, target_kind: str, lanes_apart: int = 0) -> str:
        return "records"

    @classmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        return ("every_primitive",)

    def test_triangles_by(self, name: str) -> None:
        self._walked = WalkedRecords(self.target, name)

    def build(self, primitives: Primitives) -> None:
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives)
        floats, held = KINDS[primitives.kind].record_floats, self._records
        held = None if held is not None and held.shape[1] != floats else held
        self._records = reserved(self.target, held, (max(1, primitives.count), floats), np.float32, "hierarchy")
        self._order = reserved(self.target, self._order, (max(1, primitives.count),), np.int32, "hierarchy")
        with self.target.phase("build.nodes"):
            self._write(primitives)
        self._walked.update(primitives, self._records, primitives.count, None, "build")
        self._built = primitives

    def refit(self, primitives: Primitives) -> None:
        built = self._built
        if built is None:
            raise CannotRefitError(f"The structure {self.name} has not been built yet: there is nothing to refit.")
        if not primitives.has_topology_of(built):
            raise CannotRefitError(f"The primitives' number or topology has changed since {self.name} was built: rebuild it.")
        with self.target.phase("refit.nodes"):
            self._write(primitives)
        self._walked.update(primitives, self._records, primitives.count, None, "refit")
        self._built = primitives

    def _write(self, primitives: Primitives) -> None:
        unit = self.target.unit(unit_source("gpu/hierarchy/records.cu", primitives))
        self.target.launch(unit, "write_records", primitives.count, primitives.view, self._records, self._order)

    def traversal(self) -> Traversal:
        built = self._last_built()
        records = self._walked.of_walk(built, self._records)
        view = make_struct(_VIEW, order=self._order, count=built.count, unused=0)
        header = "gpu/hierarchy/brute_force/every_primitive.cuh"
        return Traversal(header, "EveryPrimitive", view, *records)

    def measure(self) -> None:
        self._pending = self.target.read_later(self._measure(self._last_built()))

    def stats(self) -> HierarchyStatistics:
        arrived = self._pending() if self._pending is not None else None
        if arrived is not None:
            self._inactive_count, self._is_measured, self._pending = int(arrived[6]), True, None
            self.measured_tree = self.tree_to_measure
        count = 0 if self._built is None else self._built.count
        arrays = [array for array in (self._records, self._order) if array is not None]
        return HierarchyStatistics(
            leaf_count=min(count, 1),
            reference_count=count,
            primitive_count=count,
            inactive_count=self._inactive_count,
            depth=0 if self._is_measured else None,
            sah_cost=self._sah_cost() if self._is_measured else None,
            bytes=sum(int(array.nbytes) for array in arrays),
        )

    def nodes(self) -> NodeTable:
        built = self._last_built()
        rows = min(built.count, 1)
        ordered = self.target.download(self._measure(built))[:6]
        box = np.where(ordered >= 0, ordered, ordered ^ 0x7FFFFFFF).astype(np.int32).view(np.float32).reshape(1, 2, 3)[:rows]
        zeros = np.zeros(rows, np.int32)
        references = scene_references(self.target, built, self.target.download(self._order)[: built.count])
        return NodeTable(zeros - 1, zeros, box[:, 0], box[:, 1], np.ones(rows, bool), zeros, zeros + built.count, references)

    def _measure(self, built: Primitives) -> Array:
        result = self.target.scratch("brute_force.measured", 7, np.int32)
        self.target.write(result, _FRESH)
        unit = self.target.unit(unit_source("gpu/hierarchy/records.cu", built))
        self.target.launch(unit, "measure_records", built.count, self._records, built.count, result)
        return result

    def _sah_cost(self) -> float:
        """One leaf with everything: its count."""
        return float(self._last_built().count)

    def _last_built(self) -> Primitives:
        if self._built is None:
            raise HierarchyError(f"The structure {self.name} has not been built yet.")
        return self._built


__all__ = ["BruteForce", "BruteForceOptions"]

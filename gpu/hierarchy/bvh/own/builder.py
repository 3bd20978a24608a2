"""A function as a builder of the family: boxes in, a tree out.

The function runs on the host, whatever the target: the boxes of the primitives are brought there, and its tree is
brought back. So a rebuild waits for the target and for the function, within the frame and before what is traced; such
frames are launched and not captured (`Capabilities.builds_on_host`), those that refit are captured like any other.

Phases: build.bounds brings the boxes, build.function is the function alone, build.tree brings its tree and makes boxes,
records and flags; their sum is build_ms, with the layout's. check.tree, which finds out whether it is a tree, is none
of it.
"""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ....target.base import Target
from ...base import HierarchyError, Primitives, StructureChoice
from ...primitives import check_primitives
from ..bvh import BvhHierarchy
from ..tree import MAX_WIDE_LEAF_SIZE
from .arranged import Arranged, arranged, inactive_tree, joined
from .boxes import read_boxes
from .tree import Checked, Tree, TreeError, checked_tree

EXISTS = 1
"""The flag of a node that is part of the tree (canonical.cuh)."""


class FunctionBuilder(BvhHierarchy):
    """See the module. `rg.builder` derives from it, and says `function` and which `option_names` it is called with."""

    function: ClassVar[Callable[..., Any]]
    option_names: ClassVar[tuple[str, ...]] = ()
    most_wide_leaf = MAX_WIDE_LEAF_SIZE

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        super().__init__(target, choice)
        self._made: Arranged | None = None  # while a build lasts
        self._depth = 0
        self._shape: tuple[int, int, bool] = (0, 0, False)

    # -- the contract -----------------------------------------------------------------------------------------------
    def build(self, primitives: Primitives) -> None:
        check_primitives(self.name, self.capabilities.primitive_kinds, primitives, is_wide=True)
        if self.target.is_capturing:
            raise HierarchyError(
                f"The structure {self.name} is built by a function on the host, which cannot be captured and replayed: "
                "rebuild it outside of what is captured; its refits may be."
            )
        made = self._arrange(primitives) if primitives.count > 0 else None
        self._made, self._depth = made, 0 if made is None else made.depth
        self.tree.long_leaves = None  # reserved anew where this tree has some
        super().build(primitives)
        self._made = None
        stack = self._stack_depth(self.layout.waiting_per_level)
        shape = (self.tree.count, stack, self.tree.long_leaves is not None)
        if shape != self._shape:  # traversals and refits that were captured are of a tree of another shape
            self._shape = shape
            self.generation += 1

    def choose_leaves(self, primitives: Primitives) -> None:
        self.leaf_size = 1

    def max_depth(self) -> int:
        return self._depth

    def may_have_long_leaves(self) -> bool:
        return self._made is not None and self._made.long_leaves is not None

    def reference_capacity(self, primitives: Primitives) -> int:
        return 0 if self._made is None else len(self._made.order)

    def emit(self, primitives: Primitives) -> bool:
        made, tree, target = self._made, self.tree, self.target
        assert made is not None
        with target.phase("build.tree"):
            target.write(tree.order[: len(made.order)], made.order)
            target.write(tree.root, np.array([made.root], np.int32))
            node_count = len(made.nodes)
            target.fill(tree.flags, 0)
            if node_count > 0:
                target.write(tree.nodes[:node_count], made.nodes)
                target.write(tree.parent[:node_count], made.parent)
                target.fill(tree.flags[:node_count], EXISTS)
            if made.long_leaves is not None:
                assert tree.long_leaves is not None
                target.write(tree.long_leaves[: len(made.long_leaves)], made.long_leaves)
            if made.boxes is not None:
                assert tree.reference_boxes is not None
                target.write(tree.reference_boxes[: len(made.boxes)], made.boxes)
                target.write(tree.reference_count, np.array([len(made.order)], np.int32))
        return self.compute_bounds(primitives)

    # -- the function -----------------------------------------------------------------------------------------------
    def _arrange(self, primitives: Primitives) -> Arranged:
        boxes = self._boxes(primitives)
        is_active = np.isfinite(boxes).all(axis=1) & (boxes[:, :3] <= boxes[:, 3:]).all(axis=1)
        active, inactive = np.flatnonzero(is_active), np.flatnonzero(~is_active)
        tree: Checked | None = None
        given = boxes[active]
        if len(active) > 0:
            with self.target.phase("build.function"):
                made = self._call(given.copy())
            with self.target.phase("check.tree"):
                tree = self._checked(made, given)
        parts = self._parts(tree, given, boxes[inactive])
        if tree is not None:
            tree = dataclasses.replace(tree, listed=active[tree.listed])
        if len(inactive) > 0:
            others = inactive_tree(inactive)
            tree = others if tree is None else joined(tree, others)
        assert tree is not None
        with self.target.phase("build.tree"):
            return arranged(tree, parts)

    def _boxes(self, primitives: Primitives) -> np.ndarray:
        """Of all primitives, (N, 6)."""
        with self.target.phase("build.bounds"):
            return read_boxes(self.target, primitives)

    def _call(self, bounds: np.ndarray) -> object:
        options = {name: getattr(self.options, name) for name in self.option_names}
        try:
            return type(self).function(bounds, **options)
        except Exception as error:
            raise HierarchyError(
                f"{self._named()} failed in {_place(type(self).function, error)}: {type(error).__name__}: "
                f"{str(error).rstrip('.')}."
            ) from error

    def _checked(self, made: object, boxes: np.ndarray) -> Checked:
        try:
            return checked_tree(made, boxes, self.capabilities.splits_references)
        except TreeError as error:
            raise TreeError(f"{self._named()} gave no tree: {error}") from error

    def _named(self) -> str:
        return f"The function {type(self).function.__qualname__} of the structure {self.name}"

    def _parts(self, tree: Checked | None, boxes: np.ndarray, without: np.ndarray) -> np.ndarray | None:
        """The boxes of all references, where they are parts of primitives: what lies in their leaf's box."""
        if not self.capabilities.splits_references:
            return None
        if tree is None:
            return without
        assert tree.columns.bounds is not None
        around, held = tree.columns.bounds[tree.listed_in], boxes[tree.listed]
        lower, upper = np.maximum(around[:, :3], held[:, :3]), np.minimum(around[:, 3:], held[:, 3:])
        inside = np.hstack([np.minimum(lower, upper), np.maximum(lower, upper)]) + np.float32(0.0)
        return np.concatenate([inside, without])

    def scratch_bytes(self) -> int:
        return 24 * (0 if self._built is None else self._built.count)


def _place(function: Callable[..., Any], error: Exception) -> str:
    """Where in the function's file an exception came from: the line that was at work last."""
    code = function.__code__
    lines = [
        line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == code.co_filename
    ]
    file = Path(code.co_filename).name
    return f"line {(lines or [code.co_firstlineno])[-1]}" + ("" if file.startswith("<") else f" of {file}")


__all__ = ["FunctionBuilder", "Tree"]

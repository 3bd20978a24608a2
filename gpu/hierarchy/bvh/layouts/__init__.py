"""Layouts: how a canonical tree lies in memory for a traversal. One module a layout, named like it, with one
subclass of `Layout`."""

from __future__ import annotations

import abc
import dataclasses
import functools
import importlib
import pathlib
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from ....rows import Ints, Struct
from ....target.base import Array, Target
from ....target.structs import pack
from ...base import HierarchyError, Primitives, Records
from ...primitives import reserved

if TYPE_CHECKING:
    from ..tree import CanonicalTree


TRAVERSAL_TITLES = {
    "bvh2_stack": "Stack, binary nodes",
    "bvh2_compact_stack": "Stack, compact binary nodes",
    "bvh2_soa_stack": "Stack, structure of arrays",
    "bvh4_stack": "Stack, 4-wide nodes",
    "bvh8_stack": "Stack, 8-wide nodes",
    "bvh8_single": "Single rays, 8-wide nodes",
    "cwbvh_stack": "Single rays, compressed nodes",
}
"""What people are shown for the traversals of all layouts."""


@dataclasses.dataclass(frozen=True)
class NodesAndRoot(Struct):
    """What most traversals hold."""

    nodes: Annotated[Array, "const float4*"]
    root: Ints


class Layout(abc.ABC):
    """The nodes of one tree in one layout. `waiting_per_level` bounds the children that a traversal leaves waiting a
    canonical level;
    `title` is what people are shown, `traversal_registers` is what a traversal takes on CUDA.
    `lanes_as_children` names the traversals that take a ray at a time and a node's eight children in its lanes,
    `traversals_interleaved` those that interleave the incoherent rays of a pack."""

    name: ClassVar[str]
    title: ClassVar[str]
    node_dtype: ClassVar[np.dtype]
    waiting_per_level: ClassVar[int]
    scratch_per_reference: ClassVar[int] = 0
    """Bytes of scratch memory that `write` takes for each reference, beside what it keeps."""
    traversal_registers: ClassVar[int] = 64
    lanes_as_children: ClassVar[tuple[str, ...]] = ()
    traversals_interleaved: ClassVar[tuple[str, ...]] = ()

    _nodes: Array | None = None
    """What `reserve` made room for."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._kept: dict[str, Array] = {}

    @abc.abstractmethod
    def reserve(self, primitive_count: int) -> None:
        """Make room for any tree over so many primitives."""

    @abc.abstractmethod
    def write(self, tree: CanonicalTree, primitives: Primitives) -> None:
        """Write every node from the canonical tree: after a build that did not, and after a refit that changed the
        tree."""

    def rewrite(self, tree: CanonicalTree, primitives: Primitives) -> None:
        """The same after a refit: boxes alone have changed since `write`, so what that chose holds. A layout that
        chooses nothing writes as ever."""
        self.write(tree, primitives)

    @abc.abstractmethod
    def read_children(self, tree: CanonicalTree, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of `count` nodes from the `first` on the children: words as the canonical tree writes them, (count, K) int32
        with EMPTY_CHILD in places that nothing is in, and the boxes that rays are tested against, lower and upper
        (count, K, 3). Places that no node is in may hold anything. Waits, on request."""

    def node_count(self, tree: CanonicalTree) -> int:
        """How many places of nodes there are, used or not."""
        return min(len(self.nodes), max(1, tree.node_capacity))

    def indices(self, tree: CanonicalTree) -> np.ndarray | None:
        """(node ids,) int32 on the host: where each node of the tree lies in this layout, NOT_TOLD where its children
        lie in a node further up; None: at its id. Waits."""
        return None

    def keep(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """Memory like `Target.scratch`, but nobody else's: for what `write` chooses and `rewrite` reads."""
        rows = shape if isinstance(shape, tuple) else (shape,)
        held = self._kept[name] = reserved(self.target, self._kept.get(name), rows, dtype, "scratch")
        return held[: rows[0]]

    @property
    def kept_bytes(self) -> int:
        """Bytes of that memory."""
        return sum(int(array.nbytes) for array in self._kept.values())

    def traversal_view(self, tree: CanonicalTree) -> np.ndarray:
        """The by-value struct that this layout's traversals start from."""
        return pack(NodesAndRoot(nodes=self.nodes, root=tree.root))

    def traversal_constants(self) -> tuple[tuple[str, int], ...]:
        """What units of this layout's traversals are told beside what all are told."""
        return ()

    def traversal_records(self, tree: CanonicalTree, records: Records) -> Records:
        """What this layout's traversals intersect: `records`, or those and what lies beside them."""
        return records

    @property
    def nodes(self) -> Array:
        """What a traversal reads, root first."""
        assert self._nodes is not None, "reserve() comes first"
        return self._nodes

    @property
    def bytes(self) -> int:
        """Reserved bytes."""
        return 0 if self._nodes is None else int(self._nodes.nbytes)

    @property
    def bvh2_nodes(self) -> Array | None:
        """Where a builder or the refit may write bvh2 nodes directly; None for every other layout."""
        return None


def centred_children(xy: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners (N, 2, 3) of two boxes by centres and halves: `xy` (N, 2, 4), `z` (N, 4), as bvh2.cuh
    draws them."""
    centre = np.stack([xy[:, :, 0], xy[:, :, 2], z[:, ::2]], axis=-1)
    half = np.stack([xy[:, :, 1], xy[:, :, 3], z[:, 1::2]], axis=-1)
    with np.errstate(invalid="ignore", over="ignore"):  # places that no node is in
        return centre - half, centre + half


@functools.cache
def layout_classes() -> dict[str, type[Layout]]:
    """Every layout of this folder by name."""
    found = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("[a-z]*.py")):
        module = importlib.import_module(f".{path.stem}", __package__)
        classes = [
            thing
            for thing in vars(module).values()
            if isinstance(thing, type) and issubclass(thing, Layout) and thing is not Layout
        ]
        if len(classes) != 1 or classes[0].name != path.stem:
            raise HierarchyError(f"{path.name} must define one Layout with the name {path.stem}.")
        found[path.stem] = classes[0]
    return found


@functools.cache
def traversal_names(layout: str) -> tuple[str, ...]:
    """The traversals of a layout: the headers traversals/<layout>_*.cuh, but for those of a layout with a longer
    name; the plain stack first."""
    folder = pathlib.Path(__file__).parents[1] / "traversals"
    longer = tuple(f"{other}_" for other in layout_classes() if other.startswith(f"{layout}_"))
    names = sorted(path.stem for path in folder.glob(f"{layout}_*.cuh") if not path.stem.startswith(longer))
    return tuple(sorted(names, key=lambda name: name != f"{layout}_stack"))

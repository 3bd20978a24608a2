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
    "bvh2_packet": "Packets, binary nodes",
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
    `lanes_go_alone` those that can trace each ray of a pack as it would be alone,
    `traversals_interleaved` those that interleave the incoherent rays of a pack."""

    name: ClassVar[str]
    title: ClassVar[str]
    node_dtype: ClassVar[np.dtype]
    waiting_per_level: ClassVar[int]
    scratch_per_reference: ClassVar[int] = 0
    """Bytes of scratch memory that `write` takes for each reference, beside what it keeps."""
    traversal_registers: ClassVar[int] = 64
    lanes_as_children: ClassVar[tuple[str, ...]] = ()
    lanes_go_alone: ClassVar[tuple[str, ...]] = ()
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


PAIR_DTYPE = np.dtype(
    [
        *[("left_centre", "f4", 3), ("left", "i4"), ("right_centre", "f4", 3), ("right", "i4")],
        *[("left_half_xy", "u4"), ("left_half_z", "f4"), ("right_half_xy", "u4"), ("right_half_z", "f4")],
        ("unused", "i4", 4),
    ]
)
"""A node of the binary layouts, as bvh2.cuh draws it."""


def halves_of(rows: np.ndarray, side: str) -> np.ndarray:
    """(N, 3) float32: the halves of one side's boxes ("left", "right") of nodes (N,) PAIR_DTYPE."""
    words = rows[f"{side}_half_xy"]
    parts = ((words << 16).view(np.float32), (words & 0xFFFF0000).view(np.float32), rows[f"{side}_half_z"])
    return np.stack(parts, axis=-1)


def read_pairs(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Children (N, 2) int32 of binary nodes (N, 16) float32, and lower and upper corners (N, 2, 3) of their boxes."""
    rows = np.ascontiguousarray(words).view(PAIR_DTYPE).reshape(-1)
    centre = np.stack([rows["left_centre"], rows["right_centre"]], axis=1)
    half = np.stack([halves_of(rows, "left"), halves_of(rows, "right")], axis=1)
    with np.errstate(invalid="ignore", over="ignore"):  # places that no node is in
        return np.stack([rows["left"], rows["right"]], axis=1), centre - half, centre + half


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


TRAVERSAL_REGISTERS = {"bvh2_packet": 72}
"""On CUDA, of traversals that take others than their layout's."""
BEST_TRAVERSALS = {("cuda", "sphere", "bvh2"): "bvh2_packet"}
"""By kind of target, primitives and layout, where that is another than the plain stack (docs/performance/particles.md:
a camera's rays through spheres; other rays go alone in either)."""


def best_traversal(layout: str, target_kind: str, primitive_kind: str) -> str:
    """What `auto` is for such primitives."""
    return BEST_TRAVERSALS.get((target_kind, primitive_kind, layout), traversal_names(layout)[0])

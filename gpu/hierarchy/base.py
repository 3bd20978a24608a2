"""The contract of a structure: what every family gives, and what trace, statistics, overlays and tests know of it.

On the device a structure is a header with a view struct and one walk:

    template <class Primitives, class OnPrimitive, class OnNode>
    __device__ void traverse(const View& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node);

`Rays` is a lane pack (gpu/device/ray.cuh). The walk hands references to `primitives.intersect`; `on_primitive` decides a lane at a time to go on
or end, and may shrink `rays.t_max`. `prim_id` is the scene's. Each node visited is told to `on_node`, with the number of boxes tested there
(gpu/trace/on_primitive.cuh).
"""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..settings import OptionError, option
from ..stats import HierarchyStatistics
from ..target.base import Array, Target


class HierarchyError(RuntimeError):
    """A structure cannot do what was asked; the message names the structure and the reason."""


class CannotRefitError(HierarchyError):
    """The structure has no refit, or its topology no longer fits the primitives."""


@dataclasses.dataclass(frozen=True)
class StatisticsOptions:
    """How trees are judged."""

    traversal_cost: float = option(1.0, "What the SAH cost and the overlap count for an inner node.", minimum=0.0, maximum=1000.0)
    intersection_cost: float = option(1.0, "What the SAH cost and the overlap count for each reference of a leaf.", minimum=0.0, maximum=1000.0)
    quality: bool = option(
        False, "Measure end-point overlap, leaf-count variability and levels whenever the SAH cost is; they may take longer than a frame."
    )


@dataclasses.dataclass(frozen=True)
class Capabilities:
    """What a structure can do. `primitive_kinds` names the headers it can be compiled against (triangle, sphere). Where it `splits_space`
    its boxes are cells, leaves may be empty, and inactive primitives are in none."""

    refit: bool = True
    splits_references: bool = False
    splits_space: bool = False
    deterministic: bool = True
    primitive_kinds: tuple[str, ...] = ("triangle",)
    targets: tuple[str, ...] = ("host", "cuda")


class ObjectRange(NamedTuple):
    """One object of the scene in the primitive buffer: moves rigidly with `node`. `version` grows when its transform changes."""

    first: int
    count: int  # type: ignore[assignment]  # which of tuple's own is never asked for
    node: int
    version: int = 0


@dataclasses.dataclass(frozen=True, eq=False)
class Primitives:
    """The input of build and refit, as it was at one moment: what changes later is another value, so that structures can compare.

    `header` and `type_name` are the device side of the primitive kind (e.g. "gpu/device/triangle.cuh", "Triangles"); `view` is its
    by-value struct as a 0-d structured numpy array (pointers and counts). A primitive whose box is inverted or not finite is
    inactive. `topology_version` grows when primitives come or go or their indices change, `shape_version` when something moved.
    `scene_ids` (count,) int32 on the target are the scene's numbers of the primitives, where some of the scene are left out; None: their own.
    """

    kind: str
    header: str
    type_name: str
    view: np.ndarray
    count: int
    objects: tuple[ObjectRange, ...] = ()
    topology_version: int = 0
    shape_version: int = 0
    scene_ids: Array | None = None
    keep_alive: tuple[Array, ...] = ()

    def has_topology_of(self, other: Primitives | None) -> bool:
        """Whether these are the same primitives as `other`, perhaps moved: then a tree over those can be refitted, and has the room it needs."""
        return other is not None and self.topology == other.topology

    @property
    def topology(self) -> tuple[Any, ...]:
        """What primitives of one scene that differ by motion alone have in common."""
        return (self.kind, self.count, self.topology_version)


@dataclasses.dataclass(frozen=True, eq=False)
class Traversal:
    """What a trace unit is compiled against and launched with: `header` defines `type_name` (the view struct) and `traverse`; `records` is the
    primitive kind's device type that the walk intersects and `records_view` its by-value struct. Traversals of equal `key` share a unit."""

    header: str
    type_name: str
    view: np.ndarray
    records_header: str
    records_type: str
    records_view: np.ndarray
    constants: tuple[tuple[str, int | float | bool], ...] = ()
    registers: int = 64
    """Registers a thread that the walk needs on CUDA: with more of them fewer blocks run at a time."""
    most_lanes: int = 0
    """The widest pack that the walk makes use of; 0: any."""
    takes_turns: bool = False
    """Whether the rays of a pack that go each their own way take turns: then nothing is won by sorting them into packs that agree."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What decides the compiled unit."""
        return (self.header, self.type_name, self.records_header, self.records_type, self.constants, self.registers, self.most_lanes)


@dataclasses.dataclass(frozen=True, eq=False)
class NodeTable:
    """A structure as plain numpy columns, root first, parents before children: the only form that tests, overlays and tree views know.

    parent (N,) int32 (-1 for the root), depth (N,) int32, lower and upper (N, 3) float32, is_leaf (N,) bool, first_reference and
    reference_count (N,) int32 (0 for inner nodes) into `references` (R,) int32, which holds the scene's prim_ids.
    """

    parent: np.ndarray
    depth: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    is_leaf: np.ndarray
    first_reference: np.ndarray
    reference_count: np.ndarray
    references: np.ndarray

    def __len__(self) -> int:
        return len(self.parent)


class Hierarchy(abc.ABC):
    """One structure over one set of primitives, in memory it owns. Builders subclass it (through their family) and give:

    `name` (the command line's), `family`, `title`, `Options` (a frozen dataclass of `gpu.settings.option` fields), `capabilities`,
    `layouts` and `default_layout`. `build` and `refit` never wait for the target, where `make_room` was called for primitives of this topology.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type]
    capabilities: ClassVar[Capabilities] = Capabilities()
    generation: int = 0
    """Grows where memory was reserved anew for the same primitives: launches that were captured before are no longer to be replayed."""

    def __init__(self, target: Target, options: Any, layout: str = "auto", traversal: str = "auto") -> None:
        self.target, self.options, self.layout_name, self.traversal_name = target, options, layout, traversal
        self.statistics = StatisticsOptions()
        self.tree_to_measure: Any = None  # what the owner calls the tree that it asks `measure` about
        self.measured_tree: Any = None  # and what it called the one that `stats` tells about

    @classmethod
    @abc.abstractmethod
    def layouts(cls) -> tuple[str, ...]:
        """The layouts this structure can be written in; the names are the command line's."""

    @classmethod
    @abc.abstractmethod
    def default_layout(cls, target_kind: str, lanes_apart: int = 0) -> str:
        """The best layout on that kind of target, as measured; where rays go each their own way `lanes_apart` is how many of them a pack has."""

    @classmethod
    @abc.abstractmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        """The traversals of a layout, the default one first."""

    @classmethod
    def optimisers(cls) -> dict[str, type]:
        """What can improve this structure after a build, by name. `none` is always allowed and not among them."""
        return {}

    def optimise_with(self, name: str, options: Any = None) -> None:
        """Let the optimiser of that name improve the tree after every build, with its own options. OptionError where there is no such one here."""
        if name != "none":
            raise OptionError("optimiser", name, f"the structure {self.name} has none")

    def test_triangles_by(self, name: str) -> None:
        """Let walks intersect triangles by one of the tests of gpu/hierarchy/primitives.py, from the next build on. OptionError where there is
        no such one here."""
        if name != "moeller_trumbore":
            raise OptionError("triangle_test", name, f"the structure {self.name} has moeller_trumbore alone")

    def lay_out(self, layout: str) -> None:
        """Go on in another of the layouts, with its default traversal. The tree that there is is kept, and written in it at once: not in a frame."""
        raise HierarchyError(f"The structure {self.name} stays in the layout {self.layout_name}; {layout} was asked for. Make it anew.")

    def lacks_room(self, primitives: Primitives) -> bool:
        """Whether it is not known how much memory trees of these primitives need, as their topology is new, or the newest tree had too little. Asked
        before each frame; does not wait. Where memory follows from the number of primitives there is nothing to know."""
        return False

    def make_room(self, primitives: Primitives) -> None:
        """Learn how much memory trees of these primitives need, and reserve it. Called between frames where the structure `lacks_room`: it builds
        and waits for the target, which frames never do. Raises HierarchyError where there cannot be enough."""

    def prepare(self, primitives: Primitives, update: str) -> None:
        """Write what the next refit or rebuild (`update`) reads from the host. Called before each frame that has one, whose launches may be a replay;
        `build` and `refit` see to it themselves where nobody did."""

    @property
    def is_behind(self) -> bool:
        """Whether the tree that is walked is an earlier build's, as the newest had too little room. Known once that has been measured."""
        return False

    @abc.abstractmethod
    def build(self, primitives: Primitives) -> None:
        """Build from scratch. Legal: no primitive, one, coincident, degenerate, inactive ones."""

    @abc.abstractmethod
    def refit(self, primitives: Primitives) -> None:
        """Same topology, new boxes. Raises CannotRefitError where `capabilities.refit` is false, nothing was built, or the count changed."""

    @abc.abstractmethod
    def stats(self) -> HierarchyStatistics:
        """Counts and quality as last measured; never waits. `measure` brings them up to date."""

    @abc.abstractmethod
    def measure(self) -> None:
        """Launch the computation of SAH cost, depth and counts; their values appear in `stats` once the target has got there."""

    def measure_quality(self) -> None:
        """Launch what takes longer than a frame should: end-point overlap, leaf-count variability, levels. A structure without a tree has none."""

    @abc.abstractmethod
    def nodes(self) -> NodeTable:
        """The canonical tree, on request, outside the frame."""

    @abc.abstractmethod
    def traversal(self) -> Traversal:
        """What to trace with, for the tree that was last built."""

    def close(self) -> None:
        """Drop the memory. Arrays are freed when nothing refers to them."""

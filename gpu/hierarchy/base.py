"""The contract of a structure: what every family gives, and what trace, statistics, overlays and tests know of it.

On the device a structure is a header with a view struct and one traversal:

    template <class Primitives, class OnPrimitive, class OnNode>
    __device__ void traverse(const View& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
    OnNode& on_node);

`Rays` is a lane pack (gpu/device/ray.cuh). The traversal hands references to `primitives.intersect`; `on_primitive`
decides a lane at a time to go on or end, and may shrink `rays.t_max`. `prim_id` is the scene's. Each node visited is
told to `on_node`, with the number of boxes tested there (gpu/trace/on_primitive.cuh).
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import Error
from ..settings import OptionError, option
from ..stats import HierarchyStatistics
from ..target.base import Array, Target


class HierarchyError(Error, RuntimeError):
    """A structure cannot do what was asked; the message names the structure and the reason."""


class TilesError(HierarchyError):
    """Tiles do not show this scene; `instead` is the setting and its value by which it is shown."""

    instead = ("render.primary", "structure")


class CannotRefitError(HierarchyError):
    """The structure has no refit, or its topology no longer fits the primitives; `instead` is the setting and its value
    by which any structure follows what moves."""

    instead = ("update.mode", "rebuild")


class NoCollisionsError(HierarchyError):
    """Collisions of such primitives cannot be found."""


@dataclasses.dataclass(frozen=True)
class StatisticsOptions:
    """How trees are judged."""

    traversal_cost: float = option(
        1.0, "What the SAH cost and the overlap count for an inner node.", minimum=0.0, maximum=1000.0
    )
    intersection_cost: float = option(
        1.0, "What the SAH cost and the overlap count for each reference of a leaf.", minimum=0.0, maximum=1000.0
    )
    quality: bool = option(
        False,
        "Measure end-point overlap, leaf-count variability and levels whenever the SAH cost is; they may take "
        "longer than a frame.",
    )


DEFAULT_COSTS = StatisticsOptions()


@dataclasses.dataclass(frozen=True)
class StructureChoice:
    """How a structure is made: everything that is chosen about it but its name. Names are the command line's; `auto` is
    the builder's best. Options are frozen dataclasses, None the defaults."""

    options: Any = None
    layout: str = "auto"
    traversal: str = "auto"
    optimiser: str = "none"
    optimiser_options: Any = None
    triangle_test: str = "moeller_trumbore"
    """How traversals intersect triangles: one of the tests of gpu/hierarchy/primitives.py."""


NOT_TOLD = -(1 << 31)
REGION_QUERIES = ("box", "ball", "nearest", "k_nearest", "touching")
"""What a structure answers by its one device function `visit`."""


@dataclasses.dataclass(frozen=True)
class Capabilities:
    """What a structure can do. `primitive_kinds` names those of gpu/hierarchy/primitives.py that it can be compiled
    against (triangle, sphere, mixed, glyphs). Where it `splits_space` its boxes are cells, leaves may be empty, and
    inactive primitives are in none. Without `sah_cost` that measure says nothing about it, and its statistics leave it
    None. `queries` are those of gpu/query/query.py that it answers: REGION_QUERIES where there is a `visit`, and `leaf`
    where there is a `leaf_at` (gpu/query/regions.cuh)."""

    refit: bool = True
    splits_references: bool = False
    splits_space: bool = False
    sah_cost: bool = True
    deterministic: bool = True
    primitive_kinds: tuple[str, ...] = ("triangle",)
    targets: tuple[str, ...] = ("host", "cuda")
    queries: tuple[str, ...] = ()
    builds_on_host: bool = False
    """Whether a function on the host builds it: `build` waits for the target and for the function, and raises
    HierarchyError where it is captured. Refits wait for nothing all the same."""


class ObjectRange(NamedTuple):
    """One object of the scene in the primitive buffer: moves rigidly with `node`. `version` grows when its transform
    changes."""

    first: int
    count: int  # type: ignore[assignment]  # which of tuple's own is never asked for
    node: int
    version: int = 0


@dataclasses.dataclass(frozen=True, eq=False)
class Primitives:
    """The input of build and refit, as it was at one moment: what changes later is another value, so that structures
    can compare.

    `header` and `type_name` are the device side of the primitive kind (e.g. "gpu/device/triangle.cuh", "Triangles");
    `view` is its by-value struct as a 0-d structured numpy array (pointers and counts). A primitive whose box is
    inverted or not finite is inactive. `topology_version` grows when primitives come or go or their indices change,
    `shape_version` when something moved.
    `scene_ids` int32 on the target are the scene's numbers of the triangles, where some of the scene are left out;
    None: their own.
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
        """Whether these are the same primitives as `other`, perhaps moved: then a tree over those can be refitted, and
        has the room it needs."""
        return other is not None and self.topology == other.topology

    @property
    def topology(self) -> tuple[Any, ...]:
        """What primitives of one scene that differ by motion alone have in common."""
        return (self.kind, self.count, self.topology_version)


@dataclasses.dataclass(frozen=True, eq=False)
class TreeView:
    """The nodes of a structure for kernels: `header` defines `type_name`, the by-value struct that `view` fills, and
    the function that goes through the nodes (`traverse` for rays, `visit` for regions). `constants` are the header's
    unit constants."""

    header: str
    type_name: str
    view: np.ndarray
    constants: tuple[tuple[str, int | float | bool], ...] = ()
    registers: int = 64  # per thread, of the header's function on CUDA: with more of them fewer blocks run at a time
    registers_on_the_way: int = 0  # the same where a kernel keeps a hit meanwhile; 0 where that is no more

    @property
    def key(self) -> tuple[Any, ...]:
        """What decides the compiled unit."""
        return (self.header, self.type_name, self.constants, self.registers, self.registers_on_the_way)


class Records(NamedTuple):
    """The records of primitives for kernels, in the order of a tree's references: `header` defines `type_name`, the
    by-value struct that `view` fills. `registers` is what a thread needs at least that intersects them."""

    header: str
    type_name: str
    view: np.ndarray
    registers: int = 0


@dataclasses.dataclass(frozen=True, eq=False)
class Traversal:
    """What a unit that goes through a structure is compiled against and launched with. Traversals of equal `key` share
    a unit. `most_lanes` is the widest pack that it makes use of; 0: any. `lanes_go_alone`: each ray of a pack can go as
    it would alone. `is_interleaved`: incoherent rays of a pack are, so that sorting them by direction gains nothing."""

    tree: TreeView
    records: Records
    most_lanes: int = 0
    lanes_go_alone: bool = False
    is_interleaved: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        """What decides the compiled unit."""
        return (*self.tree.key, *self.records[:2], self.most_lanes)


@dataclasses.dataclass(frozen=True, eq=False)
class NodeTable:
    """A structure as plain numpy columns, root first, parents before children: the only form that tests, overlays and
    tree views know.

    parent (N,) int32 (-1 for the root), depth (N,) int32, lower and upper (N, 3) float32, is_leaf (N,) bool,
    first_reference and reference_count (N,) int32 (0 for inner nodes) into `references` (R,) int32, which holds the
    scene's prim_ids. event_ids (N,) int32: what a traversal's events call each row, NOT_TOLD where its layout has none.
    """

    parent: np.ndarray
    depth: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    is_leaf: np.ndarray
    first_reference: np.ndarray
    reference_count: np.ndarray
    references: np.ndarray
    event_ids: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.parent)


class Hierarchy(abc.ABC):
    """One structure over one set of primitives, in memory it owns. Builders subclass it (through their family) and
    give:

    `name` (the command line's), `family`, `title`, `Options` (a frozen dataclass of `gpu.settings.option` fields),
    `capabilities`, `layouts` and `default_layout`. What is chosen and not there is an OptionError. `build` and `refit`
    never wait for the target, where `make_room` was called for primitives of this topology; but `build` does where the
    structure `builds_on_host`, so that frames with such a build are launched and not captured.
    """

    name: ClassVar[str]
    family: ClassVar[str]
    title: ClassVar[str]
    Options: ClassVar[type]
    capabilities: ClassVar[Capabilities] = Capabilities()
    construction: ClassVar[str] = ""
    """How trees come about (registry.CONSTRUCTIONS), which groups a family's builders; "" where the family says it."""
    generation: int = 0
    """Grows where memory was reserved anew for the same primitives: launches that were captured before are no longer to
    be replayed."""

    def __init__(self, target: Target, choice: StructureChoice | None = None) -> None:
        self.target, self.choice = target, choice or StructureChoice()
        self.options: Any = self.choice.options or self.Options()
        self.layout_name = _known(
            "layout", self.choice.layout, self.default_layout(target.kind), self.layouts(), self.name
        )
        traversals = self.traversals(self.layout_name)
        self.traversal_name = _known("traversal", self.choice.traversal, traversals[0], traversals, self.layout_name)
        self._check_optimiser(self.choice.optimiser)
        self._built: Primitives | None = None
        self.measured_tree: Any = None  # what `measure` was told that the tree is called that `stats` tells about

    def _check_optimiser(self, name: str) -> None:
        known = self.optimisers()
        if name != "none" and name not in known:
            which = f"trees of the family {self.family} can be improved by {', '.join(('none', *known))}"
            raise OptionError("optimiser", name, which if known else f"the structure {self.name} has none")

    @classmethod
    @abc.abstractmethod
    def layouts(cls) -> tuple[str, ...]:
        """The layouts this structure can be written in; the names are the command line's."""

    @classmethod
    @abc.abstractmethod
    def default_layout(cls, target_kind: str, incoherent_lanes: int = 0) -> str:
        """The best layout on that kind of target, as measured; `incoherent_lanes`
        is the width of a pack if the rays are incoherent, else 0."""

    @classmethod
    @abc.abstractmethod
    def traversals(cls, layout: str) -> tuple[str, ...]:
        """The traversals of a layout, the default one first."""

    @classmethod
    def optimisers(cls) -> dict[str, type]:
        """What can improve this structure after a build, by name. `none` is always allowed and not among them."""
        return {}

    @classmethod
    def titles(cls) -> Mapping[str, str]:
        """What people are shown for the names of layouts and traversals; one without a title is shown by its name."""
        return {}

    def lay_out(self, layout: str) -> None:
        """Go on in another of the layouts, with its default traversal. The tree that there is is kept, and written in
        it at once: not in a frame."""
        raise HierarchyError(
            f"The structure {self.name} stays in the layout {self.layout_name}; {layout} was asked for. Make a new one."
        )

    def lacks_room(self, primitives: Primitives) -> bool:
        """Whether it is not known how much memory trees of these primitives need, as their topology is new, or the
        newest tree had too little. Asked before each frame; does not wait. Where memory follows from the number of
        primitives there is nothing to know."""
        return False

    def make_room(self, primitives: Primitives) -> None:
        """Learn how much memory trees of these primitives need, and reserve it. Called between frames where the
        structure `lacks_room`: it builds and waits for the target, which frames never do. Raises HierarchyError where
        there cannot be enough."""

    def prepare(self, primitives: Primitives, update: str) -> None:
        """Write what the next refit or rebuild (`update`) reads from the host. Called before each frame that has one,
        whose launches may be a replay;
        `build` and `refit` see to it themselves where nobody did."""

    @property
    def is_stale(self) -> bool:
        """Whether the tree that is traversed is an earlier build's, as the newest had too little room. Known once
        that has been measured."""
        return False

    @abc.abstractmethod
    def build(self, primitives: Primitives) -> None:
        """Build from scratch. Legal: no primitive, one, coincident, degenerate, inactive ones."""

    @abc.abstractmethod
    def refit(self, primitives: Primitives) -> None:
        """Same topology, new boxes. Raises CannotRefitError where `capabilities.refit` is false, nothing was built, or
        the count changed."""

    @abc.abstractmethod
    def stats(self) -> HierarchyStatistics:
        """Counts and quality as last measured; never waits. `measure` brings them up to date."""

    @abc.abstractmethod
    def measure(self, costs: StatisticsOptions = DEFAULT_COSTS, tree: Any = None) -> None:
        """Launch the computation of SAH cost, depth and counts; their values appear in `stats` once the target has got
        there, and `tree`, what the caller calls the tree there is now, is `measured_tree` then."""

    def measure_quality(self, costs: StatisticsOptions = DEFAULT_COSTS) -> None:
        """Launch what takes longer than a frame should: end-point overlap, leaf-count variability, levels. A structure
        without a tree has none."""

    @abc.abstractmethod
    def nodes(self) -> NodeTable:
        """The canonical tree, on request, outside the frame."""

    @abc.abstractmethod
    def traversal(self) -> Traversal:
        """What to trace with, for the tree that was last built."""

    def query_traversal(self) -> Traversal:
        """What to query regions with, for the tree that was last built or refitted: its header gives `visit`
        (gpu/query/regions.cuh). May launch, so outside a frame. HierarchyError where `capabilities.queries` is
        empty."""
        raise HierarchyError(
            f"The structure {self.name} answers no queries of regions. Choose one that does, as brute_force and lbvh."
        )

    def object_roots(self) -> Array | None:
        """(K,) int32 on the target: where in the nodes of `traversal` the tree of each object with primitives begins,
        for views that have a `root`; None where objects have no trees of their own there."""
        return None

    def close(self) -> None:
        """Drop the memory. Arrays are freed when nothing refers to them."""

    def last_built(self) -> Primitives:
        """What `build` or `refit` was given last; HierarchyError before the first build."""
        if self._built is None:
            raise HierarchyError(f"The structure {self.name} has not been built yet.")
        return self._built

    def check_refit(self, primitives: Primitives) -> None:
        """CannotRefitError where `refit` may not be asked for with these primitives."""
        built = self._built
        if not self.capabilities.refit:
            raise CannotRefitError(f"The structure {self.name} cannot be refitted; rebuild it.")
        if built is None:
            raise CannotRefitError(f"The structure {self.name} has not been built yet: there is nothing to refit.")
        if (built.kind, built.count) != (primitives.kind, primitives.count):
            raise CannotRefitError(
                f"The structure {self.name} holds {built.count:,} primitives ({built.kind}) and cannot be refitted to "
                f"{primitives.count:,} ({primitives.kind})."
            )
        if built.topology_version != primitives.topology_version:
            raise CannotRefitError(f"The primitives' topology has changed since {self.name} was built: rebuild it.")

    def traversal_source(self) -> tuple[str, str]:
        """Where a family's traversals are: the header <family>/traversals/<name>.cuh, and its view, the name in
        PascalCase."""
        type_name = "".join(word.capitalize() for word in self.traversal_name.split("_"))
        return f"gpu/hierarchy/{self.family}/traversals/{self.traversal_name}.cuh", type_name


def _known(key: str, value: str, default: str, known: tuple[str, ...], owner: str) -> str:
    if value == "auto":
        return default
    if value not in known:
        have = f"only {known[0]}" if len(known) == 1 else f"the {key}s {', '.join(known)}"
        raise OptionError(key, value, f"{owner} has {have}")
    return value

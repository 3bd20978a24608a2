"""Trees: built over a scene, kept up to date with what moves, traced and asked."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Error
from ..hierarchy.base import Hierarchy, NodeTable, Primitives, StructureChoice
from ..hierarchy.registry import make_structure, structure
from ..library_queries import checked_points
from ..occlusion import RESOLUTION, visible_nodes
from ..stats import HierarchyStatistics
from ..target.base import Array, Target
from ..target.foreign import as_library, stream_of
from ..trace.arrays import ArrayKind, ArrayTracer
from ..trace.trace import Tracer
from ..update.history import Decision, UpdateHistory
from ..update.registry import policy
from . import hits as hit_arrays
from .asked_rays import Rays, asked_rays
from .configured import Configured
from .devices import Device
from .hits import USUAL, Hits
from .rays import RaySet, admitted_columns, buffered
from .regions import NearestToArrays
from .scenes import ClosedError
from .sources import Source, admitted
from .timing import UpdateTimes

if TYPE_CHECKING:  # the laboratory is imported by what asks for it: a first trace needs none of it
    from ..analysis.hot_spots import HotSpots
    from ..analysis.ray_log import RayLog
    from ..analysis.validation import Validation


@dataclasses.dataclass(frozen=True)
class TreeStatistics(HierarchyStatistics):
    """Counts and quality of a tree (HierarchyStatistics), and `build_ms`, what its last timed build took on the device;
    None where none was. Calling them gives them once more: `tree.statistics()` is `tree.statistics`."""

    build_ms: float | None = None

    def __call__(self) -> TreeStatistics:
        return self


class Structure(NearestToArrays):
    """A tree over triangles or spheres, built by `build` or `build_spheres`. A context manager; `close` gives its
    memory back, and what is asked of it then raises. One thread at a time uses it and its device.

    >>> import raygrove as rg
    >>> with rg.build(([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), "hploc", device="cpu") as tree:
    ...     tree.trace([0.2, 0.2, 1.0], [0.0, 0.0, -1.0]).t.tolist()
    ...     tree.occluded([2.0, 2.0, 1.0], [0.0, 0.0, -1.0]).tolist()
    ...     tree.statistics.node_count
    [1.0]
    [False]
    0
    """

    def __init__(self, device: Device, source: Source, configured: Configured) -> None:
        self._device, self._source, self._configured = device, source, configured
        self.target: Target = device.target
        self._policy = policy(configured.update.mode)
        self._hierarchy: Hierarchy = make_structure(self.target, configured.name, self._choice())
        self._history = UpdateHistory()
        self._times = UpdateTimes(self.target, self._history, self._policy.needs_times)
        self._tracer: ArrayTracer | None = None
        self._kept: tuple[Any, ...] = ()
        self._plain: np.ndarray | None = None
        self._is_changed = False
        self._is_open = True
        if self._policy.needs_times and self._hierarchy.capabilities.refit:
            self._warm()
        self.rebuild()

    def _warm(self) -> None:
        """Compile what updates launch before any of them is timed."""
        with self._device.used("build") as target, target.between(stream_of(target, self._source.arrays)):
            primitives, hierarchy = self._source.update(None), self._hierarchy
            if hierarchy.lacks_room(primitives):
                hierarchy.make_room(primitives)
            hierarchy.build(primitives)
            hierarchy.refit(primitives)
            hierarchy.measure()

    def _choice(self) -> StructureChoice:
        """As configured; where groups have trees of their own, `auto` is the layout in which rays enter those."""
        source, kind = self._source, structure(self._configured.name)
        choice = self._policy.fitted(self._configured.choice, kind.optimisers())
        with self._device.used("build") as target, target.between(stream_of(target, source.arrays)):
            source.update(None)
        world, is_auto = source.world, (choice.layout, choice.traversal) == ("auto", "auto")
        if self._configured.name == "two_level" and world is not None and world.has_groups and is_auto:
            return dataclasses.replace(choice, layout="bvh2")
        return choice

    @property
    def configuration(self) -> str:
        """How it is made and updated, as `build` takes it."""
        return self._configured.text

    @property
    def scene(self) -> Any:
        """The Scene that it is over; of arrays, the one that was made of them. None of spheres."""
        return getattr(self._source, "scene", None)

    # -- following what moves -----------------------------------------------------------------------------------------
    def update(self, time: float | None = None, *, stream: Any = None) -> str:
        """Follow what has moved since the last time: nothing, refit or rebuild, as the policy says; which of them was
        done. After the first times it allocates nothing and waits for nothing, and a caller's CUDA graph can capture it
        where as much moves as did before. Of a clip, `time` is the instant in seconds.

        Raises Error where the structure cannot do what the policy asks.
        """
        return self._follow("Structure.update", None, time, stream)

    def refit(self, time: float | None = None, *, stream: Any = None) -> None:
        """New boxes for the tree there is, whatever the policy. CannotRefitError where it cannot be."""
        self._follow("Structure.refit", "refit", time, stream)

    def rebuild(self, time: float | None = None, *, stream: Any = None) -> None:
        """A new tree, whatever the policy."""
        self._follow("Structure.rebuild", "rebuild", time, stream)

    def _follow(self, where: str, update: str | None, time: float | None, stream: Any) -> str:
        with self._used(where) as target:
            caller = stream_of(target, self._source.arrays, stream)
            with target.between(caller):
                is_captured = target.is_captured_by(caller)
                primitives = self._source.update(time)
                hierarchy = self._hierarchy
                if hierarchy.lacks_room(primitives):
                    hierarchy.make_room(primitives)
                if update is None:
                    decision = self._policy.decide(self._history, hierarchy, primitives, self._configured.update)
                    if decision.update == "refit" and self._times.wants_rebuild():
                        decision = Decision("rebuild", "no rays have been timed since the first")
                else:
                    decision = Decision(update, "asked for")
                    self._history.take_cost(hierarchy)
                if decision.update != "nothing":
                    with self._times.of(decision, is_captured):
                        self._apply(decision, primitives)
                self._history.note(decision, primitives)
                self._times.note(self._history.ticket)
                if self._policy.needs_times and not is_captured and self._history.take_measurement_turn():
                    hierarchy.measure()
            return decision.update

    def _apply(self, decision: Decision, primitives: Primitives) -> None:
        hierarchy = self._hierarchy
        if decision.update == "refit":
            hierarchy.check_refit(primitives)
        hierarchy.prepare(primitives, decision.update)
        self._kept, self._plain, self._is_changed = (), None, True
        if decision.update == "rebuild":
            hierarchy.build(primitives)
        else:
            hierarchy.refit(primitives)

    # -- rays ---------------------------------------------------------------------------------------------------------
    def trace(
        self,
        rays: Any,
        directions: Any = None,
        t_min: Any = 0.0,
        t_max: Any = np.inf,
        *,
        out: Hits | None = None,
        outputs: tuple[str, ...] = USUAL,
        stream: Any = None,
    ) -> Hits:
        """The closest hits of rays: a RaySet, the rays of sensors, or origins and `directions`, (N, 3) each or (3,) for
        all, between `t_min` and `t_max`, (N,) or one for all. Directions need not have length 1.

        `outputs` are what is wanted of each hit besides t and prim_id: u, v, normal, instance. With `out`, from
        `empty_hits` or arrays of a caller, they are written there, nothing is allocated and nothing waits; without,
        NumPy gets new arrays and so does every library, in its own kind. Error where these are no rays or `out` does
        not fit.
        """
        with self._used("Structure.trace") as target:
            asked = asked_rays(rays, directions, t_min, t_max)
            given = None if out is None else getattr(out, "_native", {}).get(id(target))
            if out is None:
                native = hit_arrays.empty_arrays(target, len(asked), outputs)
            else:
                native = given or hit_arrays.native_hits(target, out, len(asked))
                if len(native["t"]) != len(asked):
                    raise Error(
                        f"there are {len(asked)} rays and out has room for {len(native['t'])} hits",
                        remedy="take tree.empty_hits(len(rays))",
                    )
            self._launch(asked, native, False, stream)
            if out is None and target.kind == "cuda" and asked.library in ("", "numpy"):
                return Hits(**{name: target.download(array) for name, array in native.items()})
        return hit_arrays.as_hits(native, asked.library) if out is None else out

    def occluded(
        self,
        rays: Any,
        directions: Any = None,
        t_min: Any = 0.0,
        t_max: Any = np.inf,
        *,
        out: Any = None,
        stream: Any = None,
    ) -> Any:
        """Whether anything is hit, (N,) bool: what shadows ask, and cheaper than closest hits. Rays as in `trace`;
        `out`, (N,) bool, is written in place."""
        with self._used("Structure.occluded") as target:
            asked = asked_rays(rays, directions, t_min, t_max)
            native = hit_arrays.native_flags(target, out, len(asked))
            self._launch(asked, {"is_hit": native.view(np.uint8)}, True, stream)
            if out is not None:
                return out
            if target.kind == "cuda" and asked.library in ("", "numpy"):
                return target.download(native)
        return as_library(native, asked.library)

    def empty_hits(self, count: int, outputs: tuple[str, ...] = USUAL, library: str = "") -> Hits:
        """Hits of so many rays to be traced into, uninitialised, on the tree's device: arrays of NumPy there, of CuPy
        on a GPU, or of a `library` (torch, warp; JAX's never change). Error for outputs that there are not."""
        with self._used("Structure.empty_hits") as target:
            made, native = hit_arrays.empty_hits(target, hit_arrays.checked_count(count), outputs, library)
        object.__setattr__(made, "_native", {id(target): native})
        return made

    def _launch(self, rays: Rays, native: dict[str, Array], is_any: bool, stream: Any) -> None:
        target, source = self.target, self._source
        if "normal" in native and source.corners is None:
            raise Error("normals are those of triangles, and this tree has other primitives", remedy="leave normal out")
        if "instance" in native and source.world is None:
            raise Error("this tree has no instances", remedy="build it over a rg.Scene")
        with target.between(stream_of(target, rays.columns, stream)):
            tracer = self._followed()
            view, kept = rays.view(target)
            kind, packed, columns = self._admitted(rays, is_any)
            self._kept = (rays, kept, columns, native)
            with self._times.tracing(len(rays)):
                tracer.trace(kind, view, packed, len(rays), source.positions, source.corners, {**_NO_OUTPUTS, **native})

    def _followed(self) -> ArrayTracer:
        """What traces through the tree as it is now."""
        if self._tracer is None:
            self._tracer = ArrayTracer(self.target, self._hierarchy.traversal())
        elif self._is_changed:
            self._tracer.follow(self._hierarchy.traversal())
        self._is_changed = False
        return self._tracer

    def _admitted(self, rays: Rays, is_any: bool) -> tuple[ArrayKind, np.ndarray, tuple[Array, ...]]:
        """What the rays may meet, and the unit for it."""
        world = self._source.world
        if world is None or not (world.has_groups or world.has_masks):
            if self._plain is None:
                self._plain = admitted(world, None, (None, None, -1, -1))[0]
            return _KINDS[is_any, rays.from_sensors], self._plain, ()
        roots = self._hierarchy.object_roots() if world.has_groups else None
        filters = world.has_masks or (world.has_groups and roots is None)
        packed, kept = admitted(world, roots, admitted_columns(self.target, rays))
        return ArrayKind(is_any, rays.from_sensors, filters, roots is not None), packed, kept

    # -- what it is ---------------------------------------------------------------------------------------------------
    def nodes(self) -> NodeTable:
        """The tree as numpy columns, the root first and parents before children: `parent` (N,), -1 of the root;
        `depth`, `is_leaf`; `lower` and `upper` (N, 3); `first_reference` and `reference_count` into `references`, the
        rows of primitives. Waits for the device."""
        with self._used("Structure.nodes"):
            return self._hierarchy.nodes()

    def visible_nodes(self, places: ArrayLike, resolution: int = RESOLUTION) -> np.ndarray:
        """(N,) bool: which rows of `nodes()` can be seen from any of `places`, (P, 3) or (3,), in any direction; all
        others are wholly behind what is nearer. A cell is asked about by places in it (`gpu.occlusion.places_in`).
        `resolution`, a power of two from 2 to 1024, are the depths along each side of a cube that nodes are compared
        with: what is seen through openings narrower than two of them, and from a cell only between its places, may be
        missed.
        ValueError where these are no places or no such number."""
        with self._used("Structure.visible_nodes") as target:
            rows = checked_points("places", places)
            if not np.isfinite(rows).all():
                raise ValueError(
                    f"places are finite; {np.flatnonzero(~np.isfinite(rows).all(axis=1))[:3]} are not finite."
                )
            if resolution not in (2**power for power in range(1, 11)):
                raise ValueError(f"resolution is a power of two from 2 to 1024; it is {resolution}.")
            return visible_nodes(Tracer(target, self._hierarchy.traversal()), self._hierarchy.nodes(), rows, resolution)

    @property
    def statistics(self) -> TreeStatistics:
        """Of the tree as it is: `node_count` (inner nodes), `leaf_count`, `reference_count`, `primitive_count`,
        `depth`, `sah_cost`, `end_point_overlap`, `leaf_variability`, `bytes`, and `build_ms`, which is of the first
        build, or under policies that measure (auto, ratio_optimiser) of the last. None is what the structure does not
        know. Measured when it is asked for; waits for the device."""
        with self._used("Structure.statistics") as target:
            self._hierarchy.measure()
            self._hierarchy.measure_quality()
            target.synchronize()
            known = self._hierarchy.stats()
            values = {field.name: getattr(known, field.name) for field in dataclasses.fields(HierarchyStatistics)}
            return TreeStatistics(**values, build_ms=self._times.build_ms())

    # -- the laboratory ----------------------------------------------------------------------------------------------
    def hot_spots(self, rays: Rays, *, kind: str = "closest", top: int = 20) -> HotSpots:
        """Where rays, looking for their closest hit or for any, spend their steps (`rg.hot_spots`); printed, the `top`
        dearest nodes. Waits for the device. Error where rays meet only some of the scene."""
        from ..analysis.hot_frames import hot_spots_of_rays

        with self._used("Structure.hot_spots") as target:
            found = hot_spots_of_rays(target, self._hierarchy, buffered(target, rays, kind), kind)
        return dataclasses.replace(found, listed=top)

    def step(self, ray: RaySet, kind: str = "closest") -> RayLog:
        """What one ray really does, event by event, as the traversal itself reports it: a RaySet of one, `rays[7]`, and
        whether it asks for the `closest` hit or `any`. Waits for the device."""
        from .stepping import step_through

        with self._used("Structure.step") as target:
            return step_through(target, self._hierarchy, self._source.world, ray, kind)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree as it is now into a file `.rgtree` (docs/trees.md), which appears whole or not at all: a
        binary tree, whatever the layout. Waits for the device. Error where it is no binary tree, or where primitives
        have no box: a file numbers those that have one."""
        from ..analysis.tree_files import save_tree, tree_of

        with self._used("Structure.save"):
            table, missing = self.nodes(), self.statistics.inactive_count
            if missing:
                raise Error(f"{missing} primitives have no box, and files list those alone that have one")
            save_tree(tree_of(table), path, self._configured.name)

    def validate(self, *, ulps: int = 1) -> Validation:
        """Whether the tree is sound and fits its scene as it is now (`rg.validate`). Waits for the device."""
        from ..analysis.proved_trees import validate_on

        with self._used("Structure.validate") as target:
            return validate_on(target, self.nodes(), self.primitive_boxes(), self.splits_references, ulps)

    @property
    def splits_references(self) -> bool:
        """Whether a primitive may be in several leaves."""
        return self._hierarchy.capabilities.splits_references

    def primitive_boxes(self) -> np.ndarray:
        """(N, 6) float32: lower and upper corner of each `prim_id`, as the scene is now. Waits for the device."""
        from ..hierarchy.bvh.own.boxes import read_numbered_boxes

        with self._used("Structure.primitive_boxes") as target:
            primitives = self._source.update(None)
            return read_numbered_boxes(target, primitives)

    # -- life ---------------------------------------------------------------------------------------------------------
    def close(self) -> None:
        """Give the structure's memory back, once no other thread is within a call; harmless the second time."""
        with self._device.left():
            if self._is_open:
                self._is_open = False
                self._kept, self._tracer = (), None
                self._times.close()
                self._hierarchy.close()

    def __enter__(self) -> Structure:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _used(self, where: str) -> Iterator[Target]:
        with self._device.used(where) as target:
            self._check_open()
            yield target

    def _check_open(self) -> None:
        if not self._is_open:
            raise ClosedError("The structure is closed", remedy="build it again")


_KINDS = {
    (is_any, from_sensors): ArrayKind(is_any, from_sensors)
    for is_any in (False, True)
    for from_sensors in (False, True)
}
_NO_OUTPUTS: dict[str, Array | None] = dict.fromkeys((*hit_arrays.OUTPUTS, "is_hit"))

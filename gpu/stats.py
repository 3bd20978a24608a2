"""What a frame and a structure cost: plain values with the words of the command line's JSON."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


@dataclasses.dataclass(frozen=True)
class HierarchyStatistics:
    """Counts of the tree that was last built. `sah_cost` and `depth` (root 0) are None until they have been computed;
    bytes are reserved bytes. What is measured on request alone: `end_point_overlap` and `leaf_variability` (Aila et al.
    2013; None until then, the overlap also where primitives are no triangles), and `levels`, the inner nodes and leaves
    of each depth. Leaves without a reference are those of kd-trees; they are among the leaves and levels, and not among
    those that `leaf_variability` counts.
    `is_stale`: the newest build had too little room, so that this is the tree of an earlier one.
    Trees are measured now and then: `sah_cost` and `depth` are of the tree that was made for `measured_time`, an
    instant of the animation, in the update mode `measured_mode`; None where that is not known."""

    node_count: int = 0
    leaf_count: int = 0
    reference_count: int = 0
    primitive_count: int = 0
    inactive_count: int = 0
    depth: int | None = None
    sah_cost: float | None = None
    bytes: int = 0
    scratch_bytes: int = 0
    end_point_overlap: float | None = None
    leaf_variability: float | None = None
    levels: tuple[tuple[int, int], ...] = ()
    empty_leaf_count: int = 0
    is_stale: bool = False
    measured_time: float | None = None
    measured_mode: str = ""


EXACT_STEPS, BUCKETS_AN_OCTAVE, STEP_BUCKETS = 64, 32, 864
"""Buckets of a step histogram: one a count up to 63, then 32 for each doubling, up to 2^31."""


@functools.cache
def bucket_edges() -> np.ndarray:
    """The smallest count of each bucket, and what lies beyond the last (STEP_BUCKETS + 1,) int64; read-only."""
    far = np.arange(STEP_BUCKETS + 1 - EXACT_STEPS, dtype=np.int64)
    octaves = (BUCKETS_AN_OCTAVE + far % BUCKETS_AN_OCTAVE) << (1 + far // BUCKETS_AN_OCTAVE)
    edges = np.concatenate([np.arange(EXACT_STEPS, dtype=np.int64), octaves])
    edges.flags.writeable = False
    return edges


class RaySteps(NamedTuple):
    """What one ray did on its way to the nearest hit: nodes visited, primitives tested, boxes tested."""

    nodes: int
    primitives: int
    boxes: int

    def counted(self, what: str) -> int:
        """The sum that the heat map's option `count` names."""
        return self.boxes + self.primitives if what == "total" else int(getattr(self, what))


class Reading(NamedTuple):
    """What a pixel of a view of surfaces stands for, in words, and the number that its colour shows; None where that is
    none."""

    text: str
    number: float | None


@dataclasses.dataclass(frozen=True)
class Near:
    """A primitive of the scene that is near, how far it is, and where: a sphere's or a glyph's centre, a triangle's
    centroid."""

    prim_id: int
    distance: float
    position: tuple[float, float, float]


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """The primitives nearest to what was picked, itself left out, nearest first. Among spheres alone all are from
    centre to centre (`of` centres), else from the point that was hit to surfaces. `centre` is where from."""

    of: str
    centre: tuple[float, float, float]
    nearest: tuple[Near, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class StepCounts:
    """What the pixels of a picture have of something that is counted, steps of rays or parts of a length. `histogram`
    (STEP_BUCKETS,) counts pixels by their values (bucket_edges), `low` and `high` are the ends of the colours' range in
    that picture, `what` says what was counted, and `unit` what a value is in the legend's numbers: 1 for steps, which
    are whole."""

    what: str
    histogram: np.ndarray
    low: int
    high: int
    unit: float = 1.0

    def number(self, value: float) -> float:
        """A value in the legend's numbers."""
        return value * self.unit

    def text(self, value: float) -> str:
        """The same, to read: steps are whole, other numbers have four digits that count."""
        return f"{value:,.0f}" if self.unit == 1.0 else f"{self.number(value):.4g}"

    @functools.cached_property
    def _below(self) -> np.ndarray:
        """Pixels in each bucket and those before it."""
        return np.cumsum(self.histogram.astype(np.int64))

    def quantile(self, share: float) -> int:
        """The steps that a share of all rays does not exceed, at most one bucket too large; 0 without rays."""
        below = self._below
        if len(below) == 0 or below[-1] == 0:
            return 0
        bucket = int(np.searchsorted(below, max(share * below[-1], 1.0)))
        return int(bucket_edges()[min(bucket, STEP_BUCKETS - 1) + 1]) - 1

    def fitted(self) -> tuple[int, int]:
        """The range that fits: from the least value to what one pixel in two hundred exceeds."""
        filled = np.flatnonzero(self.histogram)
        low = int(bucket_edges()[filled[0]]) if len(filled) else 0
        return low, max(self.quantile(0.995), low + 1)


@dataclasses.dataclass(frozen=True)
class ViewStatistics:
    """One view of one frame. `update` is what happened to the structure: nothing, refit or rebuild, and `reason` why.

    `phases_ms` has every phase by name (`build.sort`, `trace.primary` ...), in the order of the frame; `build_ms`,
    `refit_ms`, `trace_ms` and `shade_ms` are sums of them; an optimiser's phases (`optimise.treelets` ...) count to the
    build or refit that they end. `rays` counts rays shot, `rays_by_kind` those of each kind and depth (primary, shadow,
    ao, reflection 1 ...).
    `steps` is there where the ray type counts them. `update_mode` is the one in which the tree that was traced was
    built or refitted. `primary` says who gave the primary hits, and why by that arrangement. `notices` are sentences
    about the picture that whoever looks at it should know. `lacks_room`: what light goes by in the ray type had too
    little of it.
    """

    hierarchy: str
    layout: str
    ray_type: str
    update: str
    reason: str
    phases_ms: dict[str, float]
    build_ms: float
    refit_ms: float
    trace_ms: float
    shade_ms: float
    rays: int
    mrays_per_s: float
    width: int
    height: int
    samples: int
    structure: HierarchyStatistics
    steps: StepCounts | None = None
    rays_by_kind: dict[str, int] = dataclasses.field(default_factory=dict)
    update_mode: str = ""
    primary: str = ""
    notices: tuple[str, ...] = ()
    lacks_room: bool = False

    @property
    def mrays_per_s_by_kind(self) -> dict[str, float]:
        """Millions of rays per second of each kind: over the time of its own phase, or that of its kind without the
        depth; kinds that share a phase with others, and none has to itself, have the rate of all of them together."""
        phases = {kind: self._phase_of(kind) for kind in self.rays_by_kind}
        together = {
            phase: sum(count for kind, count in self.rays_by_kind.items() if phases[kind] == phase)
            for phase in phases.values()
        }
        times = {phase: self.phases_ms.get(phase, self.trace_ms) for phase in together}
        return {
            kind: together[phase] / times[phase] / 1e3 if times[phase] > 0.0 else 0.0 for kind, phase in phases.items()
        }

    def _phase_of(self, kind: str) -> str:
        names = (f"trace.{kind}", f"trace.{kind.partition(' ')[0]}", "trace")
        return next((name for name in names if name in self.phases_ms), names[-1])


@dataclasses.dataclass(frozen=True, eq=False)
class AttributeCounts:
    """How many spheres have how much of an attribute at an instant: `histogram` (B,) in equal parts of the range from
    `low` to `high`, those `missing` a value, and those `not_selected`. Hidden objects' are left out."""

    name: str
    histogram: np.ndarray
    low: float
    high: float
    missing: int
    not_selected: int


@dataclasses.dataclass(frozen=True)
class KeyStreaming:
    """Key frames of a scene: `keys` there are, `slots` have room on the target in `slot_bytes`; `bytes_streamed` since
    the scene was opened, and
    `stalls` of its frames that had to wait for a copy; whether this one `waited`. Fewer slots than key frames: the
    sequence streams."""

    keys: int
    slots: int
    slot_bytes: int
    bytes_streamed: int = 0
    waited: bool = False
    stalls: int = 0


SIMULATE = "simulate."
"""Before the phases of simulations, so that they are no view's."""


@dataclasses.dataclass(frozen=True)
class SimulationStatistics:
    """Spheres that are simulated: how many `bodies`, the `steps` done since the start, their `energy` at the start of
    the newest step that is known of, and by what share it differs from that of the start (`energy_drift`). `is_behind`:
    the frame shows an earlier instant than was asked for, as steps are still to be made up for. `phases_ms` are those
    of this frame's steps (`nbody.m2l` ...), all of them together; `forces` says how they are found."""

    bodies: int
    steps: int
    energy: float
    energy_drift: float
    is_behind: bool = False
    phases_ms: dict[str, float] = dataclasses.field(default_factory=dict)
    forces: str = ""

    @property
    def ms(self) -> float:
        """Of all its phases."""
        return sum(self.phases_ms.values())


@dataclasses.dataclass(frozen=True)
class FrameStatistics:
    """A finished frame. `frame_ms` is the target's time from first to last phase, `host_ms` what the caller's thread
    spent issuing it.
    `triangles` are the scene's, `hidden` those of objects that are left out, of which structures know nothing.
    `phases_age` is 0 where the times of phases, and the rates made of them, are this frame's; else they are those of so
    many frames before it, the newest that did the same and had them timed (`Engine.samples_phases`). `bytes` are those
    of arrays, by what they are for: all of them of this scene and its structures.
    `idle_bytes` the target keeps for the next arrays."""

    frame_id: int
    time: float
    target: str
    triangles: int
    animate_ms: float
    frame_ms: float
    host_ms: float
    launches: int
    bytes: dict[str, int]
    views: tuple[ViewStatistics, ...]
    key_frames: KeyStreaming | None = None
    hidden: int = 0
    phases_age: int = 0
    idle_bytes: int = 0
    simulation: SimulationStatistics | None = None

    @property
    def is_behind(self) -> bool:
        """Whether the frame does not show its own instant: a structure, a ray type, or a step of a simulation, had too
        little room. It has more when the frame is drawn again."""
        late = self.simulation is not None and self.simulation.is_behind
        return late or any(view.structure.is_stale or view.lacks_room for view in self.views)

    @property
    def has_updated(self) -> bool:
        """Whether the first view's structure was built or refitted."""
        return (
            bool(self.views)
            and self.views[0].update != "nothing"
            and any(view.build_ms + view.refit_ms > 0.0 for view in self.views)
        )


@dataclasses.dataclass(frozen=True)
class Collisions:
    """How many pairs of primitives of different objects touch at an instant, how many primitives are among them, and
    how long it took to find them; or the sentence `why_not`, where they cannot be found."""

    pairs: int = 0
    primitives: int = 0
    find_ms: float = 0.0
    why_not: str = ""


def joined(parts: Sequence[FrameStatistics]) -> FrameStatistics:
    """The frames in which one sample was drawn, some rows in each, as one: times, launches and rays are added up;
    everything else is the last frame's, and what happened to structures that of the first frame in which anything
    did."""
    last = parts[-1]
    if len(parts) == 1:
        return last
    views = tuple(_joined_view(of_view) for of_view in zip(*(part.views for part in parts), strict=True))
    times = {name: sum(getattr(part, name) for part in parts) for name in ("animate_ms", "frame_ms", "host_ms")}
    age = max(part.phases_age for part in parts)
    launches = sum(part.launches for part in parts)
    return dataclasses.replace(last, views=views, launches=launches, phases_age=age, **times)


def _joined_view(parts: Sequence[ViewStatistics]) -> ViewStatistics:
    last = parts[-1]
    told = next((part for part in parts if part.update != "nothing"), last)
    names = dict.fromkeys(name for part in parts for name in part.phases_ms)
    phases_ms = {name: sum(part.phases_ms.get(name, 0.0) for part in parts) for name in names}
    kinds = dict.fromkeys(kind for part in parts for kind in part.rays_by_kind)
    rays_by_kind = {kind: sum(part.rays_by_kind.get(kind, 0) for part in parts) for kind in kinds}
    times = {
        name: sum(getattr(part, name) for part in parts) for name in ("build_ms", "refit_ms", "trace_ms", "shade_ms")
    }
    rays = sum(part.rays for part in parts)
    counts = [part.steps for part in parts if part.steps is not None]
    steps = (
        dataclasses.replace(counts[-1], histogram=np.sum([one.histogram for one in counts], axis=0)) if counts else None
    )
    return dataclasses.replace(
        last,
        update=told.update,
        reason=told.reason,
        phases_ms=phases_ms,
        rays=rays,
        rays_by_kind=rays_by_kind,
        mrays_per_s=rays / times["trace_ms"] / 1e3 if times["trace_ms"] > 0.0 else 0.0,
        steps=steps,
        **times,
    )

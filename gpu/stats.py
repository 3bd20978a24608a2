"""What a frame and a structure cost: plain values with the words of the command line's JSON."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class HierarchyStatistics:
    """Counts of the tree that was last built. `sah_cost` and `depth` (root 0) are None until they have been computed; bytes are reserved bytes."""

    node_count: int = 0
    leaf_count: int = 0
    reference_count: int = 0
    primitive_count: int = 0
    inactive_count: int = 0
    depth: int | None = None
    sah_cost: float | None = None
    bytes: int = 0
    scratch_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class ViewStatistics:
    """One view of one frame. `update` is what happened to the structure: nothing, refit or rebuild, and `reason` why.

    `phases_ms` has every phase by name (`build.sort`, `trace.primary` ...), in the order of the frame; `build_ms`, `refit_ms`, `trace_ms`
    and `shade_ms` are sums of them. `rays` counts rays shot, `hits` and `sum_t` primary hits (None until asked for).
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


@dataclasses.dataclass(frozen=True)
class FrameStatistics:
    """A finished frame. `frame_ms` is the target's time from first to last phase, `host_ms` what the caller's thread spent issuing it."""

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

"""A frame's statistics as one flat row of a table, under the names that `render --json` has."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from raygrove.gpu.stats import FrameStatistics


def row_of(number: int, time: float, frame: FrameStatistics) -> Mapping[str, Any]:
    """The row; `phases_ms`, `memory`, `key_frames` and `simulation` are tables of their own, for JSON."""
    view = frame.views[0]
    tree = view.structure
    return {
        "frame": number, "time": time, "target": frame.target, "triangles": frame.triangles, "hidden": frame.hidden,
        "hierarchy": view.hierarchy, "layout": view.layout, "ray_type": view.ray_type, "update": view.update,
        "reason": view.reason, "primary": view.primary,
        "width": view.width, "height": view.height, "samples_per_pixel": view.samples,
        "animate_ms": frame.animate_ms, "build_ms": view.build_ms, "refit_ms": view.refit_ms, "trace_ms": view.trace_ms,
        "shade_ms": view.shade_ms, "frame_ms": frame.frame_ms, "host_ms": frame.host_ms,
        "rays": view.rays, "rays_by_kind": dict(view.rays_by_kind), "mrays_per_s": view.mrays_per_s,
        "mrays_per_s_by_kind": view.mrays_per_s_by_kind, "launches": frame.launches,
        "sah_cost": tree.sah_cost, "depth": tree.depth, "node_count": tree.node_count, "leaf_count": tree.leaf_count,
        "empty_leaf_count": tree.empty_leaf_count, "reference_count": tree.reference_count, "bytes": tree.bytes,
        "scratch_bytes": tree.scratch_bytes,
        "end_point_overlap": tree.end_point_overlap, "leaf_variability": tree.leaf_variability,
        "levels": [list(level) for level in tree.levels],
        "phases_ms": dict(view.phases_ms), "memory": dict(frame.bytes),
        "key_frames": None if frame.key_frames is None else dataclasses.asdict(frame.key_frames),
        "simulation": None if frame.simulation is None else dataclasses.asdict(frame.simulation),
    }  # fmt: skip

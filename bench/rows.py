"""A measurement as one flat row: the words of `bench --json` and of each frame of `render --json`."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.registry import optimisers, structure
from raygrove.gpu.settings import fields_of
from raygrove.gpu.shade.registry import ray_type
from raygrove.gpu.stats import FrameStatistics, HierarchyStatistics
from raygrove.gpu.target.base import Target


@dataclasses.dataclass(frozen=True)
class Row:
    """Times are medians in milliseconds, `time` is the instant in seconds, `size` width and height in pixels. `primary`
    says who gave the first hits, and why by that arrangement. `hits` counts the primary hits of the first sample,
    `sum_t` adds up their distances along unit directions. What was not measured is None. `rays_by_kind` counts the rays
    of a frame by kind and depth, each with its rate in `mrays_per_s_by_kind`, `samples` holds every raw time by name,
    `peers` other programs' figures."""

    scene: str
    triangles: int
    target: str
    hierarchy: str
    optimiser: str = "none"
    layout: str = ""
    traversal: str = ""
    update: str = ""
    ray_type: str = ""
    primary: str = ""
    size: tuple[int, int] | None = None
    time: float = 0.0
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    build_ms: float | None = None
    refit_ms: float | None = None
    trace_ms: float | None = None
    mrays_per_s: float | None = None
    rays: int | None = None
    rays_by_kind: dict[str, int] = dataclasses.field(default_factory=dict)
    mrays_per_s_by_kind: dict[str, float] = dataclasses.field(default_factory=dict)
    hits: int | None = None
    sum_t: float | None = None
    sah_cost: float | None = None
    node_count: int | None = None
    leaf_count: int | None = None
    empty_leaf_count: int | None = None
    reference_count: int | None = None
    depth: int | None = None
    bytes: int | None = None
    scratch_bytes: int | None = None
    end_point_overlap: float | None = None
    leaf_variability: float | None = None
    levels: list[list[int]] = dataclasses.field(default_factory=list)
    launches: int | None = None
    phases_ms: dict[str, float] = dataclasses.field(default_factory=dict)
    peers: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    samples: dict[str, list[float]] = dataclasses.field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain values in the order of the fields; a number that is not finite becomes None, because JSON has no word
        for it."""
        plain: dict[str, Any] = _plain({field.name: getattr(self, field.name) for field in dataclasses.fields(self)})
        return plain


ROW_FIELDS = tuple(field.name for field in dataclasses.fields(Row))
"""The names of a row's fields, in order."""


def tree_fields(tree: HierarchyStatistics) -> dict[str, Any]:
    """What a row says of a tree."""
    counts = (
        "sah_cost",
        "node_count",
        "leaf_count",
        "empty_leaf_count",
        "reference_count",
        "depth",
        "bytes",
        "scratch_bytes",
    )
    names = (*counts, "end_point_overlap", "leaf_variability")
    return {**{name: getattr(tree, name) for name in names}, "levels": [list(level) for level in tree.levels]}


def chosen(target: Target, settings: ViewSettings) -> dict[str, Any]:
    """What a row says of the choice: the names as asked for, and the options by their dotted names in the settings
    file, defaults included."""
    names = {name: getattr(settings, name) for name in ("hierarchy", "optimiser", "layout", "traversal", "ray_type")}
    parts = {
        f"hierarchy.{settings.hierarchy}": settings.hierarchy_options or structure(settings.hierarchy).Options(),
        f"optimiser.{settings.optimiser}": settings.optimiser_options or optimiser_options(settings.optimiser),
        f"ray_type.{settings.ray_type}": settings.ray_type_options or ray_type(settings.ray_type).Options(),
    }
    if settings.primary == "tiles":
        parts["tiles"] = settings.tiles
    options = {
        f"{part}.{f.name}": getattr(values, f.name)
        for part, values in parts.items()
        if values is not None
        for f in fields_of(values)
    }
    return {**names, "target": target.name, "update": settings.update.mode, "options": options}


def optimiser_options(name: str) -> Any:
    """The defaults of an optimiser; None for none."""
    kind: Any = optimisers().get(name)
    return None if kind is None else kind.Options()


def row_of_frame(scene: str, target: Target, settings: ViewSettings, frame: FrameStatistics, view: int = 0) -> Row:
    """One view of one finished frame as a row."""
    drawn = frame.views[view]
    return Row(
        scene=scene,
        triangles=frame.triangles,
        **{
            **chosen(target, settings),
            **tree_fields(drawn.structure),
            "hierarchy": drawn.hierarchy,
            "layout": drawn.layout,
            "update": drawn.update,
            "ray_type": drawn.ray_type,
            "primary": drawn.primary,
        },
        size=(drawn.width, drawn.height),
        time=frame.time,
        build_ms=drawn.build_ms,
        refit_ms=drawn.refit_ms,
        trace_ms=drawn.trace_ms,
        mrays_per_s=drawn.mrays_per_s,
        rays=drawn.rays,
        rays_by_kind=dict(drawn.rays_by_kind),
        mrays_per_s_by_kind=drawn.mrays_per_s_by_kind,
        launches=frame.launches,
        phases_ms=dict(drawn.phases_ms),
    )


def _plain(value: Any) -> Any:
    """Numbers, text, lists and objects only."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

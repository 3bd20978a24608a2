"""Figures of a contestant's frame, made up."""

from __future__ import annotations

from raygrove.gpu.stats import FrameStatistics, HierarchyStatistics, ViewStatistics


def view(build: float, trace: float, *, refit: float = 0.0, size: tuple[int, int] = (8, 4)) -> ViewStatistics:
    """A frame that built or refitted, and traced, in so many milliseconds; a millisecond more shaded it."""
    return ViewStatistics(
        hierarchy="lbvh",
        layout="bvh4",
        ray_type="smooth",
        update="refit" if refit else "rebuild",
        reason="",
        phases_ms={},
        build_ms=build,
        refit_ms=refit,
        trace_ms=trace,
        shade_ms=1.0,
        rays=32,
        mrays_per_s=0.0,
        width=size[0],
        height=size[1],
        samples=1,
        structure=HierarchyStatistics(),
    )


def frame(number: int, *views: ViewStatistics, is_stale: bool = False) -> FrameStatistics:
    """A frame of these views; `is_stale`: their trees had too little room."""
    if is_stale:
        import dataclasses

        views = tuple(dataclasses.replace(one, structure=HierarchyStatistics(is_stale=True)) for one in views)
    return FrameStatistics(
        frame_id=number,
        time=0.0,
        target="host",
        triangles=2,
        animate_ms=0.5,
        frame_ms=sum(one.build_ms + one.trace_ms + one.shade_ms for one in views),
        host_ms=1.0,
        launches=3,
        bytes={},
        views=views,
    )

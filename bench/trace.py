"""`bench trace`: rays per second through a structure that stands still, with the hits themselves as proof: primary
rays, and diffuse ones, one from every primary hit by the cosine around the surface (the incoherent rays that peers are
measured with); closest hit and any hit of each."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from raygrove.gpu.analysis.traced_rays import in_rows
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.scatter import scatter_rays, without_gaps
from raygrove.gpu.trace.trace import BufferRays, CameraRays, Totals, Tracer, totals

from .measure import Stage, Task, Timed, median, timed
from .peers import embree
from .rows import Row, chosen, tree_fields

GIVEN = {"measured": "closest", "measured any-hit": "any"}
"""The same of rays that are given in the picture's place."""
KINDS = {"primary": "closest", "primary any-hit": "any", "diffuse": "closest", "diffuse any-hit": "any"}
"""A row's `ray_type` and the tracer's kind."""


def run_trace(target: Target, task: Task, peers: Sequence[str] = (), kinds: Sequence[str] = tuple(KINDS)) -> list[Row]:
    """One row per kind of ray, at the first moment; of kinds in GIVEN the task has the rays. `peers` names other
    programs to trace the same rays with (embree); one that is absent is said in the row's `peers` with its sentence
    under `absent`."""
    with contextlib.closing(Stage(target, task.scene, task.settings)) as stage:
        stage.hierarchy.build(stage.show(task.moments[0]).primitives)
        tree = stage.statistics()
        others = [beside(stage, task, peer, kinds) for peer in peers]
        rows = []
        for ray_type in kinds:
            rays, found, timing = _measure(stage, task, ray_type)
            trace_ms = median(timing.spans_ms)
            row = Row(
                scene=task.scene.name,
                triangles=task.scene.primitive_count,
                **{
                    **chosen(target, task.settings),
                    **stage.names(),
                    **tree_fields(tree),
                    "ray_type": ray_type,
                    "update": "rebuild",
                },
                size=task.size,
                time=task.moments[0].time,
                trace_ms=trace_ms,
                mrays_per_s=rays / trace_ms / 1e3 if trace_ms else None,
                rays=rays,
                hits=found.hits,
                sum_t=found.sum_t if ray_type == "primary" else None,
                launches=timing.launches,
                phases_ms=timing.medians(),
                peers=[entry for found_by in others for entry in found_by.get(ray_type, [])],
                samples={"trace_ms": timing.spans_ms},
            )
            rows.append(row)
    return rows


def beside(stage: Stage, task: Task, peer: str, kinds: Sequence[str] = ("primary",)) -> dict[str, list[dict[str, Any]]]:
    """Another program's figures for the same triangles and rays, by kind of ray. Raises KeyError for one nobody has
    written."""
    measure = {"embree": embree.measure}[peer]
    if task.scene.sphere_count:
        return {
            "primary": [{"program": peer, "absent": "Scenes with spheres are not compared: it is given triangles."}]
        }
    threads = getattr(stage.target, "threads", 1)
    any_hit = stage.target.download(_diffuse(stage, task)[0].rows) if "diffuse any-hit" in kinds else None
    try:
        positions, triangles = stage.triangles()
        run = measure(
            positions,
            triangles,
            task.view_from(),
            task.size,
            threads,
            max(3, task.repeat // 2),
            min(task.warmup, 2),
            any_hit,
        )
    except embree.PeerAbsentError as error:
        return {"primary": [{"program": peer, "absent": str(error)}]}
    return {ray_type: run.as_peers(ray_type) for ray_type in ("primary", "diffuse any-hit")}


def _diffuse(stage: Stage, task: Task) -> tuple[BufferRays, int]:
    """The diffuse rays of the primary hits, side by side as every peer is given them, and how many they are."""
    primary, surface = stage.rays(task.view_from(), task.size), stage.animator.surface
    hits = stage.trace(primary)
    if surface.glyphs is not None:
        raise HierarchyError("Diffuse rays are made from hits of triangles and spheres, and this scene has glyphs.")
    found = surface.spheres
    spheres = None if found is None else (found.centres, found.radii, found.first_id)
    scattered = scatter_rays(
        stage.target, primary, hits, surface.positions, surface.triangles, task.settings.seed, spheres
    )
    rays = without_gaps(stage.target, scattered)
    return rays, rays.count


def _measure(stage: Stage, task: Task, ray_type: str) -> tuple[int, Totals, Timed]:
    """How many rays of the type there are, what they hit, and their frames."""
    primary = stage.rays(task.view_from(), task.size)
    rays: CameraRays | BufferRays = primary
    count, kind = task.size[0] * task.size[1], (KINDS | GIVEN)[ray_type]
    if ray_type in GIVEN and task.rays is not None:
        given = task.rays.at(task.moments[0])
        rays, count = in_rows(stage.target, given), len(given)
    if ray_type.startswith("diffuse"):
        rays, count = _diffuse(stage, task)
    tracer = Tracer(stage.target, stage.hierarchy.traversal())
    found = totals(stage.target, tracer.trace(rays, kind))

    def body() -> None:
        with stage.target.phase("trace." + ray_type.split()[0]):
            tracer.trace(rays, kind)

    return count, found, timed(stage.target, body, task.repeat, task.warmup)

"""The evaluation of GPU-based Adaptive Octree Construction Algorithms (Goradia and others, 2008): octrees over points,
bottom up along the Z-order and top down, beside one thread of the CPU.

Figures 12 and 13 (time by depth) for clouds of exactly as many points, figure 14's room with two models, 6.1 (threads
of a block), the memory that sections 4 and 5 and the conclusion speak of, queries a second of every kind, light and
gravity by sums over the points, and every claim, held or not. The CPU side of the paper is not published: here it is
the same kernels compiled for the CPU and run by one thread of it. Times are of builds replayed as one graph, from the
first launch to the last one's end; queries as the caller waits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator
from typing import Any

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.linux import processors
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import OutOfMemoryError, Target

from .job import SuiteJob
from .octree_builds import by_block, by_count, by_depth, by_memory
from .octree_clouds import SCENES, Cloud, make_cloud
from .octree_queries import by_query
from .octree_sums import by_sum
from .octree_tables import tabulate
from .published import published_source
from .report import SuiteReport
from .scenes import SceneAbsentError, SceneChoice

__all__ = ["SCENES", "run", "tabulate"]

NO_PICTURE = (0, 0)
MOST_LOAD = 1.5
"""A core's, before the suite begins: from then on its own work is part of it."""


def run(job: SuiteJob) -> SuiteReport:
    """The whole suite."""
    report = SuiteReport("octree2008", __doc__ or "", published_source("octree2008"), NO_PICTURE, job.repeat)
    busy = busy_words()
    report.absent += [busy] if busy else []
    if job.size is not None:
        report.absent.append("A size of pictures was given, and this suite draws none.")
    if job.target.kind != "cuda":
        report.absent.append("Threads of a block (6.1): on the CPU a block is one thread.")
    alone = dataclasses.replace(job.target.options, threads=1)
    with contextlib.closing(choose("cpu", alone)) as one_thread:
        for choice in SCENES:
            if not job.takes(choice, report, "points"):
                continue
            try:
                cloud = make_cloud(job.target, job.load, choice)
                report.scenes.append(_what_is_taken(choice, cloud))
                what = {"scene": choice.published, "target": job.target.kind, "is_busy": bool(busy)}
                measured = ({**what, **row} for row in _measured(job, one_thread, cloud))
                report.rows += job.counted(measured, report, tabulate)
            except (SceneAbsentError, OutOfMemoryError, HierarchyError) as error:
                report.absent.append(f"{choice.published}: {error}")
            tabulate(report)
            job.keep(report)
    return report


def busy_words() -> str:
    """A sentence where more runs on this machine than it has cores for."""
    load, cores = os.getloadavg()[0], processors()
    if load <= MOST_LOAD * cores:
        return ""
    return (
        f"Times of a quiet machine: other work kept this one busy (load {load:.1f} on {cores} cores), so that times "
        f"here are too long and unsteady, speed-ups most of all; counts, memory and errors do not depend on it."
    )


def _measured(job: SuiteJob, one_thread: Target, cloud: Cloud) -> Iterator[dict[str, Any]]:
    target, points, repeat = job.target, cloud.positions, job.repeat
    yield from by_depth(target, one_thread, points, repeat)
    yield from by_memory(target, points, repeat)
    yield from by_count(target, points, repeat)
    yield from by_block(target, points, repeat)
    yield from by_query(target, cloud, repeat)
    yield from by_sum(target, cloud, repeat)


def _what_is_taken(choice: SceneChoice, cloud: Cloud) -> dict[str, object]:
    return {
        "published": choice.published,
        "published_triangles": choice.published_triangles if choice.is_published else None,
        "ours": cloud.ours,
        "triangles": len(cloud.positions),
        "counted": "points",
        "relation": choice.relation,
        "why": choice.why,
    }

"""Goals of rays through trees that are built already: beside Embree on the host, at a rate on a device. goals.py
measures them, and makes the scenes."""

from __future__ import annotations

from collections.abc import Callable

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.registry import structure
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target

from .builder_goals import LAYOUT_BYTES
from .goal import Goal, Report
from .measure import Task
from .trace import run_trace

Demo = Callable[[str, int], Scene]
"""Makes a scene by its name and its count of triangles."""


def trace_beside_embree(target: Target, report: Report, demo: Demo, repeat: int) -> None:
    for count, is_goal in ((100_000, True), (512_000, False)):
        row = run_trace(target, Task(demo("blob", count), repeat=repeat), peers=("embree",), kinds=("primary",))[0]
        report.traces.append(row)
        packs = {peer["pack"]: peer for peer in row.peers if "pack" in peer}
        if not is_goal:
            continue
        absent = next((peer["absent"] for peer in row.peers if "absent" in peer), "")
        share = row.mrays_per_s / packs[8]["mrays_per_s"] if 8 in packs and row.mrays_per_s else None
        rates = (
            f"{row.mrays_per_s:.1f} (packs of {target.lane_count}) and {packs[8]['mrays_per_s']:.1f} MRays/s"
            if 8 in packs
            else absent
        )
        note = f"{rates}, hits {row.hits:,} and {packs[8]['hits']:,}" if 8 in packs else absent
        report.goals.append(
            Goal(
                f"primary rays over Embree's packets of 8, {count:,} triangles",
                1.0,
                share,
                "times",
                at_most=False,
                note=note,
            )
        )


def best_tree(kind: str) -> ViewSettings:
    """What rays are traced through where a goal names the best tree. Packs test a leaf at once: on the host leaves are
    large. On CUDA a node and a primitive are a step each, which is what the defaults say
    (docs/performance/tracing.md)."""
    if kind == "host":
        options = structure("binned_sah").Options(max_leaf_size=8, intersection_cost=0.25)
        return ViewSettings("binned_sah", layout="bvh8", hierarchy_options=options)
    return ViewSettings("binned_sah", layout="bvh2")


def best_split_tree(kind: str) -> ViewSettings:
    """The same with triangles split, as Embree's high quality does: seconds on the host, a tenth to a half more rays in
    interiors (docs/performance/rays.md)."""
    if kind == "host":
        options = structure("sbvh").Options(max_leaf_size=8, intersection_cost=0.25)
        return ViewSettings("sbvh", layout="bvh8", hierarchy_options=options)
    return ViewSettings("sbvh", layout="bvh2")


def incoherent_beside_embree(target: Target, report: Report, demo: Demo, repeat: int) -> None:
    for name in ("blob", "room"):
        task = Task(demo(name, 100_000), best_tree("host"), repeat=repeat)
        row = run_trace(target, task, peers=("embree",), kinds=("diffuse any-hit",))[0]
        report.traces.append(row)
        peers = [peer for peer in row.peers if "mrays_per_s" in peer]
        best = max(peers, key=lambda peer: peer["mrays_per_s"], default=None)
        share = row.mrays_per_s / best["mrays_per_s"] if best and row.mrays_per_s else None
        note = f"{row.hierarchy} on {row.layout}: {row.mrays_per_s or 0.0:.1f} MRays/s"
        note += f", Embree by {best['pack']}: {best['mrays_per_s']:.1f}" if best else ", Embree is not there"
        report.goals.append(
            Goal(f"incoherent any-hit rays over Embree's best, {name}", 0.95, share, "times", at_most=False, note=note)
        )


def best_trace_on_device(target: Target, report: Report, demo: Demo, repeat: int) -> None:
    for name, count, bars in (("blob", 512_000, (3.4, 1.76)), ("room", 499_712, (None, 1.35))):
        rows = run_trace(
            target, Task(demo(name, count), best_tree(target.kind), repeat=repeat), kinds=("primary", "diffuse")
        )
        report.traces += rows
        for row, bar in zip(rows, bars, strict=True):
            if bar is not None:
                rate, note = (row.mrays_per_s or 0.0) / 1e3, f"{row.hierarchy} on {row.layout}"
                report.goals.append(
                    Goal(
                        f"{row.ray_type} rays with the best tree, {name}",
                        bar,
                        rate,
                        "GRays/s",
                        at_most=False,
                        note=note,
                    )
                )


def trace_on_device(target: Target, report: Report, demo: Demo, repeat: int) -> None:
    for name, count, bar in (("blob", 512_000, 2.7), ("room", 499_712, None), ("blob", 12_800_000, None)):
        scene = demo(name, count)
        for layout in LAYOUT_BYTES:
            rows = run_trace(target, Task(scene, ViewSettings(layout=layout), repeat=repeat))
            report.traces += rows
            if bar is not None and layout == structure("lbvh").default_layout(target.kind):
                rate = (rows[0].mrays_per_s or 0.0) / 1e3
                report.goals.append(
                    Goal(
                        f"primary rays, {name} of {count:,} triangles", bar, rate, "GRays/s", at_most=False, note=layout
                    )
                )

"""The evaluation of Kolodzey's thesis (2014): SAH kd-trees built on the GPU, what each of its optimisations is worth, and a scene that moves.

Table 7.1 (build and trace, with the columns of Wu, Zhao and Liu), table 6.2 (the optimisations), figures 6.1, 6.15 and 6.16 (shares and times of the
sub-algorithms before and after them), section 7.2 (the moving scene). The trees of tables 6.2 and 7.1 are the thesis': leaves of fewer than 64
primitives or at the greatest depth, boxes cut along the split's axis alone, walked by a short stack; a second row has this program's defaults,
which cut boxes along all axes in small nodes. A build is timed from its first launch to its
last one's end. Traces are primary rays here, where the thesis traces recursively.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping
from typing import Any

from gpu.hierarchy.base import HierarchyError
from gpu.scene import Moment, Scene

from .job import SuiteJob
from .measure import construction, drawn, moments_of, traced_ms
from .published import published, published_row, published_source
from .report import Cell, Plot, SuiteReport, SuiteTable
from .scenes import SceneChoice, demo, model
from .variants import missing, missing_ray_type, pictured, varied

BUILDER = "sah_events"
AS_PUBLISHED: dict[str, Any] = {"max_leaf_size": 63, "stop": "size", "clipping": "split_axis"}
EXACT = {"clipping": "all"}
NOTES = (
    "Published build and trace times of Wu et al. are those the thesis prints.",
    "The trees of leaves below 64 cut boxes along the split's axis alone, as the thesis' do; the defaults cut them along all axes in small nodes. "
    "The bar of the defaults: at most 1.03 of the cost of boxes cut along all axes in every node, on bunny and dragon.",
)
RAY_TYPE = "whitted"
SIZE = (1024, 1024)
MOVING_SIZE = (1024, 768)

STILL = (
    SceneChoice("Bunny", 69_451, model("static/stanford-bunny.obj"), True, "Stanford's bunny"),
    SceneChoice("Dragon", 871_000, model("static/dragon_vrip_res2.ply.gz"), False, "the same body, second resolution, 202,520 triangles"),
    SceneChoice("Dragon", 871_000, demo("blob", 871_000), False, "one closed body, the same count"),
    SceneChoice("Happy", 1_087_000, demo("blob", 1_087_000), False, "one closed body, the same count"),
    SceneChoice("Angel", 474_000, demo("blob", 474_000), False, "one closed body, the same count"),
)
BESIDE = (
    SceneChoice("Crytek Sponza", 262_205, model("crytek-sponza/sponza.obj"), True, "not in the thesis: a hall", False),
    SceneChoice("Dabrovic Sponza", 66_447, model("static/sponza-dabrovic.obj"), True, "not in the thesis: another hall", False),
)
"""Scenes of ours, for the difference in cost and in trace time between the ways to cut boxes."""

MOVING = (SceneChoice("Bunny in a ring of spheres", 100_000, demo("orbit", 100_000), False, "bodies that move around others, the same count"),)


@dataclasses.dataclass(frozen=True)
class Optimisation:
    """`published` is its line of table 6.2 (empty: one of ours), `without` the options that take it away (none: it cannot be), `here` what it is."""

    published: str
    without: Mapping[str, Any]
    here: str


OPTIMISATIONS = (
    Optimisation("SAH shuffle reduction", {"candidates": "shared"}, "candidates: shuffles of lanes against shared memory"),
    Optimisation("binary scan", {"flags": "words"}, "flags: sides as bytes, four a load, against words"),
    Optimisation("streams", {}, "no read-back at all: there is nothing left to overlap, and nothing to switch"),
    Optimisation("clip mask", {"moving": "gaps"}, "moving: events go once, to places counted first, against by way of lists with gaps"),
    Optimisation("hybrid reduction", {"reduction": "nodes"}, "reduction: by tiles, warps and atomics against a block a node throughout"),
    Optimisation("", {"moving": "masks"}, "moving by masks: events go once against by way of a byte a place of lists with gaps, his clip mask"),
    Optimisation("", {"boxes": "apart"}, "boxes: 32 bytes side by side against an array a word (the thesis keeps arrays)"),
    Optimisation("", {"cascading": False}, "cascading: eight neighbours a thread against one"),
    Optimisation("", {"triangles": "staged"}, "triangles: vertices' numbers by each thread against by neighbours, as the thesis reads"),
)
ALL = "all optimisations"

SUB_ALGORITHMS = {
    "Initialisation": ("clear_start", "find_active", "exclusive_scan", "write_keys", "radix_sort", "take_events", "make_root"),
    "ComputeBestSplits": ("count_starts", "scan_tiles", "find_splits", "split_small_nodes", "choose_splits"),
    "ClippingAndPartitioning": ("count_sides", "part_", "spread_", "count_gaps", "close_gaps", "clip_", "write_level_keys", "take_level_"),
    "CreateChildsAndInitParents": ("number_nodes", "make_children"),
    "MakeLeaves": ("leaves", "publish_tree"),
}
"""The thesis' names, and the beginnings of the names of kernels that do it here; leaves' references are written where references are parted."""


def run(job: SuiteJob) -> SuiteReport:
    """The whole suite."""
    report = SuiteReport("kolodzey2014", __doc__ or "", published_source("kolodzey2014"), job.picture(SIZE), job.repeat)
    for choice, scene in job.each(STILL, report):
        what = {"published_scene": choice.published, "scene": choice.label(scene.triangle_count), "triangles": scene.triangle_count}
        report.rows += [{"part": "still", **what, **row} for row in _still(job, scene)]
        report.rows += [{"part": "switch", **what, **row} for row in _switches(job, scene)]
        tabulate(report)
    for choice, scene in job.each(BESIDE, report):
        what = {"published_scene": "", "scene": f"{choice.published} (ours), {scene.triangle_count:,} triangles", "triangles": scene.triangle_count}
        report.rows += [{"part": "still", **what, **row} for row in _still(job, scene)]
        tabulate(report)
    for choice, scene in job.each(MOVING, report):
        what = {"published_scene": choice.published, "scene": choice.label(scene.triangle_count), "triangles": scene.triangle_count}
        report.rows += [{"part": "moving", **what, **row} for row in _moving(job, scene)]
        tabulate(report)
    job.keep(report)
    return report


# -- measurements ------------------------------------------------------------------------------------------------------
def _still(job: SuiteJob, scene: Scene) -> list[dict[str, Any]]:
    """The thesis' tree, on boxes cut along one axis, this program's, and both on boxes cut along all axes in all nodes."""
    rows = []
    for title, options, traversal in (("leaves below 64, short stack", AS_PUBLISHED, "short_stack"), ("defaults", {}, "full_stack")):
        settings = varied(BUILDER, options, traversal=traversal)
        found = construction(job.target, scene, settings, (Moment(),), job.repeat)
        trace_ms = traced_ms(job.target, scene, settings, job.picture(SIZE), job.repeat)
        exact: dict[str, Any] = {"exact": "; ".join(missing(BUILDER, EXACT))}
        if not exact["exact"]:
            exactly = varied(BUILDER, {**options, **EXACT}, traversal=traversal)
            exact["exact_trace_ms"] = traced_ms(job.target, scene, exactly, job.picture(SIZE), job.repeat)
            exact["exact_sah_cost"] = construction(job.target, scene, exactly, (Moment(),), 1)["sah_cost"]
            exact["cost_over_exact"] = found["sah_cost"] / exact["exact_sah_cost"] if exact["exact_sah_cost"] else None
        rows.append({"tree": title, **found, "trace_ms": trace_ms, **exact})
    return rows


def _switches(job: SuiteJob, scene: Scene) -> list[dict[str, Any]]:
    """The build with all optimisations, without each of them, and without any."""
    there = [one.without for one in OPTIMISATIONS if one.without and not missing(BUILDER, one.without)]
    none = {name: value for without in reversed(there) for name, value in without.items()}  # of two forms of one step the first
    rows: list[dict[str, Any]] = []
    builds: list[tuple[str, Mapping[str, Any]]] = [("with all", {}), *((_name(one), one.without) for one in OPTIMISATIONS), ("without any", none)]
    for title, without in builds:
        needed = "; ".join(missing(BUILDER, without))
        if needed or (not without and title != "with all"):
            rows.append({"without": title, "needs": needed})
            continue
        try:
            found = construction(job.target, scene, varied(BUILDER, {**AS_PUBLISHED, **without}), (Moment(),), job.repeat)
        except HierarchyError as error:
            rows.append({"without": title, "needs": str(error)})
            continue
        rows.append({"without": title, "needs": "", "shares_ms": _shares(found["by_kernel"]), **found})
    return rows


def _moving(job: SuiteJob, scene: Scene) -> list[dict[str, Any]]:
    needed = "; ".join(missing_ray_type(RAY_TYPE))
    settings = varied(BUILDER, {}, **pictured(RAY_TYPE, {}))
    size = job.picture(MOVING_SIZE)
    found = drawn(job.target, scene, settings, size, moments_of(scene, job.key_frames), max(1, job.repeat // 3))
    return [{"needs": needed, "size": f"{size[0]}x{size[1]}", **found}]


def _shares(by_kernel: Mapping[str, float]) -> dict[str, float]:
    """Milliseconds of each sub-algorithm; `other` is what has no name of theirs."""
    shares = dict.fromkeys((*SUB_ALGORITHMS, "other"), 0.0)
    for kernel, spent in by_kernel.items():
        name = next((name for name, starts in SUB_ALGORITHMS.items() if kernel.startswith(starts)), "other")
        shares[name] += spent
    return shares


def _name(one: Optimisation) -> str:
    return one.published or one.here.partition(":")[0]


# -- tables ------------------------------------------------------------------------------------------------------------
def tabulate(report: SuiteReport) -> None:
    """Tables and plots from the rows that there are."""
    report.tables = [_builds(report), _factors(report), _sub_algorithms(report), _moving_scene(report)]
    report.plots = [plot for plot in (_plot(report, "6.15", True), _plot(report, "6.16", False)) if plot.x_names]


def _builds(report: SuiteReport) -> SuiteTable:
    columns = (
        "scene",
        "build ms",
        "as a graph ms",
        "trace ms",
        "trace ms, boxes cut along all axes",
        "SAH cost",
        "of those",
        "of this over those",
        "references",
        "launches",
    )
    table = SuiteTable("7.1", "build and trace", columns, notes=NOTES)
    names = (
        "build_ms",
        "graph_ms",
        "trace_ms",
        "exact_trace_ms",
        "sah_cost",
        "exact_sah_cost",
        "cost_over_exact",
        "references_per_primitive",
        "launches",
    )
    for scene in _scenes(report, "still"):
        rows = [row for row in report.rows if row["part"] == "still" and row["scene"] == scene]
        if rows[0]["published_scene"]:
            _add_published(table, rows[0]["published_scene"])
        for row in rows:
            cells = [row.get(name, row.get("exact") if name == "exact_trace_ms" else None) for name in names]
            table.rows.append((f"{scene}, {row['tree']}", *cells))
    return table


def _add_published(table: SuiteTable, scene: str) -> None:
    """The thesis' own figures and those it prints of Wu et al., once."""
    printed, nothing = published_row("kolodzey2014", "7.1", scene), (None,) * 5
    wu = (f"{scene} (published, Wu et al.)", printed["wu_build_ms"], None, printed["wu_trace_ms"], None)
    own = (f"{scene} (published)", printed["build_ms"], None, printed["trace_ms"], printed["exact_trace_ms"])
    if (*own, *nothing) not in table.rows:
        table.rows += [(*wu, *nothing), (*own, *nothing)]


def _factors(report: SuiteReport) -> SuiteTable:
    """How many times longer the build takes without an optimisation: means over the scenes that were measured."""
    columns = ("optimisation", "factor, kernels", "factor, build as the device takes it", "what is switched")
    notes = (f"Means over: {'; '.join(_scenes(report, 'switch'))}." if _scenes(report, "switch") else "",)
    table = SuiteTable("6.2", "what the optimisations are worth", columns, notes=notes)
    for one in (*OPTIMISATIONS, Optimisation(ALL, {}, "all that can be switched here, those of ours included")):
        if one.published:
            table.rows.append((f"{one.published} (published)", published_row("kolodzey2014", "6.2", one.published)["factor"], None, "-"))
        title = "without any" if one.published == ALL else _name(one)
        table.rows.append((f"{_name(one)} (here)", _factor(report, title, "kernels_ms"), _factor(report, title, "build_ms"), one.here))
    return table


def _factor(report: SuiteReport, title: str, what: str) -> Cell:
    factors, needs = [], ""
    for scene in _scenes(report, "switch"):
        rows = {row["without"]: row for row in report.rows if row["part"] == "switch" and row["scene"] == scene}
        needs = rows[title]["needs"] or needs
        if what in rows[title] and rows["with all"].get(what):
            factors.append(rows[title][what] / rows["with all"][what])
    return statistics.fmean(factors) if factors else needs or None


def _sub_algorithms(report: SuiteReport) -> SuiteTable:
    columns = ("scene", "optimisations", *(f"{name} %" for name in (*SUB_ALGORITHMS, "other")), "all ms")
    notes = tuple(published("kolodzey2014")["notes"][-1:])
    table = SuiteTable("6.15", "shares of the sub-algorithms (figures 6.1, 6.15 and 6.16)", columns, notes=notes)
    table.rows.append(("the thesis' scenes (published)", "all", None, "below 20", "the most", None, None, None, None))
    for row in report.rows:
        if row["part"] == "switch" and row["without"] in ("with all", "without any") and "shares_ms" in row:
            whole = sum(row["shares_ms"].values()) or 1.0
            cells = [100.0 * spent / whole for spent in row["shares_ms"].values()]
            table.rows.append((row["scene"], "all" if row["without"] == "with all" else "none", *cells, whole))
    return table


def _moving_scene(report: SuiteReport) -> SuiteTable:
    columns = ("scene", "build ms", "rays and shading ms", "frames/s", "rays a frame, millions", "size", "ray type")
    table = SuiteTable("7.2", "a scene that moves, rebuilt every frame", columns)
    for row in report.rows:
        if row["part"] == "moving":
            printed = published_row("kolodzey2014", "7.2", row["published_scene"])
            table.rows.append((f"{row['published_scene']} (published)", *printed.values(), "1024x768", "recursive"))
            cells = (row["build_ms"], row["picture_ms"], row["frames_per_s"], (row["rays"] or 0) / 1e6)
            table.rows.append((row["scene"], *cells, row["size"], f"smooth: {row['needs']}" if row["needs"] else RAY_TYPE))
    return table


def _plot(report: SuiteReport, number: str, in_shares: bool) -> Plot:
    """Bars of the sub-algorithms of the first scene, after and before the optimisations."""
    scenes = _scenes(report, "switch")
    series = {}
    for title, word in (("with all", "after"), ("without any", "before")):
        row = next((r for r in report.rows if scenes and r["part"] == "switch" and r["scene"] == scenes[0] and r["without"] == title), {})
        times = list(row.get("shares_ms", {}).values())
        scale = 100.0 / (sum(times) or 1.0) if in_shares else 1.0
        if times:
            series[word] = ([float(place) for place in range(len(times))], [scale * spent for spent in times])
    words = "Shares" if in_shares else "Times"
    names = (*SUB_ALGORITHMS, "other") if series else ()
    return Plot(number, f"{words} of the sub-algorithms here: {scenes[0] if scenes else ''}", "", "%" if in_shares else "ms", series, names)


def _scenes(report: SuiteReport, part: str) -> list[str]:
    return list(dict.fromkeys(row["scene"] for row in report.rows if row["part"] == part))

"""The evaluation of Kolodzey's thesis (2014): SAH kd-trees built on the GPU, what each of its optimisations is worth, and a scene that moves.

Table 7.1 (build and trace, with the columns of Wu, Zhao and Liu), table 6.2 (the optimisations), figures 6.1, 6.15 and 6.16 (shares and times of the
sub-algorithms before and after them), section 7.2 (the moving scene). The trees of tables 6.2 and 7.1 are the thesis': leaves of fewer than 64
primitives or at the greatest depth, boxes cut along the split's axis alone, walked by a short stack; a second row has this program's defaults,
which cut boxes along all axes in small nodes. A build is timed from its first launch to its
last one's end. Traces are recursive, as the thesis has them, by `whitted` with one lamp and shadows, and primary rays by themselves.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpu.hierarchy.base import HierarchyError
from gpu.scene import Light, Moment, Scene

from .job import SuiteJob
from .measure import construction, drawn, moments_of, traced_ms
from .published import published, published_row, published_source
from .report import MEAN_NOTE, MEDIAN_NOTE, Cell, Plot, SuiteReport, SuiteTable
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
BUILD_COLUMNS = {
    "build_ms": "build ms",
    "graph_ms": "as a graph ms",
    "recursive_ms": "recursive trace ms",
    "exact_recursive_ms": "the same, boxes cut along all axes",
    "trace_ms": "primary rays ms",
    "exact_trace_ms": "the same, boxes cut along all axes",
    "sah_cost": "SAH cost",
    "exact_sah_cost": "of those",
    "cost_over_exact": "of this over those",
    "references_per_primitive": "references",
    "launches": "launches",
}
"""Fields of a row, and the columns of table 7.1."""

LIGHT = Light("directional", (3.0, 2.9, 2.7), direction=(-0.45, -0.85, -0.4))
RAY_TYPE = "whitted"
TREES: tuple[tuple[str, dict[str, Any], str], ...] = (("leaves below 64, short stack", AS_PUBLISHED, "short_stack"), ("defaults", {}, "full_stack"))
"""The thesis' tree and walk, and this program's."""

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

RING = "Bunny in a ring of spheres"
MOVING = (
    SceneChoice(RING, 100_000, demo("orbit", 100_000), False, "bodies that move around a knot instead of the Bunny, the same count"),
    SceneChoice(RING, 100_000, demo("metal", 100_000), False, "the same, the knot of steel in a room of mirrors, as in figure 7.2"),
    SceneChoice(RING, 100_000, demo("glass", 100_000), False, "the same, the knot of glass in a room of mirrors, as in figure 7.3"),
)


@dataclasses.dataclass(frozen=True)
class Optimisation:
    """A switch. `row` is what the measurement is called, `without` the options that take the optimisation away, `over` the row that has it,
    `published` its line of table 6.2, whose own switch this is (empty: one of ours), `here` what is switched."""

    row: str
    without: Mapping[str, Any]
    here: str
    published: str = ""
    over: str = "with all"


OPTIMISATIONS = (
    Optimisation(
        "SAH shuffle reduction",
        {"candidates": "shared"},
        "candidates: shuffles of lanes against shared memory",
        "SAH shuffle reduction",
    ),
    Optimisation("sides as words", {"flags": "words"}, "flags: sides of references as bytes, four a load, against words"),
    Optimisation(
        "moving by gaps",
        {"moving": "gaps"},
        "moving: by way of lists with gaps, without over with a byte a place of them, his clip mask",
        "clip mask",
        "moving by masks",
    ),
    Optimisation("moving by masks", {"moving": "masks"}, "moving: once, to places counted first, against by his clip mask"),
    Optimisation(
        "a block a node",
        {"reduction": "nodes"},
        "reduction: tiles, warps and atomics against a block a node, which here scans, judges and reduces",
    ),
    Optimisation("boxes", {"boxes": "apart"}, "boxes: 32 bytes side by side against an array a word (the thesis keeps arrays)"),
    Optimisation("cascading", {"cascading": False}, "cascading: eight neighbours a thread against one"),
    Optimisation("triangles", {"triangles": "staged"}, "triangles: vertices' numbers by each thread against by neighbours, as the thesis reads"),
)
NOT_SWITCHED = {
    "binary scan": "his scans of bytes serve best splits, clipping and leaves; here only sides can be bytes, events' kinds are bits of words: below",
    "streams": "no read-back at all: there is nothing left to overlap, and nothing to switch",
    "hybrid reduction": "his candidates lie ready in a list and are only reduced; here no such list is written. By a block a node: below",
}
"""Lines of table 6.2 that nothing here switches as the thesis does, and why."""

PUBLISHED_ORDER = ("SAH shuffle reduction", "binary scan", "streams", "clip mask", "hybrid reduction")
ALL = "all optimisations"
BUT_A_BLOCK = "without any, but by tiles"
FORMER_ROWS = {"sides as words": "binary scan", "moving by gaps": "clip mask", "a block a node": "hybrid reduction"}
"""What rows are called in reports kept before 2026-11-22."""

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

    def measure_still(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        what = {"published_scene": choice.published, "scene": choice.label(scene.triangle_count), "triangles": scene.triangle_count}
        yield from ({"part": "still", **what, **row} for row in _still(job, scene))
        yield from ({"part": "switch", **what, **row} for row in _switches(job, scene))

    def measure_beside(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        label = f"{choice.published} (ours), {scene.triangle_count:,} triangles"
        what = {"published_scene": "", "scene": label, "triangles": scene.triangle_count}
        yield from ({"part": "still", **what, **row} for row in _still(job, scene))

    def measure_moving(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        what = {"published_scene": choice.published, "scene": choice.label(scene.triangle_count), "triangles": scene.triangle_count}
        yield from ({"part": "moving", **what, **row} for row in _moving(job, scene))

    for choices, measure in ((STILL, measure_still), (BESIDE, measure_beside), (MOVING, measure_moving)):
        job.each(choices, report, measure, tabulate)
    job.keep(report)
    return report


# -- measurements ------------------------------------------------------------------------------------------------------
def _still(job: SuiteJob, scene: Scene) -> list[dict[str, Any]]:
    """The thesis' tree, on boxes cut along one axis, this program's, and both on boxes cut along all axes in all nodes."""
    rows = []
    for title, options, traversal in TREES:
        found = construction(job.target, scene, varied(BUILDER, options, traversal=traversal), (Moment(),), job.repeat)
        exact: dict[str, Any] = {"exact": "; ".join(missing(BUILDER, EXACT))}
        if not exact["exact"]:
            exactly = {**options, **EXACT}
            exact |= {f"exact_{name}": value for name, value in _traced(job, scene, exactly, traversal).items()}
            exact["exact_sah_cost"] = construction(job.target, scene, varied(BUILDER, exactly, traversal=traversal), (Moment(),), 1)["sah_cost"]
            exact["cost_over_exact"] = found["sah_cost"] / exact["exact_sah_cost"] if exact["exact_sah_cost"] else None
        rows.append({"tree": title, **found, **_traced(job, scene, options, traversal), **exact})
    return rows


def _traced(job: SuiteJob, scene: Scene, options: Mapping[str, Any], traversal: str) -> dict[str, float]:
    """Primary rays by themselves, and a picture by recursive ones, lit by a lamp."""
    size = job.picture(SIZE)
    recursive = varied(BUILDER, options, traversal=traversal, **pictured(RAY_TYPE, {}))
    found = drawn(job.target, dataclasses.replace(scene, lights=(LIGHT,)), recursive, size, (Moment(),), job.repeat)
    primary_ms = traced_ms(job.target, scene, varied(BUILDER, options, traversal=traversal), size, job.repeat)
    return {"trace_ms": primary_ms, "recursive_ms": found["picture_ms"]}


def _switches(job: SuiteJob, scene: Scene) -> list[dict[str, Any]]:
    """The build with all optimisations, without each of them, and without any."""
    there = [one for one in OPTIMISATIONS if not missing(BUILDER, one.without)]
    none = _all_of(there)
    but_a_block = _all_of([one for one in there if "reduction" not in one.without])
    named = [(one.row, one.without) for one in OPTIMISATIONS]
    rows: list[dict[str, Any]] = []
    for title, without in (("with all", {}), *named, (BUT_A_BLOCK, but_a_block), ("without any", none)):
        needed = "; ".join(missing(BUILDER, without))
        if needed:
            rows.append({"without": title, "needs": needed})
            continue
        try:
            found = construction(job.target, scene, varied(BUILDER, {**AS_PUBLISHED, **without}), (Moment(),), job.repeat)
        except HierarchyError as error:
            rows.append({"without": title, "needs": str(error)})
            continue
        rows.append({"without": title, "needs": "", "shares_ms": _shares(found["by_kernel"]), **found})
    return rows


def _all_of(switches: Sequence[Optimisation]) -> dict[str, Any]:
    """All of them taken away; of two forms of one step the first."""
    return {name: value for one in reversed(switches) for name, value in one.without.items()}


def _moving(job: SuiteJob, scene: Scene) -> list[dict[str, Any]]:
    size, rows = job.picture(MOVING_SIZE), []
    for title, options, traversal in TREES:
        settings = varied(BUILDER, options, traversal=traversal, **pictured(RAY_TYPE, {}))
        found = drawn(job.target, scene, settings, size, moments_of(scene, job.key_frames), max(1, job.repeat // 3))
        rows.append({"needs": "; ".join(missing_ray_type(RAY_TYPE)), "tree": title, "size": f"{size[0]}x{size[1]}", **found})
    return rows


def _shares(by_kernel: Mapping[str, float]) -> dict[str, float]:
    """Milliseconds of each sub-algorithm; `other` is what has no name of theirs."""
    shares = dict.fromkeys((*SUB_ALGORITHMS, "other"), 0.0)
    for kernel, spent in by_kernel.items():
        name = next((name for name, starts in SUB_ALGORITHMS.items() if kernel.startswith(starts)), "other")
        shares[name] += spent
    return shares


# -- tables ------------------------------------------------------------------------------------------------------------
def tabulate(report: SuiteReport) -> None:
    """Tables and plots from the rows that there are."""
    report.tables = [_builds(report), _factors(report), _sub_algorithms(report), _moving_scene(report)]
    report.plots = [plot for plot in (_plot(report, "6.15", True), _plot(report, "6.16", False)) if plot.x_names]


def _builds(report: SuiteReport) -> SuiteTable:
    table = SuiteTable("7.1", "build and trace", ("scene", *BUILD_COLUMNS.values()), notes=NOTES)
    for scene in _scenes(report, "still"):
        rows = [row for row in report.rows if row["part"] == "still" and row["scene"] == scene]
        if rows[0]["published_scene"]:
            _add_published(table, rows[0]["published_scene"])
        for row in rows:
            cells = [row.get(name, row.get("exact") if name == "exact_trace_ms" else None) for name in BUILD_COLUMNS]
            table.rows.append((f"{scene}, {row['tree']}", *cells))
    return table


def _add_published(table: SuiteTable, scene: str) -> None:
    """The thesis' own figures and those it prints of Wu et al., once; its rays are recursive."""
    printed = published_row("kolodzey2014", "7.1", scene)
    wu = {"build_ms": printed["wu_build_ms"], "recursive_ms": printed["wu_trace_ms"]}
    own = {"build_ms": printed["build_ms"], "recursive_ms": printed["trace_ms"], "exact_recursive_ms": printed["exact_trace_ms"]}
    rows = [(f"{scene} ({whose})", *map(found.get, BUILD_COLUMNS)) for whose, found in (("published, Wu et al.", wu), ("published", own))]
    table.rows += rows if rows[0] not in table.rows else []


def _factors(report: SuiteReport) -> SuiteTable:
    """How many times longer the build takes without an optimisation: means over the scenes that were measured."""
    columns = ("optimisation", "factor, kernels", "factor, build as the device takes it", "what is switched")
    notes = (f"Means over: {'; '.join(_scenes(report, 'switch'))}." if _scenes(report, "switch") else "",)
    table = SuiteTable("6.2", "what the optimisations are worth", columns, notes=notes)
    as_published = {one.published: one for one in OPTIMISATIONS if one.published}
    for name in PUBLISHED_ORDER:
        table.rows.append((f"{name} (published)", published_row("kolodzey2014", "6.2", name)["factor"], None, "-"))
        if name in as_published:
            table.rows.append(_factor_row(report, f"{name} (here)", as_published[name]))
        else:
            table.rows.append((f"{name} (here)", None, None, NOT_SWITCHED[name]))
    table.rows += [_factor_row(report, f"{one.row} (ours)", one) for one in OPTIMISATIONS if not one.published]
    table.rows.append((f"{ALL} (published)", published_row("kolodzey2014", "6.2", ALL)["factor"], None, "-"))
    everything = ((f"{ALL} but a block a node (here)", BUT_A_BLOCK), (f"{ALL} (here)", "without any"))
    for title, row in everything:
        table.rows.append(_factor_row(report, title, Optimisation(row, {}, "all that can be switched here, those of ours included")))
    return table


def _factor_row(report: SuiteReport, title: str, one: Optimisation) -> tuple[Cell, ...]:
    return (title, _factor(report, one, "kernels_ms"), _factor(report, one, "build_ms"), one.here)


def _factor(report: SuiteReport, one: Optimisation, what: str) -> Cell:
    factors, needs = [], ""
    for scene in _scenes(report, "switch"):
        rows = {row["without"]: row for row in report.rows if row["part"] == "switch" and row["scene"] == scene}
        without, over = (rows.get(name) or rows.get(FORMER_ROWS.get(name, "")) or {"needs": "not in this run"} for name in (one.row, one.over))
        needs = without["needs"] or over["needs"] or needs
        if what in without and over.get(what):
            factors.append(without[what] / over[what])
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
    columns = ("scene", "build ms", "rays and shading ms", "frame ms", "frames/s", "rays a frame, millions", "size", "ray type")
    table = SuiteTable("7.2", "a scene that moves, rebuilt every frame", columns)
    for row in report.rows:
        if row["part"] == "moving":
            build, trace, *others = published_row("kolodzey2014", "7.2", row["published_scene"]).values()
            printed = (f"{row['published_scene']} (published)", build, trace, None, *others, "1024x768", "recursive")
            table.rows += [printed] if printed not in table.rows else []
            cells = (row["build_ms"], row["picture_ms"], row["frame_ms"], row["frames_per_s"], (row["rays"] or 0) / 1e6)
            named = f"{row['scene']}, {row.get('tree', 'defaults')}"
            table.rows.append((named, *cells, row["size"], f"smooth: {row['needs']}" if row["needs"] else RAY_TYPE))
            table.notes = (MEDIAN_NOTE if "period_ms" in row else MEAN_NOTE,)
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

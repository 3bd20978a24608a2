"""The evaluation of Kolodzey's thesis (2014): SAH kd-trees built on the GPU, what each of its optimisations is worth,
and a scene that moves.

Table 7.1 (build and trace, with the columns of Wu, Zhao and Liu), table 6.2 (the optimisations), figures 6.7, 6.8 and
6.11 to 6.14 (single steps), 6.1, 6.15 and 6.16 (the sub-algorithms before and after), section 7.2 (the moving scene).
The trees of tables 6.2 and 7.1 are the thesis': leaves of fewer than 64 primitives or at the greatest depth, boxes
cut along the split's axis alone, traversed by a short stack; a second row has this program's defaults, which cut
boxes along all axes in small nodes. A build is timed from its first launch to its last one's end. Traces are
recursive, as the thesis has them, by `whitted` with one lamp and shadows, and primary rays by themselves. Figures 7.1
to 7.3 are drawn so, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from raygrove.gpu.scene import Light, Moment, Scene

from .crowd import HALLS, seen_within
from .job import SuiteJob
from .kolodzey_figures import figure_plots, micro_rows
from .kolodzey_switches import (
    AS_PUBLISHED,
    BUILDER,
    factors_table,
    forms,
    measure_switches,
    sub_algorithms_plot,
    sub_algorithms_table,
)
from .measure import construction, drawn, traced_ms
from .pictures import Shot, take
from .published import published_row, published_source
from .report import MEAN_NOTE, MEDIAN_NOTE, SuiteReport, SuiteTable, scenes_of
from .scenes import SceneChoice, SceneSource, demo, model, what
from .variants import missing, missing_ray_type, pictured, varied

EXACT = {"clipping": "all"}
NOTES = (
    "Published build and trace times of Wu et al. are those the thesis prints.",
    "Builds are by this program's steps. By the thesis' own the same trees take as many times as long as the last row "
    "of table 6.2 says.",
    "The trees of leaves below 64 cut boxes along the split's axis alone, as the thesis' do; the defaults cut "
    "them along all axes in small nodes. "
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
TREES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("leaves below 64, short stack", AS_PUBLISHED, "short_stack"),
    ("defaults", {}, "full_stack"),
)
"""The tree and the traversal of the thesis, and this program's."""

SIZE = (1024, 1024)
MOVING_SIZE = (1024, 768)

STILL = (
    SceneChoice("Bunny", 69_451, model("static/stanford-bunny.obj"), True, "Stanford's bunny"),
    SceneChoice(
        "Dragon",
        871_000,
        model("static/dragon_vrip_res2.ply.gz"),
        False,
        "the same body, second resolution, 202,520 triangles",
    ),
    SceneChoice("Dragon", 871_000, demo("blob", 871_000), False, "one closed body, the same count"),
    SceneChoice("Happy", 1_087_000, demo("blob", 1_087_000), False, "one closed body, the same count"),
    SceneChoice("Angel", 474_000, demo("blob", 474_000), False, "one closed body, the same count"),
)
BESIDE = (
    SceneChoice(
        "Crytek Sponza",
        262_205,
        model("crytek-sponza/sponza.obj"),
        True,
        "not in the thesis: a hall, from inside",
        False,
    ),
    SceneChoice(
        "Dabrovic Sponza",
        66_447,
        model("static/sponza-dabrovic.obj"),
        True,
        "not in the thesis: another hall, from inside",
        False,
    ),
)
"""Scenes of ours, for the difference in cost and in trace time between the ways to cut boxes."""

PICTURED = {"metal": "7.2", "glass": "7.3"}
"""The figures that the moving scenes stand for."""

RING = "Bunny in a ring of spheres"
BODY = "static/stanford-bunny.obj"
AROUND = 48_000
"""Triangles of the built-in scene that the Bunny's come to: together as many as with its own knot."""


def _bunny(name: str, why: str) -> SceneChoice:
    source = SceneSource(demo=name, triangles=AROUND, body=BODY)
    return SceneChoice(
        RING, 100_000, source, False, f"Stanford's Bunny, spheres of ours about it in a room of mirrors{why}"
    )


MOVING = (
    _bunny("orbit", ""),
    _bunny("metal", ", the Bunny of steel, as in figure 7.2"),
    _bunny("glass", ", the Bunny of glass, as in figure 7.3"),
    SceneChoice(
        RING,
        100_000,
        demo("orbit", 100_000),
        False,
        "bodies that move around a knot instead of the Bunny, the same count",
    ),
    SceneChoice(
        RING,
        100_000,
        demo("metal", 100_000),
        False,
        "the same, the knot of steel in a room of mirrors, as in figure 7.2",
    ),
    SceneChoice(
        RING,
        100_000,
        demo("glass", 100_000),
        False,
        "the same, the knot of glass in a room of mirrors, as in figure 7.3",
    ),
)


SCENES = (*STILL, *BESIDE, *MOVING)
TAKES_OWN = True


def run(job: SuiteJob) -> SuiteReport:
    """The whole suite."""
    report = SuiteReport("kolodzey2014", __doc__ or "", published_source("kolodzey2014"), job.picture(SIZE), job.repeat)

    def measure_still(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        about = what(choice, scene)
        yield from ({"part": "still", **about, **row} for row in _still(job, scene))
        yield from ({"part": "switch", **about, **row} for row in measure_switches(job, scene))
        take(job, report, choice, dataclasses.replace(scene, lights=(LIGHT,)), [_shot("7.1")], job.picture(SIZE))

    def measure_beside(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        about = what(choice, scene)
        yield from ({"part": "still", **about, **row} for row in _still(job, scene))

    def measure_hall(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        yield from measure_beside(choice, seen_within(scene, HALLS[choice.published]))

    def measure_moving(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        about = what(choice, scene)
        yield from ({"part": "moving", **about, **row} for row in _moving(job, scene))
        number = PICTURED.get(choice.source.demo)
        take(job, report, choice, scene, [_shot(number)] if number else [], job.picture(MOVING_SIZE))

    def measure_own(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        yield from measure_beside(choice, scene)
        take(job, report, choice, dataclasses.replace(scene, lights=(LIGHT,)), [_shot("7.1")], job.picture(SIZE))
        if scene.duration(0) > 0.0:
            yield from measure_moving(choice, scene)

    if any(not job.scenes or choice.published in job.scenes for choice in STILL):
        report.rows += micro_rows(job.target, job.repeat)
    trees = len(TREES)
    job.each(STILL, report, measure_still, lambda scene: trees + len(forms()), tabulate)
    job.each(BESIDE, report, measure_hall, lambda scene: trees, tabulate)
    job.each(MOVING, report, measure_moving, lambda scene: trees, tabulate)
    job.each(job.own, report, measure_own, lambda scene: trees * (2 if scene.duration(0) > 0.0 else 1), tabulate)
    job.keep(report)
    return report


def _shot(number: str) -> Shot:
    """A picture by recursive rays through the thesis' tree."""
    return Shot(number, varied(BUILDER, AS_PUBLISHED, traversal="short_stack", **pictured(RAY_TYPE, {})))


# -- measurements -----------------------------------------------------------------------------------------------------
def _still(job: SuiteJob, scene: Scene) -> Iterator[dict[str, Any]]:
    """The thesis' tree, on boxes cut along one axis, this program's, and both on boxes cut along all axes in all
    nodes."""
    for title, options, traversal in TREES:
        found = construction(job.target, scene, varied(BUILDER, options, traversal=traversal), (Moment(),), job.repeat)
        exact: dict[str, Any] = {"exact": "; ".join(missing(BUILDER, EXACT))}
        if not exact["exact"]:
            exactly = {**options, **EXACT}
            exact |= {f"exact_{name}": value for name, value in _traced(job, scene, exactly, traversal).items()}
            exact["exact_sah_cost"] = construction(
                job.target, scene, varied(BUILDER, exactly, traversal=traversal), (Moment(),), 1
            )["sah_cost"]
            exact["cost_over_exact"] = found["sah_cost"] / exact["exact_sah_cost"] if exact["exact_sah_cost"] else None
        yield {"tree": title, **found, **_traced(job, scene, options, traversal), **exact}


def _traced(job: SuiteJob, scene: Scene, options: Mapping[str, Any], traversal: str) -> dict[str, float]:
    """Primary rays by themselves, and a picture by recursive ones, lit by a lamp."""
    size = job.picture(SIZE)
    recursive = varied(BUILDER, options, traversal=traversal, **pictured(RAY_TYPE, {}))
    found = drawn(job.target, dataclasses.replace(scene, lights=(LIGHT,)), recursive, size, (Moment(),), job.repeat)
    primary_ms = traced_ms(job.target, scene, varied(BUILDER, options, traversal=traversal), size, job.repeat)
    return {"trace_ms": primary_ms, "recursive_ms": found["picture_ms"]}


def _moving(job: SuiteJob, scene: Scene) -> Iterator[dict[str, Any]]:
    size = job.picture(MOVING_SIZE)
    for title, options, traversal in TREES:
        settings = varied(BUILDER, options, traversal=traversal, **pictured(RAY_TYPE, {}))
        found = drawn(job.target, scene, settings, size, job.instants(scene), max(1, job.repeat // 3))
        yield {"needs": "; ".join(missing_ray_type(RAY_TYPE)), "tree": title, "size": f"{size[0]}x{size[1]}", **found}


# -- tables -----------------------------------------------------------------------------------------------------------
def tabulate(report: SuiteReport) -> None:
    """Tables and plots from the rows that there are."""
    report.tables = [_builds(report), factors_table(report), sub_algorithms_table(report), _moving_scene(report)]
    report.plots = [
        plot
        for plot in (sub_algorithms_plot(report, "6.15", True), sub_algorithms_plot(report, "6.16", False))
        if plot.x_names
    ]
    report.plots += figure_plots(report)


def _builds(report: SuiteReport) -> SuiteTable:
    table = SuiteTable("7.1", "build and trace", ("scene", *BUILD_COLUMNS.values()), notes=NOTES)
    for scene in scenes_of(report, "still"):
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
    own = {
        "build_ms": printed["build_ms"],
        "recursive_ms": printed["trace_ms"],
        "exact_recursive_ms": printed["exact_trace_ms"],
    }
    rows = [
        (f"{scene} ({whose})", *map(found.get, BUILD_COLUMNS))
        for whose, found in (("published, Wu et al.", wu), ("published", own))
    ]
    table.rows += rows if rows[0] not in table.rows else []


def _moving_scene(report: SuiteReport) -> SuiteTable:
    columns = (
        "scene",
        "build ms",
        "rays and shading ms",
        "frame ms",
        "frames/s",
        "rays a frame, millions",
        "size",
        "ray type",
    )
    table = SuiteTable("7.2", "a scene that moves, rebuilt every frame", columns)
    for row in report.rows:
        if row["part"] == "moving":
            if row["published_scene"]:
                build, trace, *others = published_row("kolodzey2014", "7.2", row["published_scene"]).values()
                printed = (
                    f"{row['published_scene']} (published)",
                    build,
                    trace,
                    None,
                    *others,
                    "1024x768",
                    "recursive",
                )
                table.rows += [printed] if printed not in table.rows else []
            cells = (row["build_ms"], row["picture_ms"], row["frame_ms"], row["frames_per_s"], (row["rays"] or 0) / 1e6)
            named = f"{row['scene']}, {row.get('tree', 'defaults')}"
            table.rows.append((named, *cells, row["size"], f"smooth: {row['needs']}" if row["needs"] else RAY_TYPE))
            table.notes = (MEDIAN_NOTE if "period_ms" in row else MEAN_NOTE,)
    return table

"""The evaluation of Chang, Seo and Ihm: Zhou's kd-tree by segmented scans and reductions, improved step by step by
atomics, ballots and shuffles.

Construction times in total and of the kernels alone with [A] to [E], one after the other, and with small trees by a
block each beside them, which is this program's own step; launches, and pictures of 1024x1024 by ray tracing with one
light and one reflection bounce. The published scenes are not to be had: halls with figures that run stand in, by the
same counts, and bodies that move for the fairies' forest. In total is here what a caller waits for one build; the
kernels alone are timed each by itself and summed, as the talk has them; as one graph the same launches follow one
another, held up by no host. All are means over instants of the animation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.scene import Scene

from .crowd import RUNNER_TRIANGLES
from .job import SuiteJob
from .measure import construction, drawn
from .pictures import Shot, take
from .published import published, published_row, published_source
from .report import Cell, Plot, SuiteReport, SuiteTable, scenes_of
from .scenes import SceneChoice, SceneSource, demo, what
from .variants import missing, missing_ray_type, pictured, varied

BUILDER = "median_sah"
RAY_TYPE = "whitted"
ONE_BOUNCE = {"depth": 1, "light_samples": 1}
SIZE = (1024, 1024)
MOMENTS = 3
SPONZA_TRIANGLES, KITCHEN_TRIANGLES, FOREST_TRIANGLES = 66_454, 101_015, 174_117


def _sponza(runners: int) -> SceneChoice:
    source = SceneSource(file="static/sponza-dabrovic.obj", runners=runners)
    why = "Dabrovic's Sponza too, with as many other figures of the runner's size"
    return SceneChoice(f"SR{runners}", SPONZA_TRIANGLES + runners * RUNNER_TRIANGLES, source, False, why)


def _kitchen(runners: int) -> SceneChoice:
    source = SceneSource(demo="room", triangles=KITCHEN_TRIANGLES, runners=runners)
    why = (
        "a furnished room of the kitchen's size (the kitchen at hand has 56,939 triangles instead of 101,015), with as "
        "many other figures of the runner's size"
    )
    return SceneChoice(f"KR{runners}", KITCHEN_TRIANGLES + runners * RUNNER_TRIANGLES, source, False, why)


SCENES = (
    *(_sponza(runners) for runners in (1, 2, 3)),
    *(_kitchen(runners) for runners in (1, 2, 3)),
    SceneChoice(
        "FF",
        FOREST_TRIANGLES,
        demo("orbit", FOREST_TRIANGLES),
        False,
        "bodies that move among still ones, the same count",
    ),
)

STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("original", {"implementation": "primitives"}),
    ("A", {"implementation": "primitives", "sorting": "atomics"}),
    ("A to B", {"implementation": "primitives", "sorting": "atomics", "scans": "ballots"}),
    ("A to C", {"implementation": "primitives", "sorting": "atomics", "scans": "ballots", "boxes": "atomics"}),
    (
        "A to D",
        {
            "implementation": "primitives",
            "sorting": "atomics",
            "scans": "ballots",
            "boxes": "atomics",
            "reductions": "shuffles",
        },
    ),
    ("all", {"implementation": "atomics", "small_nodes": "rounds"}),
    ("ours", {}),
)
"""The rows of the published table, with the options that build so, and behind them this program's default: all of them,
and small nodes taken to their leaves by a block a root instead of in rounds."""

SAME_TREE_NOTE = (
    "All of them build the same tree, so that the pictures take the same rays; what differs is the "
    "build within the frame."
)
VIEW_NOTE = (
    "The halls are seen from within, along their longer side from near one end to the other, by a lamp in their "
    "middle: the talk prints neither its cameras nor its lights."
)
MIDDLE_NOTE = (
    "The eye stood in the middle of the halls in this run, where runners hide those behind them; pictures drawn since "
    "are seen from aside."
)
"""Of runs whose rows do not say where the eye stood: those before 2026-11-28 12:00."""
RENDERED = ("original", "all", "ours")
TIMES = (("total", "", "overall_ms"), ("kernels", ".kernels", "kernels_ms"), ("as one graph", None, "graph_ms"))
"""The times of table construction: what a row calls it, how its published columns end, and the field of a row of ours.
"""
WORDS = {"total": "in total", "kernels": "of the kernels alone"}


TAKES_OWN = True


def run(job: SuiteJob) -> SuiteReport:
    """The whole suite."""
    report = SuiteReport("chang2012", __doc__ or "", published_source("chang2012"), job.picture(SIZE), job.repeat)

    def measure(choice: SceneChoice, scene: Scene) -> Iterator[dict[str, Any]]:
        about = what(choice, scene)
        for step, options in STEPS:
            yield {"part": "construction", **about, "step": step, **_built(job, scene, options)}
        for step in RENDERED:
            found = _rendered(job, scene, dict(STEPS)[step])
            yield {"part": "rendering", **about, "step": step, "eye": scene.eye, **found}
        take(job, report, choice, scene, [Shot("scenes", _pictured({}))], job.picture(SIZE))

    for choices in (SCENES, job.own):
        job.each(choices, report, measure, lambda scene: len(STEPS) + len(RENDERED), tabulate)
    job.keep(report)
    return report


def _built(job: SuiteJob, scene: Scene, options: dict[str, Any]) -> dict[str, Any]:
    needed = "; ".join(missing(BUILDER, options))
    if needed:
        return {"needs": needed}
    return {
        "needs": "",
        **construction(job.target, scene, varied(BUILDER, options), job.instants(scene, MOMENTS), job.repeat),
    }


def _pictured(options: dict[str, Any]) -> ViewSettings:
    """As the pictures are drawn: shadows of one light, one reflection bounce."""
    return varied(BUILDER, options, **pictured(RAY_TYPE, ONE_BOUNCE))


def _rendered(job: SuiteJob, scene: Scene, options: dict[str, Any]) -> dict[str, Any]:
    needed = "; ".join(missing(BUILDER, options))
    if needed:
        return {"needs": needed, "ray_type": ""}
    absent = "; ".join(missing_ray_type(RAY_TYPE))
    found = drawn(
        job.target,
        scene,
        _pictured(options),
        job.picture(SIZE),
        job.instants(scene, MOMENTS),
        max(1, job.repeat // 3),
    )
    return {"needs": "", "ray_type": f"smooth: {absent}" if absent else RAY_TYPE, **found}


# -- tables -----------------------------------------------------------------------------------------------------------
def tabulate(report: SuiteReport) -> None:
    """Tables and plots from the rows that there are."""
    report.tables = [_construction(report), _launches(report), _rendering(report)]
    report.plots = [
        plot for plot in (_plot(report, "total", "overall_ms"), _plot(report, "kernels", "kernels_ms")) if plot.x_names
    ]
    report.plots += [_as_published("total", ""), _as_published("kernels", ".kernels")]


def _heading(step: str) -> str:
    """A step as the tables call it."""
    return {"original": "original", "all": "[A] to [E]", "ours": "and subtrees"}.get(
        step
    ) or f"[{step.replace(' to ', '] to [')}]"


def _rows_of(report: SuiteReport, part: str, scene: str) -> dict[str, dict[str, Any]]:
    return {row["step"]: row for row in report.rows if row["part"] == part and row["scene"] == scene}


def _cell(rows: dict[str, dict[str, Any]], step: str, what: str) -> Cell:
    """What was measured of a step, or what it needs; nothing where its row is still to come."""
    row = rows.get(step, {"needs": None})
    found: Cell = row.get(what, row["needs"])
    return found


def _construction(report: SuiteReport) -> SuiteTable:
    """In total and of the kernels alone, published and here, and at the end how much the published improvements gain,
    and ours with them."""
    gains = ("original / [A] to [E]", "original / and subtrees")
    columns = ("scene", "time", *(_heading(name) for name, _ in STEPS), *gains)
    notes = (
        "And subtrees: small nodes taken to their leaves by a block a small root instead of in rounds, which is "
        "this program's own step.",
        "[E] here is how bits are counted. The scans within blocks of small nodes, which it has in the paper, too, are "
        "not built: in rounds children and leaves get their places by prefix sums over all small nodes of a round, in "
        "either form.",
        "Sets of triangles are read from arrays, where the paper reads them from textures: both go through one cache "
        "since Maxwell, so that there is nothing left to switch.",
        "Kernels: each timed by itself, summed. As one graph: all of them one after the other, which the talk has not.",
    )
    table = SuiteTable(
        "construction", "construction, ms, with the improvements one after the other", columns, notes=notes
    )
    for scene in scenes_of(report, "construction"):
        rows = _rows_of(report, "construction", scene)
        published_scene = rows["original"]["published_scene"]
        printed = published_row("chang2012", "construction", published_scene)
        for word, mark, ours in TIMES:
            if printed and mark is not None:
                values: list[Cell] = [printed.get(f"{name}{mark}") for name, _ in STEPS]
                table.rows.append((f"{published_scene} (published)", word, *values, *_gains(values)))
            cells = [_cell(rows, name, ours) for name, _ in STEPS]
            table.rows.append((rows["original"]["scene"], word, *cells, *_gains(cells)))
    return table


def _gains(times: Sequence[Cell]) -> list[Cell]:
    """How many times longer the first takes than the last two; nothing where one of them is no time."""
    first = times[0]
    return [
        first / time if isinstance(first, float | int) and isinstance(time, float | int) else None
        for time in times[-2:]
    ]


def _launches(report: SuiteReport) -> SuiteTable:
    steps = ("original", "all", "ours")
    notes = (
        *published("chang2012")["notes"],
        "Here as many levels and rounds are launched as there may be, as no number is read back; a level's scan "
        "is three launches, all counted.",
    )
    table = SuiteTable("launches", "kernels launched in a build", ("scene", *map(_heading, steps)), notes=notes)
    for scene in scenes_of(report, "construction"):
        rows = _rows_of(report, "construction", scene)
        published_scene = next(iter(rows.values()))["published_scene"]
        if published_scene:
            printed = published_row("chang2012", "launches", published_scene)
            table.rows.append((f"{published_scene} (published)", *(printed.get(step) for step in steps)))
        table.rows.append((scene, *(_cell(rows, step, "launches") for step in steps)))
    return table


def _rendering(report: SuiteReport) -> SuiteTable:
    columns = (
        "scene",
        *(f"{what} ms, {_heading(step)}" for step in RENDERED for what in ("picture", "frame")),
        "rays, millions",
        "ray type",
    )
    table = SuiteTable("rendering", f"pictures of {report.size[0]}x{report.size[1]}", columns)
    is_aside = all("eye" in row for row in report.rows if row["part"] == "rendering")
    table.notes = (SAME_TREE_NOTE, VIEW_NOTE, *(() if is_aside else (MIDDLE_NOTE,)))
    for scene in scenes_of(report, "rendering"):
        rows = _rows_of(report, "rendering", scene)
        last = rows.get("ours", next(iter(rows.values())))
        published_scene = last["published_scene"]
        if published_scene:
            printed = published_row("chang2012", "rendering", published_scene)
            nothing = (None, None, None)
            table.rows.append(
                (f"{published_scene} (published)", *printed.values(), *nothing, "shadows, one reflection bounce")
            )
        found = [rows.get(step, {"needs": "not in this run"}) for step in RENDERED]
        cells = [row.get(name, row["needs"]) for row in found for name in ("picture_ms", "frame_ms")]
        table.rows.append((scene, *cells, (last.get("rays") or 0) / 1e6, last["ray_type"]))
    return table


def _plot(report: SuiteReport, number: str, measured: str) -> Plot:
    """A bar a step for each scene."""
    rows = [row for row in report.rows if row["part"] == "construction" and measured in row]
    scenes = list(dict.fromkeys(_short(row) for row in rows))
    series = {}
    for step, _ in STEPS:
        found = {_short(row): row[measured] for row in rows if row["step"] == step}
        if found:
            series[_heading(step)] = (_places(scenes), [found.get(scene, 0.0) for scene in scenes])
    return Plot(
        number,
        f"Construction here, {WORDS[number]}",
        "",
        "ms",
        series,
        tuple(scenes),
    )


def _short(row: dict[str, Any]) -> str:
    """What a plot calls a row's scene."""
    return f"stand-in for {row['published_scene']}" if row["published_scene"] else str(row["scene"])


def _as_published(number: str, mark: str) -> Plot:
    """The published times in the same form."""
    printed = {choice.published: published_row("chang2012", "construction", choice.published) for choice in SCENES}
    series = {
        _heading(step): (_places(tuple(printed)), [row[f"{step}{mark}"] for row in printed.values()])
        for step, _ in STEPS
        if step != "ours"
    }
    return Plot(
        f"{number}-published", f"Construction, published (GTX 680), {WORDS[number]}", "", "ms", series, tuple(printed)
    )


def _places(names: Sequence[str]) -> list[float]:
    return [float(index) for index in range(len(names))]

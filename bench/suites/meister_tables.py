"""Tables 7.1 to 7.9 and figures 7.4 to 7.11 of Meister's evaluation (2014), from a report's rows, the published figures
beside ours. meister2014.py is the suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .meister_setup import CONFIGURATIONS, LEAVES, MEDIAN, MOVING, RAYS, SAH, STILL, Configuration
from .published import published_row
from .report import MEAN_NOTE, MEDIAN_NOTE, Cell, Plot, SuiteReport, SuiteTable, scenes_of

BUILD_NOTE = (
    "Kernels: the phases of a build that is replayed as one graph, by the target's clock. Overall: the wall time "
    "of a build that the host launches "
    "kernel by kernel, until the target has finished."
)
COST_NOTE = (
    "Cost: the thesis' equation 4.5 with k_T = k_I = 1 here. The thesis does not print its constants: costs "
    "compare within a row and between rows of "
    "one source, not a published row with the one below it."
)
OVERALL_NOTE = (
    "Six of the published overall times (Crytek Sponza, Conference, Armadillo, Stanford Dragon, Happy Buddha, "
    "Turbine Blade) and two of the kernels' "
    "(Turbine Blade, Power Plant) differ from those of table 7.5 for the same builds; both are as printed. Ours "
    "are the same measurement in both."
)
SECONDARY_NOTE = (
    "Four rays of each kind from a primary hit, in uniform directions, ambient-occlusion rays of length 1, as in "
    "the thesis. A length of 1 is in the "
    "units of each scene; the list of scenes says how much of a stand-in that is. MRays/s count these rays over "
    "their own time. "
)
UNIT_NOTE = "Rays are tested against triangles by unit triangles, as in the thesis (Woop and others 2005)."
OTHER_TEST_NOTE = (
    "Rays are tested against triangles by Moeller and Trumbore's test here, by unit triangles in the thesis."
)
"""Of runs that were saved before rays were tested as in the thesis."""
FRAME_NOTE = (
    "Frames with everything: animation, construction, rays and shading by one directional light, without shadows. "
    "Construction and cost are means "
    "over the frames."
)
MEMORY_NOTE = (
    "MB: of ours what the tree's nodes and triangles fill, by its counts: 101 bytes an inner node (64 that rays "
    "read, 37 of the tree that it is "
    "built and refitted in; leaves have none of their own) and 52 a triangle. The published figures are 64 bytes "
    "a node, leaves among them, and 68 "
    "a triangle, by least squares over the tables. Reserved: what ours holds for the largest tree over so many "
    "triangles, so that a frame never "
    "allocates, whatever the leaves. Auxiliary MB: scratch memory of a build, with leaves of 8."
)
FORM_NOTE = (
    "Ours is built in fewer launches than the thesis': several levels in each, whole small subtrees by a "
    "block{sweeps}. Table 7.7-loop has it by the thesis' own loop, too: {tree}."
)
"""By each table of ours that is built so."""
LOOP_NOTE = (
    "As published: a launch a level for splits and one for boxes, clusters binned at every level; where the thesis "
    "reads back how long a queue is, all levels that there may be are launched, the last ones empty, so that nothing "
    "waits for the host and a build can be replayed."
)
NODE_BYTES = {"bvh2": 101, "bvh2_soa": 85}
"""Bytes per inner node by layout: 64 or 48, and 32 + 4 + 1 of the canonical tree (gpu/hierarchy/bvh/tree.py). Wide
layouts have nodes of their own."""
TRIANGLE_BYTES = 52
"""A record of 48 bytes and the triangle's number."""

FIGURES = ("7.4", "7.5", "7.6")
PHASES = {
    "sort": "sort",
    "clusters": "clusters",
    "sah_splits": "sah_splits",
    "median_splits": "median_splits",
    "refit": "nodes",
}
"""The phases of table 7.7, and what the builder calls them after `build.`; all others are "other"."""


def used_mb(row: dict[str, Any]) -> float | None:
    """What a tree fills of what is reserved for it, by its counts; None where the layout's nodes are not the tree's."""
    node = NODE_BYTES.get(row["layout"])
    inner = row.get("inner_count", (row["node_count"] - 1) // 2)
    return (
        None if node is None else (node * inner + TRIANGLE_BYTES * row.get("reference_count", row["triangles"])) / 1e6
    )


def tabulate(report: SuiteReport) -> None:
    """Tables and plots from the rows that there are."""
    report.tables = [
        table
        for configuration in CONFIGURATIONS
        for table in (_builds(report, configuration), _rays(report, configuration))
    ]
    report.tables += [_phases(report), _forms(report)] + [
        _moving(report, configuration) for configuration in (MEDIAN, SAH)
    ]
    report.plots = [
        plot
        for number, c in zip(FIGURES, CONFIGURATIONS, strict=True)
        for plot in (_performance(report, number, c), _as_published(number, c))
    ]
    report.plots += [_curves(report, number, scene) for scene, number in _curve_numbers(report).items()]


def _form_note(configuration: Configuration) -> str:
    """How ours is built, and what its trees have in common with those of the thesis' loop."""
    if configuration is SAH:
        return FORM_NOTE.format(
            sweeps=", sweeps over 64 clusters and fewer", tree="its trees cost a little more or less"
        )
    return FORM_NOTE.format(sweeps="", tree="the same trees")


def _builds(report: SuiteReport, configuration: Configuration) -> SuiteTable:
    names = [(name, leaf) for name in ("kernels_ms", "overall_ms", "sah_cost", "node_count") for leaf in LEAVES]
    words = {"kernels_ms": "kernels ms", "overall_ms": "overall ms", "sah_cost": "cost", "node_count": "nodes"}
    columns = ("scene", *(f"{words[n]}, leaf {leaf}" for n, leaf in names))
    table = SuiteTable(
        configuration.tables[0],
        f"construction: {configuration.title}",
        columns,
        notes=(_form_note(configuration), BUILD_NOTE, COST_NOTE),
    )
    _fill(report, table, configuration, names)
    return table


def _rays(report: SuiteReport, configuration: Configuration) -> SuiteTable:
    names = [(f"{rays}_mrays_per_s", leaf) for rays in RAYS for leaf in LEAVES] + [
        ("memory_mb", leaf) for leaf in LEAVES
    ]
    words = {f"{rays}_mrays_per_s": f"{rays} MRays/s" for rays in RAYS} | {"memory_mb": "MB"}
    columns = ("scene", *(f"{words[n]}, leaf {leaf}" for n, leaf in names), "auxiliary MB", "reserved MB")
    tests = {row.get("triangle_test") for row in report.rows if row["part"] == "still"}
    rays_note = SECONDARY_NOTE + (UNIT_NOTE if tests == {"unit_triangle"} else OTHER_TEST_NOTE)
    notes = (rays_note, MEMORY_NOTE, _form_note(configuration))
    table = SuiteTable(configuration.tables[1], f"rays and memory: {configuration.title}", columns, notes=notes)
    _fill(report, table, configuration, [*names, ("auxiliary_mb", 8), ("reserved_mb", 8)])
    return table


def _with_memory(row: dict[str, Any]) -> dict[str, Any]:
    """A row with the bytes that are used in the place of those that are reserved."""
    return {**row, "memory_mb": used_mb(row), "reserved_mb": row["memory_mb"]}


def _fill(
    report: SuiteReport, table: SuiteTable, configuration: Configuration, names: Sequence[tuple[str, int]]
) -> None:
    """Two rows a scene: what was published, what was measured here; one where nothing was published."""
    for scene in scenes_of(report, "still"):
        rows = _rows(report, "still", scene, configuration)
        if not rows:
            continue
        named = [(name, leaf) for name, leaf in names]
        table.rows += _printed(table.number, rows[0], [(f"{name}.{leaf}", name) for name, leaf in named])
        by_leaf = {row["leaf"]: _with_memory(row) for row in rows}
        table.rows.append((scene, *(by_leaf.get(leaf, {}).get(name) for name, leaf in named)))


def _printed(number: str, row: dict[str, Any], columns: Sequence[tuple[str, ...]]) -> list[tuple[Cell, ...]]:
    """The published row of a scene, each cell by the first of its names that the table has; none of one's own scene."""
    if not row["published_scene"]:
        return []
    printed = published_row("meister2014", number, row["published_scene"])
    cells = (next((printed[name] for name in names if name in printed), None) for names in columns)
    return [(f"{row['published_scene']} (published)", *cells)]


def _phases(report: SuiteReport) -> SuiteTable:
    columns = ("scene", *(f"{phase.replace('_', ' ')} ms" for phase in PHASES), "other ms", "kernels ms", "overall ms")
    table = SuiteTable(
        "7.7", f"phases: {SAH.title}, leaf 8", columns, notes=(_form_note(SAH), BUILD_NOTE, OVERALL_NOTE)
    )
    for scene in scenes_of(report, "still"):
        for row in _rows(report, "still", scene, SAH):
            if row["leaf"] != 8:
                continue
            table.rows += _printed("7.7", row, [(f"{name}_ms",) for name in (*PHASES, "other", "kernels", "overall")])
            parts = [row["phases_ms"].get(f"build.{phase}") for phase in PHASES.values()]
            other = row["kernels_ms"] - sum(part or 0.0 for part in parts)
            table.rows.append((row["scene"], *parts, other, row["kernels_ms"], row["overall_ms"]))
    return table


def _forms(report: SuiteReport) -> SuiteTable:
    """The builds of the tables above beside those by the thesis' own loop."""
    names = ("launches", "kernels_ms", "overall_ms", "sah_cost", "node_count", "auxiliary_mb")
    columns = ("scene", "splits", "form", "launches", "kernels ms", "overall ms", "cost", "nodes", "auxiliary MB")
    table = SuiteTable("7.7-loop", "ours and the thesis' own loop, leaf 8", columns, notes=(LOOP_NOTE, BUILD_NOTE))
    for scene in scenes_of(report, "as_published"):
        for configuration in CONFIGURATIONS:
            for part, form in (("still", "fewer launches"), ("as_published", "as published")):
                for row in _rows(report, part, scene, configuration):
                    if row["leaf"] == 8:
                        table.rows.append((scene, configuration.title, form, *(row.get(name) for name in names)))
    return table


def _moving(report: SuiteReport, configuration: Configuration) -> SuiteTable:
    number = configuration.moving_table or ""
    columns = (
        "scene",
        "construction ms",
        "cost",
        *(f"{rays} frames/s" for rays in RAYS),
        *(f"{rays} frame ms" for rays in RAYS),
    )
    title = f"moving scenes, rebuilt every frame: {configuration.title}, leaf 8"
    table = SuiteTable(number, title, columns)
    for scene in scenes_of(report, "moving"):
        rows = {row["rays"]: row for row in _rows(report, "moving", scene, configuration)}
        if not rows:
            continue
        first = next(iter(rows.values()))
        timed = [rows.get(rays, {}).get(name) for name in ("frames_per_s", "frame_ms") for rays in RAYS]
        if first["published_scene"]:
            printed = published_row("meister2014", number, first["published_scene"])
            table.rows.append((f"{first['published_scene']} (published)", *printed.values(), *(None for _ in RAYS)))
        table.rows.append((scene, first["construction_ms"], first["sah_cost"], *timed))
        timing = MEDIAN_NOTE if "period_ms" in first else MEAN_NOTE
        table.notes = (FRAME_NOTE, timing, COST_NOTE, _form_note(configuration))
    return table


# -- plots ------------------------------------------------------------------------------------------------------------
def _performance(report: SuiteReport, number: str, configuration: Configuration) -> Plot:
    """Construction performance here, a bar a leaf size."""
    rows = [row for row in report.rows if row["part"] == "still" and row["configuration"] == configuration.title]
    names = list(dict.fromkeys(row["scene"] for row in rows))
    rates = {leaf: {row["scene"]: row["mtris_per_s"] or 0.0 for row in rows if row["leaf"] == leaf} for leaf in LEAVES}
    places = _places(names)
    series = {f"leaf {leaf}": (places, [float(rates[leaf].get(name, 0.0)) for name in names]) for leaf in LEAVES}
    return Plot(number, f"Construction performance here: {configuration.title}", "", "MTris/s", series, tuple(names))


def _as_published(number: str, configuration: Configuration) -> Plot:
    """The same from the published times: triangles over the kernels' milliseconds."""
    names = [choice.published for choice in STILL]
    printed = [published_row("meister2014", configuration.tables[0], name) for name in names]
    series = {
        f"leaf {leaf}": (
            _places(names),
            [c.published_triangles / row[f"kernels_ms.{leaf}"] / 1e3 for c, row in zip(STILL, printed, strict=True)],
        )
        for leaf in LEAVES
    }
    title = f"Construction performance, published (GTX TITAN): {configuration.title}"
    return Plot(f"{number}-published", title, "", "MTris/s", series, tuple(names))


def _places(names: Sequence[str]) -> list[float]:
    return [float(index) for index in range(len(names))]


def _curves(report: SuiteReport, number: str, scene: str) -> Plot:
    words = {(MEDIAN.title, "rebuild"): "median splits, rebuilt", (SAH.title, "rebuild"): "SAH splits, rebuilt"}
    rows = [row for row in report.rows if row["part"] == "curve" and row["scene"] == scene]
    refitted = "SAH tree of the first key, refitted"
    names = [words.get((row["configuration"], row["update"]), refitted) for row in rows]
    series = {name: (row["times"], row["sah_costs"]) for name, row in zip(names, rows, strict=True)}
    instants = f"{len(rows[0]['times'])} {rows[0].get('instants', 'even instants')}"
    return Plot(number, f"SAH cost at {instants}: {scene}", "time, s", "SAH cost", series)


def _curve_numbers(report: SuiteReport) -> dict[str, str]:
    """The published figure that stands for each scene's curves; scenes of one's own have numbers of their own."""
    numbers = {choice.published: f"7.{number}" for number, choice in enumerate(MOVING, 7)}
    own = 0
    found = {}
    for row in report.rows:
        if row["part"] == "curve" and row["scene"] not in found:
            own += not row["published_scene"]
            found[row["scene"]] = numbers.get(row["published_scene"], f"7.11-own-{own}")
    return found


def _rows(report: SuiteReport, part: str, scene: str, configuration: Configuration) -> list[dict[str, Any]]:
    wanted = (part, scene, configuration.title)
    return [row for row in report.rows if row["part"] == part and _key(row) == wanted]


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["part"], row["scene"], row["configuration"]

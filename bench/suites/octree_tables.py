"""Tables and plots of the octree suite from the rows that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .octree_builds import complete_nodes
from .octree_claims import claim_table, of
from .octree_clouds import BUNNY_ROOM, GANESHA_ROOM
from .report import Cell, Plot, SuiteReport, SuiteTable

FIGURES = {BUNNY_ROOM: "12", GANESHA_ROOM: "13"}
DEPTH_NOTE = (
    "Levels: bisections of the cube, bits of a code per axis (the paper's k); points that share a cell then share a "
    "leaf. One thread: the same kernels compiled for the CPU. The complete octree's nodes are counted, 1 + 8 + ... + "
    "8^levels. The paper's own figures are plots without numbers."
)
MEGABYTE = 1e6

Row = dict[str, Any]


def tabulate(report: SuiteReport) -> None:
    """All of them."""
    report.tables = [
        claim_table(report),
        *(_depth_table(report, scene) for scene in _scenes(report, "depth")),
        _memory_table(report),
        _count_table(report),
        _block_table(report),
        _query_table(report),
        _gravity_table(report),
        _light_table(report),
    ]
    report.plots = [plot for plot in _plots(report) if plot.series]


def _scenes(report: SuiteReport, part: str) -> list[str]:
    return list(dict.fromkeys(row["scene"] for row in of(report.rows, part)))


def _number(scene: str) -> str:
    return FIGURES.get(scene, "depth")


def _depth_table(report: SuiteReport, scene: str) -> SuiteTable:
    columns = ("builder", "levels", "ms", "one thread, ms", "speed-up", "nodes", "leaves", "complete octree's nodes")
    table = SuiteTable(_number(scene), f"{scene} (stand-in) by depth", columns, notes=(DEPTH_NOTE,))
    if scene not in FIGURES:
        table.title = f"{scene} by depth"
    for row in sorted(of(report.rows, "depth", scene=scene), key=lambda row: str(row["way"])):
        named = (row[name] for name in ("levels", "ms", "one_thread_ms", "speed_up", "nodes", "leaves"))
        table.rows.append((row["way"], *named, complete_nodes(row["levels"])))
    return table


def _memory_table(report: SuiteReport) -> SuiteTable:
    columns = (
        *("points", "builder", "k", "chains", "ms", "nodes", "leaves", "chain nodes", "nodes a leaf"),
        *("not empty", "the paper's bound"),
        *("MB in use", "MB reserved", "MB of scratch"),
    )
    notes = (
        "In use: nodes of 32 bytes, points of 28. Scratch is what a build takes beside the tree.",
        "The paper's bound, in nodes: bottom-up 4n - 2 entries of its array B, which holds for trees without chains; "
        "top-down eight children for each node that is divided; complete every cell.",
    )
    table = SuiteTable("memory", "every builder with both code lengths, without and with chains", columns, notes=notes)
    for row in of(report.rows, "memory"):
        named = (row[name] for name in ("scene", "way", "bits", "chains", "ms", "nodes", "leaves"))
        chain_nodes = row["chain_nodes"] if row["chains"] in ("none", "full") else None  # the others do not count them
        share = row["nodes"] / row["leaves"] if row["leaves"] else None
        sizes = (row[name] / MEGABYTE for name in ("used_bytes", "tree_bytes", "scratch_bytes"))
        table.rows.append((*named, chain_nodes, share, row["non_empty"], row["bound"], *sizes))
    return table


def _count_table(report: SuiteReport) -> SuiteTable:
    notes = ("The first so many of the points, which are in a random order.",)
    table = SuiteTable(
        "8,192", "few points and many, millions of points a second", ("points of", "builder"), notes=notes
    )
    rows = of(report.rows, "count")
    counts = sorted({row["points"] for row in rows})
    table.columns = ("points of", "builder", *(f"{count:,}" for count in counts))
    for scene, way in dict.fromkeys((row["scene"], row["way"]) for row in rows):
        by_count = {row["points"]: row["ms"] for row in rows if (row["scene"], row["way"]) == (scene, way)}
        table.rows.append((scene, way, *(_rate(count, by_count.get(count)) for count in counts)))
    return table


def _rate(count: int, ms: float | None) -> float | None:
    return count / ms / 1e3 if ms else None


def _block_table(report: SuiteReport) -> SuiteTable:
    rows = of(report.rows, "block")
    blocks = sorted({row["block"] for row in rows})
    notes = (
        "The octree's own kernels, but those of a block of their own; sorts and prefix sums keep theirs.",
        "Loops are unrolled by the compiler, and there is no switch for it (6.1).",
        *dict.fromkeys(f"{row['block']} threads, {row['way']}: {row['why']}" for row in rows if "why" in row),
    )
    columns = ("points", "builder", *(f"{block:,} threads" for block in blocks))
    table = SuiteTable("6.1", "threads of a block, ms", columns, notes=notes)
    for scene, way in dict.fromkeys((row["scene"], row["way"]) for row in rows):
        by_block = {row["block"]: row["ms"] for row in rows if (row["scene"], row["way"]) == (scene, way)}
        table.rows.append((scene, way, *(by_block.get(block) for block in blocks)))
    return table


def _query_table(report: SuiteReport) -> SuiteTable:
    notes = (
        "As the caller waits, allocation of the answers included; once where that is long. Cells by number alone need "
        "no tree; places lie on the same surfaces as the points. Random nodes and cells are any of the tree's.",
        "A ball reaches to the eighth nearest point of its middle, and a box holds that ball.",
    )
    columns = ("points", "of", "structure", "query", "order", "asked", "ms", "millions a second")
    table = SuiteTable("queries", "queries a second", columns, notes=notes)
    for row in of(report.rows, "query"):
        named = (row[name] for name in ("scene", "of", "structure", "kind", "order", "asked", "ms"))
        table.rows.append((*named, row["per_s"] / 1e6 if row["per_s"] else None))
    return table


def _gravity_table(report: SuiteReport) -> SuiteTable:
    notes = (
        "Points of equal mass, softened by a thousandth of their cube. Error: rms difference of accelerations from the "
        "sum of all pairs over their rms; a dash where that sum was too long to wait for.",
    )
    table = SuiteTable("gravity", "attraction of all points", ("points of", "points", "by", "ms", "error"), notes=notes)
    for row in of(report.rows, "gravity"):
        error: Cell = None if row["error"] is None else f"{row['error']:.1e}"
        table.rows.append((row["scene"], row["count"], row["by"], row["ms"], error))
    return table


def _light_table(report: SuiteReport) -> SuiteTable:
    notes = (
        "One bounce, nothing in the way, as the caller waits. Placing: the octree and its lists, made once for points "
        "that stay. Error: rms difference of irradiance from the sum of all pairs over its rms; a dash where that sum "
        "was too long to wait for. The paper has a picture and no figure.",
    )
    columns = ("points of", "points", "by", "ms", "placing, ms", "error", "us a point")
    table = SuiteTable("14", "light between points", columns, notes=notes)
    for row in of(report.rows, "light"):
        error: Cell = None if row.get("error") is None else f"{row['error']:.1e}"
        spent = row["ms"] / row["count"] * 1e3
        table.rows.append((row["scene"], row["count"], row["by"], row["ms"], row.get("placing_ms"), error, spent))
    return table


# -- plots ------------------------------------------------------------------------------------------------------------
def _plots(report: SuiteReport) -> list[Plot]:
    plots = []
    for scene in _scenes(report, "depth"):
        if scene not in FIGURES:
            continue
        rows, number = of(report.rows, "depth", scene=scene), FIGURES[scene]
        times = {**_curves(rows, "ms"), **_curves(rows, "one_thread_ms", ", one thread")}
        plots.append(Plot(number, f"{scene} (stand-in) by depth", "levels", "ms", times))
        title = f"{scene} (stand-in): times as fast as one thread"
        plots.append(Plot(f"{number}-speed-up", title, "levels", "times", _curves(rows, "speed_up")))
    scenes = _scenes(report, "gravity")
    for scene in scenes[:1]:
        for part, title in (("gravity", "Attraction of all points"), ("light", "A bounce of light")):
            plots.append(_sum_plot(part, f"{title}, {scene} (stand-in)", of(report.rows, part, scene=scene)))
    return plots


def _curves(rows: Sequence[Row], what: str, suffix: str = "") -> dict[str, tuple[list[float], list[float]]]:
    found: dict[str, tuple[list[float], list[float]]] = {}
    for row in rows:
        if row[what] is not None:
            x, y = found.setdefault(f"{row['way']}{suffix}", ([], []))
            x.append(float(row["levels"]))
            y.append(float(row[what]))
    return found


def _sum_plot(part: str, title: str, rows: Sequence[Row]) -> Plot:
    series: dict[str, tuple[list[float], list[float]]] = {}
    for row in rows:
        x, y = series.setdefault(row["by"], ([], []))
        x.append(float(row["count"]))
        y.append(row["ms"] / row["count"] * 1e3)
    return Plot(part, title, "points", "us a point", series)

"""What the octree paper claims, each held or not by the rows of a run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from . import octree_builds as builds
from .published import published
from .report import SuiteReport, SuiteTable

NAME = "octree2008"
HELD, NOT_HELD = "held", "not held"
BOTTOM_UP, PAPERS, TOP_DOWN, COMPLETE = "bottom-up", builds.BOTTOM_UP["paper"], "top-down", builds.COMPLETE
ALONE = builds.TOP_DOWN["thread"]
"""How the names of builders begin (octree_builds.py); those two are the paper's own."""
SLIGHTLY = 1.5
"""Times as long at most is still slightly slower: ours, the paper has no figure."""
BUSY = 0.9
"""Share of the best points a second at which a target is fully loaded: ours."""
FAR_LESS = 0.5
"""Share of the other's nodes at most that is far less: ours."""
PAPERS_BLOCKS = (128, 256)
FROM_LEVEL = 6

Row = dict[str, Any]
Judged = tuple[str, str]
"""What was measured, and what follows."""
NO_GPU = "not measured: said of a GPU, and this run was of a CPU"


def claim_table(report: SuiteReport) -> SuiteTable:
    """Every claim with what was measured of it."""
    table = SuiteTable(
        "claims",
        "what the paper says, and what was measured of it here",
        ("claim", "where", "here", "so"),
        notes=(
            f"Slightly slower: up to {SLIGHTLY} times the time. Full load: {100 * BUSY:.0f} % of the most points a "
            f"second. Far less: at most {100 * FAR_LESS:.0f} % of the nodes. The paper has no figures for these words.",
            "Where builders are compared they are the paper's own two, not our faster ones.",
            "Speed-ups here are of this run's device over one thread of its host, of the same kernels compiled for it; "
            "the paper's CPU program is not to be had.",
        ),
    )
    for key, (text, where) in published(NAME)["tables"]["claims"]["rows"].items():
        measured, verdict = JUDGES[key](report.rows)
        table.rows.append((text, where, measured, verdict))
    return table


def is_gpu(rows: Sequence[Row]) -> bool:
    """Whether the rows are of a GPU."""
    return any(row.get("target") == "cuda" for row in rows)


def of(rows: Sequence[Row], part: str, way: str = "", **wanted: Any) -> list[Row]:
    """Rows of a part, by builders whose name begins so."""
    return [
        row
        for row in rows
        if row["part"] == part
        and row.get("way", "").startswith(way)
        and all(row.get(name) == value for name, value in wanted.items())
    ]


def _where(rows: Sequence[Row]) -> str:
    """What times are of, where not of a GPU that nothing else used."""
    busy = any(row.get("is_busy") for row in rows)
    kind = "" if is_gpu(rows) else "on a CPU"
    return f" ({kind or 'on a GPU'} amid other work)" if busy else f" ({kind})" if kind else ""


def _speed_ups(rows: Sequence[Row], way: str, from_level: int = 0) -> list[float]:
    found = of(rows, "depth", way)
    return [row["speed_up"] for row in found if row["speed_up"] and row["levels"] >= from_level]


def _speed(way: str, summary: Callable[[list[float]], float], word: str) -> Callable[[Sequence[Row]], Judged]:
    """Whether so many times the speed of one thread are reached, by the mean or the most of builders and depths."""

    def judge(rows: Sequence[Row]) -> Judged:
        found = _speed_ups(rows, way)
        if not found:
            return "-", "not measured: no such builder was timed"
        value = summary(found)
        said = f"{word} {value:.3g} times one thread, {len(found)} builds{_where(rows)}"
        if not is_gpu(rows):
            return said, NO_GPU
        return said, HELD if value >= 100.0 else NOT_HELD

    return judge


def _ahead(rows: Sequence[Row]) -> Judged:
    found = _speed_ups(rows, TOP_DOWN, FROM_LEVEL)
    if not found:
        return "-", "not measured: no builder from the top was timed so deep"
    said = f"{min(found):.3g} to {max(found):.3g} times one thread from {FROM_LEVEL} levels on{_where(rows)}"
    if not is_gpu(rows):
        return said, NO_GPU
    return said, HELD if min(found) > 1.0 else NOT_HELD


def _blocks(rows: Sequence[Row]) -> Judged:
    found = [row for row in of(rows, "block") if row["ms"]]
    if not found:
        return "-", "not measured: a block is one thread on a CPU" if not is_gpu(rows) else "not measured"
    best: dict[tuple[str, str], Row] = {}
    for row in found:
        key = (row["scene"], row["way"])
        if key not in best or row["ms"] < best[key]["ms"]:
            best[key] = row
    inside = [row["block"] in PAPERS_BLOCKS for row in best.values()]
    counted = statistics.multimode(row["block"] for row in best.values())
    said = f"best: {', '.join(map(str, counted))} threads most often; {sum(inside)} of {len(inside)} within"
    return said, HELD if all(inside) else NOT_HELD


def _grids(rows: Sequence[Row]) -> Judged:
    return "-", "not measured: how many blocks there are follows from the points"


def _saturated(rows: Sequence[Row]) -> Judged:
    shares = []
    for scene in dict.fromkeys(row["scene"] for row in of(rows, "count", BOTTOM_UP)):
        for way in dict.fromkeys(row["way"] for row in of(rows, "count", BOTTOM_UP, scene=scene)):
            rates = {row["points"]: row["points"] / row["ms"] for row in of(rows, "count", way, scene=scene)}
            if 8_192 in rates:
                shares.append(rates[8_192] / max(rates.values()))
    if not shares:
        return "-", "not measured: no cloud has more than 8,192 points"
    said = f"at 8,192 points {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the most points a second"
    if not is_gpu(rows):
        return said, NO_GPU
    return said, HELD if min(shares) >= BUSY else NOT_HELD


def _ratios(rows: Sequence[Row], way: str, other: str, what: str) -> list[float]:
    """Of each scene and depth, the first over the best of the other."""
    ratios = []
    for row in of(rows, "depth", way):
        rivals = [r[what] for r in of(rows, "depth", other, scene=row["scene"], levels=row["levels"])]
        if rivals and row[what] and min(rivals):
            ratios.append(row[what] / min(rivals))
    return ratios


def _slower(way: str, most: float) -> Callable[[Sequence[Row]], Judged]:
    """Whether a builder takes longer than the complete octree, and no longer than `most` times."""

    def judge(rows: Sequence[Row]) -> Judged:
        found = _ratios(rows, way, COMPLETE, "ms")
        if not found:
            return "-", "not measured: the two were not timed"
        mean = statistics.geometric_mean(found)
        said = f"{min(found):.3g} to {max(found):.3g} times the time, mean {mean:.3g}{_where(rows)}"
        return said, HELD if 1.0 < mean <= most else NOT_HELD

    return judge


def _from_the_top(what: str, unit: str) -> Callable[[Sequence[Row]], Judged]:
    """Whether the builder from the top takes less of something than the paper's from the bottom."""

    def judge(rows: Sequence[Row]) -> Judged:
        found = _ratios(rows, ALONE, PAPERS, what)
        if not found:
            return "-", "not measured: the two were not timed"
        return (
            f"{min(found):.3g} to {max(found):.3g} times the {unit}{_where(rows)}",
            HELD if statistics.geometric_mean(found) < 1.0 else NOT_HELD,
        )

    return judge


def _bound(rows: Sequence[Row]) -> Judged:
    said, beyond = [], set[str]()
    for chains in ("none", "full"):
        for bits in (10, 21):
            found = [row for row in of(rows, "memory", BOTTOM_UP, chains=chains, bits=bits) if row["points"]]
            if found:
                most = max(row["nodes"] / row["points"] for row in found)
                beyond |= {chains for row in found if row["nodes"] > 4 * row["points"] - 2}
                said.append(f"k = {bits}, {'with' if chains == 'full' else 'without'} chains {most:.3g}")
    if not said:
        return "-", "not measured"
    verdict = f"{NOT_HELD} with chains, {HELD} without" if beyond == {"full"} else NOT_HELD if beyond else HELD
    return f"most nodes a point: {'; '.join(said)}", verdict


def _non_empty(rows: Sequence[Row]) -> Judged:
    """By the memory that the paper's algorithm asks for: eight children for each node that is divided."""
    shares = [row["bound"] / row["non_empty"] for row in of(rows, "memory", TOP_DOWN) if row["non_empty"]]
    if not shares:
        return "-", "not measured"
    said = f"eight children a divided node are {min(shares):.3g} to {max(shares):.3g} times those; ours keeps those"
    return said, HELD if max(shares) <= 1.0 else NOT_HELD


def _less_than_complete(way: str) -> Callable[[Sequence[Row]], Judged]:
    """Whether a tree has far fewer nodes than the complete octree as deep, from the paper's depth on."""

    def judge(rows: Sequence[Row]) -> Judged:
        found = [row for row in of(rows, "depth", way) if row["levels"] >= FROM_LEVEL]
        if not found:
            return "-", "not measured"
        shares = [row["nodes"] / builds.complete_nodes(row["levels"]) for row in found]
        said = f"{100 * min(shares):.2g} to {100 * max(shares):.2g} % of its nodes from {FROM_LEVEL} levels on"
        return said, HELD if max(shares) <= FAR_LESS else NOT_HELD

    return judge


JUDGES: dict[str, Callable[[Sequence[Row]], Judged]] = {
    "average speed-up": _speed("", statistics.fmean, "mean"),
    "bottom-up speed-up": _speed(BOTTOM_UP, max, "most"),
    "top-down speed-up": _speed(TOP_DOWN, max, "most"),
    "ahead from depth 6": _ahead,
    "threads of a block": _blocks,
    "blocks of a grid": _grids,
    "saturated at 8,192": _saturated,
    "bottom-up beside complete": _slower(PAPERS, SLIGHTLY),
    "top-down beside complete": _slower(ALONE, float("inf")),
    "top-down is faster": _from_the_top("ms", "time of the paper's bottom-up form"),
    "top-down is smaller": _from_the_top("working_bytes", "memory of the paper's bottom-up form, scratch counted"),
    "4n - 2": _bound,
    "non-empty nodes": _non_empty,
    "less memory, bottom-up": _less_than_complete(BOTTOM_UP),
    "less memory, top-down": _less_than_complete(TOP_DOWN),
}

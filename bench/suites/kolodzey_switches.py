"""What each optimisation of Kolodzey's thesis (2014) is worth: the switches of the builder that take it away, builds
without it, table 6.2 of factors, and figures 6.1, 6.15 and 6.16 of sub-algorithms. kolodzey2014.py is the suite."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Moment, Scene

from .job import SuiteJob
from .measure import construction
from .published import published, published_row
from .report import Cell, Plot, SuiteReport, SuiteTable, scenes_of
from .variants import missing, varied

BUILDER = "sah_events"

AS_PUBLISHED: dict[str, Any] = {"max_leaf_size": 63, "stop": "size", "clipping": "split_axis"}


@dataclasses.dataclass(frozen=True)
class Optimisation:
    """A switch. `row` is what the measurement is called, `without` the options that take the optimisation away, `over`
    the row that has it,
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
    Optimisation(
        "sides as words", {"flags": "words"}, "flags: sides of references as bytes, four a load, against words"
    ),
    Optimisation(
        "moving by gaps",
        {"moving": "gaps"},
        "moving: by way of lists with gaps, without over with a byte a place of them, his clip mask",
        "clip mask",
        "moving by masks",
    ),
    Optimisation(
        "moving by masks", {"moving": "masks"}, "moving: once, to places counted first, against by his clip mask"
    ),
    Optimisation(
        "a block a node",
        {"reduction": "nodes"},
        "reduction: tiles, warps and atomics against a block a node, which here scans, judges and reduces",
    ),
    Optimisation(
        "boxes", {"boxes": "soa"}, "boxes: 32 bytes side by side against an array a word (the thesis keeps arrays)"
    ),
    Optimisation("cascading", {"cascading": False}, "cascading: eight neighbours a thread against one"),
    Optimisation(
        "triangles",
        {"triangles": "staged"},
        "triangles: vertices' numbers by each thread against by neighbours through shared memory",
    ),
    Optimisation(
        "vertices",
        {"triangles": "vertices"},
        "triangles: numbers and vertices by each thread against by neighbours, without conflicts, as the thesis reads",
    ),
)

AS_THESIS: dict[str, Any] = {"reduction": "whole_and_segments", "moving": "masks", "triangles": "vertices"}
"""His own steps: candidates in a list, reduced as a whole on the first levels and by segments below; clip masks."""

OF_THESIS, NONE_OF_THESIS = "as the thesis", "as the thesis, without any"
THESIS: tuple[Optimisation, ...] = (
    Optimisation(
        "as the thesis, shared memory",
        {"candidates": "shared"},
        "candidates: shuffles of lanes against shared memory",
        "SAH shuffle reduction",
        OF_THESIS,
    ),
    Optimisation(
        "as the thesis, words",
        {"flags": "words"},
        "flags: kinds of events and sides as bytes, four a load, scanned, against words; leaves have no scan of flags "
        "of their own here, so that nothing is switched in SA 5",
        "binary scan",
        OF_THESIS,
    ),
    Optimisation(
        "as the thesis, by gaps",
        {"moving": "gaps"},
        "moving: lists with gaps, without over with a byte a place of them, his clip mask",
        "clip mask",
        OF_THESIS,
    ),
    Optimisation(
        "as the thesis, by segments",
        {"reduction": "segments"},
        "reduction: candidates of the first levels by many blocks a node, below by one, against by one throughout",
        "hybrid reduction",
        OF_THESIS,
    ),
)
"""Switches of his own steps: options that take one away from them. Reports saved before 2026-11-28 have some of them
over our steps alone, and then show those."""

NOT_SWITCHED = {"streams": "not built: no read-back at all, so that there is nothing left to overlap"}
"""Lines of table 6.2 that nothing here switches as the thesis does, and why."""

PUBLISHED_ORDER = ("SAH shuffle reduction", "binary scan", "streams", "clip mask", "hybrid reduction")

ALL = "all optimisations"
TOUCHED: Mapping[float, str | None] = {1.0: "X", 0.0: None}
"""Marks of table 6.2's columns SA 1 to SA 5, as bench/published has them."""

BUT_A_BLOCK = "without any, but by tiles"

FORMER_ROWS = {"sides as words": "binary scan", "moving by gaps": "clip mask", "a block a node": "hybrid reduction"}
"""What rows are called in reports saved before 2026-11-22."""

COMPARED = {
    OF_THESIS: ("the thesis'", "all but streams"),
    NONE_OF_THESIS: ("the thesis'", "none"),
    "with all": ("ours", "all"),
    "without any": ("ours", "none, a block a node"),
}
"""Builds whose sub-algorithms are compared: whose steps, and with which of the optimisations."""

BEFORE_NOTE = (
    "Plots: the first scene, by the thesis' steps. None of them: candidates reduced by a block a node through shared "
    "memory, words for bytes, lists with gaps, triangles read one by one; what his early version was beside that he "
    "does not say. Ours without any has a block a node that scans and judges, too, which his never had."
)

SUB_ALGORITHMS = {
    "Initialisation": (
        *("clear_start", "find_active", "write_keys", "take_events", "make_root"),
        *("exclusive_scan", "sum_tiles", "scan_tile_sums", "scan_tiles"),
        *("radix_sort", "count_digits", "scan_digits", "scatter_digits", "order_runs", "look_for_runs"),
    ),
    "ComputeBestSplits": (
        *("count_starts", "find_splits", "split_small_nodes", "choose_splits"),
        *("write_kinds", "scan_kinds", "list_candidates", "reduce_"),
    ),
    "ClippingAndPartitioning": (
        "count_sides",
        "partition_",
        "spread_",
        "count_gaps",
        "close_gaps",
        "clip_",
        "write_level_keys",
        "take_level_",
    ),
    "CreateChildsAndInitParents": ("number_nodes", "make_children"),
    "MakeLeaves": ("leaves", "publish_tree"),
}
"""The thesis' names, and the beginnings of the names of kernels that do it here, on either target; leaves' references
are written where references are partitioned. Places are scanned and events sorted once, in the beginning.
"""


def forms() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The builds that are measured, by name, with the options that take something away."""
    there = [one for one in OPTIMISATIONS if not missing(BUILDER, one.without)]
    none = _all_of(there)
    but_a_block = _all_of([one for one in there if "reduction" not in one.without])
    named = [(one.row, one.without) for one in OPTIMISATIONS]
    slowest = {"reduction": "segments", "moving": "gaps", "candidates": "shared", "flags": "words"}
    his = [(one.row, {**AS_THESIS, **one.without}) for one in THESIS]
    return (
        *(("with all", {}), *named, (BUT_A_BLOCK, but_a_block), ("without any", none)),
        *((OF_THESIS, AS_THESIS), *his, (NONE_OF_THESIS, slowest)),
    )


def measure_switches(job: SuiteJob, scene: Scene) -> Iterator[dict[str, Any]]:
    """The build with all optimisations, without each of them, and without any."""
    for title, without in forms():
        needed = "; ".join(missing(BUILDER, without))
        if needed:
            yield {"without": title, "needs": needed}
            continue
        try:
            found = construction(
                job.target, scene, varied(BUILDER, {**AS_PUBLISHED, **without}), (Moment(),), job.repeat
            )
        except HierarchyError as error:
            yield {"without": title, "needs": str(error)}
            continue
        yield {"without": title, "needs": "", "shares_ms": _shares(found["by_kernel"]), **found}


def _all_of(switches: Sequence[Optimisation]) -> dict[str, Any]:
    """All of them taken away; of two forms of one step the first."""
    return {name: value for one in reversed(switches) for name, value in one.without.items()}


def _shares(by_kernel: Mapping[str, float]) -> dict[str, float]:
    """Milliseconds of each sub-algorithm; `other` is what has no name of theirs."""
    shares = dict.fromkeys((*SUB_ALGORITHMS, "other"), 0.0)
    for kernel, spent in by_kernel.items():
        name = next((name for name, starts in SUB_ALGORITHMS.items() if kernel.startswith(starts)), "other")
        shares[name] += spent
    return shares


def factors_table(report: SuiteReport) -> SuiteTable:
    """How many times longer the build takes without an optimisation: means over the scenes that were measured."""
    touched = tuple(f"SA {number}" for number in range(1, len(SUB_ALGORITHMS) + 1))
    columns = (
        *("optimisation", "factor, kernels", "factor, build as the device takes it", "what is switched"),
        *touched,
    )
    notes = (
        f"Means over: {'; '.join(scenes_of(report, 'switch'))}." if scenes_of(report, "switch") else "",
        f"SA 1 to SA {len(SUB_ALGORITHMS)}: {', '.join(SUB_ALGORITHMS)}. Published: X where the thesis says that an "
        f"optimisation touches it. Here: how many times as long its kernels take without.",
        "Rows (here) have all of the thesis' own steps but the one that is switched (and boxes side by side, where he "
        "keeps an array a word: row boxes), rows (ours) this program's defaults but that one."
        if all(one in THESIS for one in _as_published(report).values())
        else "",
    )
    table = SuiteTable("6.2", "what the optimisations are worth", columns, notes=tuple(filter(None, notes)))
    as_published = _as_published(report)
    for name in PUBLISHED_ORDER:
        table.rows.append(_published(name))
        if name in as_published:
            table.rows.append(_factor_row(report, f"{name} (here)", as_published[name]))
        else:
            table.rows.append((f"{name} (here)", None, None, NOT_SWITCHED[name], *[None] * len(SUB_ALGORITHMS)))
    own = (one for one in OPTIMISATIONS if as_published.get(one.published) is not one)
    table.rows += [_factor_row(report, f"{one.row} (ours)", one) for one in own]
    table.rows.append(_published(ALL))
    his = "candidates by segments through shared memory, words, lists with gaps, against his steps with all but streams"
    table.rows.append(_factor_row(report, f"{ALL} (here)", Optimisation(NONE_OF_THESIS, {}, his, over=OF_THESIS)))
    everything = ((f"{ALL} but a block a node (ours)", BUT_A_BLOCK), (f"{ALL} (ours)", "without any"))
    for title, row in everything:
        table.rows.append(
            _factor_row(report, title, Optimisation(row, {}, "all that can be switched here, those of ours included"))
        )
    with_steps = Optimisation(OF_THESIS, {}, "his own steps with all but streams, against ours")
    table.rows.append(_factor_row(report, "the thesis' steps (ours)", with_steps))
    return table


def _as_published(report: SuiteReport) -> dict[str, Optimisation]:
    """Lines of table 6.2, each with the switch that stands for it: of his own steps where the report has it."""
    measured = {row["without"] for row in report.rows if row["part"] == "switch"}
    his = {one.published: one for one in THESIS}
    ours = {one.published: one for one in OPTIMISATIONS if one.published}
    return {name: his[name] if name not in ours or his[name].row in measured else ours[name] for name in his}


def _published(name: str) -> tuple[Cell, ...]:
    """A row of table 6.2 as printed: the factor, and a mark for each sub-algorithm that it touches."""
    factor, *touched = published_row("kolodzey2014", "6.2", name).values()
    return (f"{name} (published)", factor, None, "-", *(TOUCHED[mark] for mark in touched))


def _factor_row(report: SuiteReport, title: str, one: Optimisation) -> tuple[Cell, ...]:
    shares = (_factor(report, one, f"shares_ms.{name}") for name in SUB_ALGORITHMS)
    return (title, _factor(report, one, "kernels_ms"), _factor(report, one, "build_ms"), one.here, *shares)


def shares_of(row: Mapping[str, Any]) -> dict[str, float]:
    """A row's milliseconds by sub-algorithm, from its kernels: rows saved before 2026-11-28 12:00 counted those of the
    sort among `other`. Empty where it was not built."""
    return _shares(row["by_kernel"]) if "by_kernel" in row else {}


def _value(row: Mapping[str, Any], what: str) -> Any:
    """A field of a row, or one of its sub-algorithms' times."""
    field, _, share = what.partition(".")
    return shares_of(row).get(share) if share else row.get(field)


def _factor(report: SuiteReport, one: Optimisation, what: str) -> Cell:
    factors, needs = [], ""
    for scene in scenes_of(report, "switch"):
        rows = {row["without"]: row for row in report.rows if row["part"] == "switch" and row["scene"] == scene}
        without, over = (
            rows.get(name) or rows.get(FORMER_ROWS.get(name, "")) or {"needs": "not in this run"}
            for name in (one.row, one.over)
        )
        needs = without["needs"] or over["needs"] or needs
        before, after = _value(without, what), _value(over, what)
        if before is not None and after:
            factors.append(before / after)
    return statistics.fmean(factors) if factors else needs or None


def sub_algorithms_table(report: SuiteReport) -> SuiteTable:
    columns = ("scene", "steps", "optimisations", *(f"{name} %" for name in (*SUB_ALGORITHMS, "other")), "all ms")
    notes = (*published("kolodzey2014")["notes"][-1:], BEFORE_NOTE)
    table = SuiteTable("6.15", "shares of the sub-algorithms (figures 6.1, 6.15 and 6.16)", columns, notes=notes)
    printed = ("the thesis' scenes (published)", "the thesis'", "all", None, "below 20", "the most", *[None] * 4)
    table.rows.append(printed)
    for row in report.rows:
        if row["part"] == "switch" and row["without"] in COMPARED and "by_kernel" in row:
            shares = shares_of(row)
            whole = sum(shares.values()) or 1.0
            cells = [100.0 * spent / whole for spent in shares.values()]
            table.rows.append((row["scene"], *COMPARED[row["without"]], *cells, whole))
    return table


def sub_algorithms_plot(report: SuiteReport, number: str, in_shares: bool) -> Plot:
    """Bars of the sub-algorithms of the first scene, after and before the optimisations: the thesis' own, in reports
    that have them."""
    scenes = scenes_of(report, "switch")
    built = {
        row["without"]: shares_of(row)
        for row in report.rows
        if row["part"] == "switch" and row["scene"] == scenes[0] and "by_kernel" in row
    }
    compared = (OF_THESIS, NONE_OF_THESIS) if OF_THESIS in built else ("with all", "without any")
    series = {}
    for title, word in zip(compared, ("after", "before"), strict=True):
        times = list(built.get(title, {}).values())
        scale = 100.0 / (sum(times) or 1.0) if in_shares else 1.0
        if times:
            series[word] = ([float(place) for place in range(len(times))], [scale * spent for spent in times])
    words = "Shares" if in_shares else "Times"
    names = (*SUB_ALGORITHMS, "other") if series else ()
    return Plot(
        number,
        f"{words} of the sub-algorithms here: {scenes[0] if scenes else ''}",
        "",
        "%" if in_shares else "ms",
        series,
        names,
    )

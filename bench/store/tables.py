"""Results as flat rows, picked by what they say, and rows of any kind as CSV, Markdown, LaTeX or a page that loads
nothing."""

from __future__ import annotations

import dataclasses
import fnmatch
import html
import operator
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from raygrove.app.export.tables import csv_table
from raygrove.gpu.analysis.intervals import LEAST_SAMPLES, measured
from raygrove.gpu.analysis.pages import document_of, facts_list, table_of
from raygrove.gpu.analysis.race_tables import escaped

from .jobs import typed

Row = Mapping[str, Any]
ENDINGS = (".csv", ".md", ".tex", ".html")
FROM_ROWS = ("triangles", "layout", "update", "frame", "time", "mrays_per_s", "sah_cost", "depth", "bytes", "hits",
             "sum_t", "file", "image_sha256")  # fmt: skip
"""What a flat row takes of a result's row as it is."""
SHOWN = ("scene", "configuration", "ray_type", "rays", "device", "frame", "build_ms", "refit_ms", "trace_ms",
         "frame_ms", "mrays_per_s", "sah_cost", "status", "sha", "noise")  # fmt: skip
"""The columns that a table has where nobody says."""
LAST = ("status", "sha", "noise", "sentence")
TREES = ("layout", "depth", "bytes", "hits", "sum_t")
"""What rows say besides of a tree and of what rays found."""
MOST_WORDS, MOST_SHOWN = 7, 12
UNSHOWN = frozenset(("report", "version", "sources", "machine", "started", "seconds", *LAST))
HASH_DIGITS = 12
"""Digits of a hash that people are shown; files for programs have all."""
_FILTER = re.compile(r"([\w.]+)(!=|<=|>=|=|<|>)(.*)", re.DOTALL)
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


def flat_rows(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row for each row of each result: the job's words, medians of rounds with their intervals (`_low`, `_high`), the
    tree's figures, and where it was made. A job without rows gives one."""
    for record in records:
        job, about = record["job"], record.get("context") or {}
        common = {
            **job,
            "status": record.get("status", "done"),
            "sentence": record.get("sentence", ""),
            "noise": "; ".join(record.get("noise", ())),
            "machine": about.get("device"),
            "started": record.get("started"),
            "seconds": record.get("seconds"),
            "sha": record.get("sha", ""),
        }
        for row in record.get("rows") or [{"rounds": record.get("samples", {})}]:
            named = {key: row[key] for key in ("scene", "ray_type") if row.get(key)}
            yield {**common, **{key: row.get(key) for key in FROM_ROWS}, **named, **_medians(row.get("rounds") or {})}


def _medians(rounds: Mapping[str, Sequence[float]]) -> dict[str, float]:
    found = {}
    for name, values in rounds.items():
        if values:
            found[name] = statistics.median(values)
        if len(values) >= LEAST_SAMPLES:
            interval = measured(values)
            found |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return found


@dataclasses.dataclass(frozen=True)
class Filter:
    """`key=value` (with * and ?), `key!=value`, or `key<number` and its like."""

    key: str
    sign: str
    value: str

    def takes(self, row: Row) -> bool:
        """Whether a row is meant; one without the key is meant by != alone."""
        there = row.get(self.key)
        if self.sign in _COMPARED:
            return isinstance(there, int | float) and _COMPARED[self.sign](there, float(self.value))
        text = "" if there is None else str(there).lower() if isinstance(there, bool) else str(there)
        return fnmatch.fnmatchcase(text, self.value) == (self.sign == "=")


def filter_of(text: str) -> Filter:
    """A filter as it is typed. ValueError says what is wrong."""
    match = _FILTER.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} picks nothing: write KEY=VALUE, KEY!=VALUE or KEY<NUMBER, as in configuration=lbvh*"
        )
    if match[2] in _COMPARED:
        try:
            float(match[3])
        except ValueError:
            raise ValueError(f"{text!r}: {match[3]!r} is no number") from None
    return Filter(match[1], match[2], match[3])


def columns_of(rows: Sequence[Row], columns: Sequence[str] = SHOWN) -> list[str]:
    """Those of the columns in which some row has something."""
    return [name for name in columns if any(row.get(name) not in (None, "") for row in rows)]


def told_columns(rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    """The columns of rows that were measured without a plan, whose names nobody can foresee, and those for which there
    is no room: what differs, words first, then times and rates, then the rest; of one row everything. Of several files
    what most have."""
    if len({row.get("report") for row in rows}) > 1:
        return ["report", *columns_of(rows)], []
    keys = dict.fromkeys(key for row in rows for key in row if not key.endswith(("_low", "_high")))
    told = [key for key in columns_of(rows, tuple(keys)) if key not in UNSHOWN]
    differing = [key for key in told if len(rows) == 1 or len({repr(row.get(key)) for row in rows}) > 1]

    def turn(key: str) -> int:
        if key in TREES:
            return 3
        is_figure = any(isinstance(row.get(key), float) for row in rows)
        return 2 - (key in SHOWN or key.endswith(("ms", "_per_s"))) if is_figure else 0

    words = [key for key in differing if turn(key) == 0]
    figures = sorted((key for key in differing if turn(key) > 0), key=turn)
    found = [*words[:MOST_WORDS], *figures]
    return found[:MOST_SHOWN], [*words[MOST_WORDS:], *found[MOST_SHOWN:]]


def written(
    ending: str, title: str, rows: Sequence[Row], columns: Sequence[str], facts: Mapping[str, str], verdict: str = "",
    shown_first: Sequence[str] = ()) -> str:  # fmt: skip
    """Rows as the text of a file, one of ENDINGS. `facts` and `verdict` stand on the page and in the LaTeX's
    comment, `shown_first`, parts of a page, before its table."""
    if ending == ".csv":
        return csv_table(rows, columns)
    cells = [tuple(shown(row.get(name), name) for name in columns) for row in rows]
    if ending == ".md":
        lines = ["| " + " | ".join(_in_markdown(cell) for cell in line) + " |" for line in (tuple(columns), *cells)]
        return "\n".join([lines[0], "|" + " --- |" * len(columns), *lines[1:], ""])
    if ending == ".tex":
        return _latex(columns, cells, " ".join([title, verdict, *(f"{key}: {value}." for key, value in facts.items())]))
    names = sum(1 for name in columns if _turn(name, rows) == 0)
    order = sorted(range(len(columns)), key=lambda place: _turn(columns[place], rows))
    turned = [tuple(line[place] for place in order) for line in cells]
    heads = tuple(columns[place] for place in order)
    said = f'<p class="verdict">{html.escape(verdict)}</p>' if verdict else ""
    return document_of(
        title, [said, *shown_first, table_of(heads, turned, names), "<h2>Where from</h2>", facts_list(facts)]
    )


def _turn(name: str, rows: Sequence[Row]) -> int:
    """On a page, which a phone may show: what a row is, then its figures, then what is told of all of it."""
    return 2 if name in LAST else int(any(isinstance(row.get(name), int | float) for row in rows))


def shown(value: Any, key: str = "") -> str:
    """A cell: four significant digits, lists as they are typed."""
    if value is None:
        return ""
    if key == "sha":
        return str(value)[:HASH_DIGITS]
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return typed(value, key) if isinstance(value, list | tuple) else str(value)


def _in_markdown(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")


def _latex(columns: Sequence[str], cells: Sequence[Sequence[str]], about: str) -> str:
    lines = [" & ".join(escaped(" ".join(cell.split())) for cell in line) + r" \\" for line in (columns, *cells)]
    start = ["% needs \\usepackage{booktabs}", rf"\begin{{tabular}}{{{'l' * len(columns)}}}", r"\toprule"]
    return "\n".join([*start, lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}",
                      "% " + " ".join(about.split()), ""])  # fmt: skip

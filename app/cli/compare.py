"""`compare A B`: what became slower, wrong or missing; exit code 1 where something did."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.results import check_out, write_out
from raygrove.app.export.tables import json_text, text_table
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError
from raygrove.bench.store.compare import THRESHOLD, Comparison, Side, compared, sides_of
from raygrove.bench.store.reading import read_results
from raygrove.bench.store.tables import ENDINGS, columns_of, written

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

COLUMNS = ("verdict", "scene", "configuration", "options", "part", "metric", "a", "b", "ratio", "low", "high", "effect",
           "sentence")  # fmt: skip
PLACE = re.compile(r"(?P<place>.+?)(?:@(?P<sources>[0-9a-f]{4,64}))?")


def run(names: argparse.Namespace, words: Words) -> int:
    """Compare, write and say what was asked for; returns the exit code."""
    if len(names.files) != 2:
        raise UsageError("name two stores, or files of results: compare baseline.jsonl results/ (docs/sweeps.md).")
    check_out(names.out, (".json", *ENDINGS))
    threshold = THRESHOLD if names.threshold is None else names.threshold / 100.0
    damaged: list[str] = []
    a, b = (_sides(place, damaged) for place in names.files)
    for sentence in damaged:
        words.warn(sentence)
    found = compared(a, b, threshold)
    rows = [row.as_json() for row in found.rows]
    plain = {"a": names.files[0], "b": names.files[1], "threshold": threshold, "fails": found.fails,
             "sentence": found.sentence, "rows": rows}  # fmt: skip
    if names.out is not None:
        text = json_text(plain) + "\n" if names.out.endswith(".json") else _report(names, found, a, b)
        write_out(names.out, text, words)
    if names.json:
        print(json_text(plain))
    elif rows:
        print(text_table([{**row, **_blank(row)} for row in rows], columns_of(rows, COLUMNS)))
    (words.error if found.fails else words.say)(found.sentence)
    return EXIT_FAILURE if found.fails else 0


def _sides(text: str, damaged: list[str]) -> dict[tuple[str, str], Side]:
    """One side: a place, and after @ the beginning of the digest of sources that is meant."""
    match = PLACE.fullmatch(text)
    if match is None or Path(text).exists():
        return sides_of(read_results(text, damaged), text)
    return sides_of(read_results(match["place"], damaged), match["place"], match["sources"] or "")


def _blank(row: dict[str, object]) -> dict[str, object]:
    return {key: None for key, value in row.items() if value == ""}


def _report(names: argparse.Namespace, found: Comparison, a: dict[tuple[str, str], Side],
            b: dict[tuple[str, str], Side]) -> str:  # fmt: skip
    rows = [row.as_json() for row in found.rows]
    machines = {name: ", ".join(sorted({str(one.machine) for one in side.values()})) for name, side in
                (("A", a), ("B", b))}  # fmt: skip
    facts = {
        "A": f"{names.files[0]}, on {machines['A']}",
        "B": f"{names.files[1]}, on {machines['B']}",
        "Ratio": "median of B over that of A as cost; low and high: bootstrap interval of 95 %",
        "Effect": "Cliff's delta: -1 where each round of B is faster, 1 where each is slower",
        "Noise": "; ".join(sorted({one for side in (*a.values(), *b.values()) for one in side.noise})) or "none marked",
    }
    title = f"Compared: {Path(names.files[0]).name} and {Path(names.files[1]).name}"
    return written(Path(names.out).suffix, title, rows, columns_of(rows, COLUMNS), facts, found.sentence)

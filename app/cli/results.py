"""`results`: what a store holds, as a table, and as files for papers and pages."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raygrove.app.cli import result_pictures
from raygrove.app.cli.sweep_plan import files_of, words_of
from raygrove.app.export.tables import json_text, text_table
from raygrove.app.export.whole_files import check_writable, write_atomically
from raygrove.app.problems.problems import EXIT_USAGE, UsageError
from raygrove.bench.store.jobs import DIGEST, SUITE
from raygrove.bench.store.kept import is_kept
from raygrove.bench.store.packed import QueryError, query
from raygrove.bench.store.reading import ENDING, is_store, read_results
from raygrove.bench.store.report import parts_of
from raygrove.bench.store.tables import (
    ENDINGS,
    Filter,
    columns_of,
    filter_of,
    flat_rows,
    shown,
    told_columns,
    written,
)
from raygrove.printable import printable_lines

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

SORTED = ("scene", "configuration", "ray_type", "frame")
"""By what rows are sorted where nobody says."""


def run(names: argparse.Namespace, words: Words) -> int:
    """Show what was asked for, or open it in the window; returns the exit code."""
    if len(names.files) != 1:
        raise UsageError("name a store of results, or a file of them: results results/ (docs/sweeps.md).")
    check_out(names.out, (ENDING, ".json", *ENDINGS))
    if names.pictures is not None:
        result_pictures.check_pictures(names.pictures)
    if names.sql is not None:
        return _ask(names, words)
    try:
        filters = [filter_of(text) for text in names.where or ()]
    except ValueError as error:
        raise UsageError(f"--where {error}.") from error
    damaged: list[str] = []
    records, rows = _picked(names.files[0], filters, damaged)
    for sentence in damaged:
        words.warn(sentence)
    if names.open is not None:
        return _open(records, names.open)
    if names.pictures is not None:
        return result_pictures.write(records, rows, names.files[0], names.pictures, words)
    rows.sort(key=lambda row: [_ordered(row.get(key)) for key in names.sort or SORTED])
    columns = list(names.columns or _columns(names.files[0], rows, words))
    strange = [name for name in columns if rows and all(name not in row for row in rows)]
    if strange:
        known = sorted({key for row in rows for key in row})
        raise UsageError(f"--columns {', '.join(strange)}: results have {', '.join(known)}.")
    if names.out is not None:
        title = f"Results: {Path(names.files[0]).name}"
        facts = {
            "Results": f"{len(records):,}",
            "Rows": f"{len(rows):,}",
            "Picked by": ", ".join(names.where or ("all",)),
        }
        text = _lines_of(records) if names.out.endswith(ENDING) else _text(names, title, rows, columns, facts)
        write_out(names.out, text, words)
    if names.json:
        print(json_text({"results": rows}))
    elif rows:
        print(text_table([_short(row, columns) for row in rows], columns))
    words.say(f"{_counted(len(rows), 'row')} of {_counted(len(records), 'result')}.")
    return 0


def _columns(place: str, rows: Sequence[Mapping[str, Any]], words: Words) -> list[str]:
    """What is shown where nobody says."""
    if not is_kept(place):
        return columns_of(rows)
    found, rest = told_columns(rows)
    if rest:
        words.say(f"Not shown, unless --columns names them: {', '.join(rest)}.")
    return found


def _ask(names: argparse.Namespace, words: Words) -> int:
    """The answer to --sql, shown and written like any table."""
    flags = ("where", "columns", "sort", "open", "pictures")
    alone = [f"--{name}" for name in flags if getattr(names, name) is not None]
    if alone or (names.out or "").endswith(ENDING):
        raise UsageError(f"--sql and {', '.join(alone) or names.out}: SQL picks, names and sorts rows itself.")
    damaged: list[str] = []
    try:
        answer = query(names.files[0], names.sql, damaged)
    except QueryError as error:
        if not error.excerpt:
            raise
        words.error(str(error))
        print(printable_lines(error.excerpt), file=sys.stderr)
        return EXIT_USAGE
    for sentence in damaged:
        words.warn(sentence)
    if names.out is not None:
        facts = {"Store": names.files[0], "SQL": names.sql}
        text = _text(names, f"Results: {Path(names.files[0]).name}", answer.rows, answer.columns, facts)
        write_out(names.out, text, words)
    if names.json:
        print(json_text({"results": answer.rows}))
    elif answer.rows:
        print(text_table([_short(row, answer.columns) for row in answer.rows], answer.columns))
    how = (
        ""
        if answer.is_packed or not is_store(names.files[0])
        else ", read one by one: `raygrove store pack` makes the next answer quicker"
    )
    words.say(f"{_counted(len(answer.rows), 'row')}{how}.")
    return 0


def _picked(
    place: str, filters: Sequence[Filter], damaged: list[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The results of which some row is meant, and those rows."""
    records, rows = [], []
    for record in read_results(place, damaged):
        mine = [row for row in flat_rows([record]) if all(one.takes(row) for one in filters)]
        if mine:
            records.append(record)
            rows += mine
    return records, rows


def _open(records: Sequence[Mapping[str, Any]], start: str) -> int:
    """The window on the scene and the structure of a result, whose hash begins so."""
    from raygrove.app.cli.main import main

    found = [record for record in records if str(record.get("sha", "")).startswith(start)]
    if len(found) != 1:
        raise UsageError(f"--open {start}: {len(found)} results have a hash that begins so; name one.")
    what = found[0]["job"]
    if what.get("measure") == SUITE:
        raise UsageError(f"--open {start}: this result is a suite's, which has many structures; see its page.")
    if "measure" not in what:
        raise UsageError(f"--open {start}: this result is not Raygrove's, and says no scene.")
    files = found[0].get("files", [])
    if str(what["scene"]).startswith(DIGEST) and not files_of(what, files)[0]:
        raise UsageError(f"--open {start}: this result does not say where its scene lies.")
    return main(words_of(what, files, "view"))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _ordered(value: Any) -> tuple[bool, float, str]:
    """What sorts numbers as numbers and the rest as text, nothing last."""
    is_number = isinstance(value, int | float)
    return (value is None, float(value) if is_number else 0.0, "" if is_number else str(value))


def _short(row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """A row for a table that people read."""
    return {name: _cell(name, row.get(name)) for name in columns}


def _cell(name: str, value: Any) -> Any:
    return shown(value, name) if name == "sha" or isinstance(value, list | tuple) else value if value != "" else None


def _lines_of(records: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def _text(
    names: argparse.Namespace, title: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str],
    facts: Mapping[str, str]) -> str:  # fmt: skip
    """Rows as the text of the file --out."""
    if names.out.endswith(".json"):
        return json_text({"results": list(rows)}) + "\n"
    parts = parts_of(rows, names.files[0]) if names.out.endswith(".html") else ()
    return written(Path(names.out).suffix, title, rows, columns, facts, shown_first=parts)


def check_out(out: str | None, endings: Sequence[str]) -> None:
    """Refuse a file that cannot be written, before any work. Raises UsageError, OSError."""
    if out is None:
        return
    if Path(out).suffix not in endings:
        raise UsageError(f"--out {out}: name a file that ends in {', '.join(endings)}.")
    check_writable(Path(out).parent, Path(out).name)


def write_out(out: str, text: str, words: Words) -> None:
    """Write a text, and say so."""
    write_atomically(Path(out), lambda file: file.write(text.encode()))
    words.say(f"Wrote {out}.")

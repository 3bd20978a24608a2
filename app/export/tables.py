"""Rows of values as a text table for people, CSV for spreadsheets, JSON for programs."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from raygrove.printable import printable

Row = Mapping[str, Any]


def text_table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Aligned columns under their names, numbers to the right; a missing value is a dash, and what a terminal would
    obey in a text is escaped."""
    lines = [
        [printable(column) for column in columns],
        *([_shown(row.get(column)) for column in columns] for row in rows),
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    numeric = [all(not isinstance(row.get(column), str) for row in rows) for column in columns]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def csv_table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Comma-separated values with a header; a missing value is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if row.get(column) is None else row.get(column) for column in columns])
    return text.getvalue()


def json_text(value: Any) -> str:
    """JSON, two spaces deep; dataclasses and numpy values are written as what they hold, a number that is not finite as
    null, what is not ASCII as escapes."""
    return json.dumps(_plain(value), indent=2, allow_nan=False)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1000.0 else f"{value:.0f}"
    return printable(str(value))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value

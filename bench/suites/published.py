"""Published figures, as printed: bench/published/NAME.json."""

from __future__ import annotations

import functools
import json
import pathlib
from typing import Any

FOLDER = pathlib.Path(__file__).parents[1] / "published"


@functools.cache
def published(name: str) -> dict[str, Any]:
    """The whole file: source, hardware, conditions, misprints, tables."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return content


def published_source(name: str) -> dict[str, Any]:
    """What the file says beside its tables."""
    return {key: value for key, value in published(name).items() if key != "tables"}


def published_row(name: str, table: str, scene: str) -> dict[str, float]:
    """One row of a table by its columns; empty where the table has no such row."""
    held = published(name)["tables"][table]
    return dict(zip(held["columns"], held["rows"].get(scene, ()), strict=False))

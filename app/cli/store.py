"""`store pack`: all results of a store as one file, which SQL reads at once."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from raygrove.app.problems.problems import UsageError
from raygrove.bench.store.folder import Store
from raygrove.bench.store.packed import pack

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Pack the store that was named; returns the exit code."""
    if len(names.files) != 1:
        raise UsageError("name a store of results: store pack results/ (docs/sweeps.md).")
    damaged: list[str] = []
    path, rows = pack(Store(names.files[0]), damaged)
    for sentence in damaged:
        words.warn(sentence)
    if names.json:
        print(json.dumps({"file": str(path), "rows": rows}))
    words.say(f"Wrote {path}: {rows:,} rows.")
    return 0

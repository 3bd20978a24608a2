"""Results from where people keep them: a store, a file of JSON lines, which goes into a repository as a baseline and
which programs of others can write, or measurements that `bench` saved."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

from raygrove.gpu.errors import UnreadableError

from .folder import Store, is_readable, opened
from .kept import is_kept, kept_results

ENDING = ".jsonl"
LONGEST = 1 << 26
"""Bytes of a line, at most."""


def read_results(place: str, damaged: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The results of a store, of a file, or of saved measurements. Raises UnreadableError, as StoreError is, and
    OSError."""
    if place.endswith(ENDING):
        yield from _lines(pathlib.Path(place))
    elif is_kept(place):
        yield from kept_results(place, damaged)
    else:
        yield from Store(place).records(damaged)


def is_store(place: str) -> bool:
    """Whether a place is a folder of results with their pictures, and no file or folder of figures alone."""
    return not place.endswith(ENDING) and not is_kept(place)


def _lines(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    try:
        lines = opened(path)
    except OSError as error:
        what = f"it cannot be read ({error.strerror})"
        raise UnreadableError(what, str(path), "name a store, or a file of JSON lines") from error
    with lines as file:
        number = 0
        while line := file.readline(LONGEST):
            number += 1
            if line.strip():
                yield _record(line, f"{path}, line {number}")


def _record(line: bytes, where: str) -> dict[str, Any]:
    remedy = 'write one object a line, as {"job": {"name": "mine"}, "samples": {"build_ms": [1.2, 1.3]}}'
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is no JSON ({error})", where, remedy) from error
    if not isinstance(record, dict) or not isinstance(record.get("job"), dict):
        raise UnreadableError("it is no result", where, remedy)
    if not is_readable(record):
        raise UnreadableError("its samples are no lists of numbers by names", where, remedy)
    return record

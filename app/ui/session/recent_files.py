"""What *Open recent* remembers of a scene: its file, or all files of a sequence, in one text; and which numbered
neighbours a file has.

One file is its path, a run of numbers a pattern (frame_%04d.obj) with its first and last number, other sets a list in
JSON. Texts of earlier versions are paths, and are read as such.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

MOST_LISTED = 2000
"""Files of a set that is no run of numbers; of a larger one the first is remembered."""

FEWEST_NEIGHBOURS = 2
WIDEST, LONGEST_RUN = 64, 1_000_000
"""Digits and files of a run that is read back: a damaged text is no reason to take all memory."""

_NUMBER = re.compile(r"(\d+)(?=\D*$)")
_RUN = "raygrove run "


def entry_of(paths: Sequence[str]) -> str:
    """The text for the files of a scene."""
    files = [os.path.abspath(path) for path in paths]
    if len(files) == 1:
        return files[0]
    first = _split(files[0])
    if first is not None:
        before, number, after = first
        start, width = int(number), len(number)
        if files == [f"{before}{start + step:0{width}d}{after}" for step in range(len(files))]:
            return _RUN + json.dumps([before, after, width, start, len(files)])
    return json.dumps(files) if len(files) <= MOST_LISTED else files[0]


def files_of(entry: str) -> list[str]:
    """The files that a text stands for, as they were opened; a path that is no such text is itself."""
    try:
        if entry.startswith(_RUN):
            before, after, width, start, count = json.loads(entry.removeprefix(_RUN))
            if (
                all(type(one) is int for one in (width, start, count))
                and 0 <= width <= WIDEST
                and 0 < count <= LONGEST_RUN
            ):
                return [f"{before}{start + step:0{width}d}{after}" for step in range(count)]
        if entry.startswith("["):
            found = json.loads(entry)
            if isinstance(found, list) and found and all(isinstance(path, str) for path in found):
                return found
    except (ValueError, TypeError, RecursionError):
        pass
    return [entry]


def title_of(entry: str, *, with_folder: bool) -> str:
    """What a text is called in menus."""
    files = files_of(entry)
    name = files[0] if with_folder else files[0].rsplit("/", 1)[-1]
    return name if len(files) == 1 else f"{name} ... {files[-1].rsplit('/', 1)[-1]} ({len(files):,})"


def is_there(entry: str) -> bool:
    """Whether all files of a text are there, as far as its first and its last say."""
    files = files_of(entry)
    return os.path.exists(files[0]) and os.path.exists(files[-1])


def neighbours_of(path: str) -> list[str]:
    """The run of numbered files in the folder that `path` is one of, in order; nothing where it is alone."""
    split = _split(os.path.abspath(path))
    if split is None:
        return []
    before, number, after = split
    folder, stem = os.path.split(before)
    try:
        names = set(os.listdir(folder))
    except OSError:
        return []

    def name(at: int) -> str:
        """Of the file with a number, padded as this one is or not at all; an empty text where there is none."""
        written = (f"{stem}{at:0{len(number)}d}{after}", f"{stem}{at}{after}")
        return next((one for one in written if one in names), "")

    first = last = int(number)
    while first > 0 and name(first - 1):
        first -= 1
    while name(last + 1):
        last += 1
    found = [str(Path(folder) / name(at)) for at in range(first, last + 1) if name(at)]
    return found if len(found) >= FEWEST_NEIGHBOURS and os.path.abspath(path) in found else []


def _split(path: str) -> tuple[str, str, str] | None:
    """A path before, in and behind the last number of its file's name; None where that has none."""
    folder, name = os.path.split(path)
    stem = name.partition(".")[0]
    match = _NUMBER.search(stem)
    if match is None:
        return None
    return os.path.join(folder, stem[: match.start()]), match[1], stem[match.end() :] + name[len(stem) :]

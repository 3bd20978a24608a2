"""What the sandbox of the importing child costs: imports with it and without, in turn.

Opens a glTF of four triangles and a GLB and a PLY of 200,000 (which it writes itself), or the FILEs that are named,
with `import.sandbox` on and off in --repeat pairs, each kind first in every other pair. Prints the medians of the
child's processor milliseconds and of the clock, and of what the pairs differ by. The bar is 5 % or 20 ms of the
processor's; the exit status is 1 where one costs more.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import statistics
import tempfile
import time
from typing import Any

from raygrove.app.scene_io import ImportLimits, load
from raygrove.gpu.linux import seconds_of_children

from ..arguments import DEVICE, OUT, argument, chosen, repeat
from ..context import context
from ..saved import keep
from ..table import aligned
from . import many, opening

MOST_SHARE, MOST_MS = 0.05, 20.0
SPENT, CLOCK = "child CPU ms", "clock ms"
Sample = dict[str, float]


def spent(path: pathlib.Path, is_on: bool) -> Sample:
    """Milliseconds of the child's processor time and of the clock of one import."""
    begun, before = time.perf_counter(), seconds_of_children()
    load([path], dataclasses.replace(ImportLimits(), sandbox=is_on))
    return {SPENT: 1e3 * (seconds_of_children() - before), CLOCK: 1e3 * (time.perf_counter() - begun)}


def compared(path: pathlib.Path, pairs: int) -> dict[str, Any]:
    """Medians with the sandbox and without, and of the differences within the pairs, after an import of each."""
    spent(path, True), spent(path, False)
    found: dict[bool, list[Sample]] = {True: [], False: []}
    for number in range(pairs):
        for is_on in (True, False) if number % 2 else (False, True):
            found[is_on].append(spent(path, is_on))
    row: dict[str, Any] = {"what": path.name, "samples": {"on": found[True], "off": found[False]}}
    for kind in (SPENT, CLOCK):
        on, off = ([one[kind] for one in found[is_on]] for is_on in (True, False))
        more = statistics.median(a - b for a, b in zip(on, off, strict=True))
        row[kind] = {"on": statistics.median(on), "off": statistics.median(off), "more": more}
    cost = row[SPENT]
    row["figure"] = 1.0 if cost["more"] <= MOST_MS else 1.0 + cost["more"] / cost["off"]
    row["is_reached"] = row["figure"] <= 1.0 + MOST_SHARE
    return row


def written(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files that are opened where none is named."""
    small = folder / "tetrahedron.gltf"
    small.write_text(json.dumps(many.base()), encoding="utf-8")
    _, *large = map(pathlib.Path, opening.write_files(folder))
    return [small, *large]


ARGUMENTS = (
    argument("files", nargs="*", type=pathlib.Path, metavar="FILE", help="models to open instead"),
    repeat(15),
    DEVICE,
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, keep; 1 where the bar is missed."""
    with tempfile.TemporaryDirectory(prefix="raygrove-sandbox-") as folder:
        rows = [compared(path, names.repeat) for path in names.files or written(pathlib.Path(folder))]
    header = ["file"] + [f"{kind}, {which}" for kind in (SPENT, CLOCK) for which in ("on", "off", "more in a pair")]
    header.append("within 5 % or 20 ms")
    lines = [
        (
            row["what"],
            *(row[kind][which] for kind in (SPENT, CLOCK) for which in ("on", "off", "more")),
            row["is_reached"],
        )
        for row in rows
    ]
    text = f"Imports with the sandbox and without, medians of {names.repeat} pairs\n\n{aligned(header, lines)}\n"
    print(text, end="")
    if names.out:
        with chosen(names.device) as target:
            keep(names.out, {"context": context(target, command=names.command), "results": rows}, text)
    return int(not all(row["is_reached"] for row in rows))

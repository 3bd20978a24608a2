"""How long one waits for a structure that was never used before, and for a start.

For each structure a window plays a built-in scene whose kernels are in the cache, the structure is chosen, and its
kernels are compiled while the structure before goes on; each begins with the same cache. Beside them the first page and
the first picture, with a warm cache and, for the picture, with an empty one. The picture comes before panels and menus
are made, while mouse and keyboard wait: how long until all of the window is there is told, too. Needs a display
(xvfb-run); the user's own cache stays as it is.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from ..arguments import DEVICE, OUT, argument, repeat, size
from ..measured_window import WindowError, ask_window, print_and_keep
from ..table import aligned

GOALS = {"first page": 0.7, "first picture": 1.0, "first picture, empty cache": 4.0, "first use": 4.0}
"""Seconds, on two quiet cores; for a first use the median over all structures."""

TOLD = ("seconds", "pictures_meanwhile", "longest_gap_s")
WHOLE = "whole window with a picture"
LONGEST_S = 300.0
CACHE = "RAYGROVE_CACHE"

ARGUMENTS = (
    argument("--structures", default="", metavar="A,B", help="those that are chosen (default: all)"),
    argument("--demo", default="explode", help="the built-in scene that plays (default: %(default)s)"),
    repeat(10),
    DEVICE,
    size("640x480"),
    OUT,
)


def _ask(job: dict[str, Any], cache: pathlib.Path) -> dict[str, Any]:
    return ask_window("first_use", job, LONGEST_S, {**os.environ, CACHE: str(cache)})


def _compile(job: dict[str, Any], cache: pathlib.Path) -> None:
    """Have the scene's kernels compiled as they stay: those of a first picture are compiled in haste, and anew while it
    is looked at, which nobody here does."""
    command = [sys.executable, "-m", "raygrove", "warm", "--quiet", "--demo", job["demo"], "--device", job["device"]]
    subprocess.run(command, env={**os.environ, CACHE: str(cache)}, timeout=LONGEST_S, check=True)


def measure_starts(job: dict[str, Any], cache: pathlib.Path, count: int) -> dict[str, list[float]]:
    """Seconds from starting the program to its first page, to its first picture, and until all of the window is there
    with one; `cache` holds its kernels."""
    found: dict[str, list[float]] = {"first page": [], "first picture": [], WHOLE: []}
    for _ in range(count):
        begin = time.time()
        found["first page"].append(_ask({**job, "demo": ""}, cache)["shown_at"] - begin)
        begin = time.time()
        answer = _ask(job, cache)
        found["first picture"].append(answer["picture_at"] - begin)
        found[WHOLE].append(max(answer["picture_at"], answer["whole_at"]) - begin)
    return found


def measure_first_uses(job: dict[str, Any], cache: pathlib.Path, structures: list[str]) -> list[dict[str, Any]]:
    """What the window says of each structure; each begins with a copy of the cache. What cannot be drawn of the scene
    says so as its `problem`."""
    found = []
    for name in structures:
        with tempfile.TemporaryDirectory() as folder:
            own = pathlib.Path(folder) / "cache"
            shutil.copytree(cache, own)
            try:
                answer = _ask({**job, "structure": name}, own)
            except WindowError as error:
                found.append({"structure": name, "problem": str(error)[:500]})
                continue
        found.append(
            {"structure": name, **{key: answer[key] for key in ("seconds", "pictures_meanwhile", "longest_gap_s")}}
        )
    return found


def rows_of(starts: dict[str, list[float]], uses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was measured, its bar, and whether it was reached; the worst structure by name."""
    rows: list[dict[str, Any]] = [
        {"what": name, "seconds": statistics.median(samples), "goal": GOALS.get(name)}
        for name, samples in starts.items()
    ]
    known = {one["structure"]: one["seconds"] for one in uses if one.get("seconds") is not None}
    if known:
        worst = max(known, key=lambda name: known[name])
        median = statistics.median(known.values())
        rows.append({"what": f"first use, median of {len(known)}", "seconds": median, "goal": GOALS["first use"]})
        rows.append({"what": f"first use, the worst: {worst}", "seconds": known[worst], "goal": None})
    return [{**row, "is_reached": None if row["goal"] is None else row["seconds"] <= row["goal"]} for row in rows]


def run(names: argparse.Namespace) -> int:
    """Measure, print, keep; 0 when everything was measured."""
    from raygrove.gpu.hierarchy.registry import structures

    job = {"demo": names.demo, "device": names.device, "size": names.size}
    wanted = names.structures.split(",") if names.structures else sorted(set(structures()) - {"lbvh"})
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "cache"
        cache.mkdir(mode=0o700)
        begin = time.time()
        empty = _ask(job, cache)["picture_at"] - begin
        _compile(job, cache)
        _ask({**job, "structure": "lbvh"}, cache)  # what only later pictures need
        starts = {**measure_starts(job, cache, names.repeat), "first picture, empty cache": [empty]}
        uses = measure_first_uses(job, cache, wanted)
    rows = rows_of(starts, uses)
    words = {True: "reached", False: "MISSED", None: ""}
    lines = [(row["what"], row["seconds"], row["goal"], words[row["is_reached"]]) for row in rows]
    text = f"Starts and first uses, {names.demo}\n\n{aligned(('what', 's', 'goal', ''), lines)}\n\n"
    told = [tuple(one.get(key) for key in ("structure", *TOLD)) for one in uses]
    text += f"{aligned(('structure', 's', 'pictures meanwhile', 'longest gap s'), told)}\n"
    print_and_keep(names, text, starts=starts, first_uses=uses, results=rows)
    return 0

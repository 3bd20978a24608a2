"""How soon the window does what a person does: another structure, a drag, what the walk through it tries.

Each structure is chosen in a paused scene, with its kernels in the cache: the milliseconds until it is painted. A still
picture that is being refined is dragged: the milliseconds until refining has stopped. And the walk of the tests goes
through the window by mouse and keyboard, while the engine keeps the processors busy: the pauses of the window's thread,
with what it did in the longest. Needs a display (xvfb-run) and, for the walk, a checkout.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from raygrove import checkout

from ..arguments import DEVICE, OUT, UsageError, argument, repeat, size
from ..measured_window import WindowError, ask_window, print_and_keep
from ..table import aligned
from ..window_goals import REACTIONS

PARTS = ("switch", "drag", "walk")
SWITCH, DRAG, MOST, LONGEST = REACTIONS
WAYS = "new_user,tour,guide"
LATE_SHOWN = 8
WALK_S = 1200.0

ARGUMENTS = (
    argument("--parts", default=",".join(PARTS), metavar="A,B", help="of switch, drag and walk (default: all)"),
    argument("--structures", default="", metavar="A,B", help="those that are chosen (default: all)"),
    argument("--ways", default=WAYS, metavar="A,B", help="ways of the walk (default: %(default)s)"),
    repeat(5),
    DEVICE,
    size("640x480"),
    OUT,
)


def parts_of(names: argparse.Namespace) -> tuple[str, ...]:
    """What is measured. Raises UsageError."""
    wanted = tuple(names.parts.split(","))
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise UsageError(f"--parts: there is no {', '.join(unknown)}; there are {', '.join(PARTS)}.")
    return wanted


def walk(ways: str) -> dict[str, Any]:
    """The pauses of a walk through the window on this display."""
    root = checkout.demand("The walk through the window")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "pauses.json"
        command = [sys.executable, "-m", "tests.app.ui.walk", "--here", "--ways", ways, "--pauses", str(file)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=WALK_S)
        if done.returncode != 0 or not file.is_file():
            raise WindowError(f"{done.stdout[-500:]} {done.stderr[-2000:]}", "")
        answer: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return answer


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest of the samples that `share` of them do not exceed."""
    ranked = sorted(samples)
    return ranked[max(-(-len(ranked) * round(share * 1000) // 1000) - 1, 0)]


def rows_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What was measured, its bar where there is one, and whether it was reached."""
    found: list[tuple[str, float]] = []
    if structures := answer.get("structures_ms"):
        first = {name: one["first"][0] for name, one in structures.items()}
        again = {name: statistics.median(one["again"]) for name, one in structures.items() if one["again"]}
        worst = max(first, key=lambda name: first[name])
        found += [(SWITCH, statistics.median(first.values())), (f"the same, the worst: {worst}", first[worst])]
        if again:
            worst = max(again, key=lambda name: again[name])
            found += [("chosen again, median of all", statistics.median(again.values()))]
            found += [(f"chosen again, the worst: {worst}", again[worst])]
    if drags := answer.get("drags_ms"):
        found += [(DRAG, max(drags["stopped"])), ("the same, median", statistics.median(drags["stopped"]))]
        found += [("first picture of the drag, median", statistics.median(drags["painted"]))]
    if pauses := answer.get("walk", {}).get("pauses_ms"):
        late = answer["walk"]["late"]
        own = max((one["wall_ms"] - one["queue_ms"] for one in late), default=max(pauses))
        found += [(MOST, percentile(pauses, 0.99)), (LONGEST, max(pauses))]
        found += [("the same, less the queue for a processor", own)]
        found += [
            ("share of all time in pauses over 50 ms (%)", 100.0 * sum(p for p in pauses if p > 50.0) / sum(pauses))
        ]
    return [
        {
            "what": what,
            "ms": ms,
            "goal": REACTIONS.get(what),
            "is_reached": ms <= REACTIONS[what] if what in REACTIONS else None,
        }
        for what, ms in found
    ]


def told(answer: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The tables."""
    words = {True: "reached", False: "MISSED", None: ""}
    lines = [(row["what"], row["ms"], row["goal"], words[row["is_reached"]]) for row in rows]
    text = f"How soon the window does it\n\n{aligned(('what', 'ms', 'goal', ''), lines)}\n"
    if structures := answer.get("structures_ms"):
        times = [
            (name, one["first"][0], statistics.median(one["again"]) if one["again"] else None)
            for name, one in structures.items()
        ]
        text += f"\n{aligned(('structure', 'first, ms', 'again, ms'), times)}\n"
    late = sorted(answer.get("walk", {}).get("late", []), key=lambda one: -one["wall_ms"])[:LATE_SHOWN]
    for one in late:
        parts = ", ".join(f"{key.removesuffix('_ms')} {one[key]:.0f}" for key in ("cpu_ms", "queue_ms", "waited_ms"))
        text += f"\n{one['wall_ms']:.0f} ms ({parts}) in: {one['name']}\n"
        text += "".join(f"    {line}\n" for line in one["stack"])
    return text


def run(names: argparse.Namespace) -> int:
    """Measure, print, keep; 0 when everything was measured."""
    wanted = parts_of(names)
    job = {"device": names.device, "size": names.size, "repeat": names.repeat}
    job["structures"] = names.structures.split(",") if names.structures else []
    answer: dict[str, Any] = {}
    if "switch" in wanted:
        ask_window("reactions", {**job, "repeat": 0, "parts": ["switch"]})  # so that all kernels are in the cache
    if asked := [part for part in wanted if part != "walk"]:
        answer = ask_window("reactions", {**job, "parts": asked})
    if "walk" in wanted:
        answer["walk"] = walk(names.ways)
    rows = rows_of(answer)
    text = told(answer, rows)
    print_and_keep(names, text, answer=answer, results=rows)
    return 0

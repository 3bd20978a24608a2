"""What the window costs beside its pictures: `python -m bench.panels [--target host] [--seconds 3] [--turns 3] [--out PREFIX]`.

Panels' share of a frame at sixty a second, the share of a core that a paused window takes, the longest pauses of the window's thread, how soon Cancel
acts; goals beside them. Needs a display (xvfb-run). With --out it writes PREFIX.json and PREFIX.txt. Shares are of processor time. The program is
started as a process of its own, because a benchmark knows only `gpu`.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
from typing import Any

from gpu.target import choose

from .context import context
from .table import aligned

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = {"wall_ms": "ms", "cpu_ms": "of it computing", "queue_ms": "in the queue for a processor", "waited_ms": "waiting"}
PANELS_SHARE, IDLE_SHARE, PAUSE_MS, CANCEL_S = 0.05, 0.02, 100.0, 0.5


def rows_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What was measured, its bar, and whether it was reached."""
    panels, idle = answer["panels"], answer["idle"]
    found = [
        ("panels, share of a frame at 60 a second", panels["share_of_a_frame"], PANELS_SHARE),
        ("paused, share of a core", idle["share_of_a_core"], IDLE_SHARE),
        ("paused, frames drawn", idle["frames"], 0.5),
    ]
    found += [(f"longest pause, {name} (ms)", pause["wall_ms"], PAUSE_MS) for name, pause in answer["pauses"].items() if name not in ("start", "end")]
    found += [(f"cancelling, {name} (s)", seconds, CANCEL_S) for name, seconds in answer["cancel_s"].items() if seconds is not None]
    return [{"what": what, "figure": figure, "goal": goal, "is_reached": figure < goal} for what, figure, goal in found]


def main(arguments: list[str]) -> int:
    """Measure, print, keep; 0 when it has measured."""
    parser = argparse.ArgumentParser(prog="bench.panels", description=__doc__)
    parser.add_argument("--target", default="host")
    parser.add_argument("--seconds", default="3")
    parser.add_argument("--turns", default="3")
    parser.add_argument("--out", default="", metavar="PREFIX")
    names = parser.parse_args(arguments)
    command = [sys.executable, "-m", "app.ui.measure_panels", "--target", names.target, "--seconds", names.seconds, "--turns", names.turns]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"The window could not measure: {done.stderr[-2000:]}")
    answer = json.loads(done.stdout)
    rows = rows_of(answer)
    lines = [(row["what"], float(row["figure"]), float(row["goal"]), "reached" if row["is_reached"] else "MISSED") for row in rows]
    pauses = [(name, *(pause[part] for part in PARTS)) for name, pause in answer["pauses"].items()]
    text = f"The window beside its pictures ({answer['view']} view, {answer['panels']['frames_a_second']:.0f} frames a second)\n\n"
    text += f"{aligned(('what', 'figure', 'goal', ''), lines)}\n\n{aligned(('longest pause while', *PARTS.values()), pauses)}\n"
    print(text, end="")
    if names.out:
        about = context(choose(names.target), command=["python", "-m", "bench.panels", *arguments])
        pathlib.Path(f"{names.out}.json").write_text(json.dumps({"context": about, "answer": answer, "results": rows}, indent=1) + "\n")
        pathlib.Path(f"{names.out}.txt").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

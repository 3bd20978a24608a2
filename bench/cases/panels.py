"""What the window costs beside its pictures.

Panels' share of a frame at sixty a second, the share of a core that a paused window takes, the longest pauses of the
window's thread, how soon Cancel acts; goals beside them. Needs a display (xvfb-run). Shares are of processor time.
"""

from __future__ import annotations

import argparse
from typing import Any

from ..arguments import DEVICE, OUT, argument, size
from ..measured_window import ask_window, print_and_keep
from ..table import aligned

PARTS = {
    "wall_ms": "ms",
    "cpu_ms": "of it computing",
    "queue_ms": "in the queue for a processor",
    "waited_ms": "waiting",
}
PANELS_SHARE, IDLE_SHARE, PAUSE_MS, CANCEL_S = 0.03, 0.005, 100.0, 0.5


def rows_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """What was measured, its bar, and whether it was reached."""
    panels, idle = answer["panels"], answer["idle"]
    found = [
        ("panels, share of a frame at 60 a second", panels["share_of_a_frame"], PANELS_SHARE),
        ("paused, share of a core", idle["share_of_a_core"], IDLE_SHARE),
        ("paused, frames drawn", idle["frames"], 0.5),
    ]
    found += [
        (f"longest pause, {name} (ms)", pause["wall_ms"], PAUSE_MS)
        for name, pause in answer["pauses"].items()
        if name not in ("start", "end")
    ]
    found += [
        (f"cancelling, {name} (s)", seconds, CANCEL_S)
        for name, seconds in answer["cancel_s"].items()
        if seconds is not None
    ]
    return [{"what": what, "figure": figure, "goal": goal, "is_reached": figure < goal} for what, figure, goal in found]


ARGUMENTS = (
    DEVICE,
    argument("--seconds", type=float, default=3.0, help="of each turn (default: %(default)s)"),
    argument("--turns", type=int, default=3, help="with all panels and with none (default: %(default)s)"),
    size("320x240", "the picture: few, so that drawing it keeps sixty frames per second"),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, keep; 0 when it has measured."""
    job = {"device": names.device, "seconds": names.seconds, "turns": names.turns, "size": names.size}
    answer = ask_window("panels", job, seconds=600)
    rows = rows_of(answer)
    lines = [
        (row["what"], float(row["figure"]), float(row["goal"]), "reached" if row["is_reached"] else "MISSED")
        for row in rows
    ]
    pauses = [(name, *(pause[part] for part in PARTS)) for name, pause in answer["pauses"].items()]
    text = (
        f"The window beside its pictures ({answer['view']} view, {answer['panels']['frames_a_second']:.0f} frames "
        f"a second)\n\n"
    )
    text += f"{aligned(('what', 'figure', 'goal', ''), lines)}\n\n"
    text += f"{aligned(('longest pause while', *PARTS.values()), pauses)}\n"
    print_and_keep(names, text, answer=answer, results=rows)
    return 0

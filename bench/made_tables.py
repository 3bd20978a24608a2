"""Tables of pages, made from the saved results by `python -m raygrove.bench claims`.

A table is what stands between a comment that names its rows and the comment that ends it:

    <!-- bars
    h200 | hploc rebuild as a graph, 512,000 triangles
    -->
    <!-- made -->

`bars`: bars of docs/performance/goals.md, each of a device. `window DEVICE`: what the window showed, as SCENE,
STRUCTURE, RAY TYPE, each with its frames a second and the target's milliseconds of a frame. `light DEVICE`: kinds of
rays of the newest saved `light` run, by structure, in millions a second. `gravity DEVICE`: ways to find forces between
bodies, of the newest saved `gravity` run.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Sequence

from .goal import Goal
from .saved import RESULTS, SavedResult, newest

BLOCK = re.compile(
    r"(?P<head><!-- (?P<kind>bars|(?:window|light|gravity) \S+)\n(?P<rows>.*?)\n-->\n)"
    r"(?P<made>.*?)(?P<end><!-- made -->)",
    re.S,
)
MACHINES = {"h200": "H200", "2cores": "two cores"}
"""What tables call the devices of saved results."""

Find = Callable[[str, str], Goal]
"""The bar of a device by its words; raises where there is none."""

Figure = Callable[[str], str]
"""A marked figure by its key: DEVICE | WHAT | FORMAT; raises where there is none."""


def with_tables(text: str, find: Find, figure: Figure, folder: pathlib.Path = RESULTS) -> str:
    """A page with its tables as the results say now. Raises what `find` and `figure` raise, and LookupError for a
    device or rays of which nothing is saved."""

    def made(block: re.Match[str]) -> str:
        kind, _, device = block["kind"].partition(" ")
        rows = [row.strip() for row in block["rows"].splitlines() if row.strip()]
        if kind == "bars":
            lines = _bars(rows, find)
        elif kind == "window":
            lines = _window(device, rows, figure)
        elif kind == "light":
            lines = _light(device, rows, folder)
        else:
            lines = _gravity(device, rows, folder)
        return block["head"] + "\n" + "\n".join(lines) + "\n\n" + block["end"]

    return BLOCK.sub(made, text)


def made_lines(text: str) -> set[int]:
    """The numbers of the lines (from 0) that are made."""
    return {
        line
        for block in BLOCK.finditer(text)
        for line in range(text.count("\n", 0, block.start("made")), text.count("\n", 0, block.end("made")) + 1)
    }


def _bars(rows: Sequence[str], find: Find) -> list[str]:
    lines = ["| what | machine | bar | figure | unit | |", "|---|---|---|---|---|---|"]
    for row in rows:
        device, _, what = (part.strip() for part in row.partition("|"))
        goal = find(device, what)
        shown = (
            "-"
            if goal.measured is None
            else f"{goal.measured:,.4g}"
            if goal.measured < 1e4
            else f"{goal.measured:,.0f}"
        )
        state = f"**{goal.state}**" if goal.state == "MISSED" else goal.state
        lines.append(f"| {what} | {MACHINES[device]} | {goal.words} | {shown} | {goal.unit} | {state} |")
    return lines


def _window(device: str, rows: Sequence[str], figure: Figure) -> list[str]:
    lines = [f"| in the window, {MACHINES[device]} | frames/s | frame ms of the device |", "|---|---|---|"]
    for row in rows:
        cells = (figure(f"{device} | window: {row}: {what}") for what in ("frames a second | .0f", "frame ms | .2f"))
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def _newest(device: str, kind: str, folder: pathlib.Path) -> SavedResult:
    saved = newest(device, kind, folder)
    if saved is None:
        raise LookupError(f"{kind} {device}: no run of it is saved.")
    return saved


def _light(device: str, rows: Sequence[str], folder: pathlib.Path) -> list[str]:
    saved = _newest(device, "light", folder)
    rates = {(row["rays"], row["hierarchy"]): row["mrays_per_s"] for row in saved.content["results"]}
    structures = list(dict.fromkeys(hierarchy for _, hierarchy in rates))
    lines = [f"| MRays/s, {MACHINES[device]}, {saved.place} | {' | '.join(structures)} |"]
    lines.append("|---" * (len(structures) + 1) + "|")
    for rays in rows:
        cells = [rates.get((rays, structure)) for structure in structures]
        if not any(cells):
            raise LookupError(f"light {device}: {saved.name} has no rays {rays!r}.")
        lines.append(f"| {rays} | {' | '.join('-' if cell is None else f'{cell:,.0f}' for cell in cells)} |")
    return lines


def _gravity(device: str, rows: Sequence[str], folder: pathlib.Path) -> list[str]:
    saved = _newest(device, "gravity", folder)
    lines = [f"| forces, {MACHINES[device]}, {saved.place} | options | bodies | rms error | ms | of it |"]
    lines.append("|---" * 6 + "|")
    for forces in rows:
        found = [row for row in saved.content["results"] if row["forces"] == forces and "rms_error" in row]
        if not found:
            raise LookupError(f"gravity {device}: {saved.name} has no forces {forces!r}.")
        for row in found:
            options = ", ".join(f"{name} {value}" for name, value in row.get("options", {}).items())
            phase = max(row["phases_ms"], key=row["phases_ms"].get)
            cells = [f"`{forces}`", options.replace("_", " "), f"{row['bodies']:,}", f"{row['rms_error']:.1e}"]
            lines.append(f"| {' | '.join(cells)} | {row['ms']:.1f} | {phase} {row['phases_ms'][phase]:.1f} |")
    return lines

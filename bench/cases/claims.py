"""What pages claim, from the newest saved runs: writes docs/performance/goals.md, tables and marked figures.

A marked figure in a page reads `<!--= WHOSE | WHAT | FORMAT -->figure<!--/-->`: WHOSE is h200 or 2cores, WHAT one
of the bars of docs/performance/goals.md or of FIGURES below, FORMAT how Python formats the number (`.0f`). In a
table each bar in it is written `\\|`, or it would end the cell. Behind a backtick it is an example. Whole tables are
named by their rows (bench/made_tables.py). Run it whenever a result is saved.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import pathlib
import re
import statistics
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from raygrove import checkout

from ..arguments import argument
from ..goal import HERE, Goal, Report
from ..made_tables import with_tables
from ..model_bars import measure_bars
from ..model_goals import judge
from ..saved import DEVICES, RESULTS, saved
from ..saved_goals import saved_goals, window_rates

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance" / "goals.md"
MARK = re.compile(r"(?<!`)<!--= *(?P<key>[^|>]+\|[^|>]+\|[^|>]+?) *-->(?P<shown>.*?)<!--/-->", re.DOTALL)
NAMES = {"h200": "One NVIDIA H200", "2cores": "Two cores of a processor"}
RENAMED_FROM, RENAMED_TO, RENAMED = "2026-11-21", "2026-11-22", (re.compile(r"\bhploc\b"), "hploc_sah")
"""What was the default of `hploc` in files saved on that day is `hploc_sah` since the next; before, it was the climb
that `hploc` is again."""

HEAD = """# Every bar, and the newest result saved of it

Made by `python -m raygrove.bench claims` from the newest saved results; edit those, not this. A bar is what an issue
promised: the most (<=) or the least (>=). [`bench/results`](../../bench/results/README.md) says what made each
file. A dash: not measured, and the last column says why.
"""


Bars = Callable[[str], list[Goal]]
"""Every bar of a kind of target."""


class ClaimError(Exception):
    """A marked figure that no saved result gives; the sentence says where."""


# -- figures ----------------------------------------------------------------------------------------------------------
def all_bars(kind: str, folder: pathlib.Path = RESULTS) -> list[Goal]:
    """Every bar of a kind of target: of the newest saved run of `bench goals` that measured it, on models that it was
    not given, and of other commands."""
    read = [*saved_goals(kind, folder)]
    of_others = {goal.what for goal in read}
    own = {what: goal for what, goal in _of_newest_runs(kind, folder).items() if what not in of_others}
    report = Report()
    for _, part in (*judge(()), *measure_bars(kind, ())):
        part(_target_like(kind), report, 1)
    missing = [
        dataclasses.replace(
            goal, how=f"python -m raygrove.bench goals FILE --device {'cpu' if kind == 'host' else kind}"
        )
        for goal in report.goals
        if goal.what not in own
    ]
    return [*own.values(), *missing, *read]


def bars_of(folder: pathlib.Path = RESULTS) -> Bars:
    """All bars by kind, each read once: for pages that are written together."""
    return functools.cache(lambda kind: all_bars(kind, folder))


def _target_like(kind: str) -> Any:
    """Enough of a target to be asked for its bars."""
    return types.SimpleNamespace(kind=kind)


def _of_newest_runs(kind: str, folder: pathlib.Path) -> dict[str, Goal]:
    """What the newest run of `bench goals` judged; what it left unmeasured from the newest one that measured it: a run
    may lack a model's pictures."""
    names = {field.name for field in dataclasses.fields(Goal)}
    found: dict[str, Goal] = {}
    for number, file in enumerate(saved(DEVICES[kind], "goals", folder)):
        for row in file.content["goals"]:
            goal = Goal(**{name: value for name, value in row.items() if name in names})
            if goal.how != HERE:
                continue
            goal = dataclasses.replace(
                goal, what=as_named_now(goal.what, file.date), how=f"python -m raygrove.bench goals: {file.place}"
            )
            known = found.get(goal.what)
            if number == 0 or (known is not None and known.measured is None and goal.measured is not None):
                found[goal.what] = goal
    return found


def as_named_now(what: str, date: str) -> str:
    """What a file of that day calls so, by today's names of structures."""
    return RENAMED[0].sub(RENAMED[1], what) if RENAMED_FROM <= date < RENAMED_TO else what


def _window_of_all(of: Callable[[list[float]], float]) -> Callable[[str, pathlib.Path], float | None]:
    """The least or the most of `orbit` alone in all saved runs."""

    def read(device: str, folder: pathlib.Path) -> float | None:
        rates = [rate for file in saved(device, "window", folder) for rate in window_rates(file.content, alone=True)]
        return of(rates) if rates else None

    return read


def _window(name: str, field: str, device: str, folder: pathlib.Path) -> float | None:
    """Of what the window showed, the newest saved figure: the median of that file's runs of it."""
    for file in saved(device, "window", folder):
        shown = [
            (as_named_now(shown_in_window(run.get("command", "")), file.date), run) for run in file.content["runs"]
        ]
        found = [run[field] for what, run in shown if what == name]
        if found:
            return statistics.median(found)
    return None


def shown_in_window(command: str) -> str:
    """What a run of the window showed: the scene, its structure and ray type; alone where docks and bars were
    hidden."""
    chosen = dict(re.findall(r"--set (\S+?)=(\S+)", command))
    scene = re.search(r"--demo (\w+)", command)
    files = re.match(r"(?P<folder>[\w-]+)/", command)
    name = scene[1] if scene else files["folder"] if files else ""
    choice = [
        name,
        chosen.pop("render.hierarchy", "lbvh"),
        chosen.pop("render.ray_type", "smooth"),
        *(["alone"] if "--alone" in command else []),
    ]
    return ", ".join([*choice, *(f"{key} {value}" for key, value in sorted(chosen.items()))])


WINDOW_FIELDS = {"frames a second": "frames_per_second", "frame ms": "target_frame_ms"}
WINDOW_WHAT = re.compile(rf"window: (?P<name>.+): (?P<field>{'|'.join(WINDOW_FIELDS)})")
FIGURES: Mapping[str, Callable[[str, pathlib.Path], float | None]] = {
    "orbit alone in the window, the least of all saved runs": _window_of_all(min),
    "orbit alone in the window, the most of all saved runs": _window_of_all(max),
}
"""Figures without a bar that pages quote: of a device, from a folder of results. And `window: SCENE, STRUCTURE, RAY
TYPE: frames per second`."""


def figure(key: str, folder: pathlib.Path = RESULTS, bars: Bars | None = None) -> str:
    """What a mark stands for. Raises ClaimError."""
    bars = bars or bars_of(folder)
    device, what, wanted = (part.rstrip("\\ ").strip() for part in key.split("|"))
    _kind_of(device, key)
    window = WINDOW_WHAT.fullmatch(what)
    if window is not None:
        value = _window(window["name"], WINDOW_FIELDS[window["field"]], device, folder)
    elif what in FIGURES:
        value = FIGURES[what](device, folder)
    else:
        value = bar_of(bars, device, what).measured
    return "not measured" if value is None else format(value, wanted)


def bar_of(bars: Bars, device: str, what: str) -> Goal:
    """A bar of a device. Raises ClaimError."""
    key = f"{device} | {what}"
    found = [goal for goal in bars(_kind_of(device, key)) if goal.what == what]
    if not found:
        raise ClaimError(f"{key}: there is no bar and no figure of that name.")
    return found[0]


def _kind_of(device: str, key: str) -> str:
    kinds = {name: kind for kind, name in DEVICES.items()}
    if device not in kinds:
        raise ClaimError(f"{key}: there is no device {device}; there is {', '.join(kinds)}.")
    return kinds[device]


# -- pages ------------------------------------------------------------------------------------------------------------
def goals_page(folder: pathlib.Path = RESULTS, bars: Bars | None = None) -> str:
    """docs/performance/goals.md."""
    bars = bars or bars_of(folder)
    parts = [HEAD]
    for kind, device in DEVICES.items():
        goals = bars(kind)
        counts = {
            state: sum(goal.state == state for goal in goals)
            for state in ("reached", "MISSED", "not measured", "withdrawn")
        }
        parts.append(
            f"## {NAMES[device]}\n\n{', '.join(f'{count} {state}' for state, count in counts.items() if count)}.\n"
        )
        lines = ["| of | bar | figure | unit | | measured by | note |", "|---|---|---|---|---|---|---|"]
        parts.append("\n".join(lines + [_line(goal) for goal in goals]) + "\n")
    return "\n".join(parts)


def _line(goal: Goal) -> str:
    shown = (
        "-"
        if goal.measured is None
        else f"{goal.measured:,.4g}"
        if abs(goal.measured) < 1e4
        else f"{goal.measured:,.0f}"
    )
    note = ". ".join(
        word for word in (goal.why and f"Why: {goal.why}", goal.note if goal.measured is None else "") if word
    )
    cells = (
        goal.what,
        goal.words,
        shown,
        goal.unit,
        f"**{goal.state}**" if goal.state == "MISSED" else goal.state,
        goal.how,
        note,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def pages() -> list[pathlib.Path]:
    """Every page that may have marks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rewritten(text: str, folder: pathlib.Path = RESULTS, bars: Bars | None = None) -> str:
    """A page with its tables and marked figures as the results say now. Raises ClaimError."""
    bars = bars or bars_of(folder)
    text = with_tables(text, functools.partial(bar_of, bars), lambda key: figure(key, folder, bars), folder)
    return MARK.sub(lambda mark: f"<!--= {mark['key'].strip()} -->{figure(mark['key'], folder, bars)}<!--/-->", text)


ARGUMENTS = (argument("--check", action="store_true", help="write nothing; name the pages that are not current"),)


def run(names: argparse.Namespace) -> int:
    """Write the pages. Exit code 1 where --check finds one that is not current, or a mark that stands for nothing."""
    checkout.demand("Writing claims into the pages")
    bars = bars_of()
    wanted = {PAGE: goals_page(bars=bars)}
    try:
        for path in pages():
            if path != PAGE:
                wanted[path] = rewritten(path.read_text(encoding="utf-8"), bars=bars)
    except (ClaimError, LookupError) as error:
        print(f"{path.relative_to(ROOT)}: {error}", file=sys.stderr)
        return 1
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(path.relative_to(ROOT))
        if not names.check:
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if stale and names.check else 0

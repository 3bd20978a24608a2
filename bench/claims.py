"""What pages claim, from the newest kept runs: `python -m bench.claims` writes docs/performance/goals.md and marked figures; `--check` only looks.

A marked figure in a page reads `<!--= WHOSE | WHAT | FORMAT -->figure<!--/-->`: WHOSE is h200 or epyc-2cores, WHAT one of the bars of
docs/performance/goals.md or of FIGURES below, FORMAT how Python formats the number (`.0f`). Behind a backtick it is an example. Run it whenever a
result is kept.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import statistics
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .goal import HERE, Goal, Report
from .kept import DEVICES, RESULTS, kept, newest
from .kept_goals import kept_goals, window_rates
from .model_bars import measure_bars
from .model_goals import judge

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance" / "goals.md"
MARK = re.compile(r"(?<!`)<!--= *(?P<key>[^|>]+\|[^|>]+\|[^|>]+?) *-->(?P<shown>.*?)<!--/-->", re.DOTALL)
NAMES = {"h200": "One NVIDIA H200", "epyc-2cores": "Two cores of an AMD EPYC"}
RENAMED_FROM, RENAMED_TO, RENAMED = "2026-11-21", "2026-11-22", (re.compile(r"\bhploc\b"), "hploc_sah")
"""What was the default of `hploc` in files kept on that day is `hploc_sah` since the next; before, it was the climb that `hploc` is again."""

HEAD = """# Every bar, and what is kept of it

Made by `python -m bench.claims` from the newest kept results; edit those, not this. A bar is what an issue promised: the most (<=) or the least (>=).
[`bench/results`](../../bench/results/README.md) says what made each file. A dash: not measured, and the last column says why.
"""


class ClaimError(Exception):
    """A marked figure that nothing kept gives; the sentence says where."""


# -- figures -----------------------------------------------------------------------------------------------------------
def all_bars(kind: str, folder: pathlib.Path = RESULTS) -> list[Goal]:
    """Every bar of a kind of target: of the newest kept run of `bench.goals`, on models that it was not given, and of other commands."""
    read = [*kept_goals(kind, folder)]
    of_others = {goal.what for goal in read}
    own = {goal.what: goal for goal in _of_newest_run(kind, folder) if goal.what not in of_others}
    report = Report()
    for _, part in (*judge(()), *measure_bars(kind, ())):
        part(_target_like(kind), report, 1)
    missing = [dataclasses.replace(goal, how=f"python -m bench.goals FILE --target {kind}") for goal in report.goals if goal.what not in own]
    return [*own.values(), *missing, *read]


def _target_like(kind: str) -> Any:
    """Enough of a target to be asked for its bars."""
    return types.SimpleNamespace(kind=kind)


def _of_newest_run(kind: str, folder: pathlib.Path) -> Iterator[Goal]:
    file = newest(DEVICES[kind], "goals", folder)
    if file is None:
        return
    names = {field.name for field in dataclasses.fields(Goal)}
    for row in file.content["goals"]:
        goal = Goal(**{name: value for name, value in row.items() if name in names})
        if goal.how == HERE:
            yield dataclasses.replace(goal, what=as_named_now(goal.what, file.date), how=f"python -m bench.goals: {file.place}")


def as_named_now(what: str, date: str) -> str:
    """What a file of that day calls so, by today's names of structures."""
    return RENAMED[0].sub(RENAMED[1], what) if RENAMED_FROM <= date < RENAMED_TO else what


def _window_of_all(of: Callable[[list[float]], float]) -> Callable[[str, pathlib.Path], float | None]:
    """The least or the most of `orbit` alone in all kept runs."""

    def read(device: str, folder: pathlib.Path) -> float | None:
        rates = [rate for file in kept(device, "window", folder) for rate in window_rates(file.content, alone=True)]
        return of(rates) if rates else None

    return read


def _window(name: str, field: str, device: str, folder: pathlib.Path) -> float | None:
    """Of what the window showed, the newest kept figure: the median of that file's runs of it."""
    for file in kept(device, "window", folder):
        shown = [(as_named_now(shown_in_window(run.get("command", "")), file.date), run) for run in file.content["runs"]]
        found = [run[field] for what, run in shown if what == name]
        if found:
            return statistics.median(found)
    return None


def shown_in_window(command: str) -> str:
    """What a run of the window showed: the scene, its structure and ray type; alone where docks and bars were hidden."""
    chosen = dict(re.findall(r"--set (\S+?)=(\S+)", command))
    scene = re.search(r"--demo (\w+)", command)
    files = re.match(r"(?P<folder>[\w-]+)/", command)
    name = scene[1] if scene else files["folder"] if files else ""
    choice = [name, chosen.pop("render.hierarchy", "lbvh"), chosen.pop("render.ray_type", "smooth"), *(["alone"] if "--alone" in command else [])]
    return ", ".join([*choice, *(f"{key} {value}" for key, value in sorted(chosen.items()))])


WINDOW_FIELDS = {"frames a second": "frames_per_second", "frame ms": "target_frame_ms"}
WINDOW_WHAT = re.compile(rf"window: (?P<name>.+): (?P<field>{'|'.join(WINDOW_FIELDS)})")
FIGURES: Mapping[str, Callable[[str, pathlib.Path], float | None]] = {
    "orbit alone in the window, the least of all kept runs": _window_of_all(min),
    "orbit alone in the window, the most of all kept runs": _window_of_all(max),
}
"""Figures without a bar that pages quote: of a device, from a folder of results. And `window: SCENE, STRUCTURE, RAY TYPE: frames a second`."""


def figure(key: str, folder: pathlib.Path = RESULTS) -> str:
    """What a mark stands for. Raises ClaimError."""
    device, what, wanted = (part.strip() for part in key.split("|"))
    kinds = {name: kind for kind, name in DEVICES.items()}
    if device not in kinds:
        raise ClaimError(f"{key}: there is no device {device}; there is {', '.join(kinds)}.")
    window = WINDOW_WHAT.fullmatch(what)
    if window is not None:
        value = _window(window["name"], WINDOW_FIELDS[window["field"]], device, folder)
    elif what in FIGURES:
        value = FIGURES[what](device, folder)
    else:
        found = [goal for goal in all_bars(kinds[device], folder) if goal.what == what]
        if not found:
            raise ClaimError(f"{key}: there is no bar and no figure of that name.")
        value = found[0].measured
    return "not measured" if value is None else format(value, wanted)


# -- pages -------------------------------------------------------------------------------------------------------------
def goals_page(folder: pathlib.Path = RESULTS) -> str:
    """docs/performance/goals.md."""
    parts = [HEAD]
    for kind, device in DEVICES.items():
        goals = all_bars(kind, folder)
        counts = {state: sum(goal.state == state for goal in goals) for state in ("reached", "MISSED", "not measured", "withdrawn")}
        parts.append(f"## {NAMES[device]}\n\n{', '.join(f'{count} {state}' for state, count in counts.items() if count)}.\n")
        lines = ["| of | bar | figure | unit | | measured by | note |", "|---|---|---|---|---|---|---|"]
        parts.append("\n".join(lines + [_line(goal) for goal in goals]) + "\n")
    return "\n".join(parts)


def _line(goal: Goal) -> str:
    shown = "-" if goal.measured is None else f"{goal.measured:,.4g}" if abs(goal.measured) < 1e4 else f"{goal.measured:,.0f}"
    note = ". ".join(word for word in (goal.why and f"Why: {goal.why}", goal.note if goal.measured is None else "") if word)
    cells = (goal.what, goal.words, shown, goal.unit, f"**{goal.state}**" if goal.state == "MISSED" else goal.state, goal.how, note)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def pages() -> list[pathlib.Path]:
    """Every page that may have marks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rewritten(text: str, folder: pathlib.Path = RESULTS) -> str:
    """A page with its marked figures as they are kept now. Raises ClaimError."""
    return MARK.sub(lambda mark: f"<!--= {mark['key'].strip()} -->{figure(mark['key'], folder)}<!--/-->", text)


def main(arguments: list[str] | None = None) -> int:
    """The script. Exit code 1 where --check finds a page that is not current, or a mark that stands for nothing."""
    parser = argparse.ArgumentParser(prog="python -m bench.claims", description="Write what pages claim from the newest kept results.")
    parser.add_argument("--check", action="store_true", help="write nothing; name the pages that are not current")
    only_checks = parser.parse_args(arguments).check
    wanted = {PAGE: goals_page()}
    try:
        for path in pages():
            if path != PAGE:
                wanted[path] = rewritten(path.read_text(encoding="utf-8"))
    except ClaimError as error:
        print(f"{path.relative_to(ROOT)}: {error}", file=sys.stderr)
        return 1
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(path.relative_to(ROOT))
        if not only_checks:
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if stale and only_checks else 0


if __name__ == "__main__":
    raise SystemExit(main())

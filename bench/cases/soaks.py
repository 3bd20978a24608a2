"""The long soaks, and what came of them.

Runs the tests marked `full` that look for what long use leaves behind, each in a process of its own, and writes
PREFIX.json and PREFIX.txt: how each ended, in how many seconds, and what the test itself counted and measured
(`record_property`). The exit status is 0 when all passed. It needs what `make test` installs.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

from raygrove import checkout

from ..arguments import OUT, UsageError, argument
from ..context import context_of, heading
from ..saved import keep

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOAKS = {
    "switches": "tests/app/frames/test_soaks.py::test_ten_thousand_switches_leave_memory_flat",
    "cancels": "tests/app/frames/test_soaks.py::test_two_hundred_cancels_at_random_moments",
    "window": "tests/app/ui/picture/test_viewport_gl.py::"
    "test_resizing_undocking_and_full_screen_leave_the_context_whole[1000]",
    "saves": "tests/app/settings/test_mishaps.py::test_killed_while_saving_leaves_the_old_file_or_the_new_one[200]",
    "pictures": "tests/app/frames/test_exporting.py::"
    "test_a_process_that_is_killed_leaves_the_old_or_the_new_file[one.png-100]",
    "videos": "tests/app/frames/test_exporting.py::"
    "test_a_process_that_is_killed_leaves_the_old_or_the_new_file[one.mp4-100]",
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a soak ended: `outcome` is passed, failed, skipped, too slow or missing; `detail` says why it did not pass;
    `measured` is what it told."""

    soak: str
    outcome: str
    seconds: float
    detail: str = ""
    measured: dict[str, str] = dataclasses.field(default_factory=dict)


ARGUMENTS = (
    OUT,
    argument("--only", default="", metavar="NAMES", help=f"of {', '.join(SOAKS)}: these, separated by commas"),
    argument("--limit", type=int, default=7200, help="seconds that each may take"),
)


def run(names: argparse.Namespace) -> int:
    """Run the soaks that are asked for."""
    checkout.demand("Running the soaks, which are tests,")
    if importlib.util.find_spec("pytest") is None:
        raise UsageError("the soaks are tests, and pytest is not installed: `make test` installs what they need")
    wanted = [name for name in names.only.split(",") if name] or list(SOAKS)
    if unknown := [name for name in wanted if name not in SOAKS]:
        raise UsageError(f"there is no soak {', '.join(unknown)}: there are {', '.join(SOAKS)}")
    outcomes = []
    for name in wanted:
        outcomes.append(run_soak(name, names.limit))
        print(line_of(outcomes[-1]), flush=True)
    write(names.out, outcomes, names.command)
    return 0 if outcomes and all(outcome.outcome == "passed" for outcome in outcomes) else 1


def run_soak(name: str, limit: int) -> Outcome:
    """One soak as a process of its own. The test's mark has a limit, too. Its threads allocate from one arena: with
    glibc's own choice, an arena a thread, 200 cancels leave some 200 MiB that each next job takes again, and a leak
    would not be seen beside them."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-m",
            "full",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            "--",
            SOAKS[name],
        ]
        began = time.monotonic()
        try:
            environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return Outcome(name, "too slow", time.monotonic() - began, f"It was stopped after {limit} s.")
        seconds, text = time.monotonic() - began, report.read_text(encoding="utf-8") if report.exists() else ""
    return read(name, text, seconds, done.stdout, done.returncode)


def read(name: str, report: str, seconds: float, said: str = "", status: int = 0) -> Outcome:
    """The outcome of the one test that pytest's report of a run is about; `said` is what it printed, for runs that told
    nothing else, and `status` what it ended with: the report of one that was interrupted tells of no failure."""
    cases = list(ElementTree.fromstring(report).iter("testcase")) if report else []
    if len(cases) != 1:
        lines = [line for line in said.splitlines() if line.strip()]
        return Outcome(
            name,
            "missing",
            seconds,
            f"{len(cases)} tests ran instead of one. {lines[-1][:200] if lines else ''}".strip(),
        )
    (case,) = cases
    measured = {one.attrib["name"]: one.attrib["value"] for one in case.iter("property")}
    for tag, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if (found := case.find(tag)) is not None:
            return Outcome(name, outcome, seconds, found.attrib.get("message", "")[:400], measured)
    if status:
        return Outcome(name, "ended", seconds, f"pytest ended with status {status} amid the test.", measured)
    return Outcome(name, "passed", seconds, "", measured)


def line_of(outcome: Outcome) -> str:
    """An outcome for people."""
    figures = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in outcome.measured.items())
    return f"{outcome.soak:9} {outcome.outcome:8} {outcome.seconds:7.1f} s  {figures}  {outcome.detail}".rstrip()


def write(prefix: str, outcomes: list[Outcome], command: list[str]) -> None:
    """PREFIX.json and PREFIX.txt; nothing where the prefix is empty."""
    about = context_of("host", command)
    rows = [dataclasses.asdict(outcome) | {"test": SOAKS[outcome.soak]} for outcome in outcomes]
    lines = [*heading(about), "", *(line_of(outcome) for outcome in outcomes)]
    keep(prefix, {"context": about, "results": rows}, "\n".join(lines))

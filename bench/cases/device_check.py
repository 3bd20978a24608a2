"""Everything that needs a GPU to be checked, in one command.

Runs the tests marked cuda (tests/gpu and tests/images: no Qt, no display), then compute-sanitizer's memcheck,
racecheck, synccheck and initcheck over a small program that launches every kernel once
(tests/gpu/target/every_kernel.py), in processes that share its jobs, and times sorting by each sorter
(bench/cases/sorting.py). Writes a log a step and process and `device_check.json`, and prints a line a step as it ends.
The exit status is 0 when every step passed, 4 without a device."""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from raygrove import checkout
from raygrove.gpu.target.base import NoDeviceError
from raygrove.gpu.target.cuda import cuda_available, cuda_report

from ..arguments import argument
from ..context import commit, versions

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
EXIT_OF_FINDINGS = 66
TOOL_FLAGS = {
    # cuda-bindings asks the driver for functions that older drivers lack; our own calls are checked where they are
    # made.
    "memcheck": ("--leak-check", "no", "--report-api-errors", "no", "--print-limit", "40"),
    "racecheck": ("--racecheck-report", "analysis", "--show-backtrace", "no", "--print-limit", "2000"),
    "synccheck": ("--print-limit", "40"),
    # Tables are copied to the host whole, with rows that no kernel writes and nobody looks at; kernels must read
    # nothing of that kind.
    "initcheck": ("--check-api-memory-access", "no", "--print-limit", "40"),
}
LAST_BEGIN = 0.75
"""Of a step's limit: after it no process begins another job, so that its report is closed in time."""
WATCHED = {"memcheck": "memory", "initcheck": "memory", "racecheck": "races", "synccheck": "races"}
"""What the small program leaves out for a tool: it runs every kernel all the same."""
ORDERED_BY_ARRIVAL = {"store_subtree", "load_subtree", "store_cluster", "load_cluster"} | {
    "store_shared_box",
    "load_shared_box",
    "store_shared_state",
    "load_shared_state",
    "store_shared_link",
    "load_shared_link",
}
"""Functions whose shared memory one thread writes before it arrives (fence, exchange, fence) and another reads when it
arrives second. racecheck knows barriers, not fences: it reports them. Whatever else it reports is a failure."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A step's end: `outcome` is ok, failed, missing or too slow; `detail` its closing line."""

    step: str
    outcome: str
    seconds: float
    detail: str


ARGUMENTS = (
    argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path(os.environ.get("OUT", "out")),
        metavar="DIR",
        help="for the logs",
    ),
    argument("--only", default=",".join(("pytest", *TOOLS, "sorting")), help="steps, separated by commas"),
    argument("--workers", type=int, default=0, help="processes of pytest (needs pytest-xdist)"),
    argument("--parts", type=int, default=min(8, os.cpu_count() or 1), help="processes that share a tool's work"),
    argument("--limit", type=int, default=280, help="seconds that a step may take"),
    argument("--select", default="", help="pytest's -k"),
)


def run(names: argparse.Namespace) -> int:
    """Run the steps that are asked for."""
    checkout.demand("The check of a device, which runs the tests,")
    there, device = cuda_available()
    if not there:
        raise NoDeviceError(device)
    names.out.mkdir(parents=True, exist_ok=True)
    wanted = [step for step in names.only.split(",") if step]
    outcomes = []
    for outcome in steps(names, wanted):
        outcomes.append(outcome)
        # A run that is stopped has said, and kept, what came before.
        print(f"{outcome.step:10} {outcome.outcome:8} {outcome.seconds:7.1f} s  {outcome.detail}", flush=True)
        write_summary(names.out, outcomes, names.command)
    return 0 if outcomes and all(outcome.outcome == "ok" for outcome in outcomes) else 1


def steps(names: argparse.Namespace, wanted: list[str]) -> Iterator[Outcome]:
    """The steps that are asked for, one after another; of the tools in the order in which they are named."""
    if "pytest" in wanted:
        yield run_tests(names.out, names.workers, names.select, names.limit)
    tools = [step for step in wanted if step in TOOLS]
    if tools:
        warm_up(names.out, names.parts, names.limit)
    for tool in tools:
        yield run_tool(tool, names.out, names.parts, names.limit)
    if "sorting" in wanted:
        yield run_sorting(names.out, names.limit)


def run_tests(out: pathlib.Path, workers: int, select: str, limit: int) -> Outcome:
    """The tests marked cuda."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-m",
        "cuda",
        "tests/gpu",
        "tests/images",
        "-v",  # a run that is stopped has said which tests failed
        "-ra",
        "--tb=short",
        "-p",
        "no:cacheprovider",
    ]
    command += ["--durations=8"]
    command += ["-n", str(workers)] if workers else []
    command += ["-k", select] if select else []
    code, seconds, text = run_step("pytest", command, out, limit)
    closing = [line for line in text.splitlines() if re.search(r"\d+ (passed|failed|error|skipped|deselected)", line)]
    detail = closing[-1].strip("= ") if closing else last_line(text)
    # Tests that are all skipped have shown nothing.
    outcome = "too slow" if code is None else "ok" if code == 0 and "passed" in detail else "failed"
    return Outcome("pytest", outcome, seconds, detail)


def warm_up(out: pathlib.Path, parts: int, limit: int) -> None:
    """Compile every unit outside the tools, so that they watch kernels and not the compiler."""
    code, seconds, text = run_parts("warm_up", [], parts, out, limit)
    print(
        f"every kernel once, unwatched: {'ok' if code == 0 else 'failed'}, {seconds:.1f} s, {last_line(text)}",
        flush=True,
    )


def run_tool(tool: str, out: pathlib.Path, parts: int, limit: int) -> Outcome:
    """One tool of compute-sanitizer over every kernel."""
    sanitizer = shutil.which("compute-sanitizer") or shutil.which(
        "compute-sanitizer", path="/usr/local/cuda/bin:/opt/cuda/bin"
    )
    if sanitizer is None:
        return Outcome(tool, "missing", 0.0, "compute-sanitizer is not installed (it comes with the CUDA toolkit)")
    flags = ["--tool", tool, "--error-exitcode", str(EXIT_OF_FINDINGS), *TOOL_FLAGS.get(tool, ())]
    code, seconds, text = run_parts(tool, [sanitizer, *flags], parts, out, limit)
    found = re.findall(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (.*)", text)
    launched = re.findall(r"(\d+) launches, (\d+) units", text)
    launches = sum(int(count) for count, _ in launched)
    jobs, missing = count_jobs(text)
    detail = f"{'; '.join(dict.fromkeys(found)) or last_line(text)} ({launches} launches, {jobs}"
    detail += f"; {len(found)} of {parts} processes closed their report)"
    is_clean = code == 0
    if tool == "racecheck" and code == EXIT_OF_FINDINGS:
        is_clean, words = judge_races(text)
        detail = f"{detail}: {words}"
    is_whole = len(found) == len(launched) == parts and not missing
    is_slow = code is None or (is_clean and missing)
    return Outcome(tool, "too slow" if is_slow else "ok" if is_clean and is_whole else "failed", seconds, detail)


def count_jobs(text: str) -> tuple[str, int]:
    """How many of the program's jobs ended, which were begun and did not end, and how many are missing in all."""
    total = max((int(count) for count in re.findall(r"^jobs (\d+)$", text, re.MULTILINE)), default=0)
    begun = re.findall(r"^begun (.+)$", text, re.MULTILINE)
    ended = re.findall(r"^ended (.+) after [\d.]+ s$", text, re.MULTILINE)
    open_ones = [name for name in begun if name not in ended]
    words = f"{len(ended)} of {total} jobs ended" + (f", not {', '.join(open_ones)}" if open_ones else "")
    return words, total - len(ended) if total else 1


def judge_races(text: str) -> tuple[bool, str]:
    """Whether every race that racecheck reports lies between functions whose order an atomic arrival gives, and the
    findings by pair."""
    pattern = (
        r"Race reported between (?:Read|Write|Atomic) access at (.*)\n=+\s+and (?:Read|Write|Atomic) access at "
        r"(.*) \[(\d+) hazards?\]"
    )
    pairs: dict[tuple[str, str], int] = {}
    reports = re.findall(pattern, text)
    if len(reports) != text.count("Race reported between"):
        return False, "its report has a form that is not known here: read the log"
    for first, second, count in reports:
        pair = place_of(first), place_of(second)
        pairs[pair] = pairs.get(pair, 0) + int(count)
    foreign = {
        pair: count for pair, count in pairs.items() if not {place.split()[0] for place in pair} <= ORDERED_BY_ARRIVAL
    }
    if foreign:
        listed = "; ".join(f"{first} / {second} [{count}]" for (first, second), count in list(foreign.items())[:6])
        return False, f"races at {len(foreign)} pairs of places: {listed}"
    return bool(
        pairs
    ), f"{len(pairs)} pairs of places, all ordered by an atomic arrival, which racecheck does not follow"


def place_of(access: str) -> str:
    """Function and line of an access, as racecheck writes it in several ways."""
    access = re.sub(r"<[^<>]*>", "", access)  # of a template, its values
    function, line = re.search(r"(\w+) ?\(", access), re.search(r"\w+\.cuh?:\d+", access)
    return f"{function[1] if function else access.strip()} {line[0] if line else ''}".strip()


def run_sorting(out: pathlib.Path, limit: int) -> Outcome:
    """The figures of the sorters; the table is in the log and printed."""
    code, seconds, text = run_step(
        "sorting", [sys.executable, "-m", "raygrove.bench", "sorting", "--device", "cuda"], out, limit
    )
    print("\n".join(text.splitlines()[1:]))
    return Outcome("sorting", "too slow" if code is None else "ok" if code == 0 else "failed", seconds, last_line(text))


def run_parts(
    step: str, watched_by: list[str], parts: int, out: pathlib.Path, limit: int
) -> tuple[int | None, float, str]:
    """The program that launches every kernel once, in processes side by side that share its jobs: the worst exit status
    (None: past the limit), seconds, and all output. A job that does not end keeps its process alone."""
    with tempfile.TemporaryDirectory() as claims:
        program = [sys.executable, "-m", "tests.gpu.target.every_kernel", "--claims", claims]
        program += ["--watch", WATCHED.get(step, "all"), "--seconds", str(limit * LAST_BEGIN)]
        with concurrent.futures.ThreadPoolExecutor(parts) as pool:
            done = list(
                pool.map(lambda number: run_step(f"{step}-{number}", [*watched_by, *program], out, limit), range(parts))
            )
    codes = [code for code, _, _ in done]
    # A status that is no tool's finding says more than one that is.
    worst = (
        None
        if None in codes
        else max((code or 0 for code in codes), key=lambda code: (code != 0, code != EXIT_OF_FINDINGS))
    )
    return worst, max(seconds for _, seconds, _ in done), "\n".join(text for _, _, text in done)


def run_step(step: str, command: list[str], out: pathlib.Path, limit: int) -> tuple[int | None, float, str]:
    """Exit status (None: past the limit), seconds and output, which is also written to a log."""
    started, log = time.monotonic(), out / f"{step}.log"
    with log.open("w", encoding="utf-8") as file:
        print("+", " ".join(command), file=file, flush=True)
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT)
        try:
            code: int | None = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = None
    return code, time.monotonic() - started, log.read_text(encoding="utf-8", errors="replace")


def last_line(text: str) -> str:
    """What a program said last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def write_summary(out: pathlib.Path, outcomes: list[Outcome], command: list[str]) -> None:
    """`device_check.json`: device, versions, commit, date, and how each step ended; what bench/results keeps."""
    summary = {
        "device": dict(cuda_report()),
        "versions": versions(),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command,
        "steps": [dataclasses.asdict(outcome) for outcome in outcomes],
    }
    (out / "device_check.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")

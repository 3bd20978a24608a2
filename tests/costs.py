"""What the tests cost: `--costs=FILE` writes a row of JSON a test, and the terminal gets the sums by room.

Processor seconds (user and system) do not depend on who else uses the machine, as seconds by the clock do. They come
from getrusage: of this process (its threads included), of the compilers that it starts, and of other processes, each
counted once it has ended. NVRTC compiles inside the process; its share is counted by the clock of its thread.

`--most-cpu-s=N` lets a run fail whose tests, their compilers left out, took more, and says in a line what they took.
The dearest files are told where that was too much, or with `--costs`.
"""

from __future__ import annotations

import collections
import functools
import json
import math
import pathlib
import resource
import threading
import time
from collections.abc import Callable, Generator
from typing import Any, TextIO

import pytest

PARTS = ("wall", "own", "compile", "others")
"""Seconds by the clock; then processor seconds: the tests and the program, the compilers, other processes."""

_compile = {"inside": 0.0, "outside": 0.0}
"""Processor seconds of compilers so far: NVRTC's inside the process, the host compiler's outside."""

_elsewhere = [0.0]
"""Processor seconds of processes that others waited for."""

_lock = threading.Lock()
_LINES = 15


def _processor(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def count_elsewhere(seconds: float) -> None:
    """A process that was started for a test, and that another process has waited for, took so many."""
    with _lock:
        _elsewhere[0] += seconds


def _now() -> dict[str, float]:
    inside, outside = _compile["inside"], _compile["outside"]
    return {
        "wall": time.monotonic(),
        "own": _processor(resource.RUSAGE_SELF) - inside,
        "compile": inside + outside,
        "others": _processor(resource.RUSAGE_CHILDREN) - outside + _elsewhere[0],
    }


def _counted(function: Callable[..., Any], part: str, clock: Callable[[], float]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counting(*arguments: Any, **named: Any) -> Any:
        start = clock()
        try:
            return function(*arguments, **named)
        finally:
            with _lock:
                _compile[part] += clock() - start

    return counting


def room_of(name: str) -> str:
    """The room of a test by its node's name: `tests/gpu/hierarchy/bvh/test_x.py::test_y` is of gpu/hierarchy."""
    folders = pathlib.PurePath(name.partition("::")[0]).parts[1:-1]
    return "/".join(folders[:2]) or "tests"


def read(path: pathlib.Path) -> dict[str, dict[str, float]]:
    """The rows of a file that `--costs` wrote, by test."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row.pop("test"): row for row in rows}


def table(rows: dict[str, dict[str, float]], group: Callable[[str], str], most: int | None = None) -> list[str]:
    """Lines of Markdown: what groups of tests cost, the dearest first, and the sum."""
    sums: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name, row in rows.items():
        for key in (group(name), "all"):
            sums[key].update({**row, "tests": 1})
    everything = sums.pop("all", collections.Counter())
    dearest = sorted(sums.items(), key=lambda entry: -_cpu(entry[1]))[:most]
    lines = ["| room | tests | CPU s | of it compilers | other processes | wall s |", "|---|---:|---:|---:|---:|---:|"]
    for name, total in [*dearest, ("all", everything)]:
        numbers = (total["tests"], _cpu(total), total["compile"], total["others"], total["wall"])
        lines.append(f"| {name} | {' | '.join(f'{number:.0f}' for number in numbers)} |")
    return lines


def _cpu(row: dict[str, float] | collections.Counter[str]) -> float:
    return row["own"] + row["compile"] + row["others"]


class Costs:
    """Measures where the tests run, and sums up where they are reported: with several workers those are two places."""

    def __init__(self, file: TextIO | None, most: float = math.inf) -> None:
        self._file, self._most = file, most
        self._last = _now()
        self.rows: dict[str, dict[str, float]] = collections.defaultdict(lambda: dict.fromkeys(PARTS, 0.0))
        from raygrove.gpu.target import host_compiler, nvrtc

        children = functools.partial(_processor, resource.RUSAGE_CHILDREN)
        host_compiler._run_compiler = _counted(host_compiler._run_compiler, "outside", children)
        nvrtc.compile_text = _counted(nvrtc.compile_text, "inside", time.thread_time)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        self._last = _now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[Any, Any, Any]:
        report: Any = yield
        now = _now()
        report.costs = {part: now[part] - self._last[part] for part in PARTS}
        self._last = now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        row = self.rows[report.nodeid]
        for part, spent in getattr(report, "costs", {}).items():
            row[part] += spent
        if report.when == "teardown" and self._file:
            print(json.dumps({"test": report.nodeid, **row}), file=self._file, flush=True)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._file:
            terminalreporter.section("costs by room")
            terminalreporter.write_line("\n".join(table(self.rows, room_of)))
        is_too_much = self.spent() > self._most
        if self._file or is_too_much:
            terminalreporter.section("the dearest files")
            terminalreporter.write_line("\n".join(table(self.rows, lambda name: name.partition("::")[0], _LINES)))
        if is_too_much:
            terminalreporter.section("costs too much", red=True)
        if self._most < math.inf:
            terminalreporter.write_line(f"{self.spent():.1f} CPU s without compilers, and {self._most:g} at most.")

    def spent(self) -> float:
        """Processor seconds of all tests and of the processes that they started, without those of compilers."""
        return sum(row["own"] + row["others"] for row in self.rows.values())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == pytest.ExitCode.OK and self.spent() > self._most:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", type=pathlib.Path, help="write what each test costs to this file, a line of JSON each")
    parser.addoption("--most-cpu-s", type=float, default=math.inf, help="fail where all tests together take more")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--costs")
    if path and "--costs" in config.invocation_params.args:
        raise pytest.UsageError("write --costs=FILE: a path by itself is a folder of tests to pytest and its workers")
    most = config.getoption("--most-cpu-s")
    if path or most < math.inf:
        is_worker = hasattr(config, "workerinput")
        file = path.open("w", encoding="utf-8") if path and not is_worker else None
        config.pluginmanager.register(Costs(file, math.inf if is_worker else most), "costs")

"""What `make quick` runs (`--quick`): one case of each test, and none of those that are known to take long.

`kept_costs.txt` names tests whose cases take long on average, what one takes, and whether quick runs it all the same;
`tests/broad.py` chooses by it, too. `python -m tests.quick COSTS` brings it up to date by the file of a run with
`--costs` in a warm cache, of all tests or of some (`make quick ARGS=--costs=FILE`): who was not measured stays as it
was. A test that is not named there takes little until it is measured.
"""

from __future__ import annotations

import collections
import functools
import pathlib
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest

from tests.costs import read, room_of

LIST = pathlib.Path(__file__).with_name("kept_costs.txt")
TESTS = LIST.parent

MOST_S, MOST_WALL_S = 0.1, 3.0
"""Processor seconds, compilers included, of the first case of a test that is quick, and seconds by the clock."""

MOST_ALONE_S = 0.5
"""Processor seconds of the cheapest test of a file, which is quick where all of its file take longer than `MOST_S`:
a file of tests is of one module. The cheapest of a room is quick whatever it takes."""

MOST_TOLD = 10
"""Tests above these limits that a run of quick ones names."""

_LEAST_S = 0.01
"""What is said of a test that waits and computes nothing."""

_LEFT_OUT = ("full", "sanitize", "cuda", "gl", "first")


def test_of(case: str) -> str:
    """The test whose case `case` is."""
    return case.partition("[")[0]


def name_of(test: str) -> str:
    """The test whose case `test` is, without its file's folder: rooms are moved more often than tests are renamed."""
    return test_of(test).rpartition("/")[2]


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _cheapest(costs: dict[str, float], group: Callable[[str], str]) -> Iterable[str]:
    """The cheapest test of each group."""
    least: dict[str, str] = {}
    for test, cost in costs.items():
        if cost < costs.get(least.get(group(test), ""), float("inf")):
            least[group(test)] = test
    return least.values()


def too_slow(rows: dict[str, dict[str, float]]) -> dict[str, tuple[float, float]]:
    """The tests that take long in each of their cases, by the costs of cases, but for the cheapest of a file or a room
    in which all do; with the processor seconds and the seconds by the clock of the cheapest case."""
    costs: dict[str, float] = collections.defaultdict(lambda: float("inf"))
    walls: dict[str, float] = collections.defaultdict(lambda: float("inf"))
    for case, row in rows.items():
        test = test_of(case)
        costs[test] = min(costs[test], row["own"] + row["compile"] + row["others"])
        walls[test] = min(walls[test], row["wall"])
    kept = {test for test in _cheapest(costs, _file_of) if costs[test] <= MOST_ALONE_S and walls[test] <= MOST_WALL_S}
    kept.update(_cheapest(costs, room_of))
    return {
        test: (cost, walls[test])
        for test, cost in costs.items()
        if test not in kept and (cost > MOST_S or walls[test] > MOST_WALL_S)
    }


class Cost(NamedTuple):
    """Processor seconds of a case, on average, and whether the test is quick all the same: by its cheapest case, or as
    the cheapest of its file."""

    seconds: float
    is_quick: bool


def costs_of(rows: dict[str, dict[str, float]]) -> dict[str, Cost]:
    """What tests cost that take long, by the costs of cases; to two digits, so that little is changed by chance."""
    cases: dict[str, list[float]] = collections.defaultdict(list)
    for case, row in rows.items():
        cases[test_of(case)].append(row["own"] + row["compile"] + row["others"])
    slow = too_slow(rows)
    means = {test: sum(found) / len(found) for test, found in cases.items()}
    return {
        name_of(test): Cost(float(f"{max(mean, _LEAST_S):.2g}"), test not in slow)
        for test, mean in means.items()
        if mean > MOST_S or test in slow
    }


def brought_up_to_date(
    before: dict[str, Cost], rows: dict[str, dict[str, float]], tests: pathlib.Path
) -> dict[str, Cost]:
    """The costs after a run: what was measured counts as measured, and of the rest stays what exists."""
    measured = {name_of(case) for case in rows}
    texts: dict[str, str] = collections.defaultdict(str)
    for path in tests.rglob("test_*.py"):
        texts[path.name] += path.read_text(encoding="utf-8")

    def exists(name: str) -> bool:
        return f"def {name.rpartition('::')[2]}(" in texts[name.partition("::")[0]]

    return {name: cost for name, cost in before.items() if name not in measured and exists(name)} | costs_of(rows)


@functools.cache
def listed() -> dict[str, Cost]:
    """What is kept."""
    lines = (line.split(" ", 2) for line in LIST.read_text(encoding="utf-8").splitlines())
    return {name: Cost(float(cost), kind == "quick") for cost, kind, name in lines}


def write(costs: dict[str, Cost], path: pathlib.Path = LIST) -> None:
    """Keep costs: a line a test."""
    lines = (
        f"{cost.seconds:g} {'quick' if cost.is_quick else 'slow'} {name}\n" for name, cost in sorted(costs.items())
    )
    path.write_text("".join(lines), encoding="utf-8")


def cost_of(test: str) -> float:
    """What a case of a test takes, and 0 where that is little."""
    cost = listed().get(name_of(test))
    return cost.seconds if cost else 0.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one case of each test that does not take long")


class Quick:
    """Leaves tests out: the slow ones before their cases are made, and all cases but the first of each other one."""

    def __init__(self) -> None:
        self._slow = {name for name, cost in listed().items() if not cost.is_quick}

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, collector: pytest.Collector, name: str) -> list[pytest.Item] | None:
        return [] if f"{collector.path.name}::{name}" in self._slow else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        seen: set[str] = set()
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            test = test_of(item.nodeid)
            is_kept = test not in seen and not any(item.get_closest_marker(mark) for mark in _LEFT_OUT)
            (kept if is_kept else left).append(item)
            if is_kept:
                seen.add(test)
        config.hook.pytest_deselected(items=left)
        items[:] = kept

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What took longer than a quick test may, the dearest first, where costs are measured."""
        costs = terminalreporter.config.pluginmanager.get_plugin("costs")
        found = too_slow(costs.rows) if costs else {}
        for test, (cost, wall) in sorted(found.items(), key=lambda entry: -max(entry[1]))[:MOST_TOLD]:
            terminalreporter.write_line(f"{cost:.1f} CPU s, {wall:.1f} s by the clock: {test}")
        if found:
            limits = f"{MOST_S:g} CPU s or {MOST_WALL_S:g} s by the clock"
            terminalreporter.write_line(f"{len(found)} tests took more than {limits} (docs/testing.md, Quick).")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--quick"):
        config.pluginmanager.register(Quick(), "quick")


if __name__ == "__main__":
    write(brought_up_to_date(listed(), read(pathlib.Path(sys.argv[1])), TESTS))

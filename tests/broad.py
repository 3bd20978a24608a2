"""What the default run of the tests leaves to `.ci/run`: cases that are marked `broad`, by rule or by hand.

The rule, at collection, a file at a time (a file of tests is of one module), by what `kept_costs.txt` says that tests
cost:

- Of a test that takes little each value of each parameter is met once, not each combination.
- Of the costly tests of a file the cheapest come first, a case each, and then further values, until they have taken
  `BUDGET_S`. A file in which all are costly has one that takes `MOST_ALONE_S` at most.
- A test that is marked `each_value` has each value of its parameters whatever that costs, and of `each_value("name
  kind")` each pair of these two; `each_value("choice.0", "choice.1")` names all that is to be met.
- A test that is marked `broad("reason")` is left to `.ci/run` in whole.

`--broad` runs all of it, `-m broad` what is left out, and who names a file or a test runs all of that. Who chooses by
`-m` has what he asks for, and `--quick` chooses for itself (tests/quick.py). What is marked `full` is no part of either
run.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import pathlib
from collections.abc import Hashable, Iterable, Sequence

import pytest

from tests.covering import TARGETS, covering, parameters_of, value_of
from tests.quick import cost_of, test_of

BUDGET_S = 0.4
"""Processor seconds, in a warm cache, that the costly tests of a file may take in the default run."""

MOST_ALONE_S = 2.0
"""Processor seconds of the one case that a file has in which all tests take more than their budget."""

ITEMS = pytest.StashKey[list[pytest.Item]]()
"""All that was collected and is not full, marked, before any of it was left out."""

_DEFAULT = "not full"
"""The expression of pyproject.toml: who gives another chooses by himself."""


@dataclasses.dataclass
class _Test:
    """The cases of a test, and the places of those that meet all that is to be met, the first of them first."""

    cases: list[pytest.Item]
    places: list[int]
    cost: float
    is_budgeted: bool


def met_by(item: pytest.Item, groups: Sequence[str]) -> frozenset[Hashable]:
    """What a case meets: a row of each parametrisation, or the values of `groups`; each kind of target by itself."""
    values = parameters_of(item) if hasattr(item, "callspec") else {}
    target = next((str(values[name]) for name in TARGETS if name in values), "")
    rows = [] if _is_complete(groups) else getattr(getattr(item, "callspec", None), "_idlist", ())
    met: set[Hashable] = {("row", target, place, row) for place, row in enumerate(rows)}
    met.update((group, target, *(value_of(values, name) for name in group.split())) for group in groups)
    return frozenset(met or {"the test itself"})


def _is_complete(groups: Sequence[str]) -> bool:
    """Whether groups say all that is to be met: one that names a single value stands for all of its kind."""
    return any(" " not in group for group in groups)


def _test(cases: list[pytest.Item]) -> _Test:
    marker = cases[0].get_closest_marker("each_value")
    met = [met_by(case, marker.args if marker else ()) for case in cases]
    cost = cost_of(cases[0].nodeid)
    return _Test(cases, sorted(covering(met)), cost, is_budgeted=cost > 0.0 and marker is None)


def default_of(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Those of one file that the default run takes."""
    by_test: dict[str, list[pytest.Item]] = collections.defaultdict(list)
    for item in items:
        by_test[test_of(item.nodeid)].append(item)
    tests = [_test(cases) for cases in by_test.values()]
    taken = {test.cases[place] for test in tests if not test.is_budgeted for place in test.places}
    left = BUDGET_S
    dear = sorted((test for test in tests if test.is_budgeted), key=lambda test: test.cost)
    further = [(test, place) for test in dear for place in test.places[1:]]
    for test, place in [*((test, test.places[0]) for test in dear), *further]:
        if test.cost <= (left if taken else MOST_ALONE_S):
            taken.add(test.cases[place])
            left -= test.cost
    return taken


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark as broad what the default run leaves out. Raises UsageError where a mark by hand has no reason."""
    by_file: dict[pathlib.Path, list[pytest.Item]] = collections.defaultdict(list)
    for item in items:
        by_hand = item.get_closest_marker("broad")
        if by_hand is None:
            by_file[item.path].append(item)
        elif not by_hand.args:
            raise pytest.UsageError(f"{item.nodeid} is marked broad without a reason: broad('...').")
    for found in by_file.values():
        taken = default_of(found)
        for item in found:
            if item not in taken:
                item.add_marker("broad")


def named_files(config: pytest.Config) -> set[pathlib.Path]:
    """Files that are named on the command line, by themselves or by a test in them."""
    paths = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return {path.resolve() for path in paths if path.suffix == ".py"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--broad", action="store_true", help="run what the default run leaves to .ci/run, too")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "broad(reason): left to .ci/run (--broad); most are marked by tests/broad.py")
    config.addinivalue_line("markers", "each_value(*groups): each value of each parameter is part of the default run")


@pytest.hookimpl  # behind what marks as full, before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[ITEMS] = [item for item in items if item.get_closest_marker("full") is None]
    mark(config.stash[ITEMS])
    is_other = config.getoption("--broad") or config.getoption("--quick", False)  # quick chooses for itself
    if is_other or config.option.markexpr not in ("", _DEFAULT):
        return
    resolved = functools.cache(pathlib.Path.resolve)
    named = named_files(config)
    left = {item for item in items if item.get_closest_marker("broad") and resolved(item.path) not in named}
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]

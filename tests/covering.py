"""Few of many cases: of a product of structures, scenes and options those that meet each combination which matters.

`@pytest.mark.covers("choice.0 scene_name", "choice.2 way")` says of a test which combinations of its parameters make a
difference, here each structure with each scene, and each traversal both ways. Cases are chosen until each combination
that occurs has been met (a covering array, found greedily); the rest runs under -m full. `choice.0` is the first of a
parameter that is a tuple. Each target (host, cuda) is covered by itself.
"""

from __future__ import annotations

import collections
import heapq
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet

TARGETS = ("target", "exact_target", "exact_hits_target", "checked_target")
"""Parameters whose values are kinds of targets."""


def covering(met: Sequence[frozenset[Hashable]]) -> set[int]:
    """Places of cases that together meet all that any case meets; `met` says what each does. The next case is the one
    that meets the most of what is left, of equals the first."""
    left = frozenset[Hashable]().union(*met)
    waiting = [(-len(each), place) for place, each in enumerate(met)]
    heapq.heapify(waiting)
    chosen: set[int] = set()
    while left:
        gain, place = heapq.heappop(waiting)
        now = len(met[place] & left)
        if now == -gain:
            chosen.add(place)
            left -= met[place]
        elif now:
            heapq.heappush(waiting, (-now, place))
    return chosen


def by_turns(first: Sequence[Any], second: Sequence[Any], share: int) -> list[Any]:
    """Pairs as parameters: each of `first` with every `share`-th of `second`, another one for the next; the other
    pairs are full. Who has marks of its own (pytest.param) keeps them."""
    pairs = []
    for turn, one in enumerate(first):
        for place, other in enumerate(second):
            parts = [part if isinstance(part, ParameterSet) else pytest.param(part) for part in (one, other)]
            marks = [mark for part in parts for mark in part.marks]
            marks += [pytest.mark.full] if (place + turn) % share else []
            pairs.append(pytest.param(*parts[0].values, *parts[1].values, marks=marks))
    return pairs


def value_of(values: dict[str, Any], name: str) -> Hashable:
    """The value of a parameter, or of `choice.0` the first of a tuple."""
    parameter, _, place = name.partition(".")
    value = values[parameter][int(place)] if place else values[parameter]
    return value if isinstance(value, Hashable) else repr(value)


def parameters_of(item: pytest.Item) -> dict[str, Any]:
    """The values of a case's parameters by their names."""
    return item.callspec.params  # type: ignore[attr-defined, no-any-return]


def leave_to_full(
    items: Iterable[pytest.Item],
    groups_of: Callable[[pytest.Item], Sequence[str]],
    values_of: Callable[[pytest.Item], dict[str, Any]] = parameters_of,
) -> None:
    """Mark as full what a covering of each test's cases can do without. `groups_of` names the parameters whose
    combinations are to be met; without any the item is left alone, as one that is full already is. `values_of` may add
    what else is known of a case to its parameters."""
    cases: dict[str, list[tuple[pytest.Item, frozenset[Hashable]]]] = collections.defaultdict(list)
    for item in items:
        groups = groups_of(item)
        if groups and item.get_closest_marker("full") is None:
            values = values_of(item)
            target = next((values[name] for name in TARGETS if name in values), "")
            met = frozenset((group, target, *(value_of(values, name) for name in group.split())) for group in groups)
            cases[item.nodeid.partition("[")[0]].append((item, met))
    for found in cases.values():
        chosen = covering([met for _, met in found])
        for place, (item, _) in enumerate(found):
            if place not in chosen:
                item.add_marker(pytest.mark.full)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "covers: combinations of parameters that are met; other cases are full")


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [(item, item.get_closest_marker("covers")) for item in items]
    groups = {item: mark.args for item, mark in marked if mark is not None}
    leave_to_full(groups, lambda item: groups[item])

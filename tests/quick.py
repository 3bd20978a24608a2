"""What `make quick` runs (`--quick`): one case of each test, and none of those that are known to take long.

`slow_tests.txt` names what took long when all was measured; `python -m tests.quick COSTS` writes it from the file of a
run with `--costs` in a warm cache. A test that is not named there is quick until it is measured.
"""

from __future__ import annotations

import collections
import pathlib
import sys

import pytest

from tests.costs import read

LIST = pathlib.Path(__file__).with_name("slow_tests.txt")

MOST_S, MOST_WALL_S = 0.15, 3.0
"""Processor seconds of the first case of a test that is quick, and seconds by the clock."""

_LEFT_OUT = ("full", "sanitize", "cuda", "gl")


def name_of(test: str) -> str:
    """The test whose case `test` is, without its file's folder: rooms are moved more often than tests are renamed."""
    return test.partition("[")[0].rpartition("/")[2]


def slow_tests(rows: dict[str, dict[str, float]]) -> list[str]:
    """The names of the tests that take long in each of their cases, by the costs of cases."""
    least: dict[str, dict[str, float]] = collections.defaultdict(lambda: {"wall": float("inf"), "own": float("inf")})
    for test, row in rows.items():
        processor = row["own"] + row["others"]
        kept = least[name_of(test)]
        kept["own"], kept["wall"] = min(kept["own"], processor), min(kept["wall"], row["wall"])
    return sorted(name for name, row in least.items() if row["own"] > MOST_S or row["wall"] > MOST_WALL_S)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one case of each test that does not take long")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    seen = set(LIST.read_text(encoding="utf-8").splitlines())
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        name = name_of(item.nodeid)
        is_kept = name not in seen and not any(item.get_closest_marker(mark) for mark in _LEFT_OUT)
        (kept if is_kept else left).append(item)
        if is_kept:
            seen.add(name)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


if __name__ == "__main__":
    names = slow_tests(read(pathlib.Path(sys.argv[1])))
    LIST.write_text("\n".join(names) + "\n", encoding="utf-8")

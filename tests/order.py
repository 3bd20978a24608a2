"""The order of the tests: those marked `first` before all others, which keep the order of their files.

Two workers take the tests from both ends of one row (`--dist worksteal`). A test of minutes in the middle of it may be
the last to begin, and leaves the other worker with nothing to do. At the beginning of the row it is never handed over,
either, so that tests of one file that share what took long to make stay in one process.
"""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "first: takes a minute or more, so that it begins before all others")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("first") is None)

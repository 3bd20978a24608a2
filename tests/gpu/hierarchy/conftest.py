"""Of the contract suite's builds and refits that are replayed, a third of the cases: every structure and every scene
is replayed, with some others of its kind, and where a test has one case a structure, a third of these; the rest under
-m full. Whoever runs the suite over a structure
of another package (raygrove.testing) runs all of it."""

from __future__ import annotations

import pytest

SHARE = 3
"""One of so many is run always."""


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    met: dict[str, int] = {}
    turns: dict[str, int] = {}
    for item in items:
        values = getattr(getattr(item, "callspec", None), "params", {})
        if values.get("way") != "replayed" or "choice" not in values:
            continue
        of = f"{item.nodeid.partition('[')[0]} {values['choice']}"
        turn = turns.setdefault(of, len(turns))
        met[of] = met.get(of, -1) + 1
        if (met[of] + turn) % SHARE:
            item.add_marker(pytest.mark.full)

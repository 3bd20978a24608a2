"""Whether the sandbox costs too much is decided by pairs of imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.bench.cases import main, sandbox


@pytest.mark.parametrize(("more", "reached"), [(19.0, True), (24.0, True), (26.0, False)])
def test_the_bar_is_a_share_or_milliseconds(more: float, reached: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def spent(path: Path, is_on: bool) -> sandbox.Sample:
        asked.append(is_on)
        return {sandbox.SPENT: 500.0 + more * is_on, sandbox.CLOCK: 900.0}

    monkeypatch.setattr(sandbox, "spent", spent)
    row = sandbox.compared(Path("a.ply"), 3)
    assert row["is_reached"] is reached and row[sandbox.SPENT]["more"] == more
    assert asked[2:] == [False, True, True, False, False, True], "each is the first in every other pair"
    assert main(["sandbox", "a.ply", "--repeat", "2"]) == (0 if reached else 1)
    assert row["figure"] == (1.0 if more < 20.0 else 1.0 + more / 500.0)

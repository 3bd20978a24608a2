"""What a suite says of its progress, written down, and its tables while it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from raygrove.bench.suites.report import SuiteReport


class Heard:
    """`begin` and `advance` of a SuiteJob."""

    def __init__(self) -> None:
        self.scenes: list[tuple[str, list[tuple[int, int | None]]]] = []

    def begin(self, scene: str) -> None:
        self.scenes.append((scene, []))

    def advance(self, rows: int, of: int | None) -> None:
        self.scenes[-1][1].append((rows, of))

    def check(self) -> None:
        """Each scene that was measured counted its rows from one on, up to as many as it said from the first on."""
        measured = [(scene, told) for scene, told in self.scenes if told]
        assert measured, "of some scene there were rows"
        for scene, told in measured:
            assert told == [(number, len(told)) for number in range(1, len(told) + 1)], scene


def check_in_part(report: SuiteReport, tabulate: Callable[[SuiteReport], object]) -> None:
    """A suite makes its tables and its page of any first rows: they are shown while it runs. The last are the whole's.
    A row of each measured part is enough of those that are alike."""
    kinds = [(row.get("part"), row.get("scene")) for row in report.rows]
    ends = [at for at in range(len(kinds)) if at < 3 or kinds[at] != kinds[at - 1]] + [len(kinds)]
    sizes = []
    for end in ends:
        part = dataclasses.replace(report, rows=report.rows[:end], tables=[], plots=[])
        tabulate(part)
        assert part.markdown({}).startswith(f"# {report.suite}")
        sizes.append(sum(cell is not None for table in part.tables for row in table.rows for cell in row))
    assert sizes[-1] > sizes[0]

"""Reports of suites are kept while their rows come."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Any

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.suites import SuiteJob, SuiteReport, meister2014
from raygrove.bench.suites.job import KEEP_S
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.target.base import Target


def test_a_report_is_kept_as_its_rows_come(host_target: Target) -> None:
    """Each row before it is said, fast ones together; the report itself has those of whole scenes alone."""
    kept, told = list[SuiteReport](), list[int]()

    def advance(rows: int, of: int | None) -> None:
        told.append(rows)
        assert len(kept[-1].rows) <= rows and kept[-1].absent[-1].startswith("Toasters: measured in part, ")

    choices = [next(one for one in meister2014.SCENES if one.published == "Toasters")]
    job = SuiteJob(host_target, lambda source: make_demo(source.demo, 300), keep=kept.append, advance=advance)
    report = SuiteReport("meister2014", "", {}, (8, 8), 1)

    def measure(*given: Any) -> Iterator[dict[str, Any]]:
        yield from ({"number": number} for number in range(1000))
        time.sleep(2.5 * KEEP_S)
        yield {"number": 1000}
        assert not report.rows and len(kept) < 20, "a thousand rows at once"
        assert [row["number"] for row in kept[-1].rows] == [*range(1001)]
        assert kept[-1].absent == ["Toasters: measured in part, 1001 of 1002 rows."]
        yield {"number": 1001}

    job.each(choices, report, measure, lambda scene: 1002, lambda report: None)
    assert told == [*range(1, 1003)] and [len(kept[0].rows), len(report.rows)] == [1, 1002]
    assert kept[-1] is report and not report.absent and len(report.scenes) == 1

    def fails(*given: Any) -> Iterator[dict[str, Any]]:
        yield {"number": 0}
        raise HierarchyError("no room")

    job = dataclasses.replace(job, advance=lambda rows, of: None)
    job.each(choices, report, fails, lambda scene: 2, lambda report: None)
    assert len(report.rows) == 1002 and len(report.scenes) == 1 and report.absent == ["Toasters: no room"]

"""Structures that whoever runs a suite names (`--structures`), measured on every scene of it: one table behind the
published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.face.configured import configured
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Scene

from .measure import drawn, still
from .report import MEDIAN_NOTE, SuiteReport, SuiteTable
from .scenes import SceneChoice, what

if TYPE_CHECKING:
    from .job import SuiteJob

NUMBER = "Your structures"
COLUMNS = {
    "kernels_ms": "kernels ms",
    "overall_ms": "overall ms",
    "launches": "launches",
    "sah_cost": "SAH cost",
    "node_count": "nodes",
    "depth": "depth",
    "primary_mrays_per_s": "primary MRays/s",
    "memory_mb": "reserved MB",
    "frame_ms": "frame ms",
    "frames_per_s": "frames/s",
}
"""Fields of a row, and the columns of the table."""


def chosen(configuration: str, **others: Any) -> ViewSettings:
    """What a view takes to build so. Raises ConfigurationError and OptionError."""
    found = configured(configuration)
    how = found.choice
    return ViewSettings(
        hierarchy=found.name,
        optimiser=how.optimiser,
        layout=how.layout,
        traversal=how.traversal,
        triangle_test=how.triangle_test,
        hierarchy_options=how.options,
        optimiser_options=how.optimiser_options,
        update=found.update,
        **others,
    )


def structure_rows(job: SuiteJob, choice: SceneChoice, scene: Scene, size: tuple[int, int]) -> Iterator[dict[str, Any]]:
    """A row a structure: built and traced at the scene's beginning, and frames of what moves. What a structure cannot
    do is said in its row."""
    for text in job.structures:
        settings = chosen(text)
        row: dict[str, Any] = {"part": "structure", **what(choice, scene), "structure": text, "needs": ""}
        try:
            row |= still(job.target, scene, settings, size, job.repeat)
            if scene.duration(0) > 0.0:
                row |= _frames(job, scene, settings, size)
        except HierarchyError as error:
            row["needs"] = str(error)
        yield row


def _frames(job: SuiteJob, scene: Scene, settings: ViewSettings, size: tuple[int, int]) -> dict[str, Any]:
    found = drawn(job.target, scene, settings, size, job.instants(scene), max(1, job.repeat // 3))
    return {name: found[name] for name in ("frame_ms", "frames_per_s")}


def tabulated(report: SuiteReport, tabulate: Callable[[SuiteReport], object]) -> SuiteReport:
    """The report with the tables that a suite makes of its rows, and the one of structures behind them."""
    tabulate(report)
    rows = [row for row in report.rows if row.get("part") == "structure"]
    if rows:
        report.tables.append(_table(rows))
    return report


def _table(rows: list[dict[str, Any]]) -> SuiteTable:
    notes = ("Kernels: the phases of a build replayed as one graph. Frames: of scenes that move.", MEDIAN_NOTE)
    table = SuiteTable(NUMBER, "on the scenes of this run", ("scene", "structure", *COLUMNS.values()), notes=notes)
    for row in rows:
        cells = [row["needs"] or None, *[None] * (len(COLUMNS) - 1)] if row["needs"] else map(row.get, COLUMNS)
        table.rows.append((row["scene"], row["structure"], *cells))
    return table

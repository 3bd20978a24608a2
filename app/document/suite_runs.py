"""Runs of a suite (`raygrove bench suite`) as the window has them: which suites there are, the words that start one,
how far it says it is, and the tables that it wrote."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from typing import Any

NO_SCENES = "none"
"""For --scenes: only one's own."""


@dataclasses.dataclass(frozen=True)
class SuiteScene:
    """A published scene, and what is taken for it here; `is_there` where that can be had."""

    name: str
    triangles: int
    taken: str
    relation: str
    is_there: bool


@dataclasses.dataclass(frozen=True)
class Suite:
    """A published evaluation. `takes_own`: it measures scenes and structures that are brought to it, too."""

    name: str
    about: str
    takes_own: bool
    scenes: tuple[SuiteScene, ...]


@dataclasses.dataclass(frozen=True)
class Asked:
    """What to run. `scenes` none: no published one; `files` and `demo` are one's own. No `size` takes the published
    one."""

    suite: str
    out: Path
    scenes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    demo: str = ""
    structures: str = ""
    data: str = ""
    size: tuple[int, int] | None = None
    repeat: int = 10
    device: str = "auto"

    def words(self) -> list[str]:
        """Behind `raygrove`."""
        words = ["bench", "suite", self.suite, *self.files, "--out", str(self.out), "--device", self.device]
        words += ["--scenes", ",".join(self.scenes) or NO_SCENES, "--repeat", str(self.repeat), "--progress", "json"]
        for flag, value in (("--demo", self.demo), ("--structures", self.structures), ("--data", self.data)):
            words += [flag, value] if value else []
        return words + (["--size", f"{self.size[0]}x{self.size[1]}"] if self.size else [])


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a run is: in the scene `number` (from 1) of `of`, with `rows` of its `rows_of` measured; None where
    nobody knows how many those will be."""

    scene: str
    number: int
    of: int
    rows: int
    rows_of: int | None

    @property
    def share(self) -> float | None:
        """From 0 to 1, by scenes that are done and rows of the one that is measured; None where there are rows and
        nobody knows of how many."""
        if self.rows and not self.rows_of:
            return None
        within = min(self.rows / self.rows_of, 1.0) if self.rows_of else 0.0
        return min((self.number - 1 + within) / max(1, self.of), 1.0)

    @property
    def sentence(self) -> str:
        """For the strip over the picture."""
        known = self.rows_of is not None and self.rows <= self.rows_of
        rows = f"row {self.rows} of {self.rows_of}" if known else f"{self.rows} row{'s' * (self.rows != 1)} measured"
        return f"{self.scene}, scene {self.number} of {self.of}" + (f", {rows}" if self.rows else "")


@dataclasses.dataclass(frozen=True)
class ReportTable:
    """A table of a report, its cells as texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Following:
    """What a run that writes `report`, PREFIX.json, has told: its `tables` as far as they are filled. Lines are heard
    on one thread, and `tables` may be read on another."""

    def __init__(self, report: Path, begun: float) -> None:
        self.report, self._begun = report, begun
        self.tables: tuple[ReportTable, ...] = ()
        self._read_ns = 0

    def hear(self, line: str) -> Progress | None:
        """What a line tells of the run's progress. A row is in the report before it is told of."""
        told = progress_of(line)
        if told is not None and self.has_written(self.report):
            written_ns = self.report.stat().st_mtime_ns
            if written_ns != self._read_ns:
                self._read_ns = written_ns
                with contextlib.suppress(OSError, ValueError, KeyError):  # the last word has whoever shows the report
                    self.tables = tables_of(self.report)
        return told

    def has_written(self, path: Path) -> bool:
        """Whether a file is there and of this run, not of one before."""
        return path.is_file() and path.stat().st_mtime >= self._begun


def list_words(data: str) -> list[str]:
    """What asks which suites there are, with models in the folder `data`."""
    return ["bench", "suite", "--list", "--json", *(["--data", data] if data else [])]


def suites_of(text: str) -> tuple[Suite, ...]:
    """What `list_words` answers."""
    return tuple(
        Suite(one["suite"], one["about"], one["takes_own"], tuple(SuiteScene(**scene) for scene in one["scenes"]))
        for one in json.loads(text)["suites"]
    )


def progress_of(line: str) -> Progress | None:
    """What a line that a run says tells of its progress; None where it is about something else."""
    try:
        told = json.loads(line)
        return Progress(told["scene"], told["number"], told["of"], told["rows"], told["rows_of"])
    except (ValueError, TypeError, KeyError):
        return None


def tables_of(report: Path) -> tuple[ReportTable, ...]:
    """The tables of a report, PREFIX.json, that have rows. OSError and ValueError where it is none."""
    content = json.loads(report.read_text(encoding="utf-8"))
    return tuple(
        ReportTable(
            f"{table['number']}  {table['title']}",
            tuple(table["columns"]),
            tuple(tuple(_shown(cell) for cell in row) for row in table["rows"]),
        )
        for table in content["tables"]
        if table["rows"]
    )


def _shown(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:,.4g}" if abs(cell) < 1e4 else f"{cell:,.0f}"
    return "-" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)

"""Pages of saved reports, made again from their rows by today's tables and words: the case `pages`
writes REPORT.md.

The JSON stays as the run wrote it. A column or a line whose measurement that run has not is a dash or says so.
"""

from __future__ import annotations

import importlib
import pathlib
from typing import Any

from .own_structures import tabulated
from .published import published_source
from .report import SuiteReport, report_from_json

NOTE = (
    "The tables are made again from the rows of this run, by the program that the page lies beside; what the run "
    "did not measure is missing."
)


def again(content: dict[str, Any]) -> SuiteReport:
    """The report of a saved file with today's tables and plots."""
    report = report_from_json(content)
    report.published = published_source(report.suite)
    return tabulated(report, importlib.import_module(f".{report.suite}", __package__).tabulate)


def page(content: dict[str, Any], plots: str = "") -> str:
    """The page of a saved file; `plots` is what the files of its plots begin with."""
    return again(content).markdown(content["context"], NOTE, plots)


def plots_of(path: pathlib.Path) -> str:
    """What the plots beside a saved file begin with; empty where there are none."""
    return path.stem if any(path.parent.glob(f"{path.stem}-*.svg")) else ""

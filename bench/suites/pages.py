"""Pages of saved reports, made again from their rows by today's tables and words: the case `pages`
writes REPORT.md.

The JSON stays as the run wrote it. A column or a line whose measurement that run has not is a dash or says so.
"""

from __future__ import annotations

import importlib
from typing import Any

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
    importlib.import_module(f".{report.suite}", __package__).tabulate(report)
    return report


def page(content: dict[str, Any]) -> str:
    """The page of a saved file."""
    return again(content).markdown(content["context"], NOTE)

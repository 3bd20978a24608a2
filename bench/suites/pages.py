"""Pages of kept reports, made again from their rows by today's tables and words: `python -m bench.suites.pages REPORT.json ...` writes REPORT.md.

The JSON stays as the run wrote it. A column or a line whose measurement that run has not is a dash or says so.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pathlib
import sys
from typing import Any

from .published import published_source
from .report import SuiteReport, report_from_json

NOTE = "The tables are made again from the rows of this run, by the program that the page lies beside; what the run did not measure is missing."


def again(content: dict[str, Any]) -> SuiteReport:
    """The report of a kept file with today's tables and plots."""
    report = report_from_json(content)
    report.published = published_source(report.suite)
    importlib.import_module(f".{report.suite}", __package__).tabulate(report)
    return report


def page(content: dict[str, Any]) -> str:
    """The page of a kept file."""
    return again(content).markdown(content["context"], NOTE)


def main(arguments: list[str]) -> int:
    """The script."""
    parser = argparse.ArgumentParser(prog="python -m bench.suites.pages", description="Make the pages of kept reports of suites again.")
    parser.add_argument("reports", nargs="+", type=pathlib.Path, metavar="REPORT.json", help="as bench suite wrote it")
    for path in parser.parse_args(arguments).reports:
        try:
            path.with_suffix(".md").write_text(page(json.loads(path.read_text(encoding="utf-8"))) + "\n", encoding="utf-8")
        except (OSError, ValueError, KeyError, ImportError) as error:
            print(f"{path}: this is no report of a suite: {type(error).__name__} {error}", file=sys.stderr)
            return 1
        print(path.with_suffix(".md"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

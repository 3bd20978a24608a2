"""Pages of saved reports of suites, made again from their rows by today's tables and words.

Writes REPORT.md beside each REPORT.json, which stays as the run wrote it. A column or a line whose measurement that run
has not is a dash or says so.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from ..arguments import argument
from ..suites.pages import page

ARGUMENTS = (argument("reports", nargs="+", type=pathlib.Path, metavar="REPORT.json", help="as bench suite wrote it"),)


def run(names: argparse.Namespace) -> int:
    """Write the pages; 1 where a file is no report."""
    for path in names.reports:
        try:
            path.with_suffix(".md").write_text(page(path) + "\n", encoding="utf-8")
        except (OSError, ValueError, KeyError, ImportError) as error:
            print(f"{path}: this is no report of a suite: {type(error).__name__} {error}", file=sys.stderr)
            return 1
        print(path.with_suffix(".md"))
    return 0

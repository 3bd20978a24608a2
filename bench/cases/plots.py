"""Plots of a saved report of a suite, drawn again beside it as SVG by matplotlib (an extra)."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys

from ..arguments import argument
from ..suites.pages import again
from ..suites.plots import PlotsAbsentError, draw

ARGUMENTS = (argument("report", type=pathlib.Path, metavar="REPORT.json", help="as bench suite wrote it"),)


def run(names: argparse.Namespace) -> int:
    """Draw them; 1 where the file is no report, or matplotlib is not there."""
    path = names.report
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        written = draw(again(content), path.with_suffix(""), content["context"]["device"])
    except (OSError, ValueError, KeyError, ImportError, PlotsAbsentError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    print("\n".join(file.name for file in written))
    return 0

"""What the command line is told of a person's own programs: files with builders, and a loop to follow."""

from __future__ import annotations

import argparse


def add_plug_in(group: argparse._ArgumentGroup) -> None:
    """--plug-in, and what `raygrove.Viewer` starts the window with."""
    group.add_argument(
        "--plug-in",
        metavar="FILE.py",
        action="append",
        default=[],
        help="a file, or a module, that registers builders of your own; repeats",
    )
    group.add_argument("--live", help=argparse.SUPPRESS)

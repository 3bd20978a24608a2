"""Arguments of commands that work on stores of results."""

from __future__ import annotations

import argparse

from raygrove.app.cli import values

OF_STORES = ("sweep",)


def add_store(parser: argparse.ArgumentParser, command: str) -> None:
    """The arguments of one of OF_STORES."""
    group = parser.add_argument_group("jobs and results")
    group.add_argument("files", nargs="*", metavar="PLAN.toml", help="what is done: docs/sweeps.md")
    group.add_argument("--store", metavar="DIR", help="the folder of results, which is made")
    group.add_argument("--dry-run", action="store_true", help="say how many jobs there are, and how long they take")
    group.add_argument("--jobs", metavar="local[:N]", help="a worker for each GPU; on the CPU one, or N")
    group.add_argument("--shard", metavar="I/N", type=values.shard, help="only every N-th job, from the I-th on")
    group.add_argument(
        "--again",
        metavar="STATUS",
        type=values.names,
        help="do these jobs again: failed, crashed, damaged, done; with commas between them",
    )
    group.add_argument(
        "--most-seconds", metavar="S", type=values.seconds, help="end a worker that takes longer for a job"
    )
    group.add_argument("--allow-outside", action="store_const", const="true", help="scenes outside the plan's folder")

"""Arguments of commands that work on stores of results."""

from __future__ import annotations

import argparse

from raygrove.app.cli import values

SAID_OF_STORES = {
    "sweep": "Do every job of a plan once: measurements and pictures, each kept in a folder of results, so that "
    "the same command goes on where it ended.",
    "results": "Show the results of sweeps: tables for people, papers and pages.",
    "compare": "Compare results: medians with intervals, a verdict for each, exit code 1 where B is slower, finds "
    "other hits, or lacks something.",
    "store": "Make one Parquet file of all results in a folder, which SQL reads at once.",
    "suite": "Run published evaluations again, a job for each scene, kept in a folder of results, so that the same "
    "command goes on where it ended; then write their tables beside the published ones.",
}
"""What each of these commands does."""
OF_STORES = tuple(SAID_OF_STORES)
OF_JOBS = ("store", "dry_run", "jobs", "shard", "again", "most_seconds", "chunk")
"""Flags by which `render` draws parts of an animation as jobs."""


def add_store(parser: argparse.ArgumentParser, command: str) -> None:
    """The arguments of one of OF_STORES."""
    adds = {"sweep": _add_sweep, "results": _add_results, "compare": _add_compare, "store": _add_pack,
            "suite": _add_suite}  # fmt: skip
    adds[command](parser.add_argument_group("jobs and results"))


def _add_pack(group: argparse._ArgumentGroup) -> None:
    group.add_argument("kind", choices=("pack",), help="pack: all rows as one Parquet file in STORE, which --sql reads")
    group.add_argument("files", nargs="*", metavar="STORE", help="a folder of results")


def _add_results(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "files", nargs="*", metavar="STORE", help="a folder of results, or a file of them: .jsonl, or .json of bench"
    )
    group.add_argument(
        "--where",
        metavar="KEY=VALUE",
        action="append",
        help="only results that say so: KEY=VALUE with * and ?, KEY!=VALUE, KEY<NUMBER; repeats",
    )
    group.add_argument(
        "--sql", metavar="SELECT", help="the answer of DuckDB to a SELECT over the table `results` (raygrove[query])"
    )
    group.add_argument("--columns", metavar="A,B", type=values.names, help="what the table shows")
    group.add_argument("--sort", metavar="A,B", type=values.names, help="the columns that rows are sorted by")
    group.add_argument(
        "--out", metavar="FILE", help="FILE.csv, .jsonl (which compare takes), .json, .md, .tex, or .html"
    )
    group.add_argument(
        "--pictures",
        metavar="DIR/|FILE",
        help="put the pictures of one animation together: DIR/ for frame_0000.png ..., or a video, FILE.mp4",
    )
    group.add_argument("--open", metavar="SHA", help="the window, on the scene and structure of that result")


def _add_compare(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "files",
        nargs="*",
        metavar="A B",
        help="folders or files (.jsonl, .json of bench) of results; A@DIGEST: of sources",
    )
    group.add_argument(
        "--threshold", metavar="PERCENT", type=values.percent, help="by how much B may be slower (default: 5)"
    )
    group.add_argument("--out", metavar="FILE", help="a report: FILE.html, .json, .csv, .md or .tex")


def _add_suite(group: argparse._ArgumentGroup) -> None:
    group.add_argument("files", nargs="*", metavar="NAME|all", help="an evaluation by its name, or all of them")
    group.add_argument("--data", metavar="DIR", help="the folder of the models that a suite names")
    group.add_argument("--scenes", metavar="A,B", type=values.names, help="only these of the published scenes")
    group.add_argument("--device", metavar="auto|cuda|cpu", help="on GPUs, a worker each, or on the CPU")
    group.add_argument("--threads", metavar="N", type=values.count(1), help="threads that the CPU device uses")
    group.add_argument("--size", metavar="WxH", type=values.size, help="of pictures; else that which was published")
    group.add_argument("--repeat", metavar="N", type=values.count(1), help="measurements that count (default: 10)")
    group.add_argument(
        "--most-triangles", metavar="N", type=values.count(1, 999_999_999), help="leave larger scenes out"
    )
    group.add_argument("--out", metavar="DIR", help="where pages, plots and pictures go (default: suites in the store)")
    _add_jobs(group)


def _add_sweep(group: argparse._ArgumentGroup) -> None:
    group.add_argument("files", nargs="*", metavar="PLAN.toml", help="what is done: docs/sweeps.md")
    _add_jobs(group)
    group.add_argument("--allow-outside", action="store_const", const="true", help="scenes outside the plan's folder")


def add_parts(parser: argparse.ArgumentParser) -> None:
    """The arguments of `render` that share an animation out."""
    group = parser.add_argument_group("an animation in parts, kept in a folder that the same command goes on from")
    _add_jobs(group)
    group.add_argument(
        "--chunk", metavar="N", type=values.count(1), help="frames of a part (24); a second of work or more"
    )


def _add_jobs(group: argparse._ArgumentGroup) -> None:
    """How jobs are done, and where their results go."""
    group.add_argument("--store", metavar="DIR", help="the folder of results, which is made")
    group.add_argument("--dry-run", action="store_true", help="say how many jobs there are, and how long they take")
    group.add_argument(
        "--jobs",
        metavar="ENGINE",
        help="local: a worker for each GPU, on the CPU one (local:4: four); dask, dask:4: the same by Dask; "
        "dask://127.0.0.1:PORT or tls://HOST:PORT: a cluster that runs",
    )
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

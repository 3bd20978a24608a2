"""`suite NAME|all ... --store DIR`: the published evaluations by jobs of a store, which the same command goes on
from, and their tables from its results."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.suite import finish, named
from raygrove.app.cli.suite_jobs import SuiteJobs, merged
from raygrove.app.cli.sweep import do_jobs, dry_run, gpus
from raygrove.app.export.whole_files import check_writable, write_bytes
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError
from raygrove.bench.context import command_line
from raygrove.bench.store.folder import Store
from raygrove.bench.store.jobs import digest_of_sources
from raygrove.bench.suites import suites
from raygrove.bench.suites.report import Picture
from raygrove.printable import printable_lines

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

ALL = "all"
KINDS = {"auto": None, "cpu": "cpu", "cuda": "cuda"}
PAGES = "suites"
"""The folder of the pages in the store, where --out names none."""


def run(names: argparse.Namespace, words: Words) -> int:
    """Do what has no result yet, then write the report of each suite; returns the exit code: 1 where a job came to no
    good, or nothing was measured."""
    if not names.files:
        raise UsageError("name suites, or all, and a folder for results: suite all --store DIR (docs/sweeps.md).")
    if ALL in names.files and {*names.files} != {ALL}:
        others = " ".join(name for name in names.files if name != ALL)
        raise UsageError(f"suite {ALL} is every suite there is, and beside it stands {others}: say {ALL} alone.")
    chosen = tuple(suites()) if ALL in names.files else tuple(dict.fromkeys(named([one]) for one in names.files))
    if names.store is None:
        typed = " ".join(names.files)
        raise UsageError(f"suite {typed}: name a folder for the results, which is made: --store DIR.")
    kind = names.device or "auto"
    if kind not in KINDS:
        raise UsageError(f"--device {kind}: write auto, cpu or cuda; a worker for each GPU takes the jobs.")
    jobs = SuiteJobs(chosen, names, digest_of_sources(), KINDS[kind] or ("cuda" if gpus() else "cpu"))
    if names.dry_run:
        return dry_run(names, jobs, words)
    store = Store.made(names.store)
    place = Path(names.out) if names.out else store.folder / PAGES
    place.mkdir(parents=True, exist_ok=True)
    check_writable(place)
    done, told = do_jobs(names, jobs, store, words)
    written = [suite for suite in chosen if _report(jobs, suite, store, place, names, words)]
    if names.json:
        print(json.dumps({**told, "suites": {suite: str(place / f"{suite}.md") for suite in written}}, indent=2))
    is_bad = done.failed + done.crashed + done.refused or not written
    return EXIT_FAILURE if is_bad else 0


def _report(jobs: SuiteJobs, suite: str, store: Store, place: Path, names: argparse.Namespace, words: Words) -> bool:
    """Write a suite's page, and of what was measured JSON, plots and pictures; whether something was."""
    report, context = merged(jobs, suite, store)
    if not report.rows and not report.absent:
        words.detail(f"{suite} has none of the scenes that were named.")
        return False
    if not report.rows:
        page = place / f"{suite}.md"
        write_bytes(page, report.markdown(dict(context)).encode())
        words.warn(f"{suite}: nothing was measured, and {page} says what each scene lacks. {report.absent[0]}")
        return False
    for sentence in report.absent:
        words.detail(f"{suite}: not measured: {sentence}")
    report.pictures = _copied(report.pictures, place, suite)
    about = {**context, "command": command_line()}  # workers know of their jobs alone
    plots = finish(report, place / suite, about, words)
    if not names.json:
        print(printable_lines(report.markdown(about, plots=plots)))
    return True


def _copied(pictures: Sequence[Picture], place: Path, suite: str) -> list[Picture]:
    """Pictures of the store, beside the page: those of two scenes may be called the same there."""
    named: dict[str, Picture] = {}
    for picture in pictures:
        path, number = Path(picture.file), 1
        name = f"{suite}-{path.name}"
        while name in named:
            number += 1
            name = f"{suite}-{path.stem}-{number}{path.suffix}"
        write_bytes(place / name, path.read_bytes())
        named[name] = dataclasses.replace(picture, file=name)
    return list(named.values())

"""Pages of saved reports, made again from their rows by today's tables and words: the case `pages`
writes REPORT.md.

The JSON stays as the run wrote it. A column or a line whose measurement that run has not is a dash or says so.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import pathlib
from typing import Any

from .own_structures import tabulated
from .published import published_source
from .report import SuiteReport, report_from_json

NOTE = (
    "The tables are made again from the rows of this run, by the program that the page lies beside; what the run "
    "did not measure is missing."
)


def again(content: dict[str, Any], beside: pathlib.Path | None = None, pictures: str = "") -> SuiteReport:
    """The report of a saved file with today's words, tables and plots, and those of its pictures that lie in the folder
    `beside`, where that is given, or made smaller in the folder `pictures` in it."""
    module = importlib.import_module(f".{content['suite']}", __package__)
    report = report_from_json(content)
    if beside is not None:
        report.pictures = [dataclasses.replace(one, file=_kept(one.file, beside, pictures)) for one in report.pictures]
    report.about = module.__doc__ or report.about
    reasons = {(one.published, one.name): one.why for one in module.SCENES if one.is_published}
    report.scenes = [{**one, "why": reasons.get((one["published"], one["ours"]), one["why"])} for one in report.scenes]
    report.published = published_source(report.suite)
    return tabulated(report, module.tabulate)


def _kept(file: str, beside: pathlib.Path, pictures: str) -> str:
    """Where a picture is kept, from the page: as the run wrote it, or as a smaller JPEG; "" where it is not."""
    smaller = pathlib.Path(pictures) / pathlib.Path(file).with_suffix(".jpg").name
    found = (name for name in (file, smaller.as_posix()) if file and (beside / name).is_file())
    return next(found, "")


def page(path: pathlib.Path) -> str:
    """The page of a saved file, with the plots and pictures that lie beside it; smaller ones lie in a folder of its
    name. Raises OSError, ValueError, KeyError or ImportError where it is no report."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return again(content, path.parent, path.stem).markdown(content["context"], NOTE, plots_of(path))


def plots_of(path: pathlib.Path) -> str:
    """What the plots beside a saved file begin with; empty where there are none."""
    return path.stem if any(path.parent.glob(f"{path.stem}-*.svg")) else ""

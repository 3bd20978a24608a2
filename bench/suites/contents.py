"""Where a report has what the evaluation shows: each of its tables and figures, and what stands for it here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import SuiteReport

NOT_IN_RUN = "not in this run"


def contents_rows(report: SuiteReport) -> list[tuple[str, str, str]]:
    """Number, what it shows, and where it is here, for each that bench/published names; what it says of one goes before
    what was found, since that is why there is none."""
    rows = []
    for number, shows, *said in report.published.get("contents", ()):
        rows.append((number, shows, said[0] if said else where(report, number)))
    return rows


def where(report: SuiteReport, number: str) -> str:
    """What the report has for a published table or figure."""
    kind, _, own = number.partition(" ")
    if kind == "table":
        return f"table {own} below" if any(one.number == own and one.rows for one in report.tables) else NOT_IN_RUN
    pictures = [one for one in report.pictures if one.number == own]
    if pictures:
        kept = "below" if all(one.file for one in pictures) else "of this run, not kept beside it"
        return f"{len(pictures)} picture{'s' * (len(pictures) > 1)} {kept}"
    return "plot" if any(one.number == own for one in report.plots) else NOT_IN_RUN


def figures(report: SuiteReport, plots: str) -> Sequence[str]:
    """Pictures and plots as Markdown; `plots` is what the plots' files begin with, empty where none were drawn."""
    drawn = [(one.number, one.title, f"{plots}-{one.number}.svg") for one in report.plots] if plots else []
    drawn += [(one.number, one.title, one.file) for one in report.pictures if one.file]
    return [f"{_called(number)}: {title}\n\n![{title}]({file})" for number, title, file in sorted(drawn, key=_place)]


def _called(number: str) -> str:
    own, dash, whose = number.partition("-")
    return f"Figure {own}" + (" as published" if whose == "published" else dash + whose)


def _place(figure: tuple[str, str, str]) -> tuple[list[int], tuple[str, str, str]]:
    """As printed: 7.2 before 7.12."""
    return [int(part) for part in figure[0].partition("-")[0].split(".") if part.isdigit()], figure
